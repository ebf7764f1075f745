// SPDX-License-Identifier: Apache-2.0
// Sequencer of the compute unit: from an instruction to reads, operand selection, butterfly mode and writes,
// each at its time.
//
//   start_i   c      c+1 ...            c+1+k          c+2+k         + addend latency    + 2 + butterfly latency
//             take   issue step 0 ...   t0: read       t1: select    late read           write; finish_o with the last
//
// A transform issues log2 n stages of n/(2P) steps without a gap as long as the pipeline is not longer than n/(4P)
// (stage_gap, otherwise that many idle cycles between stages); pointwise work issues n/P steps. All results take the
// same time, so writes never overtake. ready_o is high in the cycle of the last step: instructions follow back to back.
module rs_compute_seq
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
#(
  // Bits of a word address: log2(n_max / P).
  parameter int unsigned WordAddrBits = 4,
  // Butterflies: 1, 2, 4, 8, 16 or 32.
  parameter int unsigned P = 1,
  // addsub_latency, mod_mul_latency and pipe_latency of the build.
  parameter int unsigned SumLatency = 1,
  parameter int unsigned MulLatency = 6,
  parameter int unsigned PipeLatency = 11
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,
  input  compute_t                         instr_i,
  output logic                             ready_o,
  // A streamed operand: a word is there to be claimed; one is claimed by the step issued now.
  input  logic                             stream_ready_i,
  output logic                             stream_claim_o,
  // A step is issued now or in a later stage; reads of the first sources are over; the table is in use.
  output logic                             issuing_o,
  output logic                             sources_done_o,
  output logic                             table_busy_o,
  // t0, with the word of the twiddle table.
  output operand_read_t                    read_o,
  output logic                             table_rd_en_o,
  output logic          [WordAddrBits-1:0] table_word_o,
  // t1, t2.
  output select_t                          select_o,
  output mode_t                            mode_o,
  // Late read of the addend, and its selection a cycle later.
  output late_read_t                       late_o,
  output addend_t                          addend_o,
  // Write time; the end of the instruction with its last write.
  output result_t                          result_o,
  output finish_t                          finish_o
);

  localparam int unsigned Log2P = $clog2(P);
  localparam int unsigned GapBits = $clog2(PipeLatency + 1);
  localparam int unsigned LateDelay = SumLatency + MulLatency;
  localparam int unsigned WriteDelay = PipeLatency - 1;

  // Idle cycles between stages, by log2 n.
  typedef logic [15:0][GapBits-1:0] gaps_t;
  function automatic gaps_t gap_table();
    gaps_t gaps = '0;
    for (int k = 3; k < 16; k++) gaps[k] = GapBits'(stage_gap(k, int'(P), int'(PipeLatency)));
    return gaps;
  endfunction
  localparam gaps_t Gaps = gap_table();

  // The instruction in progress: its stage, step and gap.
  compute_t instr_q;
  logic busy_q;
  logic [3:0] stage_q;
  logic [WordAddrBits-1:0] step_q;
  logic [GapBits-1:0] gap_q;

  // The number of a stage's last step, ones from bit 0 on; whether the step is that one, and the stage the last. They
  // are known a step ahead: ready_o is the start of the core's longest paths, by way of the scoreboard to the queue.
  logic [WordAddrBits-1:0] last_step_q, half_in, half;
  logic at_last_step_q, in_last_stage_q;
  logic issue, first_stage, stage_end, instr_end;

  assign half_in     = WordAddrBits'(1) << (instr_i.log2_n - 4'(Log2P) - 4'd1);
  // In a transform: the bit above those ones.
  assign half        = {last_step_q[WordAddrBits-2:0], 1'b1} & ~last_step_q;
  assign issue       = busy_q && gap_q == '0 && (!instr_q.stream || stream_ready_i);
  assign stream_claim_o = issue && instr_q.stream;
  assign first_stage = !instr_q.transform || stage_q == '0;
  assign stage_end   = issue && at_last_step_q;
  assign instr_end   = stage_end && in_last_stage_q;

  assign ready_o        = !busy_q || instr_end;
  assign issuing_o      = busy_q;
  assign sources_done_o = !busy_q || !first_stage || instr_end;
  assign table_busy_o   = busy_q && instr_q.transform;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      stage_q <= '0;
      step_q  <= '0;
      gap_q   <= '0;
    end else if (start_i) begin
      busy_q  <= 1'b1;
      stage_q <= '0;
      step_q  <= '0;
      gap_q   <= '0;
    end else if (gap_q != '0) begin
      gap_q <= gap_q - 1'b1;
    end else if (stage_end) begin
      busy_q  <= !in_last_stage_q;
      stage_q <= stage_q + 1'b1;
      step_q  <= '0;
      gap_q   <= in_last_stage_q ? '0 : Gaps[instr_q.log2_n];
    end else if (issue) begin
      step_q <= step_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      instr_q         <= instr_i;
      last_step_q     <= instr_i.transform ? half_in - 1'b1 : {half_in[WordAddrBits-2:0], 1'b0} - 1'b1;
      // A stage has two steps or more, a transform three stages or more.
      at_last_step_q  <= 1'b0;
      in_last_stage_q <= !instr_i.transform;
    end else if (issue) begin
      at_last_step_q <= step_q == {last_step_q[WordAddrBits-1:1], 1'b0};
      if (at_last_step_q) in_last_stage_q <= !instr_q.transform || stage_q == instr_q.log2_n - 4'd2;
    end
  end

  // Word addresses of the step: far apart or neighbours.
  logic [WordAddrBits-1:0] far0, far1, near0, near1;
  assign far0  = step_q;
  assign far1  = step_q | half;
  assign near0 = {step_q[WordAddrBits-2:0], 1'b0};
  assign near1 = {step_q[WordAddrBits-2:0], 1'b1};

  // The twiddle word: entry number m + (k mod m), or k mod m, mirrored for the inverse.
  logic [3:0] log2_m, log2_m_words;
  logic [WordAddrBits-1:0] m_words, plain_word, mirror_mask;
  assign log2_m       = instr_q.inverse ? instr_q.log2_n - 4'd1 - stage_q : stage_q;
  assign log2_m_words = log2_m - 4'(Log2P);
  assign m_words      = int'(log2_m) < int'(Log2P) ? '0 : WordAddrBits'(1) << log2_m_words;
  always_comb begin
    plain_word = '0;
    if (m_words != '0) begin
      plain_word = step_q & (m_words - 1'b1);
      if (!instr_q.cyclic) plain_word |= m_words;
    end
    // All bits below the leading one.
    mirror_mask = plain_word >> 1;
    for (int i = 1; i < int'(WordAddrBits); i *= 2) mirror_mask |= mirror_mask >> i;
  end

  // Slots of the step: work slots alternate between the source and the result.
  logic [4:0] stage_src, stage_dst;
  assign stage_src = first_stage ? instr_q.v.slot : 5'(!(instr_q.first_work ^ stage_q[0]));
  assign stage_dst = in_last_stage_q ? instr_q.dst : 5'(instr_q.first_work ^ stage_q[0]);

  // t0: registered step. What is valid travels in valid_line_q.
  logic transforms, forward, backward;
  assign transforms = instr_q.transform;
  assign forward    = transforms && !instr_q.inverse;
  assign backward   = transforms && instr_q.inverse;

  logic valid_q, end_q;
  // Bank of the first word read.
  logic bank_q;
  logic [WordAddrBits-1:0] read0, written0, written1, word0_q, word1_q;
  select_t select_q, select_q2;
  mode_t mode_q, mode_q2;
  result_t result_q;
  source_t addend_q;
  assign read0    = backward ? near0 : far0;
  assign written0 = forward ? near0 : far0;
  assign written1 = instr_q.inverse ? far1 : near1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      end_q   <= 1'b0;
    end else begin
      valid_q <= issue;
      end_q   <= instr_end;
    end
  end

  always_ff @(posedge clk_i) begin
    table_word_o <= instr_q.inverse ? plain_word ^ mirror_mask : plain_word;
    bank_q       <= ^read0;
    word0_q      <= read0;
    word1_q      <= instr_q.inverse ? near1 : far1;

    select_q <= '{
        from: '{
            v: transforms ? '{zero: instr_q.v.zero && first_stage, slot: stage_src} : instr_q.v,
            u: instr_q.u,
            w: instr_q.w
        },
        v_bank: 1'b0,
        straight: 1'b0,
        pair: transforms,
        inverse: instr_q.inverse,
        constant: instr_q.constant,
        const_idx: instr_q.const_idx,
        stream: instr_q.stream,
        cyclic: instr_q.cyclic,
        first_word: plain_word == '0,
        level: int'(log2_m) < int'(Log2P) ? log2_m[2:0] : 3'(Log2P)
    };
    mode_q <= '{crossed: instr_q.crossed, sub: instr_q.sub, halve: backward, product: instr_q.product};
    result_q <= '{
        valid: 1'b0,
        pair: transforms,
        forward: forward,
        bank: ^written0,
        slot: stage_dst,
        high_valid: instr_q.product,
        high: instr_q.high,
        word0: word_addr_t'(written0),
        word1: word_addr_t'(written1)
    };
    addend_q <= '{zero: instr_q.e.zero || !in_last_stage_q, slot: instr_q.e.slot};

    select_q2          <= select_q;
    select_q2.v_bank   <= bank_q ^ select_q.pair;
    select_q2.straight <= !(select_q.pair && select_q.inverse);
    mode_q2            <= mode_q;
    mode_o             <= mode_q2;
  end

  assign read_o = '{
          valid: valid_q,
          pair: select_q.pair,
          from: select_q.from,
          word0: word_addr_t'(word0_q),
          word1: word_addr_t'(word1_q)
      };
  assign table_rd_en_o = valid_q && select_q.pair;

  // Valid bits travel in a line with reset, the rest beside it without.
  logic [WriteDelay:1] valid_line_q, end_line_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_line_q <= '0;
      end_line_q   <= '0;
    end else begin
      valid_line_q <= {valid_line_q[WriteDelay-1:1], valid_q};
      end_line_q   <= {end_line_q[WriteDelay-1:1], end_q};
    end
  end

  // A result on its way, with its addend.
  typedef struct packed {
    result_t result;
    source_t addend;
  } flight_t;
  flight_t late, last;
  logic late_valid_q;
  rs_delay #(
    .Width ($bits(flight_t)),
    .Stages(LateDelay)
  ) u_late (
    .clk_i,
    .data_i({result_q, addend_q}),
    .data_o(late)
  );
  rs_delay #(
    .Width ($bits(flight_t)),
    .Stages(WriteDelay - LateDelay)
  ) u_result (
    .clk_i,
    .data_i(late),
    .data_o(last)
  );

  assign late_o = '{
      valid: valid_line_q[LateDelay] && !late.addend.zero,
      from : late.addend,
      word0: late.result.word0,
      word1: late.result.word1
    };
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) late_valid_q <= 1'b0;
    else late_valid_q <= late_o.valid;
  end
  always_ff @(posedge clk_i) begin
    addend_o.from.slot <= late.addend.slot;
    addend_o.bank      <= ^late.result.word0;
  end
  assign addend_o.from.zero = !late_valid_q;

  always_comb begin
    select_o              = select_q2;
    select_o.stream       = valid_line_q[1] && select_q2.stream;
    result_o              = last.result;
    result_o.valid        = valid_line_q[WriteDelay];
    finish_o.valid        = end_line_q[WriteDelay];
    finish_o.writes       = slot_mask({1'b0, last.result.slot}) | (last.result.pair ? MaxSlots'(3) : '0);
    if (last.result.high_valid) finish_o.writes |= slot_mask({1'b0, last.result.high});
    finish_o.late = last.addend.zero ? '0 : slot_mask({1'b0, last.addend.slot});
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || ready_o)
  else $error("%m: instruction taken while one is issued");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !start_i || (int'(instr_i.log2_n) >= int'(Log2P) + 2 &&
                                int'(instr_i.log2_n) <= int'(WordAddrBits) + int'(Log2P)))
  else $error("%m: a degree out of range");
  assert property (@(posedge clk_i) disable iff (!armed) !issue || (step_q <= last_step_q &&
                   at_last_step_q == (step_q == last_step_q)))
  else $error("%m: a step beyond the stage");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !issue || in_last_stage_q == (!instr_q.transform || stage_q == instr_q.log2_n - 4'd1))
  else $error("%m: a stage beyond the transform");
  assert property (@(posedge clk_i) disable iff (!armed) !finish_o.valid || result_o.valid)
  else $error("%m: an instruction ends without a write");
  assert property (@(posedge clk_i) disable iff (!armed) !(read_o.valid && read_o.pair) || (^read_o.word0 != ^read_o.word1))
  else $error("%m: the words of a pair share a bank");
  assert property (@(posedge clk_i) disable iff (!armed) !(result_o.valid && result_o.pair) || (^result_o.word0 != ^result_o.word1))
  else $error("%m: the results of a pair share a bank");
`endif

endmodule
