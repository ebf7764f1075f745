// SPDX-License-Identifier: Apache-2.0
// The 8-point transform in one of its variants (docs/knobs.md): the choice in one place for both shells.
//
// valid_i with ready_o starts a transform; valid_o marks its result for one cycle.
// Latency: ntt8_latency(Variant, MulStyle, W, ModMinBits).
module rs_ntt8_engine
  import rs_build_pkg::*;
#(
  // VariantCn, VariantPn3, VariantPn1, VariantPn3d or VariantStream.
  parameter int unsigned Variant = VariantCn,
  // Bits of a word, 14 to 32.
  parameter int unsigned W = 32,
  // Multiplier of the pipelined variants: 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [W-1:0]        modulus_i,
  input  logic [W+2:0]        mu_i,
  input  logic [  7:0]        mod_bits_i,
  input  logic [  7:0][W-1:0] twiddle_i,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic                inverse_i,
  input  logic [  7:0][W-1:0] data_i,
  output logic                valid_o,
  output logic [  7:0][W-1:0] data_o
);

  rs_ntt8_check #(
    .Variant   (Variant),
    .W         (W),
    .MulStyle  (MulStyle),
    .ModMinBits(ModMinBits)
  ) u_check ();

  if (Variant == VariantPn1) begin : gen_folded
    rs_ntt8_folded #(
      .W         (W),
      .ModMinBits(ModMinBits)
    ) u_transform (
      .clk_i,
      .rst_ni,
      .modulus_i,
      .mu_i,
      .mod_bits_i,
      .twiddle_i,
      .valid_i,
      .ready_o,
      .inverse_i,
      .data_i,
      .valid_o,
      .data_o
    );
  end else begin : gen_unrolled
    assign ready_o = 1'b1;
    rs_ntt8_unrolled #(
      .W           (W),
      .MulStyle    (Variant == VariantPn3d || Variant == VariantStream ? MulStyle : rs_mult_pkg::MultiplierWires),
      .ModMinBits  (ModMinBits),
      .RowRegisters(Variant == VariantPn3)
    ) u_transform (
      .clk_i,
      .rst_ni,
      .modulus_i,
      .mu_i,
      .mod_bits_i,
      .twiddle_i,
      .valid_i,
      .inverse_i,
      .data_i,
      .valid_o,
      .data_o
    );
  end

endmodule
