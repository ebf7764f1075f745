// SPDX-License-Identifier: Apache-2.0
// Reduction of a sum of products with the method chosen by parameter; result_o is signed in [-m, m), not corrected.
//
// T is below m * 2^(Width+Guard). Barrett: congruent to T. Montgomery: congruent to
// T * 2^-(MontWordBits*ceil((Width+Guard)/MontWordBits)).
// Latency: reduce_latency(Kind, Style, Width, ModMinBits, MontWordBits, Guard).
module rs_mod_reduce #(
  // Bits of a word.
  parameter int unsigned Width = 32,
  // Bits of T beyond those of one product.
  parameter int unsigned Guard = 4,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned Kind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned Style = 1,
  // Barrett: bits of the smallest modulus, 5 to Width.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: the modulus is 1 modulo 2^MontWordBits, 2 to Width - 2.
  parameter int unsigned MontWordBits = 8
) (
  input  logic                     clk_i,
  // Quasi-static, as are aux and k.
  input  logic [        Width-1:0] modulus_i,
  // Barrett: floor(2^(k+Width+Guard+2) / m). Montgomery reads its constant off the modulus.
  input  logic [  Width+Guard+2:0] aux_i,
  // k; Barrett only.
  input  logic [              7:0] mod_bits_i,
  input  logic [2*Width+Guard-1:0] t_i,
  output logic [          Width:0] result_o
);

  if (Kind > 1) begin : gen_kind_check
    $error("%m: Kind must be 0 (Barrett) or 1 (Montgomery)");
  end

  if (Kind == 0) begin : gen_barrett
    rs_mod_barrett #(
      .Width     (Width),
      .ModMinBits(ModMinBits),
      .Guard     (Guard),
      .Style     (Style)
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
      .Width   (Width),
      .WordBits(MontWordBits),
      .Guard   (Guard),
      .Style   (Style)
    ) u_reduce (
      .clk_i,
      .modulus_high_i(modulus_i[Width-1:MontWordBits]),
      .t_i,
      .result_o
    );
    logic unused_config;
    assign unused_config = ^{modulus_i[MontWordBits-1:0], aux_i, mod_bits_i};
  end

endmodule
