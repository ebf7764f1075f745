// SPDX-License-Identifier: Apache-2.0
// The co-processor core: command queue, decoder, scoreboard, compute and memory unit, in builds that ask for them one
// for base conversion and one for pointwise instructions, and lanes in lockstep.
//
//   cmd --> queue --> decode --> head --> scoreboard --> compute sequencer --+
//                                              |-------> memory unit --------+--> ports --> lanes --> slots
//                                              |-------> base conversion ----+
//                                              \-------> pointwise unit -----+
//
// Commands are issued in order, one to each unit at a time; compute instructions follow each other back to back. The
// first error stops the issue: instructions in flight finish, the queue is held until clear_i.
// Latencies: spec/latency.yaml.
module rs_core
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
  import rs_isa_pkg::*;
  import rs_core_pkg::*;
  import rs_error_pkg::*;
  import rs_latency_pkg::*;
#(
  // The parameters of the core: see rs_build_pkg.
  parameter core_cfg_t Cfg = SmallCore,
  localparam int unsigned W = Cfg.W,
  localparam int unsigned P = Cfg.P,
  localparam int unsigned Lanes = Cfg.Lanes,
  localparam int unsigned PortWords = Cfg.WidePort ? Lanes : 1
) (
  input  logic                                clk_i,
  input  logic                                rst_ni,
`ifdef RINGSMITH_FAULT_PIN
  // Test hook of builds that ask for it: flips bit 0 of coefficient 0 of each result written.
  input  logic                                fault_i,
`endif
  // Empties the queue, forgets error, counters and what was written; only while idle or stopped by an error.
  input  logic                                clear_i,
  input  logic                                cmd_valid_i,
  output logic                                cmd_ready_o,
  input  logic            [             63:0] cmd_i,
  output logic            [             10:0] cmd_level_o,
  input  constant_write_t                     constant_i,
  // DMA: a request, then Lanes * n/P words of P coefficients, lane 0 first, coefficient 0 lowest; with WidePort n/P
  // rows of a word of every lane, lane 0 lowest.
  // dma_room_i: strides of host buffers that the addresses hold.
  input  logic            [             26:0] dma_room_i,
  output port_req_t                           port_o,
  input  port_rsp_t                           port_i,
  input  logic            [PortWords*P*W-1:0] ld_data_i,
  output logic            [PortWords*P*W-1:0] st_data_o,
  // Status.
  output logic                                busy_o,
  output logic                                sync_o,
  output logic                                error_o,
  output failure_t                            failure_o,
  output counters_t                           counters_o,
  // Events of this cycle; counters_o.cycles is their stamp.
  output events_t                             events_o
);

  localparam int unsigned Slots = Cfg.Slots;
  localparam int unsigned WordAddrBits = word_addr_bits(Cfg);
  localparam int unsigned TableBits = $clog2(Cfg.TwTables << WordAddrBits);
  localparam bit EnRns = third_unit(Cfg);
  localparam int unsigned SumLatency = 32'(addsub_latency(int'(Cfg.MulStyle)));
  localparam int unsigned MulLatency = 32'(mod_mul_latency(
    int'(Cfg.MulKind), int'(Cfg.MulStyle), int'(W), int'(Cfg.ModMinBits), int'(Cfg.MontW)
  ));
  localparam int unsigned PipeLatency = 32'(pipe_latency(
    int'(Cfg.MulKind), int'(Cfg.MulStyle), int'(W), int'(Cfg.ModMinBits), int'(Cfg.MontW)
  ));

  rs_build_check #(.Cfg(Cfg)) u_build_check ();

  // Command queue and head.
  logic queue_valid, queue_pop, head_valid_q, take, refused, overflow;
  logic [63:0] queue_word, head_word_q;
  logic [$clog2(Cfg.FifoDepth):0] queue_level;
  logic [15:0] configured;
  logic [31:0] conversions, conversions_own, automorphisms, digits;
  logic [31:0] index_q;
  decoded_t decoded, head_q;

  rs_fifo #(
    .Width(64),
    .Depth(Cfg.FifoDepth)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .clear_i,
    .valid_i(cmd_valid_i),
    .ready_o(cmd_ready_o),
    .data_i (cmd_i),
    .valid_o(queue_valid),
    .ready_i(queue_pop),
    .data_o (queue_word),
    .level_o(queue_level)
  );
  assign cmd_level_o = 11'(queue_level);
  assign overflow    = cmd_valid_i && !cmd_ready_o;

  rs_decode #(
    .Cfg(Cfg)
  ) u_decode (
    .word_i         (queue_word),
    .configured_i   (configured),
    .conversions_i  (conversions),
    .own_i          (conversions_own),
    .automorphisms_i(automorphisms),
    .digits_i       (digits),
    .decoded_o      (decoded)
  );

  // The head is refilled as it is taken: no bubble.
  assign queue_pop = queue_valid && (!head_valid_q || take) && !error_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) head_valid_q <= 1'b0;
    else if (clear_i) head_valid_q <= 1'b0;
    else if (queue_pop) head_valid_q <= 1'b1;
    else if (take) head_valid_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (queue_pop) begin
      head_q      <= decoded;
      head_word_q <= queue_word;
    end
  end

  // Whether the host buffer of the command at the head ends beyond the addresses. As sums: a product would take a DSP.
  function automatic logic [26:0] strides_to_end(logic [19:0] number);
    localparam int unsigned Stretches = stretches(Cfg);
    strides_to_end = '0;
    for (int i = 0; i < 6; i++) begin
      if (Stretches[i]) strides_to_end += (27'(number) + 27'd1) << i;
    end
  endfunction
  logic beyond_q;
  always_ff @(posedge clk_i) begin
    beyond_q <= strides_to_end(queue_pop ? decoded.m.buf_idx : head_q.m.buf_idx) > dma_room_i;
  end

  // Issue.
  logic unit_free, clear, compute_ready, sources_done, table_busy, compute_issuing;
  finish_t finish;
  logic memory_ready, memory_done, memory_error, rns_done, pointwise_done;
  units_t start, idle;
  logic [MaxSlots-1:0] written_q;
  logic [15:0] table_q;
  logic [3:0] table_idx, stream_log2_n_q;
  logic   streaming_q;
  error_e head_error;

  assign table_idx = Cfg.TwTables == 1 ? '0 : head_q.mod_idx;
  always_comb begin
    head_error = head_q.error;
    if (head_q.error == ErrNone) begin
      if ((head_q.reads & ~written_q) != '0 || (head_q.needs_table && !table_q[table_idx]) ||
          (head_q.c.stream && !streaming_q))
        head_error = ErrUnwritten;
      // What loads into the stream holds the memory unit until it is read.
      else if (streaming_q && (head_q.memory || head_q.sync || (head_q.c.stream && head_q.c.log2_n != stream_log2_n_q)))
        head_error = ErrCombination;
      else if (beyond_q && (head_q.m.load || head_q.m.store)) head_error = ErrAddress;
    end
  end

  // A load into the stream that no product reads yet.
  if (Cfg.EnStream) begin : gen_streaming
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) streaming_q <= 1'b0;
      else if (clear_i) streaming_q <= 1'b0;
      else if (take && (head_q.m.stream || head_q.c.stream)) streaming_q <= head_q.m.stream;
    end
    always_ff @(posedge clk_i) if (start.memory) stream_log2_n_q <= head_q.m.log2_n;
  end else begin : gen_not_streaming
    assign {streaming_q, stream_log2_n_q} = '0;
  end
  assign refused       = head_valid_q && !error_o && head_error != ErrNone;
  assign take          = head_valid_q && !error_o && head_error == ErrNone && unit_free && clear;
  assign start.compute = take && head_q.compute;
  assign start.memory  = take && head_q.memory;
  assign start.rns     = take && head_q.rns;
  assign start.pointwise = take && head_q.pointwise;
  assign sync_o        = take && head_q.sync;

  rs_scoreboard #(
    .P          (P),
    .Slots      (Slots),
    .PipeLatency(PipeLatency),
    .SinglePort (Cfg.SinglePort),
    .EnRns      (EnRns),
    .EnPointwise(Cfg.EnPointwise)
  ) u_scoreboard (
    .clk_i,
    .rst_ni,
    .head_i          (head_q),
    .head_valid_i    (head_valid_q),
    .unit_free_o     (unit_free),
    .clear_o         (clear),
    .take_i          (take),
    .compute_ready_i (compute_ready),
    .sources_done_i  (sources_done),
    .table_busy_i    (table_busy),
    .finish_i        (finish),
    .memory_ready_i  (memory_ready),
    .memory_done_i   (memory_done),
    .rns_done_i      (rns_done),
    .pointwise_done_i(pointwise_done),
    .compute_idle_o  (idle.compute),
    .memory_idle_o   (idle.memory),
    .rns_idle_o      (idle.rns),
    .pointwise_idle_o(idle.pointwise)
  );

  // Initialised slots and twiddle tables, in program order.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= '0;
      table_q   <= '0;
    end else if (clear_i) begin
      written_q <= '0;
    end else if (take) begin
      written_q <= (written_q & ~head_q.works) | head_q.writes;
      if (head_q.m.table_dst) table_q[Cfg.TwTables==1?4'd0 : head_q.mod_idx] <= 1'b1;
    end
  end

  // Compute unit.
  logic stream_ready, stream_push, stream_push_ready, compute_claim, table_rd_en;
  logic [WordAddrBits-1:0] table_word;
  operand_read_t read;
  select_t select;
  mode_t mode;
  late_read_t late;
  addend_t addend;
  result_t result;
  logic [3:0] mod_idx_q;

  rs_compute_seq #(
    .WordAddrBits(WordAddrBits),
    .P           (P),
    .SumLatency  (SumLatency),
    .MulLatency  (MulLatency),
    .PipeLatency (PipeLatency)
  ) u_compute (
    .clk_i,
    .rst_ni,
    .start_i       (start.compute),
    .instr_i       (head_q.c),
    .ready_o       (compute_ready),
    .stream_ready_i(stream_ready),
    .stream_claim_o(compute_claim),
    .issuing_o     (compute_issuing),
    .sources_done_o(sources_done),
    .table_busy_o  (table_busy),
    .read_o        (read),
    .table_rd_en_o (table_rd_en),
    .table_word_o  (table_word),
    .select_o      (select),
    .mode_o        (mode),
    .late_o        (late),
    .addend_o      (addend),
    .result_o      (result),
    .finish_o      (finish)
  );

  // Unit of pointwise instructions. Products with a streamed operand are all in one unit.
  logic stream_claim, stream_take;
  operand_read_t pointwise_read;
  operands_t pointwise_select;
  result_t pointwise_result;
  logic [Lanes-1:0][P*W-1:0] pointwise_v, pointwise_u, pointwise_w, pointwise_data, stream_words;

  if (Cfg.EnPointwise) begin : gen_pointwise
    logic [3:0] mod_idx;
    rs_pointwise_unit #(
      .Cfg(Cfg)
    ) u_pointwise (
      .clk_i,
      .rst_ni,
      .constant_i,
      .start_i       (start.pointwise),
      .instr_i       (head_q.c),
      .mod_idx_i     (head_q.mod_idx),
      .done_o        (pointwise_done),
      .mod_idx_o     (mod_idx),
      .stream_ready_i(stream_ready),
      .stream_claim_o(stream_claim),
      .stream_take_o (stream_take),
      .stream_i      (stream_words),
      .read_o        (pointwise_read),
      .select_o      (pointwise_select),
      .v_i           (pointwise_v),
      .u_i           (pointwise_u),
      .w_i           (pointwise_w),
      .result_o      (pointwise_result),
      .data_o        (pointwise_data)
    );
    logic unused_compute;
    assign unused_compute = ^{mod_idx, compute_claim};
  end else begin : gen_no_pointwise
    logic unused_pointwise;
    assign unused_pointwise = ^{start.pointwise, pointwise_v, pointwise_u, pointwise_w};
    assign {pointwise_done, pointwise_read, pointwise_select, pointwise_result, pointwise_data} = '0;
    assign stream_claim = compute_claim;
    assign stream_take  = select.stream;
  end

  // The modulus in use changes only while nothing is in flight.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mod_idx_q <= '0;
    else if (start.compute) mod_idx_q <= head_q.mod_idx;
  end

  logic [Lanes-1:0][W-1:0] modulus, minus_one, constant;
  logic [Lanes-1:0][W+2:0] aux;
  logic [Lanes-1:0][  7:0] mod_bits;
  rs_config #(
    .W(W),
    .Lanes(Lanes),
    .Moduli(Cfg.Moduli),
    .Consts(Cfg.Consts),
    .MulKind(Cfg.MulKind)
  ) u_config (
    .clk_i,
    .rst_ni,
    .we_i        (constant_i.we && constant_i.sel < 4'd4),
    .sel_i       (constant_i.sel[1:0]),
    .lane_i      (constant_i.lane),
    .idx_i       (constant_i.idx[4:0]),
    .data_i      (constant_i.data[W+2:0]),
    .configured_o(configured),
    .mod_idx_i   (mod_idx_q),
    .modulus_o   (modulus),
    .aux_o       (aux),
    .mod_bits_o  (mod_bits),
    .minus_one_o (minus_one),
    .const_idx_i (select.const_idx),
    .constant_o  (constant)
  );

  // Memory unit.
  word_read_t   memory_read;
  memory_path_t memory_path;
  word_write_t  memory_write;
  logic [Lanes-1:0] memory_write_valid, table_write_valid;
  logic [3:0] memory_table;
  logic [Lanes-1:0][P*W-1:0] memory_data;

  rs_mem_unit #(
    .WordAddrBits(WordAddrBits),
    .P           (P),
    .WordBits    (P * W),
    .Lanes       (Lanes),
    .WidePort    (Cfg.WidePort)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .start_i            (start.memory),
    .instr_i            (head_q.m),
    .ready_o            (memory_ready),
    .done_o             (memory_done),
    .error_o            (memory_error),
    .read_o             (memory_read),
    .path_o             (memory_path),
    .rd_data_i          (memory_data),
    .write_valid_o      (memory_write_valid),
    .table_write_valid_o(table_write_valid),
    .write_o            (memory_write),
    .write_table_o      (memory_table),
    .port_o,
    .port_i,
    .st_data_o,
    .stream_push_o      (stream_push),
    .stream_ready_i     (stream_push_ready)
  );

  // Streamed operand.
  if (Cfg.EnStream && !Cfg.WidePort) begin : gen_stream_check
    $error("%m: EnStream (stream) must be false without a wide port (wide_port)");
  end
  if (Cfg.EnStream) begin : gen_stream
    rs_stream #(
      .Width(PortWords * P * W)
    ) u_stream (
      .clk_i,
      .rst_ni,
      .push_i       (stream_push),
      .push_ready_o (stream_push_ready),
      .word_i       (ld_data_i),
      .claim_ready_o(stream_ready),
      .claim_i      (stream_claim),
      .take_i       (stream_take),
      .word_o       (stream_words),
      .drain_i      (error_o && streaming_q)
    );
  end else begin : gen_no_stream
    logic unused_stream;
    assign unused_stream = ^{stream_push, stream_claim, stream_take};
    assign {stream_push_ready, stream_ready, stream_words} = '0;
  end

  // Base conversion and moves.
  word_read_t x_read, own_read;
  logic rns_write_valid;
  word_write_t rns_write;
  logic [Lanes-1:0][P*W-1:0] x_data, own_data, rns_data;

  if (EnRns) begin : gen_rns
    rs_rns_unit #(
      .Cfg(Cfg)
    ) u_rns (
      .clk_i,
      .rst_ni,
      .constant_i,
      .configured_o   (conversions),
      .own_o          (conversions_own),
      .automorphisms_o(automorphisms),
      .digits_o       (digits),
      .start_i        (start.rns),
      .instr_i        (head_q.r),
      .done_o         (rns_done),
      .x_read_o       (x_read),
      .x_i            (x_data),
      .own_read_o     (own_read),
      .own_i          (own_data),
      .write_valid_o  (rns_write_valid),
      .write_o        (rns_write),
      .data_o         (rns_data)
    );
  end else begin : gen_no_rns
    logic unused_rns;
    assign unused_rns = ^{start.rns, head_q.r, x_data, own_data};
    assign {conversions, conversions_own, automorphisms, digits, rns_done} = '0;
    assign {x_read, own_read, rns_write_valid, rns_write, rns_data} = '0;
  end

  // Ports, lanes.
  slot_read_t [Slots-1:0] slot_read;
  slot_write_t [Slots-1:0] slot_write;
  logic [Lanes-1:0][Slots-1:0][1:0] slot_memory_write;

  rs_slot_ports #(
    .Slots       (Slots),
    .WordAddrBits(WordAddrBits),
    .Lanes       (Lanes),
    .EnRns       (EnRns),
    .EnPointwise (Cfg.EnPointwise)
  ) u_ports (
    .clk_i,
    .read_i              (read),
    .late_i              (late),
    .memory_read_i       (memory_read),
    .x_read_i            (x_read),
    .own_read_i          (own_read),
    .pointwise_read_i    (pointwise_read),
    .result_i            (result),
    .pointwise_result_i  (pointwise_result),
    .memory_write_valid_i(memory_write_valid),
    .memory_write_i      (memory_write),
    .rns_write_valid_i   (rns_write_valid),
    .rns_write_i         (rns_write),
    .read_o              (slot_read),
    .write_o             (slot_write),
    .memory_write_o      (slot_memory_write)
  );

  // The twiddle table: which one, and the word of it that is written or read.
  logic table_write;
  logic [WordAddrBits-1:0] table_entry;
  logic [TableBits-1:0] table_addr;
  assign table_write = |table_write_valid;
  assign table_entry = table_write ? memory_write.word[WordAddrBits-1:0] : table_word;
  if (Cfg.TwTables == 1) begin : gen_one_table
    logic unused_table;
    assign unused_table = ^memory_table;
    assign table_addr = table_entry;
  end else begin : gen_tables
    assign table_addr = TableBits'({table_write ? memory_table : mod_idx_q, table_entry});
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rs_lane #(
      .Cfg(Cfg)
    ) u_lane (
      .clk_i,
      .rd_valid_i      (read.valid),
      .modulus_i       (modulus[l]),
      .aux_i           (aux[l]),
      .mod_bits_i      (mod_bits[l]),
      .minus_one_i     (minus_one[l]),
      .constant_i      (constant[l]),
      .read_i          (slot_read),
      .table_rd_en_i   (table_rd_en && !table_write),
      .table_addr_i    (table_addr),
      .select_i        (select),
      .stream_i        (stream_words[l]),
      .addend_i        (addend),
      .mode_i          (mode),
      .result_i        (result),
      .write_i         (slot_write),
      .memory_write_i  (slot_memory_write[l]),
`ifdef RINGSMITH_FAULT_PIN
      .fault_i,
`endif
      .memory_i        (memory_path),
      .load_data_i     (ld_data_i[(Cfg.WidePort?l : 0)*P*W+:P*W]),
      .table_wr_en_i   (table_write_valid[l]),
      .memory_data_o   (memory_data[l]),
      .x_from_i        (x_read.from),
      .own_from_i      (own_read.from),
      .x_data_o        (x_data[l]),
      .own_data_o      (own_data[l]),
      .rns_data_i      (rns_data[l]),
      .pointwise_from_i(pointwise_select),
      .pointwise_v_o   (pointwise_v[l]),
      .pointwise_u_o   (pointwise_u[l]),
      .pointwise_w_o   (pointwise_w[l]),
      .pointwise_data_i(pointwise_data[l])
    );
  end

  // Status, counters, events.
  rs_status #(
    .EnRns(EnRns),
    .EnPointwise(Cfg.EnPointwise)
  ) u_status (
    .clk_i,
    .rst_ni,
    .clear_i,
    .head_valid_i  (head_valid_q),
    .head_word_i   (head_word_q),
    .take_i        (take),
    .start_i       (start),
    .end_i         ('{pointwise: pointwise_done, rns: rns_done, memory: memory_done, compute: finish.valid}),
    .idle_i        (idle),
    .memory_error_i(memory_error),
    .sync_i        (sync_o),
    .refused_i     (refused),
    .refused_code_i(head_error),
    .overflow_i    (overflow),
    .unit_free_i   (unit_free),
    .index_o       (index_q),
    .error_o,
    .failure_o,
    .counters_o,
    .events_o
  );
  assign busy_o = (queue_valid && !error_o) || (head_valid_q && !error_o) || idle != '1;


  logic unused_status;
  assign unused_status = ^{index_q, compute_issuing, constant_i, memory_write};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) $onehot0({start, sync_o}))
  else $error("%m: one instruction for two units");
  assert property (@(posedge clk_i) disable iff (!armed) !sync_o || idle == '1)
  else $error("%m: SYNC while a unit works");
  assert property (@(posedge clk_i) disable iff (!armed) !start.compute || idle.compute || head_q.mod_idx == mod_idx_q)
  else $error("%m: the modulus changes while results are in flight");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !constant_i.we || constant_i.sel >= 4'd3 || idle.compute || constant_i.idx != 7'(mod_idx_q))
  else $error("%m: the modulus in use is written");
  // A write would hide the read.
  assert property (@(posedge clk_i) disable iff (!armed) !(table_rd_en && table_write))
  else $error("%m: the twiddle table is read while it is written");
`endif

endmodule
