// SPDX-License-Identifier: Apache-2.0
// One word out of those of all slots, or of all banks. Combinational.
//
// A module of its own so that synthesis maps it as what it is, a multiplexer straight from the indices: merged with
// what follows, it costs up to twice the LUTs. The bank of a first or only word is chosen in rs_slot, once for all who
// read it: a multiplexer of all banks has twice the inputs.
module rs_slot_select
  import rs_build_pkg::*;
#(
  // Bits of a word.
  parameter int unsigned WordBits = 64,
  // Words to choose from, 2 to 64.
  parameter int unsigned Slots = 3,
  localparam int unsigned SlotBits = $clog2(Slots)
) (
  input  logic [   Slots-1:0][WordBits-1:0] words_i,
  // A word that is there.
  input  logic [SlotBits-1:0]               slot_i,
  output logic [WordBits-1:0]               word_o
);

  if (Slots < 2 || Slots > 2 * SlotsMost) begin : gen_slots_check
    $error("%m: Slots must be 2 to %0d", 2 * SlotsMost);
  end

  assign word_o = words_i[slot_i];

endmodule
