// SPDX-License-Identifier: Apache-2.0
// Proof: rs_mul_barrett, brought into [0, m) as rs_mod_addsub does, is a * b mod m, for every modulus and operand.
//
// The reciprocal is what its definition says: mu * m <= 2^(k+W+2) < mu * m + m, k the bit length of m.
module rs_prove_barrett #(
  parameter int unsigned Width = 6
) (
  input logic             clk_i,
  input logic [Width-1:0] modulus_i,
  input logic [Width+2:0] mu_i,
  input logic [      7:0] mod_bits_i,
  input logic [Width-1:0] a_i,
  input logic [Width-1:0] b_i
);
  localparam int unsigned Wide = 2 * Width + 4;
  logic [2*Width-1:0] product;
  logic [Width:0] result;

  rs_mul_barrett #(
    .Width     (Width),
    .ModMinBits(5),
    .Style     (3)
  ) u_dut (
    .clk_i,
    .modulus_i,
    .mu_i,
    .mod_bits_i,
    .a_i,
    .b_i,
    .product_o(product),
    .result_o (result)
  );

  logic [Wide-1:0] multiple, power;
  logic [2*Width-1:0] remainder;
  logic [Width:0] reduced;
  assign multiple  = Wide'(mu_i) * Wide'(modulus_i);
  assign power     = Wide'(1) << (mod_bits_i + 8'(Width + 2));
  assign reduced   = result[Width] ? result + {1'b0, modulus_i} : result;
  // The product in 2W bits: a * b in W bits would be cut.
  assign remainder = ((2 * Width)'(a_i) * (2 * Width)'(b_i)) % (2 * Width)'(modulus_i);

  always_comb begin
    assume (mod_bits_i >= 5 && mod_bits_i <= 8'(Width));
    assume ((modulus_i >> (mod_bits_i - 8'd1)) == 1 && (modulus_i & (modulus_i - 1)) != 0);
    assume (multiple <= power && power < multiple + Wide'(modulus_i));
    assume (a_i < modulus_i && b_i < modulus_i);
    assert (product == (2 * Width)'(a_i) * (2 * Width)'(b_i));
    assert ((2 * Width)'(reduced) == remainder);
  end
endmodule
