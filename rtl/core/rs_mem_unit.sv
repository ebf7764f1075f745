// SPDX-License-Identifier: Apache-2.0
// Memory unit: copies between slots, plain and bit-reversed, and the two directions of the DMA.
// One instruction at a time.
//
//   MEMCPY   a word a cycle:        issue -> t0 read -> t1 select -> t2 write
//   MEMCPYR  a coefficient a cycle: as above; a word is assembled in place from P reads, dst[i] = src[brv(i)]
//   LOAD     request, then the transfer's words taken as they come, written the cycle after, or pushed into the stream
//   STORE    request, then the transfer's words read ahead into a queue of QueueWords; ends with port_i.st_done
//
// A transfer has Lanes * n/P words, lane 0's first; with WidePort n/P rows of a word of every lane. done_o comes in the
// cycle of the last write (STORE: with port_i.st_done); error_o with it.
module rs_mem_unit
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
#(
  // Bits of a word address: log2(n_max / P).
  parameter int unsigned WordAddrBits = 4,
  // Butterflies: 1, 2, 4, 8, 16 or 32.
  parameter int unsigned P = 1,
  // Bits of a word, P coefficients.
  parameter int unsigned WordBits = 32,
  // 1 to 15.
  parameter int unsigned Lanes = 1,
  // 1: the data port moves a word of every lane at a time; 0: of one lane.
  parameter bit WidePort = 1'b0,
  localparam int unsigned LaneBits = P > 1 ? $clog2(P) : 1,
  localparam int unsigned PortWords = WidePort ? Lanes : 1
) (
  input  logic                                       clk_i,
  input  logic                                       rst_ni,
  input  logic                                       start_i,
  input  memory_t                                    instr_i,
  output logic                                       ready_o,
  output logic                                       done_o,
  output logic                                       error_o,
  // Read: t0; the lanes' part from t1 on. A word loaded comes with port_i.ld_valid and is written the cycle after.
  output word_read_t                                 read_o,
  output memory_path_t                               path_o,
  input  logic         [    Lanes-1:0][WordBits-1:0] rd_data_i,
  // Write, by lane: to a slot or to the twiddle table of a modulus.
  output logic         [    Lanes-1:0]               write_valid_o,
  output logic         [    Lanes-1:0]               table_write_valid_o,
  output word_write_t                                write_o,
  output logic         [          3:0]               write_table_o,
  // Data port.
  output port_req_t                                  port_o,
  input  port_rsp_t                                  port_i,
  output logic         [PortWords-1:0][WordBits-1:0] st_data_o,
  // The stream: words of the data port.
  output logic                                       stream_push_o,
  input  logic                                       stream_ready_i
);

  localparam int unsigned Log2P = $clog2(P);
  localparam int unsigned IndexBits = WordAddrBits + Log2P;
  // Times that a transfer goes through the words of a slot.
  localparam int unsigned Passes = Lanes / PortWords;
  localparam int unsigned QueueWords = 8;

  typedef enum logic [2:0] {
    Idle,
    Copy,
    Request,
    Load,
    Store,
    Wait
  } state_e;

  state_e state_q;
  memory_t instr_q;
  logic [IndexBits-1:0] index_q;
  logic [3:0] lane_q;
  logic fault_q;

  // Step counters: words, or coefficients for the bit-reversed copy.
  logic [IndexBits-1:0] last_index;
  logic step, last_step, last_lane, finish;
  logic [3:0] shift;
  assign shift      = instr_q.reverse ? instr_q.log2_n : instr_q.log2_n - 4'(Log2P);
  assign last_index = (IndexBits'(1) << shift) - 1'b1;
  assign last_step  = index_q == last_index;
  assign last_lane  = lane_q == 4'(Passes - 1) || state_q == Copy;

  // Room for a word read ahead: those queued and those on their way.
  localparam int unsigned LevelBits = $clog2(QueueWords) + 1;
  logic [LevelBits-1:0] level, ahead_q;
  logic room;
  assign room = ahead_q < LevelBits'(QueueWords);

  logic load_take;
  assign port_o.ld_ready = state_q == Load && (!instr_q.stream || stream_ready_i);
  assign stream_push_o = load_take && instr_q.stream;
  assign load_take  = port_o.ld_ready && port_i.ld_valid;
  assign step       = state_q == Copy || load_take || (state_q == Store && room);
  assign finish     = step && last_step && last_lane;
  assign ready_o    = state_q == Idle;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      index_q <= '0;
      lane_q  <= '0;
      fault_q <= 1'b0;
    end else begin
      if (start_i) begin
        state_q <= instr_i.load || instr_i.store ? Request : Copy;
        fault_q <= 1'b0;
      end
      if (state_q == Request && port_i.ready) state_q <= instr_q.load ? Load : Store;
      if (finish) state_q <= Wait;
      if (state_q == Wait && done_o) state_q <= Idle;
      if (step) begin
        index_q <= last_step ? '0 : index_q + 1'b1;
        if (last_step) lane_q <= last_lane ? '0 : lane_q + 1'b1;
      end
      if (load_take && port_i.ld_err) fault_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) instr_q <= instr_i;
  end

  assign port_o.transfer = '{
      valid: state_q == Request,
      store: instr_q.store,
      buf_idx: instr_q.buf_idx,
      log2_n: instr_q.log2_n
    };

  // Reversed index: of log2 n bits.
  logic [IndexBits-1:0] reversed;
  always_comb begin
    for (int i = 0; i < int'(IndexBits); i++) reversed[i] = index_q[int'(IndexBits)-1-i];
    reversed = reversed >> (4'(IndexBits) - instr_q.log2_n);
  end

  // t0 to t2 of a read.
  typedef struct packed {
    logic write;  // a word is complete
    logic last;
    logic [3:0] lane;
    logic [LaneBits-1:0] pick, place;
    logic [WordAddrBits-1:0] word;
  } step_t;
  step_t step_d, step_q, step_q2, step_q3;
  logic reading, read_q, read_q2, read_q3;
  logic [LaneBits-1:0] low_reversed, low_index;
  logic [WordAddrBits-1:0] dst_word, src_word, src_word_q;
  if (P > 1) begin : gen_low
    assign low_reversed = reversed[LaneBits-1:0];
    assign low_index    = index_q[LaneBits-1:0];
    assign dst_word     = instr_q.reverse ? index_q[IndexBits-1:Log2P] : index_q[WordAddrBits-1:0];
    assign src_word     = instr_q.reverse ? reversed[IndexBits-1:Log2P] : index_q[WordAddrBits-1:0];
  end else begin : gen_no_low
    assign low_reversed = '0;
    assign low_index    = '0;
    assign dst_word     = index_q;
    assign src_word     = instr_q.reverse ? reversed : index_q;
  end
  assign reading = step && state_q != Load;
  assign step_d  = '{
      write: !instr_q.reverse || low_index == LaneBits'(P - 1),
      last: last_step && last_lane,
      lane: lane_q,
      pick: low_reversed,
      place: low_index,
      word: dst_word
  };

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q  <= 1'b0;
      read_q2 <= 1'b0;
      read_q3 <= 1'b0;
    end else begin
      read_q  <= reading;
      read_q2 <= read_q;
      read_q3 <= read_q2;
    end
  end
  always_ff @(posedge clk_i) begin
    src_word_q <= src_word;
    step_q     <= step_d;
    step_q2    <= step_q;
    step_q3    <= step_q2;
  end

  assign read_o = '{
          valid: read_q && !instr_q.src.zero,
          from: instr_q.src,
          word: word_addr_t'(src_word_q)
      };
  assign path_o = '{
          from: instr_q.src,
          load: instr_q.load,
          reverse: instr_q.reverse,
          pick: 5'(step_q3.pick),
          place: 5'(step_q3.place)
      };

  // Writes: a copied word at t2, a loaded one the cycle after it came.
  logic load_q, load_last_q;
  logic [3:0] load_lane_q;
  logic [WordAddrBits-1:0] load_word_q, written;
  logic copy_write;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) load_q <= 1'b0;
    else load_q <= load_take;
  end
  always_ff @(posedge clk_i) begin
    load_last_q    <= last_step && last_lane;
    load_lane_q    <= lane_q;
    load_word_q    <= dst_word;
  end
  assign copy_write = read_q3 && step_q3.write && !instr_q.store;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane_write
    logic hit;
    assign hit                    = load_q && (WidePort || load_lane_q == 4'(l));
    assign write_valid_o[l]       = copy_write || (hit && !instr_q.table_dst && !instr_q.stream);
    assign table_write_valid_o[l] = hit && instr_q.table_dst;
  end
  assign written       = instr_q.load ? load_word_q : step_q3.word;
  assign write_o       = '{slot: instr_q.dst, word: word_addr_t'(written)};
  assign write_table_o = instr_q.mod_idx;

  // STORE: words read ahead.
  logic push, pop, queue_ready;
  logic [PortWords-1:0][WordBits-1:0] stored;
  assign push = read_q3 && instr_q.store;
  assign pop  = port_o.st_valid && port_i.st_ready;
  if (WidePort) begin : gen_row
    logic unused_lane;
    assign unused_lane = ^step_q3.lane;
    assign stored      = rd_data_i;
  end else begin : gen_word
    assign stored[0] = rd_data_i[step_q3.lane];
  end
  rs_fifo #(
    .Width(PortWords * WordBits + 1),
    .Depth(QueueWords)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(push),
    .ready_o(queue_ready),
    .data_i ({step_q3.last, stored}),
    .valid_o(port_o.st_valid),
    .ready_i(port_i.st_ready),
    .data_o ({port_o.st_last, st_data_o}),
    .level_o(level)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ahead_q <= '0;
    else ahead_q <= ahead_q + LevelBits'(reading && state_q == Store) - LevelBits'(pop);
  end

  always_comb begin
    if (instr_q.store) done_o = state_q == Wait && port_i.st_done;
    else if (instr_q.load) done_o = load_q && load_last_q;
    else done_o = copy_write && step_q3.last;
  end
  assign error_o = done_o && (instr_q.store ? port_i.st_err : fault_q);

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || ready_o)
  else $error("%m: instruction taken while one runs");
  assert property (@(posedge clk_i) disable iff (!armed) !push || queue_ready)
  else $error("%m: a word read ahead is lost");
  assert property (@(posedge clk_i) disable iff (!armed) level <= ahead_q)
  else $error("%m: more words queued than read");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !start_i || (int'(instr_i.log2_n) >= int'(Log2P) + 1 && int'(instr_i.log2_n) <= int'(IndexBits)))
  else $error("%m: a degree out of range");
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || !(instr_i.load && instr_i.store))
  else $error("%m: a LOAD that is a STORE");
  assert property (@(posedge clk_i) disable iff (!armed) ahead_q <= LevelBits'(QueueWords))
  else $error("%m: more words read ahead than the queue holds");
  // Handshakes: a valid word stays stable until ready.
  assert property (@(posedge clk_i) disable iff (!armed) port_o.transfer.valid && !port_i.ready |=> $stable(
    port_o.transfer
  ))
  else $error("%m: a request is withdrawn");
  assert property (@(posedge clk_i) disable iff (!armed) port_o.st_valid && !port_i.st_ready |=> port_o.st_valid && $stable(
    {port_o.st_last, st_data_o}
  ))
  else $error("%m: a stored word is withdrawn");
`else
  logic unused_queue;
  assign unused_queue = ^{queue_ready, level};
`endif

endmodule
