// SPDX-License-Identifier: Apache-2.0
// One lane: its slots, its twiddle memory, P butterflies and the wiring between them. All control comes from outside.
//
//   t0  addresses at the memories          (read_i, table_*)
//   t1  words out of the memories          (select_i, addend_i: operands)  --|reg|-->
//   t2  butterflies                        (mode)
//   t2 + butterfly_latency                 results at the write ports              (result_i, write_i)
//
// There is no network between memories and butterflies but one swap of the two banks on each side:
// forward transforms read words j, j + n/(2P) and write 2j, 2j + 1; inverse ones mirror that; pointwise work
// reads and writes one word. The addend e of an inverse transform is read when its result leaves the multiplier.
module rs_lane
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
#(
  // The parameters of the core: see rs_build_pkg.
  parameter core_cfg_t Cfg = SmallCore,
  localparam int unsigned W = Cfg.W,
  localparam int unsigned P = Cfg.P,
  localparam int unsigned Slots = Cfg.Slots,
  localparam int unsigned WordBits = P * W,
  // Words of a slot's bank, two or more, and of the twiddle memory.
  localparam int unsigned BankWords = word_addr_bits(Cfg) < 2 ? 2 : 1 << (word_addr_bits(Cfg) - 1),
  localparam int unsigned TableWords = Cfg.TwTables << word_addr_bits(Cfg),
  localparam int unsigned BankBits = $clog2(BankWords),
  localparam int unsigned TableBits = $clog2(TableWords),
  localparam int unsigned LaneBits = P > 1 ? $clog2(P) : 1
) (
  input  logic                              clk_i,
  // Of the modulus in use; quasi-static. The constant belongs to t1.
  input  logic         [        W-1:0]      modulus_i,
  input  logic         [        W+2:0]      aux_i,
  input  logic         [          7:0]      mod_bits_i,
  input  logic         [        W-1:0]      minus_one_i,
  input  logic         [        W-1:0]      constant_i,
  // t0: memory ports; the compute unit reads operands (for assertions only).
  input  logic                              rd_valid_i,
  input  slot_read_t   [    Slots-1:0]      read_i,
  input  logic                              table_rd_en_i,
  input  logic         [TableBits-1:0]      table_addr_i,
  // t1: operand selection; the word of the stream, if the compute unit of the build takes it.
  input  select_t                           select_i,
  input  logic         [ WordBits-1:0]      stream_i,
  // One cycle after the late read.
  input  addend_t                           addend_i,
  // t2: butterfly mode.
  input  mode_t                             mode_i,
  // Write time: results, memory ports, those of the memory unit in this lane.
  input  result_t                           result_i,
  input  slot_write_t  [    Slots-1:0]      write_i,
  input  logic         [    Slots-1:0][1:0] memory_write_i,
`ifdef RINGSMITH_FAULT_PIN
  // Test hook of builds that ask for it: flips bit 0 of coefficient 0 of each result written.
  input  logic                              fault_i,
`endif
  // Memory unit: read selection (t1), copies, the word to load (t1), table writes.
  input  memory_path_t                      memory_i,
  input  logic         [ WordBits-1:0]      load_data_i,
  input  logic                              table_wr_en_i,
  output logic         [ WordBits-1:0]      memory_data_o,
  // Base-conversion unit: words out of the memories (t1), results.
  input  source_t                           x_from_i,
  input  source_t                           own_from_i,
  output logic         [ WordBits-1:0]      x_data_o,
  output logic         [ WordBits-1:0]      own_data_o,
  input  logic         [ WordBits-1:0]      rns_data_i,
  // Unit of pointwise instructions: words out of the memories (t1), results.
  input  operands_t                         pointwise_from_i,
  output logic         [ WordBits-1:0]      pointwise_v_o,
  output logic         [ WordBits-1:0]      pointwise_u_o,
  output logic         [ WordBits-1:0]      pointwise_w_o,
  input  logic         [ WordBits-1:0]      pointwise_data_i
);

  localparam bit EnRns = third_unit(Cfg);
  typedef logic [P-1:0][W-1:0] word_t;

  // Memories.
  word_t [Slots-1:0][1:0] rd_data, wr_data;
  // The first or only word read of each slot.
  word_t [Slots-1:0] first_words;
  word_t table_word;

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    rs_slot #(
      .WordBits  (WordBits),
      .BankWords (BankWords),
      .SinglePort(Cfg.SinglePort[s])
    ) u_slot (
      .clk_i,
      .rd_en_i(read_i[s].en),
      .rd_addr_i({read_i[s].addr[1][BankBits-1:0], read_i[s].addr[0][BankBits-1:0]}),
      .rd_first_i(read_i[s].first),
      .rd_data_o(rd_data[s]),
      .rd_word_o(first_words[s]),
      .wr_en_i  (write_i[s].en | memory_write_i[s] | (EnRns ? write_i[s].rns : '0) |
                  (Cfg.EnPointwise ? write_i[s].pointwise : '0)),
      .wr_addr_i({write_i[s].addr[1][BankBits-1:0], write_i[s].addr[0][BankBits-1:0]}),
      .wr_data_i(wr_data[s])
    );
  end

  rs_ram_1rw #(
    .Width     (WordBits),
    .DepthWords(TableWords)
  ) u_table (
    .clk_i,
    .rd_en_i  (table_rd_en_i),
    .wr_en_i  (table_wr_en_i),
    .addr_i   (table_addr_i),
    .wr_data_i(memory_data_o),
    .rd_data_o(table_word)
  );

  // Operands; a zero source is masked at the register behind. u and v of butterfly p are word p of each (forward) or
  // neighbours in the row of both (inverse): side is the first word of a pair, second the second one. Pointwise work
  // has one word each of v, u, w.
  localparam int unsigned SlotBits = $clog2(Slots);
  source_t side_source;
  word_t side, second, other, factors, addend0, addend1, mem_read;
  assign side_source = select_i.pair ? select_i.from.v : select_i.from.u;
  rs_slot_select #(
    .WordBits(WordBits),
    .Slots   (Slots)
  ) u_side (
    .words_i(first_words),
    .slot_i (side_source.slot[SlotBits-1:0]),
    .word_o (side)
  );
  rs_slot_select #(
    .WordBits(WordBits),
    .Slots   (Slots)
  ) u_other (
    .words_i(first_words),
    .slot_i (select_i.from.w.slot[SlotBits-1:0]),
    .word_o (other)
  );

  // Words of either bank, and one that is read or loaded. Three slots: a multiplexer each. More: the bank is chosen
  // behind multiplexers of slots, which both addends share.
  if (Slots <= 3) begin : gen_few
    localparam int unsigned LoadBits = $clog2(Slots + 1);
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (2 * Slots)
    ) u_second (
      .words_i(rd_data),
      .slot_i ({select_i.from.v.slot[SlotBits-1:0], select_i.v_bank}),
      .word_o (second)
    );
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_addend0 (
      .words_i(first_words),
      .slot_i (addend_i.from.slot[SlotBits-1:0]),
      .word_o (addend0)
    );
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (2 * Slots)
    ) u_addend1 (
      .words_i(rd_data),
      .slot_i ({addend_i.from.slot[SlotBits-1:0], !addend_i.bank}),
      .word_o (addend1)
    );
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots + 1)
    ) u_mem (
      .words_i({load_data_i, first_words}),
      .slot_i (memory_i.load ? LoadBits'(Slots) : LoadBits'(memory_i.from.slot[SlotBits-1:0])),
      .word_o (mem_read)
    );
  end else begin : gen_many
    word_t [1:0] seconds, addends;
    word_t copied;
    for (genvar b = 0; b < 2; b++) begin : gen_bank
      word_t [Slots-1:0] words;
      for (genvar s = 0; s < Slots; s++) begin : gen_word
        assign words[s] = rd_data[s][b];
      end
      rs_slot_select #(
        .WordBits(WordBits),
        .Slots   (Slots)
      ) u_second (
        .words_i(words),
        .slot_i (select_i.from.v.slot[SlotBits-1:0]),
        .word_o (seconds[b])
      );
      rs_slot_select #(
        .WordBits(WordBits),
        .Slots   (Slots)
      ) u_addend (
        .words_i(words),
        .slot_i (addend_i.from.slot[SlotBits-1:0]),
        .word_o (addends[b])
      );
    end
    assign second  = seconds[select_i.v_bank];
    assign addend0 = addends[addend_i.bank];
    assign addend1 = addends[!addend_i.bank];
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_mem (
      .words_i(first_words),
      .slot_i (memory_i.from.slot[SlotBits-1:0]),
      .word_o (copied)
    );
    assign mem_read = memory_i.load ? load_data_i : copied;
  end

  rs_twiddle_select #(
    .W       (W),
    .P       (P),
    .EnCyclic(Cfg.EnCyclic)
  ) u_select (
    .level_i     (select_i.level),
    .cyclic_i    (select_i.cyclic),
    .inverse_i   (select_i.inverse),
    .first_word_i(select_i.first_word),
    .minus_one_i,
    .word_i      (table_word),
    .factors_o   (factors)
  );

  word_t u_q, v_q, w_q, e0_q, e1_q, x, y;
  for (genvar p = 0; p < P; p++) begin : gen_operand
    // Neighbours 2p, 2p + 1 of a row, whose lower half is the first word.
    localparam int unsigned Even = (2 * p) % P;
    localparam int unsigned Odd = (2 * p + 1) % P;
    logic [W-1:0] even, odd;
    assign even = 2 * p < P ? side[Even] : second[Even];
    assign odd  = 2 * p + 1 < P ? side[Odd] : second[Odd];
    always_ff @(posedge clk_i) begin
      if (side_source.zero) u_q[p] <= '0;
      else u_q[p] <= select_i.straight ? side[p] : even;
      if (select_i.from.v.zero) v_q[p] <= '0;
      else v_q[p] <= select_i.straight ? second[p] : odd;
      if (Cfg.EnStream && !Cfg.EnPointwise && select_i.stream) w_q[p] <= stream_i[p*W+:W];
      else if (!select_i.pair && !select_i.constant && select_i.from.w.zero) w_q[p] <= '0;
      else w_q[p] <= select_i.pair ? factors[p] : select_i.constant ? constant_i : other[p];
    end
  end
  always_ff @(posedge clk_i) begin
    e0_q <= addend_i.from.zero ? '0 : addend0;
    e1_q <= addend_i.from.zero ? '0 : addend1;
  end

  for (genvar p = 0; p < P; p++) begin : gen_butterfly
    rs_butterfly #(
      .W          (W),
      .MulKind    (Cfg.MulKind),
      .MulStyle   (Cfg.MulStyle),
      .ModMinBits (Cfg.ModMinBits),
      .MontW      (Cfg.MontW),
      .KeepProduct(Cfg.EnPmul),
      .StepLuts   (Cfg.MontSteps == MontgomeryStepsLuts)
    ) u_butterfly (
      .clk_i,
      .modulus_i,
      .aux_i,
      .mod_bits_i,
      .cross_i(mode_i.crossed),
      .sub_i(mode_i.sub),
      .halve_i(mode_i.halve),
      .product_i(mode_i.product),
      .u_i(u_q[p]),
      .v_i(v_q[p]),
      .w_i(w_q[p]),
      .e0_i(e0_q[p]),
      .e1_i(e1_q[p]),
      .x_o(x[p]),
      .y_o(y[p])
    );
  end

  // Results by bank: of a forward pair the two halves of x and y interleaved, else x and y.
  logic [2*P-1:0][W-1:0] woven;
  word_t first, low_half;
  word_t [1:0] results;
  for (genvar p = 0; p < P; p++) begin : gen_weave
    assign woven[2*p]   = x[p];
    assign woven[2*p+1] = y[p];
  end
  always_comb begin
    first = x;
