// SPDX-License-Identifier: Apache-2.0
// 8-point negacyclic transform, unrolled: three rows one after the other, a transform accepted every cycle.
//
//   data_i --> row 0 --[r]--> row 1 --[r]--> row 2 --[R]--> data_o     [r] with RowRegisters only, [R] with MulStyle 3
//
//   MulStyle 3, RowRegisters 0    one combinational circuit, its result registered: latency 1 (CN)
//   MulStyle 3, RowRegisters 1    three registered rows: latency 3 (PN3)
//   MulStyle 0..2                 pipelined butterflies, no further registers: latency 3 butterfly_latency (PN3d)
//
// Forward: natural order in, bit-reversed evaluation order out; inverse back, 1/n included. All words in [0, m).
// Latency: ntt8_unrolled_latency(MulStyle, W, ModMinBits, RowRegisters).
module rs_ntt8_unrolled
  import rs_latency_pkg::*;
#(
  // Bits of a word, 14 to 32.
  parameter int unsigned W = 32,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational.
  parameter int unsigned MulStyle = rs_mult_pkg::MultiplierWires,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // 1: a register after every row; with MulStyle 3 only.
  parameter bit RowRegisters = 1'b0
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [W-1:0]        modulus_i,
  input  logic [W+2:0]        mu_i,
  input  logic [  7:0]        mod_bits_i,
  input  logic [  7:0][W-1:0] twiddle_i,
  input  logic                valid_i,
  input  logic                inverse_i,
  input  logic [  7:0][W-1:0] data_i,
  output logic                valid_o,
  output logic [  7:0][W-1:0] data_o
);

  if (RowRegisters && MulStyle != rs_mult_pkg::MultiplierWires) begin : gen_register_check
    $error("%m: RowRegisters must be 0 unless MulStyle is 3 (combinational)");
  end

  localparam int unsigned RowLatency = 32'(butterfly_latency(0, int'(MulStyle), int'(W), int'(ModMinBits), 0));
  localparam int unsigned Latency = 32'(ntt8_unrolled_latency(
    int'(MulStyle), int'(W), int'(ModMinBits), int'(RowRegisters)
  ));

  for (genvar s = 0; s < 3; s++) begin : gen_row
    // A register after this row: each row's own, or the circuit's only one behind the last row.
    localparam int unsigned Extra = (MulStyle == rs_mult_pkg::MultiplierWires && (RowRegisters || s == 2)) ? 1 : 0;
    logic [7:0][W-1:0] operand, sums, result;
    logic inverse, inverse_late;

    if (s == 0) begin : gen_first
      assign operand = data_i;
      assign inverse = inverse_i;
    end else begin : gen_later
      assign operand = gen_row[s-1].result;
      assign inverse = gen_row[s-1].inverse_late;
    end

    rs_ntt8_row #(
      .W         (W),
      .MulStyle  (MulStyle),
      .ModMinBits(ModMinBits)
    ) u_row (
      .clk_i,
      .modulus_i,
      .mu_i,
      .mod_bits_i,
      .twiddle_i,
      .stage_i  (2'(s)),
      .inverse_i(inverse),
      .data_i   (operand),
      .data_o   (sums)
    );

    rs_delay #(
      .Width (8 * W),
      .Stages(Extra)
    ) u_result (
      .clk_i,
      .data_i(sums),
      .data_o(result)
    );

    rs_delay #(
      .Width (1),
      .Stages(RowLatency + Extra)
    ) u_inverse (
      .clk_i,
      .data_i(inverse),
      .data_o(inverse_late)
    );
  end

  assign data_o = gen_row[2].result;

  logic unused_direction;
  assign unused_direction = gen_row[2].inverse_late;

  logic [Latency-1:0] valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= Latency'({valid_q, valid_i});
  end
  assign valid_o = valid_q[Latency-1];

endmodule
