// SPDX-License-Identifier: Apache-2.0
// Moves of polynomials between words and lanes: AUTO and DECOMP of spec/isa.yaml, a word of every lane a cycle.
//
//   t0 address --> t1 words -|reg|-> places in the word, source lane -|reg|-> compare -|reg|-> add -|reg|-> write
//
// AUTO: value i of NTT's order stands at the odd exponent e(i) = 2 rev(i) + 1 of psi, so x -> x^g takes value i from
// the j with e(j) = g e(i) mod 2n. With i = P w + l, rev(i) = rev_P(l) n/P + rev(w), and for the words in the order
// t = rev(w) = 0, 1, ...
//
//   rev(j) = (g e(i) - 1) / 2 = a(t) + g rev_P(l) n/P  mod n,   a(t) = g t + (g - 1) / 2
//
// The low bits of rev(j) are those of a(t) whatever l is: the P values come from one word, rev(a mod n/P), and from its
// places rev_P((a P/n) + g rev_P(l)). a(t) is a running sum.
// DECOMP: word w of lane l is word w of the lane that entry l of the digit names, x or x + offset where x >= bound.
//
// Lasts `move_words` of spec/latency.yaml from start_i to done_o, the cycle of the last write. In place (DECOMP only) a
// word is written after it was read.
module rs_move
  import rs_build_pkg::*;
