// SPDX-License-Identifier: Apache-2.0
// Checks bound into rs_scoreboard: commands in flight are tracked and hold their slots until they end.
//
// A reference queue keeps the writes and late reads of each compute command in flight, in the order they were taken;
// the units end them in that order (assumed: that is the sequencer's contract). Then the scoreboard's counters match
// the queue, and no command gets past one in flight whose slots it needs: a read of a result waits, unless it follows
// directly and chains, and no two of the four units ever share a slot.
module rs_scoreboard_checks
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
#(
  parameter int unsigned Slots = 5,
  parameter logic [MaxSlots-1:0] SinglePort = '0
) (
  input logic                         clk_i,
  input logic                         rst_ni,
  input decoded_t                     head_i,
  input logic                         clear_o,
  input logic                         take_compute,
  input logic                         take_memory,
  input finish_t                      finish_i,
  input logic                         take_rns,
  input logic                         memory_done_i,
  input logic                         rns_done_i,
  input logic     [MaxSlots-1:0][2:0] writers_q,
  input logic     [MaxSlots-1:0][2:0] readers_q,
  input logic     [         2:0]      count_q,
  input logic     [  MaxSlots:0]      memory_q,
  input logic                         memory_busy_q,
  input logic     [MaxSlots-1:0]      rns_q,
  input logic                         rns_busy_q,
  input logic                         take_pointwise,
  input logic                         pointwise_done_i,
  input logic     [MaxSlots-1:0]      pointwise_q,
  input logic                         pointwise_busy_q
);
  localparam int unsigned Flight = 7;
  logic [Flight-1:0][Slots-1:0] writes_q, writes_d, late_q, late_d;
  logic [2:0] level_q, level_d;
  logic [Slots-1:0] claims, touched, held_q, converted_q, multiplied_q;
  logic table_q, converting_q, multiplying_q;

  assign claims  = head_i.writes[Slots-1:0] | head_i.works[Slots-1:0];
  assign touched = claims | head_i.reads[Slots-1:0];

  always_comb begin
    writes_d = writes_q;
    late_d   = late_q;
    level_d  = level_q;
    if (finish_i.valid) begin
      writes_d = {Slots'(0), writes_q[Flight-1:1]};
      late_d   = {Slots'(0), late_q[Flight-1:1]};
      level_d  = level_d - 3'd1;
    end
    if (take_compute) begin
      writes_d[level_d] = claims;
      late_d[level_d]   = head_i.late[Slots-1:0];
      level_d           = level_d + 3'd1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writes_q <= '0;
      late_q   <= '0;
      level_q  <= '0;
    end else begin
      writes_q <= writes_d;
      late_q   <= late_d;
      level_q  <= level_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q  <= '0;
      table_q <= 1'b0;
    end else if (take_memory) begin
      held_q  <= head_i.writes[Slots-1:0] | head_i.reads[Slots-1:0];
      table_q <= head_i.m.table_dst;
    end else if (memory_done_i) begin
      held_q  <= '0;
      table_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      converted_q  <= '0;
      converting_q <= 1'b0;
    end else if (take_rns) begin
      converted_q  <= head_i.writes[Slots-1:0] | head_i.reads[Slots-1:0];
      converting_q <= 1'b1;
    end else if (rns_done_i) begin
      converted_q  <= '0;
      converting_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      multiplied_q  <= '0;
      multiplying_q <= 1'b0;
    end else if (take_pointwise) begin
      multiplied_q  <= head_i.writes[Slots-1:0] | head_i.reads[Slots-1:0];
      multiplying_q <= 1'b1;
    end else if (pointwise_done_i) begin
      multiplied_q  <= '0;
      multiplying_q <= 1'b0;
    end
  end

  always_comb begin
    // The sequencer ends the oldest command first and names its slots.
    if (finish_i.valid) assume (finish_i.writes == MaxSlots'(writes_q[0]) && finish_i.late == MaxSlots'(late_q[0]));
  end

  always_comb begin
    if (rst_ni) begin
      // Nothing is forgotten.
      assert (count_q == level_q);
      for (int unsigned s = 0; s < Slots; s++) begin
        logic [2:0] writers, readers;
        writers = '0;
        readers = '0;
        for (int unsigned i = 0; i < Flight; i++) begin
          writers += 3'(writes_q[i][s]);
          readers += 3'(late_q[i][s]);
        end
        assert (writers_q[s] == writers && readers_q[s] == readers);
      end
      for (int unsigned i = 0; i < Flight; i++) begin
        if (i >= 32'(level_q)) assert (writes_q[i] == '0 && late_q[i] == '0);
      end
      assert (memory_q == {table_q, MaxSlots'(held_q)});
      if (!memory_busy_q) assert (memory_q == '0);
      assert (rns_q == MaxSlots'(converted_q) && rns_busy_q == converting_q);
      if (!converting_q) assert (converted_q == '0);
      assert (pointwise_q == MaxSlots'(multiplied_q) && pointwise_busy_q == multiplying_q);
      if (!multiplying_q) assert (multiplied_q == '0);

      // Nothing gets past.
      for (int unsigned i = 0; i < Flight; i++) begin
        if (clear_o && head_i.compute) begin
          assert ((head_i.reads[Slots-1:0] & late_q[i]) == '0);
          assert ((head_i.reads[Slots-1:0] & writes_q[i] & SinglePort[Slots-1:0]) == '0);
          if ((head_i.reads[Slots-1:0] & writes_q[i]) != '0) assert (level_q == 3'd1);
        end
        if (clear_o && (head_i.memory || head_i.rns || head_i.pointwise))
          assert ((touched & (writes_q[i] | late_q[i])) == '0);
      end
      if (clear_o && head_i.compute) begin
        assert ((touched & (held_q | converted_q | multiplied_q)) == '0);
        assert (!(head_i.needs_table && table_q));
      end
      if (clear_o && head_i.memory) assert ((touched & (converted_q | multiplied_q)) == '0);
      if (clear_o && head_i.rns) assert ((touched & (held_q | multiplied_q)) == '0);
      if (clear_o && head_i.pointwise) assert ((touched & (held_q | converted_q)) == '0);
      if (clear_o && !head_i.compute && !head_i.memory && !head_i.rns && !head_i.pointwise)
        assert (level_q == '0 && !memory_busy_q && !converting_q && !multiplying_q);
    end
  end
endmodule
