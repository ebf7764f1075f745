// SPDX-License-Identifier: Apache-2.0
// Proof: rs_mod_addsub gives the sum or difference modulo m, or half of it, for all operands at once.
//
// Without a division: the result r is below m, and r (twice r if halved) differs from a +- b by -m, 0, m or 2m.
module rs_prove_addsub #(
  parameter int unsigned W = 32,
  // The operation: difference; halved.
  parameter bit Sub = 1'b0,
  parameter bit Halve = 1'b0
) (
  input logic         clk_i,
  input logic [W-1:0] modulus_i,
  input logic [W-1:0] a_i,
  input logic [  W:0] b_i
);
  localparam int unsigned Wide = W + 3;
  logic [W-1:0] result;

  rs_mod_addsub #(
    .W(W),
    .MulStyle(rs_mult_pkg::MultiplierWires)
  ) u_dut (
    .clk_i,
    .modulus_i,
    .sub_i   (Sub),
    .halve_i (Halve),
    .whole_i (1'b0),
    .a_i,
    .b_i,
    .result_o(result)
  );

  // Everything signed in Wide bits, which hold -3m to 3m.
  logic signed [Wide-1:0] m, a, b, rest;
  assign m    = Wide'(modulus_i);
  assign a    = Wide'(a_i);
  assign b    = Wide'($signed(b_i));
  assign rest = Wide'(result) + (Halve ? Wide'(result) : '0) - a + (Sub ? b : -b);

  always_comb begin
    assume (modulus_i[0] && modulus_i >= 3);
    assume (a < m && b < m && b >= -m);
    assert (result < modulus_i);
    assert (rest == 0 || rest == m || rest == -m || (Halve && rest == m + m));
  end
endmodule
