// SPDX-License-Identifier: Apache-2.0
// Proof: rs_mul_barrett, brought into [0, m) as rs_mod_addsub does, is a * b mod m, for every modulus and operand.
//
// The reciprocal is what its definition says: mu * m <= 2^(k+W+2) < mu * m + m, k the bit length of m.
module rs_prove_barrett #(
  parameter int unsigned W = 6
) (
  input logic         clk_i,
  input logic [W-1:0] modulus_i,
  input logic [W+2:0] mu_i,
  input logic [  7:0] mod_bits_i,
  input logic [W-1:0] a_i,
  input logic [W-1:0] b_i
);
  localparam int unsigned Wide = 2 * W + 4;
  logic [2*W-1:0] product;
  logic [W:0] result;

  rs_mul_barrett #(
    .W         (W),
    .ModMinBits(5),
    .MulStyle  (3)
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
  logic [2*W-1:0] remainder;
  logic [W:0] reduced;
  assign multiple  = Wide'(mu_i) * Wide'(modulus_i);
  assign power     = Wide'(1) << (mod_bits_i + 8'(W + 2));
  assign reduced   = result[W] ? result + {1'b0, modulus_i} : result;
  // The product in 2W bits: a * b in W bits would be cut.
  assign remainder = ((2 * W)'(a_i) * (2 * W)'(b_i)) % (2 * W)'(modulus_i);

  always_comb begin
    assume (mod_bits_i >= 5 && mod_bits_i <= 8'(W));
    assume ((modulus_i >> (mod_bits_i - 8'd1)) == 1 && (modulus_i & (modulus_i - 1)) != 0);
    assume (multiple <= power && power < multiple + Wide'(modulus_i));
    assume (a_i < modulus_i && b_i < modulus_i);
    assert (product == (2 * W)'(a_i) * (2 * W)'(b_i));
    assert ((2 * W)'(reduced) == remainder);
  end
endmodule
