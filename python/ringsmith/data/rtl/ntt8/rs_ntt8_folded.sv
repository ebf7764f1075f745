// SPDX-License-Identifier: Apache-2.0
// 8-point negacyclic transform, folded: one row of four combinational butterflies used for all three stages (PN1).
//
//   data_i --\
//             >--> row --> state --> (back twice) --> data_o
//   state  --/
//
// The shuffle between stages is the row's own fixed wiring. ready_o shows the cycle in which a transform is accepted:
// one in three. Latency: 3 cycles from valid_i to valid_o; the result stands until the next one is accepted.
module rs_ntt8_folded #(
  // Bits of a word, 14 to 32.
  parameter int unsigned W = 32,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [W-1:0]        modulus_i,
  input  logic [W+2:0]        mu_i,
  input  logic [  7:0]        mod_bits_i,
  input  logic [  7:0][W-1:0] twiddle_i,
  input  logic                valid_i,
  output logic                ready_o,
  input  logic                inverse_i,
  input  logic [  7:0][W-1:0] data_i,
  output logic                valid_o,
  output logic [  7:0][W-1:0] data_o
);

  // Stage worked on in this cycle; 0 also while idle.
  logic [1:0] stage_q;
  logic inverse_q, inverse, start;
  logic [7:0][W-1:0] state_q, operand, result;

  assign ready_o = stage_q == 2'd0;
  assign start   = ready_o && valid_i;
  assign inverse = ready_o ? inverse_i : inverse_q;
  assign operand = ready_o ? data_i : state_q;
  assign data_o  = state_q;

  rs_ntt8_row #(
    .W         (W),
    .MulStyle  (rs_mult_pkg::MultiplierWires),
    .ModMinBits(ModMinBits)
  ) u_row (
    .clk_i,
    .modulus_i,
    .mu_i,
    .mod_bits_i,
    .twiddle_i,
    .stage_i  (stage_q),
    .inverse_i(inverse),
    .data_i   (operand),
    .data_o   (result)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q   <= 2'd0;
      inverse_q <= 1'b0;
      valid_o   <= 1'b0;
    end else begin
      valid_o <= stage_q == 2'd2;
      if (start) begin
        stage_q   <= 2'd1;
        inverse_q <= inverse_i;
      end else if (!ready_o) begin
        stage_q <= stage_q == 2'd2 ? 2'd0 : 2'd2;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start || !ready_o) state_q <= result;
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  StageInRange :
  assert property (@(posedge clk_i) disable iff (!armed) stage_q != 2'd3)
  else $error("%m: stage_q must stay below 3");
  ResultAfterThree :
  assert property (@(posedge clk_i) disable iff (!armed) valid_o |-> $past(start, 3))
  else $error("%m: a result must come three cycles after its transform was accepted");
`endif

endmodule
