// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
// Elaboration checks of the parameters of an 8-point accelerator: an illegal value stops the build.
// docs/knobs.md has their meaning.
module rs_ntt8_check #(
  // The rows of butterflies, one combinational circuit, registered, one row used three times, pipelined, or that behind
  // AXI4-Stream.
  parameter int unsigned Variant = 0,
  // Bits of a coefficient, W.
  parameter int unsigned W = 14,
  // How products are cut, in a few deep stages or in pipelined tiles of the DSP blocks of AMD (26x17) or Lattice
  // (18x18).
  parameter int unsigned MulStyle = 0,
  // Bits of the smallest modulus.
  parameter int unsigned ModMinBits = 5
);

  if (!((Variant == 0) || (Variant == 1) || (Variant == 2) || (Variant == 3) || (Variant == 4))) begin : gen_check_0_variant
    $error("%m: Variant (variant) must be cn, pn3, pn1, pn3d or stream");
  end
  if (!((W >= 14) && (W <= 32))) begin : gen_check_1_word_bits
    $error("%m: W (word_bits) must be 14..32");
  end
  if (!((MulStyle == 0) || (MulStyle == 1) || (MulStyle == 2))) begin : gen_check_2_multiplier
    $error("%m: MulStyle (multiplier) must be asic, dsp26x17 or dsp18x18");
  end
  if (!((ModMinBits >= 5) && (ModMinBits <= W))) begin : gen_check_3_modulus_bits_min
    $error("%m: ModMinBits (modulus_bits_min) must be 5..word_bits = %0d", (W));
  end

endmodule
