// SPDX-License-Identifier: Apache-2.0
// Scoreboard of slots: may the instruction at the head be given to its unit now?
//
// Compute instructions share one pipeline of uniform length and are issued in order, so among them only reads of
// results still in flight matter. Such a read may start at once ("chained") if
//   - the pipeline is not longer than n/(4P): word for word the result is written before it is read, whatever the two
//     access orders (the distance inside a transform is the smallest one), and
//   - only the producer is in flight, with the same n, and the slot has two ports;
// otherwise it waits for the last write. An addend is read as its transform ends: its slot counts as read until then.
// No two units ever share a slot, whatever they do with it: the memory, the base-conversion and the pointwise unit hold
// those of their instruction until it ends. Transforms also claim the work slots, and the twiddle table while they are
// issued.
module rs_scoreboard
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
#(
  parameter int unsigned P = 1,
  // Slots, 2 to 32.
  parameter int unsigned Slots = 3,
  // pipe_latency of the build.
  parameter int unsigned PipeLatency = 11,
  parameter logic [MaxSlots-1:0] SinglePort = '0,
  // 1: there is a base-conversion unit.
  parameter bit EnRns = 1'b0,
  // 1: there is a unit of pointwise instructions.
  parameter bit EnPointwise = 1'b0
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
  input  finish_t  finish_i,
  // Memory unit.
  input  logic     memory_ready_i,
  input  logic     memory_done_i,
  // Base-conversion unit.
  input  logic     rns_done_i,
  // Unit of pointwise instructions.
  input  logic     pointwise_done_i,
  output logic     compute_idle_o,
  output logic     memory_idle_o,
  output logic     rns_idle_o,
  output logic     pointwise_idle_o
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

  // For each slot: instructions in flight that write it, that read it late. The sequencer names the slots at the end.
  logic [MaxSlots-1:0][CountBits-1:0] writers_q, readers_q;
  logic [CountBits-1:0] count_q;
  logic [MaxSlots-1:0] pending, late, sources_q, claims;
  logic [3:0] mod_idx_q, log2_n_q;

  logic take_compute, take_memory, take_rns, take_pointwise;
  assign take_compute = take_i && head_i.compute;
  assign take_memory  = take_i && head_i.memory;
  assign take_rns     = EnRns && take_i && head_i.rns;
  assign take_pointwise = EnPointwise && take_i && head_i.pointwise;
  assign claims       = head_i.writes | head_i.works;

  for (genvar s = 0; s < MaxSlots; s++) begin : gen_slot
    logic starts_write, ends_write, starts_read, ends_read;
    assign starts_write = take_compute && claims[s];
    assign ends_write   = finish_i.valid && finish_i.writes[s];
    assign starts_read  = take_compute && head_i.late[s];
    assign ends_read    = finish_i.valid && finish_i.late[s];
    if (s < Slots) begin : gen_counted
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          writers_q[s] <= '0;
          readers_q[s] <= '0;
        end else begin
          writers_q[s] <= writers_q[s] + CountBits'(starts_write) - CountBits'(ends_write);
          readers_q[s] <= readers_q[s] + CountBits'(starts_read) - CountBits'(ends_read);
        end
      end
    end else begin : gen_absent
      assign writers_q[s] = '0;
      assign readers_q[s] = '0;
      logic unused_slot;
      assign unused_slot = ^{starts_write, ends_write, starts_read, ends_read};
    end
    assign pending[s] = writers_q[s] != '0;
    assign late[s]    = readers_q[s] != '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q   <= '0;
      sources_q <= '0;
      mod_idx_q <= '0;
      log2_n_q  <= '0;
    end else begin
      count_q <= count_q + CountBits'(take_compute) - CountBits'(finish_i.valid);
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

  // Slots the base-conversion unit holds, and the unit of pointwise instructions.
  logic [MaxSlots-1:0] rns_q, pointwise_q;
  logic rns_busy_q, pointwise_busy_q;
  rs_hold #(
    .Present(EnRns)
  ) u_rns (
    .clk_i,
    .rst_ni,
    .take_i (take_rns),
    .slots_i(head_i.reads | head_i.writes),
    .done_i (rns_done_i),
    .slots_o(rns_q),
    .busy_o (rns_busy_q)
  );
  rs_hold #(
    .Present(EnPointwise)
  ) u_pointwise (
    .clk_i,
    .rst_ni,
    .take_i (take_pointwise),
    .slots_i(head_i.reads | head_i.writes),
    .done_i (pointwise_done_i),
    .slots_o(pointwise_q),
    .busy_o (pointwise_busy_q)
  );

  // Compute: reads of results in flight, a modulus in use, slots of the other units.
  logic chain, read_clear, compute_clear, memory_clear, rns_clear, pointwise_clear;
  logic [MaxSlots-1:0] touched, busy_slots;
  assign chain         = CanChain[head_i.c.log2_n] && count_q == 1 && log2_n_q == head_i.c.log2_n;
  assign read_clear    = (head_i.reads & pending & (chain ? SinglePort : '1)) == '0 &&
                         (head_i.reads & late) == '0;
  assign touched       = head_i.reads | head_i.writes | head_i.works;
  assign compute_clear = read_clear && count_q != MaxFlight && (count_q == '0 || mod_idx_q == head_i.mod_idx) &&
                         (touched & (memory_q[MaxSlots-1:0] | rns_q | pointwise_q)) == '0 &&
                         !(head_i.needs_table && memory_q[MaxSlots]);

  // The others: nothing the compute unit reads or will write, nothing of each other's.
  assign busy_slots   = pending | late | sources_q;
  assign memory_clear = (touched & (busy_slots | rns_q | pointwise_q)) == '0 && !(head_i.m.table_dst && table_busy_i);
  assign rns_clear    = (touched & (busy_slots | memory_q[MaxSlots-1:0] | pointwise_q)) == '0;
  assign pointwise_clear = (touched & (busy_slots | memory_q[MaxSlots-1:0] | rns_q)) == '0;

  assign compute_idle_o = count_q == '0;
  assign memory_idle_o  = !memory_busy_q;
  assign rns_idle_o     = !rns_busy_q;
  assign pointwise_idle_o = !pointwise_busy_q;
  always_comb begin
    if (head_i.compute) {unit_free_o, clear_o} = {compute_ready_i, compute_clear};
    else if (head_i.memory) {unit_free_o, clear_o} = {memory_ready_i, memory_clear};
    else if (EnRns && head_i.rns) {unit_free_o, clear_o} = {rns_idle_o, rns_clear};
    else if (EnPointwise && head_i.pointwise) {unit_free_o, clear_o} = {pointwise_idle_o, pointwise_clear};
    else {unit_free_o, clear_o} = {1'b1, compute_idle_o && memory_idle_o && rns_idle_o && pointwise_idle_o};
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !take_i || (head_valid_i && unit_free_o && clear_o))
  else $error("%m: an instruction is taken past a hazard");
  assert property (@(posedge clk_i) disable iff (!armed) !finish_i.valid || count_q != '0)
  else $error("%m: an instruction ends that never started");
  logic given_back, shared, one_unit;
  logic [MaxSlots-1:0] compute_slots;
  assign given_back = (finish_i.writes & ~pending) == '0 && (finish_i.late & ~late) == '0;
  assign compute_slots = pending | late | sources_q;
  assign shared     = (compute_slots & (memory_q[MaxSlots-1:0] | rns_q | pointwise_q)) != '0 ||
                      (memory_q[MaxSlots-1:0] & (rns_q | pointwise_q)) != '0 || (rns_q & pointwise_q) != '0;
  assign one_unit   = $onehot0({head_i.compute, head_i.memory, head_i.rns, head_i.pointwise, head_i.sync});
  assert property (@(posedge clk_i) disable iff (!armed) !finish_i.valid || given_back)
  else $error("%m: a slot is given back that was not claimed");
  assert property (@(posedge clk_i) disable iff (!armed) count_q != '0 || (pending | late) == '0)
  else $error("%m: slots are claimed while no instruction runs");
  assert property (@(posedge clk_i) disable iff (!armed) !shared)
  else $error("%m: two units hold a slot");
  assert property (@(posedge clk_i) disable iff (!armed) !memory_done_i || memory_busy_q)
  else $error("%m: the memory unit ends what never started");
  assert property (@(posedge clk_i) disable iff (!armed) !rns_done_i || rns_busy_q)
  else $error("%m: the base-conversion unit ends what never started");
  assert property (@(posedge clk_i) disable iff (!armed) !pointwise_done_i || pointwise_busy_q)
  else $error("%m: the pointwise unit ends what never started");
  assert property (@(posedge clk_i) disable iff (!armed) !take_i || one_unit)
  else $error("%m: an instruction for two units");
`else
  logic unused_valid;
  assign unused_valid = head_valid_i;
`endif

  logic unused_head;
  assign unused_head = ^{head_i.rns, head_i.pointwise, head_i.sync, head_i.error, head_i.c, head_i.m, head_i.r};

endmodule
