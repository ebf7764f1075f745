// SPDX-License-Identifier: Apache-2.0
// Modular multiplier with the reduction chosen by parameter; result_o is signed in [-m, m), not corrected.
//
// Barrett: congruent to a*b, any modulus. Montgomery: congruent to a*b*2^-(MontWordBits*ceil(Width/MontWordBits)).
// product_o is the plain product, delayed to come with result_o; it is built only with KeepProduct = 1, else 0.
// Latency: mod_mul_latency(Kind, Style, Width, ModMinBits, MontWordBits).
module rs_mod_mul
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned Width = 32,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned Kind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational (Barrett only).
  parameter int unsigned Style = 1,
  // Barrett: bits of the smallest modulus, 5 to Width.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: the modulus is 1 modulo 2^MontWordBits, 2 to Width - 2.
  parameter int unsigned MontWordBits = 8,
  // 1: product_o is wanted.
  parameter bit KeepProduct = 1'b0,
  // 1: the modulus and what belongs to it come with the operands; 0: they are quasi-static.
  parameter bit Moving = 1'b0
) (
  input  logic               clk_i,
  input  logic [  Width-1:0] modulus_i,
  // Barrett: floor(2^(k+Width+2) / m). Montgomery: (m - 1) >> MontWordBits in the low bits.
  input  logic [  Width+2:0] aux_i,
  // k, the bits of the modulus; Barrett only.
  input  logic [        7:0] mod_bits_i,
  input  logic [  Width-1:0] a_i,
  input  logic [  Width-1:0] b_i,
  output logic [    Width:0] result_o,
  output logic [2*Width-1:0] product_o
);

  if (Kind > 1) begin : gen_kind_check
    $error("%m: Kind must be 0 (Barrett) or 1 (Montgomery)");
  end

  localparam int unsigned Latency = 32'(mod_mul_latency(
    int'(Kind), int'(Style), int'(Width), int'(ModMinBits), int'(MontWordBits)
  ));
  localparam int unsigned ProductLatency = 32'(mul_latency(int'(Style), int'(Width), int'(Width)));

  logic [2*Width-1:0] product;

  if (Kind == 0) begin : gen_barrett
    rs_mul_barrett #(
      .Width     (Width),
      .ModMinBits(ModMinBits),
      .Style     (Style),
      .Moving    (Moving)
    ) u_mul (
      .clk_i,
      .modulus_i,
      .mu_i     (aux_i),
      .mod_bits_i,
      .a_i,
      .b_i,
      .product_o(product),
      .result_o
    );
  end else begin : gen_montgomery
    rs_mul_montgomery #(
      .Width   (Width),
      .WordBits(MontWordBits),
      .Style   (Style),
      .Moving  (Moving)
    ) u_mul (
      .clk_i,
      .modulus_high_i(aux_i[Width-MontWordBits-1:0]),
      .a_i,
      .b_i,
      .product_o     (product),
      .result_o
    );
    logic unused_config;
    assign unused_config = ^{modulus_i, aux_i, mod_bits_i};
  end

  if (KeepProduct) begin : gen_product
    rs_delay #(
      .Width (2 * Width),
      .Stages(Latency - ProductLatency)
    ) u_product (
      .clk_i,
      .data_i(product),
      .data_o(product_o)
    );
  end else begin : gen_no_product
    logic unused_product;
    assign unused_product = ^product;
    assign product_o = '0;
  end

endmodule
