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
  input  logic                           clk_i,
  input  logic                           rst_ni,
`ifdef RINGSMITH_FAULT_PIN
  // Test hook of builds that ask for it: flips bit 0 of coefficient 0 of each result written.
  input  logic                           fault_i,
`endif
  // Empties the queue, forgets error, counters and what was written; only while idle or stopped by an error.
  input  logic                           clear_i,
  input  logic                           cmd_valid_i,
  output logic                           cmd_ready_o,
  input  logic [             63:0]       cmd_i,
  output logic [             10:0]       cmd_level_o,
  // Configuration: cfg_sel_i 0 to 3 see rs_config, from 4 on rs_rns_pkg.
  input  logic                           cfg_we_i,
  input  logic [              3:0]       cfg_sel_i,
  input  logic [              3:0]       cfg_lane_i,
  input  logic [              6:0]       cfg_idx_i,
  input  logic [            159:0]       cfg_data_i,
  // DMA: a request, then Lanes * n/P words of P coefficients, lane 0 first, coefficient 0 lowest; with WidePort n/P
  // rows of a word of every lane, lane 0 lowest.
  // dma_room_i: strides of host buffers that the addresses hold.
  input  logic [             26:0]       dma_room_i,
  output logic                           dma_req_valid_o,
  input  logic                           dma_req_ready_i,
  output logic                           dma_req_store_o,
  output logic [             19:0]       dma_req_buf_o,
  output logic [              3:0]       dma_req_logn_o,
  input  logic                           ld_valid_i,
  output logic                           ld_ready_o,
  input  logic [PortWords*P*W-1:0]       ld_data_i,
  input  logic                           ld_err_i,
  output logic                           st_valid_o,
  input  logic                           st_ready_i,
  output logic [PortWords*P*W-1:0]       st_data_o,
  output logic                           st_last_o,
  input  logic                           st_done_i,
  input  logic                           st_err_i,
  // Status.
  output logic                           busy_o,
  output logic                           sync_o,
  output logic                           error_o,
  output logic [              3:0]       error_code_o,
  output logic [             31:0]       error_index_o,
  output logic [             63:0]       error_cmd_o,
  output logic [             31:0]       retired_o,
  output logic [             63:0]       cycles_o,
  output logic [             63:0]       busy_compute_o,
  output logic [             63:0]       busy_mem_o,
  output logic [             63:0]       busy_rns_o,
  output logic [             63:0]       busy_pointwise_o,
  output logic [             63:0]       stall_hazard_o,
  output logic [             63:0]       stall_unit_o,
  // Events of this cycle (cycles_o is their stamp): bit 0 compute unit, bit 1 memory unit, bit 2 base conversion, bit 3
  // pointwise unit.
  output logic [              3:0]       ev_start_o,
  output logic [              3:0]       ev_end_o,
  output logic [              3:0][31:0] ev_start_idx_o,
  output logic [              3:0][31:0] ev_end_idx_o,
  output logic [              3:0][63:0] ev_start_cmd_o
);

  localparam int unsigned Slots = Cfg.Slots;
  localparam int unsigned WordAddrBits = word_addr_bits(Cfg);
  localparam int unsigned TableBits = $clog2(Cfg.TwTables << WordAddrBits);
  localparam int unsigned LaneBits = P > 1 ? $clog2(P) : 1;
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
  logic unit_free, clear, compute_ready, sources_done, table_busy, compute_issuing, compute_end;
  logic memory_ready, memory_done, memory_error, compute_idle, memory_idle, start_compute, start_memory;
  logic rns_done, rns_idle, start_rns;
  logic pointwise_done, pointwise_idle, start_pointwise;
  logic [MaxSlots-1:0] written_q, end_writes, end_late;
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
    always_ff @(posedge clk_i) if (start_memory) stream_log2_n_q <= head_q.m.log2_n;
  end else begin : gen_not_streaming
    assign {streaming_q, stream_log2_n_q} = '0;
  end
  assign refused       = head_valid_q && !error_o && head_error != ErrNone;
  assign take          = head_valid_q && !error_o && head_error == ErrNone && unit_free && clear;
  assign start_compute = take && head_q.compute;
  assign start_memory  = take && head_q.memory;
  assign start_rns     = take && head_q.rns;
  assign start_pointwise = take && head_q.pointwise;
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
    .compute_end_i   (compute_end),
    .end_writes_i    (end_writes),
    .end_late_i      (end_late),
    .memory_ready_i  (memory_ready),
    .memory_done_i   (memory_done),
    .rns_done_i      (rns_done),
    .pointwise_done_i(pointwise_done),
    .compute_idle_o  (compute_idle),
    .memory_idle_o   (memory_idle),
    .rns_idle_o      (rns_idle),
    .pointwise_idle_o(pointwise_idle)
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
  logic stream_ready, stream_claim, stream_push, stream_push_ready, sel_stream;
  logic compute_claim, compute_stream, pw_claim, pw_stream;
  logic rd_valid, rd_pair, table_rd_en, sel_pair, sel_inverse, sel_constant, sel_cyclic, sel_first_word;
  logic crossed, sub, halve, product, late_valid, sel_e_bank, wr_valid, wr_pair, wr_forward, wr_high_valid;
  logic [WordAddrBits-1:0] rd_word0, rd_word1, table_word, late_word0, late_word1, wr_word0, wr_word1;
  logic [4:0] sel_const_idx, wr_slot, wr_high_slot;
  logic [2:0] sel_level;
  logic [3:0] mod_idx_q;
  logic sel_v_bank, sel_straight, wr_bank;
  source_t rd_v, rd_u, rd_w, sel_v, sel_u, sel_w, late_source, sel_e;

  rs_compute_seq #(
    .WordAddrBits(WordAddrBits),
    .P           (P),
    .SumLatency  (SumLatency),
    .MulLatency  (MulLatency),
    .PipeLatency (PipeLatency)
  ) u_compute (
    .clk_i,
    .rst_ni,
    .start_i         (start_compute),
    .instr_i         (head_q.c),
    .ready_o         (compute_ready),
    .stream_ready_i  (stream_ready),
    .stream_claim_o  (compute_claim),
    .issuing_o       (compute_issuing),
    .sources_done_o  (sources_done),
    .table_busy_o    (table_busy),
    .rd_valid_o      (rd_valid),
    .rd_pair_o       (rd_pair),
    .rd_v_o          (rd_v),
    .rd_u_o          (rd_u),
    .rd_w_o          (rd_w),
    .rd_word0_o      (rd_word0),
    .rd_word1_o      (rd_word1),
    .table_rd_en_o   (table_rd_en),
    .table_word_o    (table_word),
    .sel_v_o         (sel_v),
    .sel_u_o         (sel_u),
    .sel_w_o         (sel_w),
    .sel_pair_o      (sel_pair),
    .sel_inverse_o   (sel_inverse),
    .sel_constant_o  (sel_constant),
    .sel_stream_o    (compute_stream),
    .sel_const_idx_o (sel_const_idx),
    .sel_cyclic_o    (sel_cyclic),
    .sel_level_o     (sel_level),
    .sel_v_bank_o    (sel_v_bank),
    .sel_straight_o  (sel_straight),
    .sel_first_word_o(sel_first_word),
    .cross_o         (crossed),
    .sub_o           (sub),
    .halve_o         (halve),
    .product_o       (product),
    .late_valid_o    (late_valid),
    .late_source_o   (late_source),
    .late_word0_o    (late_word0),
    .late_word1_o    (late_word1),
    .sel_e_o         (sel_e),
    .sel_e_bank_o    (sel_e_bank),
    .wr_valid_o      (wr_valid),
    .wr_pair_o       (wr_pair),
    .wr_forward_o    (wr_forward),
    .wr_bank_o       (wr_bank),
    .wr_slot_o       (wr_slot),
    .wr_high_valid_o (wr_high_valid),
    .wr_high_slot_o  (wr_high_slot),
    .wr_word0_o      (wr_word0),
    .wr_word1_o      (wr_word1),
    .end_o           (compute_end),
    .end_writes_o    (end_writes),
    .end_late_o      (end_late)
  );

  // Unit of pointwise instructions.
  logic pw_rd_valid, pw_wr_valid;
  source_t pw_rd_v, pw_rd_u, pw_rd_w, pw_sel_v, pw_sel_u, pw_sel_w;
  logic [WordAddrBits-1:0] pw_rd_word, pw_wr_word;
  logic [4:0] pw_wr_slot;
  logic [3:0] pw_mod_idx;
  logic [Lanes-1:0][P*W-1:0] pw_v, pw_u, pw_w, pw_data, stream_words;

  if (Cfg.EnPointwise) begin : gen_pointwise
    rs_pointwise_unit #(
      .Cfg(Cfg)
    ) u_pointwise (
      .clk_i,
      .rst_ni,
      .cfg_we_i      (cfg_we_i && cfg_sel_i < 4'd4),
      .cfg_sel_i     (cfg_sel_i[1:0]),
      .cfg_lane_i,
      .cfg_idx_i     (cfg_idx_i[4:0]),
      .cfg_data_i    (cfg_data_i[W+2:0]),
      .start_i       (start_pointwise),
      .instr_i       (head_q.c),
      .mod_idx_i     (head_q.mod_idx),
      .done_o        (pointwise_done),
      .mod_idx_o     (pw_mod_idx),
      .stream_ready_i(stream_ready),
      .stream_claim_o(pw_claim),
      .stream_take_o (pw_stream),
      .stream_i      (stream_words),
      .rd_valid_o    (pw_rd_valid),
      .rd_v_o        (pw_rd_v),
      .rd_u_o        (pw_rd_u),
      .rd_w_o        (pw_rd_w),
      .rd_word_o     (pw_rd_word),
      .sel_v_o       (pw_sel_v),
      .sel_u_o       (pw_sel_u),
      .sel_w_o       (pw_sel_w),
      .v_i           (pw_v),
      .u_i           (pw_u),
      .w_i           (pw_w),
      .wr_valid_o    (pw_wr_valid),
      .wr_slot_o     (pw_wr_slot),
      .wr_word_o     (pw_wr_word),
      .wr_data_o     (pw_data)
    );
  end else begin : gen_no_pointwise
    logic unused_pointwise;
    assign unused_pointwise = ^{start_pointwise, pw_v, pw_u, pw_w};
    assign {pw_rd_valid, pw_rd_v, pw_rd_u, pw_rd_w, pw_rd_word, pw_sel_v, pw_sel_u, pw_sel_w, pw_mod_idx} = '0;
    assign {pw_wr_valid, pw_wr_slot, pw_wr_word, pw_data, pw_claim, pw_stream, pointwise_done} = '0;
  end
  // Products with a streamed operand are all in one unit.
  assign stream_claim = Cfg.EnPointwise ? pw_claim : compute_claim;
  assign sel_stream   = Cfg.EnPointwise ? pw_stream : compute_stream;

  // The modulus in use changes only while nothing is in flight.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mod_idx_q <= '0;
    else if (start_compute) mod_idx_q <= head_q.mod_idx;
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
    .we_i        (cfg_we_i && cfg_sel_i < 4'd4),
    .sel_i       (cfg_sel_i[1:0]),
    .lane_i      (cfg_lane_i),
    .idx_i       (cfg_idx_i[4:0]),
    .data_i      (cfg_data_i[W+2:0]),
    .configured_o(configured),
    .mod_idx_i   (mod_idx_q),
    .modulus_o   (modulus),
    .aux_o       (aux),
    .mod_bits_o  (mod_bits),
    .minus_one_o (minus_one),
    .const_idx_i (sel_const_idx),
    .constant_o  (constant)
  );

  // Memory unit.
  logic mem_rd_valid, mem_reverse, mem_load;
  source_t mem_rd_source, mem_sel;
  logic [WordAddrBits-1:0] mem_rd_word, mem_wr_word;
  logic [LaneBits-1:0] mem_pick, mem_place;
  logic [Lanes-1:0][P*W-1:0] mem_data;
  logic [Lanes-1:0] mem_wr_valid, table_wr_valid;
  logic [4:0] mem_wr_slot;
  logic [3:0] mem_table;

  rs_mem_unit #(
    .WordAddrBits(WordAddrBits),
    .P           (P),
    .WordBits    (P * W),
    .Lanes       (Lanes),
    .WidePort    (Cfg.WidePort)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .start_i         (start_memory),
    .instr_i         (head_q.m),
    .ready_o         (memory_ready),
    .done_o          (memory_done),
    .error_o         (memory_error),
    .rd_valid_o      (mem_rd_valid),
    .rd_source_o     (mem_rd_source),
    .rd_word_o       (mem_rd_word),
    .sel_source_o    (mem_sel),
    .sel_load_o      (mem_load),
    .reverse_o       (mem_reverse),
    .pick_o          (mem_pick),
    .place_o         (mem_place),
    .rd_data_i       (mem_data),
    .wr_valid_o      (mem_wr_valid),
    .table_wr_valid_o(table_wr_valid),
    .wr_slot_o       (mem_wr_slot),
    .wr_word_o       (mem_wr_word),
    .wr_table_o      (mem_table),
    .dma_req_valid_o,
    .dma_req_ready_i,
    .dma_req_store_o,
    .dma_req_buf_o,
    .dma_req_logn_o,
    .ld_valid_i,
    .ld_ready_o,
    .ld_err_i,
    .stream_push_o   (stream_push),
    .stream_ready_i  (stream_push_ready),
    .st_valid_o,
    .st_ready_i,
    .st_data_o,
    .st_last_o,
    .st_done_i,
    .st_err_i
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
      .take_i       (sel_stream),
      .word_o       (stream_words),
      .drain_i      (error_o && streaming_q)
    );
  end else begin : gen_no_stream
    logic unused_stream;
    assign unused_stream = ^{stream_push, stream_claim};
    assign {stream_push_ready, stream_ready, stream_words} = '0;
  end

  // Base conversion and moves.
  logic x_rd_valid, own_rd_valid, rns_wr_valid;
  source_t x_rd_source, x_sel, own_rd_source, own_sel;
  logic [WordAddrBits-1:0] x_rd_word, own_rd_word, rns_wr_word;
  logic [4:0] rns_wr_slot;
  logic [Lanes-1:0][P*W-1:0] x_data, own_data, rns_data;

  if (EnRns) begin : gen_rns
    rs_rns_unit #(
      .Cfg(Cfg)
    ) u_rns (
      .clk_i,
      .rst_ni,
      .cfg_we_i       (cfg_we_i && cfg_sel_i >= 4'd4),
      .cfg_sel_i      (cfg_sel_i - 4'd4),
      .cfg_lane_i,
      .cfg_idx_i,
      .cfg_data_i,
      .configured_o   (conversions),
      .own_o          (conversions_own),
      .automorphisms_o(automorphisms),
      .digits_o       (digits),
      .start_i        (start_rns),
      .instr_i        (head_q.r),
      .done_o         (rns_done),
      .x_rd_valid_o   (x_rd_valid),
      .x_rd_source_o  (x_rd_source),
      .x_rd_word_o    (x_rd_word),
      .x_sel_o        (x_sel),
      .x_i            (x_data),
      .own_rd_valid_o (own_rd_valid),
      .own_rd_source_o(own_rd_source),
      .own_rd_word_o  (own_rd_word),
      .own_sel_o      (own_sel),
      .own_i          (own_data),
      .wr_valid_o     (rns_wr_valid),
      .wr_slot_o      (rns_wr_slot),
      .wr_word_o      (rns_wr_word),
      .wr_data_o      (rns_data)
    );
  end else begin : gen_no_rns
    logic unused_rns;
    assign unused_rns = ^{start_rns, head_q.r, x_data, own_data};
    assign {conversions, conversions_own, automorphisms, digits, rns_done} = '0;
    assign {x_rd_valid, x_rd_source, x_rd_word, x_sel} = '0;
    assign {own_rd_valid, own_rd_source, own_rd_word, own_sel} = '0;
    assign {rns_wr_valid, rns_wr_slot, rns_wr_word, rns_data} = '0;
  end

  // Ports, lanes.
  logic [Slots-1:0][1:0] slot_rd_en, slot_wr_en;
  logic [Slots-1:0] slot_rd_first, slot_wr_high;
  logic [Lanes-1:0][Slots-1:0][1:0] slot_wr_mem;
  logic [Slots-1:0][1:0] slot_wr_rns, slot_wr_pw;
  logic [Slots-1:0][1:0][WordAddrBits-2:0] slot_rd_addr, slot_wr_addr;

  rs_slot_ports #(
    .Slots       (Slots),
    .WordAddrBits(WordAddrBits),
    .Lanes       (Lanes),
    .EnRns       (EnRns),
    .EnPointwise (Cfg.EnPointwise)
  ) u_ports (
    .clk_i,
    .rd_valid_i     (rd_valid),
    .rd_pair_i      (rd_pair),
    .rd_v_i         (rd_v),
    .rd_u_i         (rd_u),
    .rd_w_i         (rd_w),
    .rd_word0_i     (rd_word0),
    .rd_word1_i     (rd_word1),
    .late_valid_i   (late_valid),
    .late_source_i  (late_source),
    .late_word0_i   (late_word0),
    .late_word1_i   (late_word1),
    .mem_rd_valid_i (mem_rd_valid),
    .mem_rd_source_i(mem_rd_source),
    .mem_rd_word_i  (mem_rd_word),
    .x_rd_valid_i   (x_rd_valid),
    .x_rd_source_i  (x_rd_source),
    .x_rd_word_i    (x_rd_word),
    .own_rd_valid_i (own_rd_valid),
    .own_rd_source_i(own_rd_source),
    .own_rd_word_i  (own_rd_word),
    .pw_rd_valid_i  (pw_rd_valid),
    .pw_rd_v_i      (pw_rd_v),
    .pw_rd_u_i      (pw_rd_u),
    .pw_rd_w_i      (pw_rd_w),
    .pw_rd_word_i   (pw_rd_word),
    .wr_valid_i     (wr_valid),
    .wr_pair_i      (wr_pair),
    .wr_slot_i      (wr_slot),
    .wr_high_valid_i(wr_high_valid),
    .wr_high_slot_i (wr_high_slot),
    .wr_word0_i     (wr_word0),
    .wr_word1_i     (wr_word1),
    .mem_wr_valid_i (mem_wr_valid),
    .mem_wr_slot_i  (mem_wr_slot),
    .mem_wr_word_i  (mem_wr_word),
    .rns_wr_valid_i (rns_wr_valid),
    .rns_wr_slot_i  (rns_wr_slot),
    .rns_wr_word_i  (rns_wr_word),
    .pw_wr_valid_i  (pw_wr_valid),
    .pw_wr_slot_i   (pw_wr_slot),
    .pw_wr_word_i   (pw_wr_word),
    .rd_en_o        (slot_rd_en),
    .rd_addr_o      (slot_rd_addr),
    .rd_first_o     (slot_rd_first),
    .wr_en_o        (slot_wr_en),
    .wr_high_o      (slot_wr_high),
    .wr_mem_o       (slot_wr_mem),
    .wr_rns_o       (slot_wr_rns),
    .wr_pw_o        (slot_wr_pw),
    .wr_addr_o      (slot_wr_addr)
  );

  logic [TableBits-1:0] table_addr;
  if (Cfg.TwTables == 1) begin : gen_one_table
    logic unused_table;
    assign unused_table = ^mem_table;
    assign table_addr = |table_wr_valid ? mem_wr_word : table_word;
  end else begin : gen_tables
    assign table_addr = |table_wr_valid ? TableBits'({mem_table, mem_wr_word}) : TableBits'({mod_idx_q, table_word});
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rs_lane #(
      .Cfg(Cfg)
    ) u_lane (
      .clk_i,
      .rd_valid_i      (rd_valid),
      .modulus_i       (modulus[l]),
      .aux_i           (aux[l]),
      .mod_bits_i      (mod_bits[l]),
      .minus_one_i     (minus_one[l]),
      .constant_i      (constant[l]),
      .slot_rd_en_i    (slot_rd_en),
      .slot_rd_addr_i  (slot_rd_addr),
      .slot_rd_first_i (slot_rd_first),
      .table_rd_en_i   (table_rd_en && !(|table_wr_valid)),
      .table_addr_i    (table_addr),
      .sel_v_i         (sel_v),
      .sel_u_i         (sel_u),
      .sel_w_i         (sel_w),
      .sel_pair_i      (sel_pair),
      .sel_inverse_i   (sel_inverse),
      .sel_constant_i  (sel_constant),
      .sel_stream_i    (sel_stream),
      .stream_i        (stream_words[l]),
      .sel_cyclic_i    (sel_cyclic),
      .sel_level_i     (sel_level),
      .sel_v_bank_i    (sel_v_bank),
      .sel_straight_i  (sel_straight),
      .sel_first_word_i(sel_first_word),
      .sel_e_i         (sel_e),
      .sel_e_bank_i    (sel_e_bank),
      .cross_i         (crossed),
      .sub_i           (sub),
      .halve_i         (halve),
      .product_i       (product),
      .slot_wr_en_i    (slot_wr_en),
      .slot_wr_mem_i   (slot_wr_mem[l]),
      .slot_wr_high_i  (slot_wr_high),
      .slot_wr_addr_i  (slot_wr_addr),
      .out_forward_i   (wr_forward),
      .out_bank_i      (wr_bank),
`ifdef RINGSMITH_FAULT_PIN
      .fault_i,
`endif
      .mem_sel_i       (mem_sel),
      .mem_reverse_i   (mem_reverse),
      .mem_pick_i      (mem_pick),
      .mem_place_i     (mem_place),
      .mem_load_i      (mem_load),
      .mem_load_data_i (ld_data_i[(Cfg.WidePort?l : 0)*P*W+:P*W]),
      .table_wr_en_i   (table_wr_valid[l]),
      .mem_data_o      (mem_data[l]),
      .x_sel_i         (x_sel),
      .own_sel_i       (own_sel),
      .x_data_o        (x_data[l]),
      .own_data_o      (own_data[l]),
      .slot_wr_rns_i   (slot_wr_rns),
      .rns_data_i      (rns_data[l]),
      .pw_sel_v_i      (pw_sel_v),
      .pw_sel_u_i      (pw_sel_u),
      .pw_sel_w_i      (pw_sel_w),
      .pw_v_o          (pw_v[l]),
      .pw_u_o          (pw_u[l]),
      .pw_w_o          (pw_w[l]),
      .slot_wr_pw_i    (slot_wr_pw),
      .pw_data_i       (pw_data[l])
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
    .head_valid_i     (head_valid_q),
    .head_word_i      (head_word_q),
    .take_i           (take),
    .start_compute_i  (start_compute),
    .start_memory_i   (start_memory),
    .start_rns_i      (start_rns),
    .start_pointwise_i(start_pointwise),
    .sync_i           (sync_o),
    .refused_i        (refused),
    .refused_code_i   (head_error),
    .overflow_i       (overflow),
    .unit_free_i      (unit_free),
    .compute_end_i    (compute_end),
    .compute_idle_i   (compute_idle),
    .memory_end_i     (memory_done),
    .memory_idle_i    (memory_idle),
    .memory_error_i   (memory_error),
    .rns_end_i        (rns_done),
    .rns_idle_i       (rns_idle),
    .pointwise_end_i  (pointwise_done),
    .pointwise_idle_i (pointwise_idle),
    .index_o          (index_q),
    .error_o,
    .error_code_o,
    .error_index_o,
    .error_cmd_o,
    .retired_o,
    .cycles_o,
    .busy_compute_o,
    .busy_mem_o,
    .busy_rns_o,
    .busy_pointwise_o,
    .stall_hazard_o,
    .stall_unit_o,
    .ev_start_o,
    .ev_end_o,
    .ev_start_idx_o,
    .ev_end_idx_o,
    .ev_start_cmd_o
  );
  assign busy_o = (queue_valid && !error_o) || (head_valid_q && !error_o) || !compute_idle || !memory_idle || !rns_idle ||
                  !pointwise_idle;

  logic unused_status;
  assign unused_status = ^{index_q, compute_issuing, pw_mod_idx, cfg_idx_i, cfg_data_i};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) $onehot0(
    {start_compute, start_memory, start_rns, start_pointwise, sync_o}
  ))
  else $error("%m: one instruction for two units");
  assert property (@(posedge clk_i) disable iff (!armed) !sync_o || (compute_idle && memory_idle && rns_idle && pointwise_idle))
  else $error("%m: SYNC while a unit works");
  assert property (@(posedge clk_i) disable iff (!armed) !start_compute || compute_idle || head_q.mod_idx == mod_idx_q)
  else $error("%m: the modulus changes while results are in flight");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !cfg_we_i || cfg_sel_i >= 4'd3 || compute_idle || cfg_idx_i != 7'(mod_idx_q))
  else $error("%m: the modulus in use is written");
  // A write would hide the read.
  assert property (@(posedge clk_i) disable iff (!armed) !(table_rd_en && |table_wr_valid))
  else $error("%m: the twiddle table is read while it is written");
`endif

endmodule
