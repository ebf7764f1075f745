// SPDX-License-Identifier: Apache-2.0
// One row of an 8-point transform: four butterflies and the fixed shuffle of the constant-geometry order (Pease).
//
//   forward stage s, m = 2^s:   x[k], x[k+4] --CT--> y[2k], y[2k+1]     w = psi_rev[m + k mod m]
//   inverse stage s, m = 4>>s:  x[2k], x[2k+1] --GS, halved--> y[k], y[k+4]     w = psi_rev[2m-1 - k mod m]
//
// Every row is wired alike, so one row serves all three stages. The butterfly multiplies v - u by w in an inverse, and
// -1/psi_rev[m+i] = psi_rev[2m-1-i] makes that the Gentleman-Sande step: one table serves both directions.
// Inputs and outputs in [0, m). Latency: butterfly_latency(0, MulStyle, W, ModMinBits, 0); stage_i and inverse_i go
// with the data.
module rs_ntt8_row
  import rs_latency_pkg::*;
#(
  // Bits of a word, 14 to 32.
  parameter int unsigned W = 32,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational.
  parameter int unsigned MulStyle = rs_mult_pkg::MultiplierWires,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5
) (
  input  logic                clk_i,
  input  logic [W-1:0]        modulus_i,
  input  logic [W+2:0]        mu_i,
  input  logic [  7:0]        mod_bits_i,
  // psi^brv(i), quasi-static.
  input  logic [  7:0][W-1:0] twiddle_i,
  // 0, 1, 2: the stage in its direction.
  input  logic [  1:0]        stage_i,
  input  logic                inverse_i,
  input  logic [  7:0][W-1:0] data_i,
  output logic [  7:0][W-1:0] data_o
);

  localparam int unsigned Latency = 32'(butterfly_latency(0, int'(MulStyle), int'(W), int'(ModMinBits), 0));

  logic [3:0][W-1:0] x, y;
  logic inverse_late;

  rs_delay #(
    .Width (1),
    .Stages(Latency)
  ) u_inverse (
    .clk_i,
    .data_i(inverse_i),
    .data_o(inverse_late)
  );

  for (genvar k = 0; k < 4; k++) begin : gen_butterfly
    // The three stages' table entries, both directions.
    logic [2:0][W-1:0] forward, inverse;
    assign forward = {twiddle_i[4+k], twiddle_i[2+(k%2)], twiddle_i[1]};
    assign inverse = {twiddle_i[1], twiddle_i[3-(k%2)], twiddle_i[7-k]};

    rs_butterfly #(
      .W         (W),
      .MulKind   (0),
      .MulStyle  (MulStyle),
      .ModMinBits(ModMinBits)
    ) u_butterfly (
      .clk_i,
      .modulus_i,
      .aux_i    (mu_i),
      .mod_bits_i,
      .cross_i  (inverse_i),
      .sub_i    (1'b0),
      .halve_i  (inverse_i),
      .product_i(1'b0),
      .u_i      (inverse_i ? data_i[2*k] : data_i[k]),
      .v_i      (inverse_i ? data_i[2*k+1] : data_i[k+4]),
      .w_i      (inverse_i ? inverse[stage_i] : forward[stage_i]),
      .e0_i     ('0),
      .e1_i     ('0),
      .x_o      (x[k]),
      .y_o      (y[k])
    );
  end

  logic unused_twiddle;
  assign unused_twiddle = ^twiddle_i[0];

  assign data_o = inverse_late ? {y, x} : {y[3], x[3], y[2], x[2], y[1], x[1], y[0], x[0]};

endmodule