#(
  // Bits of a coefficient, 14 to 64.
  parameter int unsigned W = 32,
  // Lanes, 1 to 15.
  parameter int unsigned Lanes = 2,
  // Coefficients of a memory word: a power of two up to 32.
  parameter int unsigned P = 2,
  // Bits of a word address: log2(n_max / P), 2 or more.
  parameter int unsigned WordAddrBits = 4,
  // Automorphisms, and as many digits, that it holds: 4, 8, 16 or 32.
  parameter int unsigned Moves = 4,
  localparam int unsigned CfgBits = 132
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  // Tables, only while the unit rests: g of an automorphism; {source lane, offset, bound} of a digit, lane by lane.
  input  logic                                  auto_we_i,
  input  logic                                  digit_we_i,
  input  logic [             3:0]               cfg_lane_i,
  input  logic [             4:0]               cfg_idx_i,
  input  logic [     CfgBits-1:0]               cfg_data_i,
  // Which of them were written; a digit once its last lane was.
  output logic [            31:0]               automorphisms_o,
  output logic [            31:0]               digits_o,
  input  logic                                  start_i,
  // 1: AUTO; 0: DECOMP.
  input  logic                                  auto_i,
  input  logic [             4:0]               idx_i,
  input  logic [             3:0]               log2_n_i,
  output logic                                  ready_o,
  output logic                                  done_o,
  // Words of every lane, a cycle after the request.
  output logic                                  rd_valid_o,
  output logic [WordAddrBits-1:0]               rd_word_o,
  input  logic [       Lanes-1:0][P-1:0][W-1:0] words_i,
  output logic                                  wr_valid_o,
  output logic [WordAddrBits-1:0]               wr_word_o,
  output logic [       Lanes-1:0][P-1:0][W-1:0] wr_data_o
);

  if (W < WLeast || W > 64) begin : gen_width_check
    $error("%m: W must be %0d to 64", WLeast);
  end
  if (Lanes < LanesLeast || Lanes > LanesMost) begin : gen_lanes_check
    $error("%m: Lanes must be %0d to %0d", LanesLeast, LanesMost);
  end
  if (Moves < 4 || Moves > MovesMost || Moves != 1 << $clog2(Moves)) begin : gen_moves_check
    $error("%m: Moves must be a power of two from 4 to %0d", MovesMost);
  end

  localparam int unsigned Log2P = $clog2(P);
  localparam int unsigned PlaceBits = P > 1 ? Log2P : 1;
  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned IdxBits = $clog2(Moves);
  // Bits of rev(j): those of a coefficient's index.
  localparam int unsigned IndexBits = WordAddrBits + Log2P;
  // Cycles from the read of a word to its write.
  localparam int unsigned Depth = 5;

  // The instruction in flight; table reads take one cycle from start_i.
  logic busy_q, issue_q, auto_q;
  logic [IdxBits-1:0] idx_q, idx;
  logic [3:0] log2_n_q;
  assign idx = start_i ? idx_i[IdxBits-1:0] : idx_q;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      idx_q    <= idx_i[IdxBits-1:0];
      auto_q   <= auto_i;
      log2_n_q <= log2_n_i;
    end
  end

  logic [15:0] element;
  rs_table #(
    .Width     (16),
    .DepthWords(Moves)
  ) u_elements (
    .clk_i,
    .rd_addr_i(idx),
    .rd_data_o(element),
    .wr_en_i  (auto_we_i),
    .wr_addr_i(cfg_idx_i[IdxBits-1:0]),
    .wr_data_i(cfg_data_i[15:0])
  );
  logic known;
  assign known = int'(cfg_idx_i) < int'(Moves);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      automorphisms_o <= '0;
      digits_o        <= '0;
    end else begin
      if (auto_we_i && known) automorphisms_o[cfg_idx_i] <= 1'b1;
      if (digit_we_i && known && cfg_lane_i == 4'(Lanes - 1)) digits_o[cfg_idx_i] <= 1'b1;
    end
  end

  // Words in the order t, the running sum a(t), and the words and places that follow.
  logic first_q, last_word;
  logic [WordAddrBits-1:0] count_q, last_count, from_word, to_word;
  logic [IndexBits-1:0] sum_q, sum;
  logic [3:0] word_bits;
  assign word_bits  = log2_n_q - 4'(Log2P);
  assign last_count = WordAddrBits'((WordAddrBits + 1)'(1) << word_bits) - 1'b1;
  assign last_word  = count_q == last_count;
  assign sum        = first_q ? IndexBits'(element >> 1) : sum_q;

  // The lowest `bits` bits of a word's number, reversed.
  function automatic logic [WordAddrBits-1:0] reversed(logic [WordAddrBits-1:0] word, logic [3:0] bits);
    logic [WordAddrBits-1:0] mirrored;
    for (int i = 0; i < int'(WordAddrBits); i++) mirrored[i] = word[int'(WordAddrBits)-1-i];
    return mirrored >> (4'(WordAddrBits) - bits);
  endfunction
  assign to_word   = auto_q ? reversed(count_q, word_bits) : count_q;
  assign from_word = auto_q ? reversed(WordAddrBits'(sum), word_bits) : count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      issue_q <= 1'b0;
      first_q <= 1'b0;
      count_q <= '0;
    end else if (start_i) begin
      busy_q  <= 1'b1;
      issue_q <= 1'b1;
      first_q <= 1'b1;
      count_q <= '0;
    end else begin
      first_q <= 1'b0;
      if (done_o) busy_q <= 1'b0;
      if (issue_q) begin
        issue_q <= !last_word;
        count_q <= count_q + 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) sum_q <= sum + IndexBits'(element);
  assign ready_o = !busy_q || done_o;

  // Of a word in the pipeline: destination, whether it is the last, source place of each of its values.
  typedef struct packed {
    logic last;
    logic [WordAddrBits-1:0] word;
  } step_t;
  logic  [Depth:0] valid_q;
  step_t [Depth:0] step_q;
  logic [PlaceBits-1:0] turn, turn_q, turn_q2;
  assign turn = PlaceBits'(sum >> word_bits);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[Depth-1:0], issue_q};
  end
  always_ff @(posedge clk_i) begin
    step_q    <= {step_q[Depth-1:0], step_t'{last: last_word, word: to_word}};
    rd_word_o <= from_word;
    turn_q    <= turn;
    turn_q2   <= turn_q;
  end
  assign rd_valid_o = valid_q[0];
  assign wr_valid_o = valid_q[Depth];
  assign wr_word_o  = step_q[Depth].word;
  assign done_o     = wr_valid_o && step_q[Depth].last;

  function automatic logic [PlaceBits-1:0] mirrored(logic [PlaceBits-1:0] place);
    for (int i = 0; i < int'(PlaceBits); i++) mirrored[i] = place[int'(PlaceBits)-1-i];
  endfunction
  logic [P-1:0][PlaceBits-1:0] places_q;
  for (genvar p = 0; p < P; p++) begin : gen_place
    if (P == 1) begin : gen_one
      logic unused_turn;
      assign unused_turn = ^turn_q2;
      assign places_q[p] = '0;
    end else begin : gen_turned
      localparam logic [PlaceBits-1:0] Mirrored = mirrored(PlaceBits'(p));
      always_ff @(posedge clk_i)
        places_q[p] <= auto_q ? mirrored(
          turn_q2 + PlaceBits'(element * Mirrored)
        ) : PlaceBits'(p);
    end
  end

  // Words, by lane: as they come, in their places; then from the source lane, compared, added to.
  logic [Lanes-1:0][P-1:0][W-1:0] words_q, placed;
  always_ff @(posedge clk_i) words_q <= words_i;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [W-1:0] bound, offset;
    logic [3:0] source;
    logic [LaneBits-1:0] from;
    logic [P-1:0][W-1:0] moved_q, moved_q2, result_q;
    logic [P-1:0] high_q;
    rs_table #(
      .Width     (2 * W + 4),
      .DepthWords(Moves)
    ) u_digits (
      .clk_i,
      .rd_addr_i(idx),
      .rd_data_o({source, offset, bound}),
      .wr_en_i  (digit_we_i && cfg_lane_i == 4'(l)),
      .wr_addr_i(cfg_idx_i[IdxBits-1:0]),
      .wr_data_i({cfg_data_i[131:128], cfg_data_i[64+:W], cfg_data_i[0+:W]})
    );
    assign from = auto_q ? LaneBits'(l) : source[LaneBits-1:0];
    for (genvar p = 0; p < P; p++) begin : gen_value
      assign placed[l][p] = words_q[l][places_q[p]];
      always_ff @(posedge clk_i) begin
        moved_q[p]  <= placed[from][p];
        high_q[p]   <= !auto_q && moved_q[p] >= bound;
        moved_q2[p] <= moved_q[p];
        result_q[p] <= high_q[p] ? moved_q2[p] + offset : moved_q2[p];
      end
    end
    assign wr_data_o[l] = result_q;

    logic unused_source;
    assign unused_source = ^source;

`ifndef SYNTHESIS
    assert property (@(posedge clk_i) !issue_q || auto_q || int'(source) < int'(Lanes))
    else $error("%m: a source lane that is not there");
`endif
  end

  logic unused_bits;
  assign unused_bits = ^{cfg_data_i, idx_i};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || ready_o)
  else $error("%m: a move is taken while one runs");
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || (auto_i ? automorphisms_o[idx_i] : digits_o[idx_i]))
  else $error("%m: an entry that was never written");
  assert property (@(posedge clk_i) disable iff (!armed) !(auto_we_i || digit_we_i) || ready_o)
  else $error("%m: tables are written while a move runs");
  assert property (@(posedge clk_i) disable iff (!armed) !issue_q || !auto_q || element[0])
  else $error("%m: an automorphism by an even number");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !start_i || (int'(log2_n_i) >= int'(Log2P) + 2 && int'(log2_n_i) <= int'(IndexBits)))
  else $error("%m: a degree out of range");
`endif

endmodule
