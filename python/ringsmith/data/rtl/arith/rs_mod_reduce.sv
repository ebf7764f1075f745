// SPDX-License-Identifier: Apache-2.0
// Reduction of a sum of products with the method chosen by parameter; result_o is signed in [-m, m), not corrected.
//
// T is below m * 2^(W+Guard). Barrett: congruent to T. Montgomery: congruent to
// T * 2^-(MontW*ceil((W+Guard)/MontW)).
// Latency: reduce_latency(MulKind, MulStyle, W, ModMinBits, MontW, Guard).
module rs_mod_reduce #(
  // Bits of a word.
  parameter int unsigned W = 32,
  // Bits of T beyond those of one product.
  parameter int unsigned Guard = 4,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned MulKind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Barrett: bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: the modulus is 1 modulo 2^MontW, 2 to W - 2.
  parameter int unsigned MontW = 8,
  // 1: see rs_mod_montgomery.
  parameter bit StepLuts = 1'b0
) (
  input  logic                 clk_i,
  // Quasi-static, as are aux and k.
  input  logic [        W-1:0] modulus_i,
  // Barrett: floor(2^(k+W+Guard+2) / m). Montgomery reads its constant off the modulus.
  input  logic [  W+Guard+2:0] aux_i,
  // k; Barrett only.
  input  logic [          7:0] mod_bits_i,
  input  logic [2*W+Guard-1:0] t_i,
  output logic [          W:0] result_o
);

  if (MulKind > rs_build_pkg::ReductionMontgomery) begin : gen_kind_check
    $error("%m: MulKind must be 0 (Barrett) or 1 (Montgomery)");
  end

  if (MulKind == rs_build_pkg::ReductionBarrett) begin : gen_barrett
    rs_mod_barrett #(
      .W         (W),
      .ModMinBits(ModMinBits),
      .Guard     (Guard),
      .MulStyle  (MulStyle)
    ) u_reduce (
      .clk_i,
      .modulus_i,
      .mu_i(aux_i),
      .mod_bits_i,
      .t_i,
      .result_o
    );
  end else begin : gen_montgomery
    rs_mod_montgomery #(
      .W   (W),
      .MontW(MontW),
      .Guard   (Guard),
      .MulStyle   (MulStyle),
      .StepLuts(StepLuts)
    ) u_reduce (
      .clk_i,
      .modulus_high_i(modulus_i[W-1:MontW]),
      .t_i,
      .result_o
    );
    logic unused_config;
    assign unused_config = ^{modulus_i[MontW-1:0], aux_i, mod_bits_i};
  end

endmodule
