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

  typedef logic [W-1:0] word_bits_t;
  logic cyclic, inside_word;
  logic [P-1:0][W-1:0] word, replicated;
  assign cyclic      = EnCyclic && cyclic_i;
  // Cyclic inverse from the first word: its entries mirror in blocks smaller than the word.
  assign inside_word = cyclic && inverse_i && first_word_i;

  always_comb begin
    word = word_i;
    if (inside_word) word[0] = minus_one_i;
  end

  // Entry of each butterfly, by level.
  localparam int unsigned LevelBits = $clog2(Log2P + 2);
  for (genvar p = 0; p < P; p++) begin : gen_lane
    word_bits_t [Log2P:0] choices;
    for (genvar s = 0; s <= Log2P; s++) begin : gen_level
      localparam int unsigned Plain = s < Log2P ? (1 << s) + p % (1 << s) : p;
      localparam int unsigned Cyclic = p % (1 << s);
      assign choices[s] = inside_word ? word[mirrored(Cyclic)] : cyclic ? word[Cyclic] : word[Plain];
    end
    assign replicated[p] = choices[level_i[LevelBits-1:0]];
    assign factors_o[p] = inverse_i && !inside_word ? replicated[P-1-p] : replicated[p];
  end

  if (LevelBits < 3) begin : gen_unused
    logic unused_level;
    assign unused_level = ^level_i[2:LevelBits];
  end

endmodule
