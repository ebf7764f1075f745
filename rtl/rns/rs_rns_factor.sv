// SPDX-License-Identifier: Apache-2.0
// The residues y = [x f]_q of a base conversion: Rate coefficients a cycle, each cycle with a modulus of its own.
//
// Column 0's y comes factor_latency(...) cycles after its x, column r's r cycles later, as rs_rns_dot wants them. With
// Montgomery reduction f carries the factor 2^(MontWordBits*ceil(Width/MontWordBits)).
module rs_rns_factor
  import rs_latency_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned Width = 32,
  // Coefficients a cycle: 1, 2 or 4.
  parameter int unsigned Rate = 2,
  // See rs_mod_mul.
  parameter int unsigned Kind = 0,
  parameter int unsigned Style = 1,
  parameter int unsigned ModMinBits = 5,
  parameter int unsigned MontWordBits = 8
) (
  input  logic                        clk_i,
  // With the residues, which may be any words: f below q, and what rs_mod_mul needs of q.
  input  logic [Width-1:0]            modulus_i,
  input  logic [Width+2:0]            aux_i,
  input  logic [      7:0]            mod_bits_i,
  input  logic [Width-1:0]            factor_i,
  input  logic [ Rate-1:0][Width-1:0] x_i,
  output logic [ Rate-1:0][Width-1:0] y_o
);

  localparam int unsigned MulLatency = 32'(mod_mul_latency(
    int'(Kind), int'(Style), int'(Width), int'(ModMinBits), int'(MontWordBits)
  ));

  logic [Width-1:0] modulus_late;
  rs_delay #(
    .Width (Width),
    .Stages(MulLatency)
  ) u_modulus (
    .clk_i,
    .data_i(modulus_i),
    .data_o(modulus_late)
  );

  for (genvar r = 0; r < Rate; r++) begin : gen_column
    logic [Width:0] product;
    logic [2*Width-1:0] unused_product;
    logic [Width-1:0] y_q;
    rs_mod_mul #(
      .Width       (Width),
      .Kind        (Kind),
      .Style       (Style),
      .ModMinBits  (ModMinBits),
      .MontWordBits(MontWordBits),
      .Moving      (1'b1)
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
    always_ff @(posedge clk_i) y_q <= product[Width-1:0] + (product[Width] ? modulus_late : '0);
    rs_delay #(
      .Width (Width),
      .Stages(r)
    ) u_skew (
      .clk_i,
      .data_i(y_q),
      .data_o(y_o[r])
    );
  end

endmodule