`ifdef RINGSMITH_FAULT_PIN
    first[0][0] = x[0][0] ^ fault_i;
`endif
    low_half = woven[P-1:0];
    low_half[0] = first[0];
  end
  for (genvar b = 0; b < 2; b++) begin : gen_result
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (4)
    ) u_result (
      .words_i({woven[2*P-1:P], low_half, y, first}),
      .slot_i ({result_i.forward, result_i.bank != 1'(b)}),
      .word_o (results[b])
    );
  end

  // Memory unit: a word read or loaded, or one assembled coefficient by coefficient (bit-reversed copy).
  word_t mem_q, assembled;
  always_ff @(posedge clk_i) begin
    if (memory_i.from.zero && !memory_i.load) mem_q <= '0;
    else mem_q <= mem_read;
  end
  assign memory_data_o = mem_q;

  if (P == 1) begin : gen_copy
    assign assembled = mem_q;
  end else begin : gen_assemble
    // The last coefficient completes the word as it is written.
    logic [P-2:0][W-1:0] partial_q;
    logic [W-1:0] picked;
    assign picked = mem_q[memory_i.pick[LaneBits-1:0]];
    for (genvar p = 0; p < P - 1; p++) begin : gen_part
      always_ff @(posedge clk_i) if (memory_i.place[LaneBits-1:0] == LaneBits'(p)) partial_q[p] <= picked;
    end
    assign assembled = {picked, partial_q};
  end

  // Base-conversion unit: two words as they come.
  if (EnRns) begin : gen_rns
    word_t x_word, own_word;
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_x (
      .words_i(first_words),
      .slot_i (x_from_i.slot[SlotBits-1:0]),
      .word_o (x_word)
    );
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_own (
      .words_i(first_words),
      .slot_i (own_from_i.slot[SlotBits-1:0]),
      .word_o (own_word)
    );
    assign x_data_o   = x_from_i.zero ? '0 : x_word;
    assign own_data_o = own_from_i.zero ? '0 : own_word;
  end else begin : gen_no_rns
    logic unused_rns;
    assign unused_rns = ^{x_from_i, own_from_i, rns_data_i};
    assign x_data_o   = '0;
    assign own_data_o = '0;
  end

  // Unit of pointwise instructions: three words as they come.
  if (Cfg.EnPointwise) begin : gen_pointwise
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_v (
      .words_i(first_words),
      .slot_i (pointwise_from_i.v.slot[SlotBits-1:0]),
      .word_o (pointwise_v_o)
    );
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_u (
      .words_i(first_words),
      .slot_i (pointwise_from_i.u.slot[SlotBits-1:0]),
      .word_o (pointwise_u_o)
    );
    rs_slot_select #(
      .WordBits(WordBits),
      .Slots   (Slots)
    ) u_w (
      .words_i(first_words),
      .slot_i (pointwise_from_i.w.slot[SlotBits-1:0]),
      .word_o (pointwise_w_o)
    );
    logic unused_zero;
    assign unused_zero = ^{pointwise_from_i.v.zero, pointwise_from_i.u.zero, pointwise_from_i.w.zero};
  end else begin : gen_no_pointwise
    logic unused_pointwise;
    assign unused_pointwise = ^{pointwise_from_i, pointwise_data_i};
    assign pointwise_v_o = '0;
    assign pointwise_u_o = '0;
    assign pointwise_w_o = '0;
  end

  // Who writes: results, of PMUL's upper halves the second word, which goes where the first one goes; the memory unit;
  // the units that the build has. Without those, what the memory unit writes is one choice with the rest.
  if (EnRns || Cfg.EnPointwise) begin : gen_units
    word_t mem_word;
    assign mem_word = memory_i.reverse ? assembled : mem_q;
    for (genvar s = 0; s < Slots; s++) begin : gen_write
      for (genvar b = 0; b < 2; b++) begin : gen_bank
        always_comb begin
          if (memory_write_i[s][b]) wr_data[s][b] = mem_word;
          else if (EnRns && write_i[s].rns[b]) wr_data[s][b] = rns_data_i;
          else if (Cfg.EnPointwise && write_i[s].pointwise[b]) wr_data[s][b] = pointwise_data_i;
          else wr_data[s][b] = results[1'(b)^(Cfg.EnPmul&&write_i[s].high)];
        end
      end
    end
  end else begin : gen_alone
    for (genvar s = 0; s < Slots; s++) begin : gen_write
      for (genvar b = 0; b < 2; b++) begin : gen_bank
        logic high;
        assign high = Cfg.EnPmul && write_i[s].high;
        rs_slot_select #(
          .WordBits(WordBits),
          .Slots   (4)
        ) u_writer (
          .words_i({assembled, mem_q, results[1-b], results[b]}),
          .slot_i (memory_write_i[s][b] ? {1'b1, memory_i.reverse} : {1'b0, high}),
          .word_o (wr_data[s][b])
        );
      end
    end
  end

  logic unused_bits;
  assign unused_bits = ^{read_i, write_i, select_i, stream_i, result_i, memory_i};

`ifndef SYNTHESIS
  // Operands at t2 and addends are below the modulus, and so are results; PMUL takes and gives any words.
  localparam int unsigned Latency = 32'(butterfly_latency(
    int'(Cfg.MulKind), int'(Cfg.MulStyle), int'(W), int'(Cfg.ModMinBits), int'(Cfg.MontW)
  ));
  localparam int unsigned Log2P = $clog2(P);

  function automatic logic below(word_t word);
    below = 1'b1;
    for (int p = 0; p < int'(P); p++) below &= word[p] < modulus_i;
  endfunction

  logic started_q;
  logic faulty, operands_q, operands_q2, addends_q, constant_q, product_late;
  logic [1:0] writes;
  rs_delay #(
    .Width (1),
    .Stages(Latency)
  ) u_product_late (
    .clk_i,
    .data_i(mode_i.product),
    .data_o(product_late)
  );
`ifdef RINGSMITH_FAULT_PIN
  assign faulty = fault_i;
`else
  assign faulty = 1'b0;
`endif
  always_comb begin
    writes = '0;
    for (int s = 0; s < int'(Slots); s++) writes |= write_i[s].en;
  end
  // Before its first edge the registers in front hold anything.
  initial started_q = 1'b0;
  always @(posedge clk_i) begin
    started_q   <= 1'b1;
    operands_q  <= rd_valid_i && started_q;
    operands_q2 <= operands_q && started_q;
    addends_q   <= !addend_i.from.zero && started_q;
    constant_q  <= select_i.constant;
  end

  logic operands_below, addends_below;
  logic [1:0] results_below;
  // A product with a constant takes any word: a digit of a longer prime is not reduced.
  assign operands_below = below(u_q) && (below(v_q) || constant_q && !mode_i.crossed) && below(w_q);
  assign addends_below  = below(e0_q) && below(e1_q);
  assert property (@(posedge clk_i) disable iff (!started_q) !operands_q2 || mode_i.product || operands_below)
  else $error("%m: an operand is not below the modulus");
  assert property (@(posedge clk_i) disable iff (!started_q) !addends_q || addends_below)
  else $error("%m: an addend is not below the modulus");
  for (genvar b = 0; b < 2; b++) begin : gen_result_check
    assign results_below[b] = below(results[b]);
    assert property (@(posedge clk_i) disable iff (!started_q) !writes[b] || product_late || faulty || results_below[b])
    else $error("%m: a result is not below the modulus");
  end
  assert property (@(posedge clk_i) disable iff (!started_q) !operands_q || int'(select_i.level) <= int'(Log2P))
  else $error("%m: a twiddle level beyond a word");
  assert property (@(posedge clk_i) disable iff (!started_q)
                   !operands_q2 || ((mode_i.crossed || !mode_i.sub) && !(mode_i.product && (mode_i.crossed || !Cfg.EnPmul))))
  else $error("%m: a butterfly mode that does not exist");
`else
  logic unused_valid;
  assign unused_valid = rd_valid_i;
`endif

endmodule
