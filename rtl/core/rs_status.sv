// SPDX-License-Identifier: Apache-2.0
// Status of the core: the first error, counters of work and waiting, and the events of the timeline.
//
// An instruction's index counts the commands taken since clear_i, from 0. Compute instructions end in order, so their
// indices wait in a queue. A cycle counts as stalled while a command waits at the head: for its unit, or for a slot.
module rs_status
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
  import rs_error_pkg::*;
#(
  // 1: there is a base-conversion unit.
  parameter bit EnRns = 1'b0,
  // 1: there is a unit of pointwise instructions.
  parameter bit EnPointwise = 1'b0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             head_valid_i,
  input  logic      [63:0] head_word_i,
  input  logic             take_i,
  // Instructions that start and that end; units without one.
  input  units_t           start_i,
  input  units_t           end_i,
  input  units_t           idle_i,
  input  logic             memory_error_i,
  input  logic             sync_i,
  input  logic             refused_i,
  input  error_e           refused_code_i,
  input  logic             overflow_i,
  input  logic             unit_free_i,
  output logic      [31:0] index_o,
  output logic             error_o,
  output failure_t         failure_o,
  output counters_t        counters_o,
  output events_t          events_o
);

  // Of the units that the build has.
  localparam units_t Present = '{pointwise: EnPointwise, rns: EnRns, memory: 1'b1, compute: 1'b1};
  units_t start, ends;
  assign start = start_i & Present;
  assign ends  = end_i & Present;

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
    .valid_i(start.compute),
    .ready_o(index_ready),
    .data_i (index_o),
    .valid_o(index_valid),
    .ready_i(ends.compute),
    .data_o (compute_index),
    .level_o(index_level)
  );

  // Most counters restart in the first cycle after reset, when nothing starts or waits yet: a restart at the clock
  // needs no LUT. Cycles count from reset on.
  logic fresh_q, restart;
  logic [63:0] cycles_q;
  assign counters_o.cycles = cycles_q;
  assign restart = clear_i || fresh_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q  <= 1'b1;
      cycles_q <= '0;
    end else begin
      fresh_q  <= 1'b0;
      cycles_q <= clear_i ? '0 : cycles_q + 64'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (restart) begin
      index_o                 <= '0;
      counters_o.retired      <= '0;
      counters_o.busy_compute <= '0;
      counters_o.busy_mem     <= '0;
      counters_o.stall_hazard <= '0;
      counters_o.stall_unit   <= '0;
    end else begin
      index_o                 <= index_o + 32'(take_i);
      counters_o.retired      <= counters_o.retired + 32'(ends.compute) + 32'(ends.memory && !memory_error_i) +
                                 32'(ends.rns) + 32'(ends.pointwise) + 32'(sync_i);
      counters_o.busy_compute <= counters_o.busy_compute + 64'(!idle_i.compute);
      counters_o.busy_mem     <= counters_o.busy_mem + 64'(!idle_i.memory);
      if (head_valid_i && !take_i && !refused_i && !error_o) begin
        if (unit_free_i) counters_o.stall_hazard <= counters_o.stall_hazard + 64'd1;
        else counters_o.stall_unit <= counters_o.stall_unit + 64'd1;
      end
    end
  end

  // The first error stays: a transfer that failed, else the refused head, else a lost command.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_o         <= 1'b0;
      failure_o.code  <= ErrNone;
      failure_o.index <= '0;
      failure_o.cmd   <= '0;
    end else if (clear_i) begin
      error_o         <= 1'b0;
      failure_o.code  <= ErrNone;
      failure_o.index <= '0;
      failure_o.cmd   <= '0;
    end else if (!error_o && (memory_error_i || refused_i || overflow_i)) begin
      error_o         <= 1'b1;
      failure_o.code  <= memory_error_i ? ErrBus : refused_i ? refused_code_i : ErrOverflow;
      failure_o.index <= memory_error_i ? memory_index_q : index_o;
      failure_o.cmd   <= memory_error_i ? memory_word_q : head_word_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start.memory) begin
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
    .idle_i   (idle_i.rns),
    .start_i  (start.rns),
    .index_i  (index_o),
    .busy_o   (counters_o.busy_rns),
    .index_o  (rns_index_q)
  );
  rs_unit_status #(
    .Present(EnPointwise)
  ) u_pointwise (
    .clk_i,
    .restart_i(restart),
    .idle_i   (idle_i.pointwise),
    .start_i  (start.pointwise),
    .index_i  (index_o),
    .busy_o   (counters_o.busy_pointwise),
    .index_o  (pointwise_index_q)
  );

  assign events_o = '{
      start: start,
      ends: ends,
      start_idx: {4{index_o}},
      end_idx: {pointwise_index_q, rns_index_q, memory_index_q, compute_index},
      start_cmd: {4{head_word_i}}
    };

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start.compute || index_ready)
  else $error("%m: more compute instructions in flight than indices kept");
  assert property (@(posedge clk_i) disable iff (!armed) !ends.compute || index_valid)
  else $error("%m: an end without a start");
`endif
  logic unused_queue;
  assign unused_queue = ^{index_ready, index_valid, index_level};

endmodule
