// SPDX-License-Identifier: Apache-2.0
// From one word of the twiddle table to the factors of P butterflies.
//
// A stage with m blocks uses entries m + (k mod m) of the table (k mod m in the cyclic form). With m >= P they fill an
// aligned word; below, the first word holds them all and is replicated. The inverse factors are the negatives of the
// mirrored entries: -1/T[i] = T[i mirrored in its power-of-two block], which reverses a word; the butterfly swaps its
// difference. Only 1/T[0] = 1 has no such partner: minus_one_i stands in (cyclic inverse only).
//
// Combinational.
module rs_twiddle_select
  import rs_build_pkg::*;
#(
  // Bits of a coefficient.
  parameter int unsigned W = 32,
  // Butterflies: 1, 2, 4, 8, 16 or 32.
  parameter int unsigned P = 4,
  // 1: the cyclic form can be asked for.
  parameter bit EnCyclic = 1'b1,
  localparam int unsigned Log2P = $clog2(P)
) (
  // log2 m, at most log2 P: a whole word.
  input  logic [  2:0]        level_i,
  input  logic                cyclic_i,
  input  logic                inverse_i,
  // The word is word 0 of the table.
  input  logic                first_word_i,
  input  logic [W-1:0]        minus_one_i,
  input  logic [P-1:0][W-1:0] word_i,
  output logic [P-1:0][W-1:0] factors_o
);

  if (P > PMost || P != 1 << $clog2(P)) begin : gen_p_check
    $error("%m: P must be a power of two up to %0d", PMost);
  end

  // i mirrored inside its power-of-two block.
  function automatic int mirrored(int i);
    int top = 1;
    if (i == 0) return 0;
    while (2 * top <= i) top = 2 * top;
    return 3 * top - 1 - i;
  endfunction

  logic cyclic, inside_word;
  logic [P-1:0][W-1:0] word;
  assign cyclic      = EnCyclic && cyclic_i;
  // Cyclic inverse from the first word: its entries mirror in blocks smaller than the word.
  assign inside_word = cyclic && inverse_i && first_word_i;

  always_comb begin
    word = word_i;
    if (inside_word) word[0] = minus_one_i;
  end

  // Entry of a butterfly at a level, in each form.
  function automatic int entry_of(int p, int s, bit mirrors, bit offset, bit reversed);
    int low = (reversed && !mirrors ? int'(P) - 1 - p : p) % (1 << s);
    if (mirrors) return mirrored(low);
    return offset && s < int'(Log2P) ? (1 << s) + low : low;
  endfunction
  // Entries that a butterfly ever uses, a bit each.
  function automatic logic [P-1:0] used_by(int p);
    used_by = '0;
    for (int s = 0; s <= int'(Log2P); s++) begin
      for (int reversed = 0; reversed < 2; reversed++) begin
        used_by[entry_of(p, s, 1'b0, 1'b1, 1'(reversed))] = 1'b1;
        if (EnCyclic) used_by[entry_of(p, s, 1'b0, 1'b0, 1'(reversed))] = 1'b1;
      end
      if (EnCyclic) used_by[entry_of(p, s, 1'b1, 1'b0, 1'b1)] = 1'b1;
    end
  endfunction

  // The place of an entry among those that are used.
  function automatic int rank_in(logic [P-1:0] used, int entry);
    rank_in = 0;
    for (int i = 0; i < entry; i++) rank_in += int'(used[i]);
  endfunction

  // One multiplexer for each butterfly, of the entries that it uses.
  localparam int unsigned LevelBits = $clog2(Log2P + 2);
  if (P == 1) begin : gen_one
    logic unused_level;
    assign unused_level = ^level_i;
    assign factors_o    = word;
  end else begin : gen_many
    for (genvar p = 0; p < P; p++) begin : gen_entry
      localparam logic [P-1:0] Used = used_by(p);
      localparam int unsigned Count = $countones(Used);
      localparam int unsigned CountBits = $clog2(Count);
      typedef logic [CountBits-1:0] rank_t;
      logic [Count-1:0][W-1:0] words;
      for (genvar i = 0; i < P; i++) begin : gen_word
        if (Used[i]) begin : gen_used
          assign words[rank_in(Used, i)] = word[i];
        end
      end
      rank_t [Log2P:0] ranks;
      for (genvar s = 0; s <= Log2P; s++) begin : gen_level
        localparam rank_t Mirrored = rank_t'(rank_in(Used, entry_of(p, s, 1'b1, 1'b0, 1'b1)));
        localparam rank_t [1:0] Cyclic = {
          rank_t'(rank_in(Used, entry_of(p, s, 1'b0, 1'b0, 1'b1))),
          rank_t'(rank_in(Used, entry_of(p, s, 1'b0, 1'b0, 1'b0)))
        };
        localparam rank_t [1:0] Plain = {
          rank_t'(rank_in(Used, entry_of(p, s, 1'b0, 1'b1, 1'b1))),
          rank_t'(rank_in(Used, entry_of(p, s, 1'b0, 1'b1, 1'b0)))
        };
        assign ranks[s] = inside_word ? Mirrored : cyclic ? Cyclic[inverse_i] : Plain[inverse_i];
      end
      rs_slot_select #(
        .WordBits(W),
        .Slots   (Count)
      ) u_factor (
        .words_i(words),
        .slot_i (ranks[level_i[LevelBits-1:0]]),
        .word_o (factors_o[p])
      );
    end
  end

  if (LevelBits < 3) begin : gen_unused
    logic unused_level;
    assign unused_level = ^level_i[2:LevelBits];
  end

endmodule
