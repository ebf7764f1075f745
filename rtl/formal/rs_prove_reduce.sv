// SPDX-License-Identifier: Apache-2.0
// Proof: rs_mod_barrett on a sum of products, brought into [0, m), is T mod m, for every modulus and every
// T < m * 2^(W+G).
//
// The reciprocal is what its definition says: mu * m <= 2^(k+W+G+2) < mu * m + m, k the bit length of m.
module rs_prove_reduce #(
  parameter int unsigned W = 5,
  parameter int unsigned Guard = 4
) (
  input logic                 clk_i,
  input logic [        W-1:0] modulus_i,
  input logic [  W+Guard+2:0] mu_i,
  input logic [          7:0] mod_bits_i,
  input logic [2*W+Guard-1:0] t_i
);
  localparam int unsigned Wide = 2 * W + Guard + 4;
  logic [W:0] result;

  rs_mod_barrett #(
    .W         (W),
    .ModMinBits(5),
    .Guard     (Guard),
    .MulStyle  (3)
  ) u_dut (
    .clk_i,
    .modulus_i,
    .mu_i,
    .mod_bits_i,
    .t_i,
    .result_o(result)
  );

  logic [Wide-1:0] multiple, power;
  logic [W:0] reduced;
  assign multiple = Wide'(mu_i) * Wide'(modulus_i);
  assign power    = Wide'(1) << (mod_bits_i + 8'(W + Guard + 2));
  assign reduced  = result[W] ? result + {1'b0, modulus_i} : result;

  always_comb begin
    assume (mod_bits_i >= 5 && mod_bits_i <= 8'(W));
    assume ((modulus_i >> (mod_bits_i - 8'd1)) == 1 && (modulus_i & (modulus_i - 1)) != 0);
    assume (multiple <= power && power < multiple + Wide'(modulus_i));
    assume (Wide'(t_i) < Wide'(modulus_i) << (W + Guard));
    assert (Wide'(reduced) == Wide'(t_i) % Wide'(modulus_i));
  end
endmodule
