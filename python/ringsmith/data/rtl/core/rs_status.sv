// SPDX-License-Identifier: Apache-2.0
// Status of the core: the first error, counters of work and waiting, and the events of the timeline.
//
// An instruction's index counts the commands taken since clear_i, from 0. Compute instructions end in order, so their
// indices wait in a queue. A cycle counts as stalled while a command waits at the head: for its unit, or for a slot.
module rs_status
  import rs_core_pkg::*;
  import rs_error_pkg::*;
#(
  // 1: there is a base-conversion unit.
  parameter bit EnRns = 1'b0,
  // 1: there is a unit of pointwise instructions.
  parameter bit EnPointwise = 1'b0
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                clear_i,
  input  logic                head_valid_i,
  input  logic   [63:0]       head_word_i,
  input  logic                take_i,
  input  logic                start_compute_i,
  input  logic                start_memory_i,
  input  logic                start_rns_i,
  input  logic                start_pointwise_i,
  input  logic                sync_i,
  input  logic                refused_i,
  input  error_e              refused_code_i,
  input  logic                overflow_i,
  input  logic                unit_free_i,
  input  logic                compute_end_i,
  input  logic                compute_idle_i,
  input  logic                memory_end_i,
  input  logic                memory_idle_i,
  input  logic                memory_error_i,
  input  logic                rns_end_i,
  input  logic                rns_idle_i,
  input  logic                pointwise_end_i,
  input  logic                pointwise_idle_i,
  output logic   [31:0]       index_o,
  output logic                error_o,
  output logic   [ 3:0]       error_code_o,
  output logic   [31:0]       error_index_o,
  output logic   [63:0]       error_cmd_o,
  output logic   [31:0]       retired_o,
  output logic   [63:0]       cycles_o,
  output logic   [63:0]       busy_compute_o,
  output logic   [63:0]       busy_mem_o,
  output logic   [63:0]       busy_rns_o,
  output logic   [63:0]       busy_pointwise_o,
  output logic   [63:0]       stall_hazard_o,
  output logic   [63:0]       stall_unit_o,
  output logic   [ 3:0]       ev_start_o,
  output logic   [ 3:0]       ev_end_o,
  output logic   [ 3:0][31:0] ev_start_idx_o,
  output logic   [ 3:0][31:0] ev_end_idx_o,
  output logic   [ 3:0][63:0] ev_start_cmd_o
);

  // Indices and words in flight.
  logic [31:0] memory_index_q;
  logic [63:0] memory_word_q;
  logic [31:0] compute_index;
  logic index_valid, index_ready;
  logic [3:0] index_level;

  rs_fifo #(
    .Width(32),
    .Depth(8)
  ) u_indices (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(start_compute_i),
    .ready_o(index_ready),
    .data_i (index_o),
    .valid_o(index_valid),
    .ready_i(compute_end_i),
    .data_o (compute_index),
    .level_o(index_level)
  );

  // Most counters restart in the first cycle after reset, when nothing starts or waits yet: a restart at the clock
  // needs no LUT. Cycles count from reset on.
  logic fresh_q, restart;
  assign restart = clear_i || fresh_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q  <= 1'b1;
      cycles_o <= '0;
    end else begin
      fresh_q  <= 1'b0;
      cycles_o <= clear_i ? '0 : cycles_o + 64'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (restart) begin
      index_o        <= '0;
      retired_o      <= '0;
      busy_compute_o <= '0;
      busy_mem_o     <= '0;
      stall_hazard_o <= '0;
      stall_unit_o   <= '0;
    end else begin
      index_o        <= index_o + 32'(take_i);
      retired_o      <= retired_o + 32'(compute_end_i) + 32'(memory_end_i && !memory_error_i) +
                        32'(EnRns && rns_end_i) + 32'(EnPointwise && pointwise_end_i) + 32'(sync_i);
      busy_compute_o <= busy_compute_o + 64'(!compute_idle_i);
      busy_mem_o     <= busy_mem_o + 64'(!memory_idle_i);
      if (head_valid_i && !take_i && !refused_i && !error_o) begin
        if (unit_free_i) stall_hazard_o <= stall_hazard_o + 64'd1;
        else stall_unit_o <= stall_unit_o + 64'd1;
      end
    end
  end

  // The first error stays: a transfer that failed, else the refused head, else a lost command.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_o       <= 1'b0;
      error_code_o  <= ErrNone;
      error_index_o <= '0;
      error_cmd_o   <= '0;
    end else if (clear_i) begin
      error_o       <= 1'b0;
      error_code_o  <= ErrNone;
      error_index_o <= '0;
      error_cmd_o   <= '0;
    end else if (!error_o && (memory_error_i || refused_i || overflow_i)) begin
      error_o       <= 1'b1;
      error_code_o  <= memory_error_i ? ErrBus : refused_i ? refused_code_i : ErrOverflow;
      error_index_o <= memory_error_i ? memory_index_q : index_o;
      error_cmd_o   <= memory_error_i ? memory_word_q : head_word_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_memory_i) begin
      memory_index_q <= index_o;
      memory_word_q  <= head_word_i;
    end
  end

  // The units for base conversion and for pointwise instructions.
  logic [31:0] rns_index_q, pointwise_index_q;
  rs_unit_status #(
    .Present(EnRns)
  ) u_rns (
    .clk_i,
    .restart_i(restart),
    .idle_i   (rns_idle_i),
    .start_i  (start_rns_i),
    .index_i  (index_o),
    .busy_o   (busy_rns_o),
    .index_o  (rns_index_q)
  );
  rs_unit_status #(
    .Present(EnPointwise)
  ) u_pointwise (
    .clk_i,
    .restart_i(restart),
    .idle_i   (pointwise_idle_i),
    .start_i  (start_pointwise_i),
    .index_i  (index_o),
    .busy_o   (busy_pointwise_o),
    .index_o  (pointwise_index_q)
  );

  assign ev_start_o     = {EnPointwise && start_pointwise_i, EnRns && start_rns_i, start_memory_i, start_compute_i};
  assign ev_end_o       = {EnPointwise && pointwise_end_i, EnRns && rns_end_i, memory_end_i, compute_end_i};
  assign ev_start_idx_o = {4{index_o}};
  assign ev_end_idx_o   = {pointwise_index_q, rns_index_q, memory_index_q, compute_index};
  assign ev_start_cmd_o = {4{head_word_i}};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_compute_i || index_ready)
  else $error("%m: more compute instructions in flight than indices kept");
  assert property (@(posedge clk_i) disable iff (!armed) !compute_end_i || index_valid)
  else $error("%m: an end without a start");
`endif
  logic unused_queue;
  assign unused_queue = ^{index_ready, index_valid, index_level};

endmodule
