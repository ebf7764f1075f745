// SPDX-License-Identifier: Apache-2.0
// The residues y = [x f]_q of a base conversion: RnsRate coefficients a cycle, each cycle with a modulus of its own.
//
// Column 0's y comes factor_latency(...) cycles after its x, column r's r cycles later, as rs_rns_dot wants them. With
// Montgomery reduction f carries the factor 2^(MontW*ceil(W/MontW)).
module rs_rns_factor
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned W = 32,
  // Coefficients a cycle: 1, 2 or 4.
  parameter int unsigned RnsRate = 2,
  // See rs_mod_mul.
  parameter int unsigned MulKind = 0,
  parameter int unsigned MulStyle = 1,
  parameter int unsigned ModMinBits = 5,
  parameter int unsigned MontW = 8,
  // 1: see rs_mod_montgomery.
  parameter bit StepLuts = 1'b0
) (
  input  logic                      clk_i,
  // With the residues, which may be any words: f below q, and the constants of q for rs_mod_mul.
  input  logic [      W-1:0]        modulus_i,
  input  logic [      W+2:0]        aux_i,
  input  logic [        7:0]        mod_bits_i,
  input  logic [      W-1:0]        factor_i,
  input  logic [RnsRate-1:0][W-1:0] x_i,
  output logic [RnsRate-1:0][W-1:0] y_o
);

  localparam int unsigned MulLatency = 32'(mod_mul_latency(
    int'(MulKind), int'(MulStyle), int'(W), int'(ModMinBits), int'(MontW)
  ));

  logic [W-1:0] modulus_late;
  rs_delay #(
    .Width (W),
    .Stages(MulLatency)
  ) u_modulus (
    .clk_i,
    .data_i(modulus_i),
    .data_o(modulus_late)
  );

  for (genvar r = 0; r < RnsRate; r++) begin : gen_column
    logic [W:0] product;
    logic [2*W-1:0] unused_product;
    logic [W-1:0] y_q;
    rs_mod_mul #(
      .W         (W),
      .MulKind   (MulKind),
      .MulStyle  (MulStyle),
      .ModMinBits(ModMinBits),
      .MontW     (MontW),
      .Moving    (1'b1),
      .StepLuts  (StepLuts)
    ) u_mul (
      .clk_i,
      .modulus_i,
      .aux_i,
      .mod_bits_i,
      .a_i      (x_i[r]),
      .b_i      (factor_i),
      .result_o (product),
      .product_o(unused_product)
    );
    // From [-q, q) to [0, q).
    always_ff @(posedge clk_i) y_q <= product[W-1:0] + (product[W] ? modulus_late : '0);
    rs_delay #(
      .Width (W),
      .Stages(r)
    ) u_skew (
      .clk_i,
      .data_i(y_q),
      .data_o(y_o[r])
    );
  end

endmodule
