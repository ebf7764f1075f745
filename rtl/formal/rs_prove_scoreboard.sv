// SPDX-License-Identifier: Apache-2.0
// Proof: rs_scoreboard forgets no command in flight and lets none past a hazard (see rs_scoreboard_checks).
bind rs_scoreboard rs_scoreboard_checks #(
  .Slots(Slots),
  .SinglePort(SinglePort)
) u_checks (.*);

module rs_prove_scoreboard
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
#(
  parameter int unsigned P = 1,
  parameter int unsigned Slots = 5,
  parameter int unsigned PipeLatency = 11,
  parameter logic [MaxSlots-1:0] SinglePort = 32'h0000_0018
) (
  input logic     clk_i,
  input logic     rst_ni,
  input decoded_t head_i,
  input logic     head_valid_i,
  input logic     go_i,
  input logic     compute_ready_i,
  input logic     sources_done_i,
  input logic     table_busy_i,
  input finish_t  finish_i,
  input logic     memory_ready_i,
  input logic     memory_done_i,
  input logic     rns_done_i,
  input logic     pointwise_done_i
);
  logic unit_free, clear, take, compute_idle, memory_idle, rns_idle, pointwise_idle;
  assign take = go_i && head_valid_i && unit_free && clear;

  rs_scoreboard #(
    .P          (P),
    .Slots      (Slots),
    .PipeLatency(PipeLatency),
    .SinglePort (SinglePort),
    .EnRns      (1'b1),
    .EnPointwise(1'b1)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .head_i,
    .head_valid_i,
    .unit_free_o     (unit_free),
    .clear_o         (clear),
    .take_i          (take),
    .compute_ready_i,
    .sources_done_i,
    .table_busy_i,
    .finish_i,
    .memory_ready_i,
    .memory_done_i,
    .rns_done_i,
    .pointwise_done_i,
    .compute_idle_o  (compute_idle),
    .memory_idle_o   (memory_idle),
    .rns_idle_o      (rns_idle),
    .pointwise_idle_o(pointwise_idle)
  );

  logic started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  // Bits of slots that do not exist are 0, as the decoder makes them.
  logic [MaxSlots-1:0] absent;
  assign absent = (head_i.reads | head_i.writes | head_i.works | head_i.late) >> Slots;

  always_comb begin
    assume (started_q || !rst_ni);
    assume (absent == '0);
    // The units end started commands only; a command is for one unit; all but the compute unit take one at a time.
    assume (!finish_i.valid || !compute_idle);
    assume (!memory_done_i || !memory_idle);
    assume (!rns_done_i || !rns_idle);
    assume (!pointwise_done_i || !pointwise_idle);
    assume ($onehot0({head_i.compute, head_i.memory, head_i.rns, head_i.pointwise}));
    assume (memory_idle || !memory_ready_i);
    assume ((head_i.late & ~head_i.reads) == '0);
  end
endmodule
