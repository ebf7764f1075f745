// SPDX-License-Identifier: Apache-2.0
// Scoreboard of slots: may the instruction at the head be given to its unit now?
//
// Compute instructions share one pipeline of uniform length and are issued in order, so among them only reads of
// results still in flight matter. Such a read may start at once ("chained") if
//   - the pipeline is not longer than n/(4P): word for word the result is written before it is read, whatever the two
//     access orders (the distance inside a transform is the smallest one), and
//   - only the producer is in flight, with the same n, and the slot has two ports;
// otherwise it waits for the last write. An addend is read as its transform ends: its slot counts as read until then.
// The memory unit and the compute unit never share a slot, whatever they do with it. Transforms also claim the work
// slots, and the twiddle table while they are issued.
module rs_scoreboard
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
#(
  parameter int unsigned P = 1,
  // pipe_latency of the build.
  parameter int unsigned PipeLatency = 11,
  parameter logic [MaxSlots-1:0] SinglePort = '0
) (
  input  logic     clk_i,
  input  logic     rst_ni,
  // Head of the queue and the answer: the unit is free and no slot is in the way.
  input  decoded_t head_i,
  input  logic     head_valid_i,
  output logic     unit_free_o,
  output logic     clear_o,
  // The head is taken now.
  input  logic     take_i,
  // Compute unit.
  input  logic     compute_ready_i,
  input  logic     sources_done_i,
  input  logic     table_busy_i,
  input  logic     compute_end_i,
  // Memory unit.
  input  logic     memory_ready_i,
  input  logic     memory_done_i,
  output logic     compute_idle_o,
  output logic     memory_idle_o
);

  // At most seven compute instructions in flight: more start only where n/P is below a seventh of the pipeline.
  localparam int unsigned CountBits = 3;
  localparam logic [CountBits-1:0] MaxFlight = '1;

  // Chaining by log2 n.
  function automatic logic [15:0] chain_table();
    logic [15:0] can = '0;
    for (int k = 3; k < 16; k++) can[k] = stage_gap(k, int'(P), int'(PipeLatency)) == 0;
    return can;
  endfunction
  localparam logic [15:0] CanChain = chain_table();

  // In flight in the compute unit, oldest first, by a queue of the slots each will have written and read.
  typedef struct packed {
    logic [MaxSlots-1:0] writes;
    logic [MaxSlots-1:0] late;
  } flight_t;
  flight_t [MaxFlight-1:0] flight_q, flight_d;
  logic [CountBits-1:0] count_q, count_d;
  logic [MaxSlots-1:0] pending, late, sources_q;
  logic [3:0] mod_idx_q, log2_n_q;

  logic take_compute, take_memory;
  assign take_compute = take_i && head_i.compute;
  assign take_memory  = take_i && head_i.memory;

  always_comb begin
    flight_d = flight_q;
    count_d  = count_q;
    if (compute_end_i) begin
      flight_d = {flight_t'('0), flight_q[MaxFlight-1:1]};
      count_d  = count_q - 1'b1;
    end
    if (take_compute) begin
      flight_d[count_d] = '{writes: head_i.writes | head_i.works, late: head_i.late};
      count_d = count_d + 1'b1;
    end
    pending = '0;
    late    = '0;
    for (int i = 0; i < int'(MaxFlight); i++) begin
      pending |= flight_q[i].writes;
      late    |= flight_q[i].late;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flight_q  <= '0;
      count_q   <= '0;
      sources_q <= '0;
      mod_idx_q <= '0;
      log2_n_q  <= '0;
    end else begin
      flight_q <= flight_d;
      count_q  <= count_d;
      if (take_compute) begin
        sources_q <= head_i.reads & ~head_i.late;
        mod_idx_q <= head_i.mod_idx;
        log2_n_q  <= head_i.c.log2_n;
      end else if (sources_done_i) begin
        sources_q <= '0;
      end
    end
  end

  // Slots the memory unit holds; bit MaxSlots is the twiddle table.
  logic [MaxSlots:0] memory_q;
  logic memory_busy_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      memory_q      <= '0;
      memory_busy_q <= 1'b0;
    end else if (take_memory) begin
      memory_q      <= {head_i.m.table_dst, head_i.reads | head_i.writes};
      memory_busy_q <= 1'b1;
    end else if (memory_done_i) begin
      memory_q      <= '0;
      memory_busy_q <= 1'b0;
    end
  end

  // Compute: reads of results in flight, a modulus in use, slots of the memory unit.
  logic chain, read_clear, compute_clear, memory_clear;
  logic [MaxSlots-1:0] touched, busy_slots;
  assign chain         = CanChain[head_i.c.log2_n] && count_q == 1 && log2_n_q == head_i.c.log2_n;
  assign read_clear    = (head_i.reads & pending & (chain ? SinglePort : '1)) == '0 &&
                         (head_i.reads & late) == '0;
  assign touched       = head_i.reads | head_i.writes | head_i.works;
  assign compute_clear = read_clear && count_q != MaxFlight && (count_q == '0 || mod_idx_q == head_i.mod_idx) &&
                         (touched & memory_q[MaxSlots-1:0]) == '0 && !(head_i.needs_table && memory_q[MaxSlots]);

  // Memory: nothing the compute unit reads or will write.
  assign busy_slots   = pending | late | sources_q;
  assign memory_clear = (touched & busy_slots) == '0 && !(head_i.m.table_dst && table_busy_i);

  assign compute_idle_o = count_q == '0;
  assign memory_idle_o  = !memory_busy_q;
  assign unit_free_o    = head_i.compute ? compute_ready_i : !head_i.memory || memory_ready_i;
  always_comb begin
    if (head_i.compute) clear_o = compute_clear;
    else if (head_i.memory) clear_o = memory_clear;
    else clear_o = compute_idle_o && memory_idle_o;
  end

`ifndef SYNTHESIS
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || (head_valid_i && unit_free_o && clear_o))
  else $error("%m: an instruction is taken past a hazard");
  assert property (@(posedge clk_i) disable iff (!rst_ni) !compute_end_i || count_q != '0)
  else $error("%m: an instruction ends that never started");
`else
  logic unused_valid;
  assign unused_valid = head_valid_i;
`endif

  logic unused_head;
  assign unused_head = ^{head_i.sync, head_i.error, head_i.c, head_i.m};

endmodule
