// SPDX-License-Identifier: Apache-2.0
// Ports of all slots: early and late reads and the writes of the compute unit, accesses of the memory unit,
// the base-conversion unit and the unit of pointwise instructions.
//
// Combinational. The bank of a word is the parity of its address, its place in the bank the address without the
// lowest bit: words j and j + n/(2P), and words 2j and 2j + 1, never share a bank, at any n. The scoreboard sees to
// it that no two users meet at a port; the assertion says so.
module rs_slot_ports
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
#(
  parameter int unsigned Slots = 3,
  parameter int unsigned WordAddrBits = 4,
  parameter int unsigned Lanes = 1,
  // 1: there is a base-conversion unit.
  parameter bit EnRns = 1'b0,
  // 1: there is a unit of pointwise instructions.
  parameter bit EnPointwise = 1'b0
) (
  input  logic                                      clk_i,
  // Reads of the compute unit: early ones of a pair from v, or of one word from each of v, u, w; late ones of a pair.
  input  operand_read_t                             read_i,
  input  late_read_t                                late_i,
  // Memory unit's read of a word; base-conversion unit's reads of a word each; pointwise unit's of one from each of v,
  // u, w.
  input  word_read_t                                memory_read_i,
  input  word_read_t                                x_read_i,
  input  word_read_t                                own_read_i,
  input  operand_read_t                             pointwise_read_i,
  // Results of the compute unit and of the pointwise unit.
  input  result_t                                   result_i,
  input  result_t                                   pointwise_result_i,
  // Memory unit's write of a word, by lane; base-conversion unit's.
  input  logic          [Lanes-1:0]                 memory_write_valid_i,
  input  word_write_t                               memory_write_i,
  input  logic                                      rns_write_valid_i,
  input  word_write_t                               rns_write_i,
  // To the slots; the memory unit's writes by lane.
  output slot_read_t    [Slots-1:0]                 read_o,
  output slot_write_t   [Slots-1:0]                 write_o,
  output logic          [Lanes-1:0][Slots-1:0][1:0] memory_write_o
);

  // Bank of a word, its place in the bank; place at bank b of a pair.
  localparam word_addr_t Mask = word_addr_t'((1 << WordAddrBits) - 1);
  function automatic logic bank(word_addr_t word);
    return ^(word & Mask);
  endfunction
  function automatic bank_addr_t place(word_addr_t word);
    return bank_addr_t'((word & Mask) >> 1);
  endfunction
  function automatic bank_addr_t place_of_pair(word_addr_t word0, word_addr_t word1, logic b);
    return bank(word0) == b ? place(word0) : place(word1);
  endfunction
  function automatic logic is(source_t source, logic [4:0] slot);
    return !source.zero && source.slot == slot;
  endfunction
  function automatic logic is_any(operands_t sources, logic [4:0] slot);
    return is(sources.v, slot) || is(sources.u, slot) || is(sources.w, slot);
  endfunction

  // The second word of a pair lies in the other bank: its lowest bit says nothing new. The pointwise unit has no pairs.
  logic unused_bits;
  assign unused_bits = ^{read_i, late_i, memory_read_i, x_read_i, own_read_i, pointwise_read_i, result_i,
                         pointwise_result_i, memory_write_i, rns_write_valid_i, rns_write_i};

  logic [Slots-1:0] pair, single, late, memory_read, x_read, own_read, pointwise_read;
  logic [Slots-1:0] result, high, memory_write, rns_write, pointwise_write;

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    assign pair[s]            = read_i.valid && read_i.pair && is(read_i.from.v, 5'(s));
    assign single[s]          = read_i.valid && !read_i.pair && is_any(read_i.from, 5'(s));
    assign late[s]            = late_i.valid && is(late_i.from, 5'(s));
    assign memory_read[s]     = memory_read_i.valid && is(memory_read_i.from, 5'(s));
    assign x_read[s]          = EnRns && x_read_i.valid && is(x_read_i.from, 5'(s));
    assign own_read[s]        = EnRns && own_read_i.valid && is(own_read_i.from, 5'(s));
    assign pointwise_read[s]  = EnPointwise && pointwise_read_i.valid && is_any(pointwise_read_i.from, 5'(s));
    assign result[s]          = result_i.valid && result_i.slot == 5'(s);
    assign high[s]            = result_i.valid && result_i.high_valid && result_i.high == 5'(s);
    assign memory_write[s]    = |memory_write_valid_i && memory_write_i.slot == 5'(s);
    assign rns_write[s]       = EnRns && rns_write_valid_i && rns_write_i.slot == 5'(s);
    assign pointwise_write[s] = EnPointwise && pointwise_result_i.valid && pointwise_result_i.slot == 5'(s);
    assign write_o[s].high    = high[s];
    always_comb begin
      if (late[s]) read_o[s].first = bank(late_i.word0);
      else if (memory_read[s]) read_o[s].first = bank(memory_read_i.word);
      else if (x_read[s]) read_o[s].first = bank(x_read_i.word);
      else if (own_read[s]) read_o[s].first = bank(own_read_i.word);
      else if (pointwise_read[s]) read_o[s].first = bank(pointwise_read_i.word0);
      else read_o[s].first = bank(read_i.word0);
    end

    for (genvar b = 0; b < 2; b++) begin : gen_bank
      always_comb begin
        read_o[s].en[b] = pair[s] || (single[s] && bank(read_i.word0) == 1'(b)) || late[s] ||
          (memory_read[s] && bank(memory_read_i.word) == 1'(b)) || (x_read[s] && bank(x_read_i.word) == 1'(b)) ||
          (own_read[s] && bank(own_read_i.word) == 1'(b)) ||
          (pointwise_read[s] && bank(pointwise_read_i.word0) == 1'(b));
        if (late[s]) read_o[s].addr[b] = place_of_pair(late_i.word0, late_i.word1, 1'(b));
        else if (memory_read[s]) read_o[s].addr[b] = place(memory_read_i.word);
        else if (x_read[s]) read_o[s].addr[b] = place(x_read_i.word);
        else if (own_read[s]) read_o[s].addr[b] = place(own_read_i.word);
        else if (pointwise_read[s]) read_o[s].addr[b] = place(pointwise_read_i.word0);
        else read_o[s].addr[b] = place_of_pair(read_i.word0, read_i.word1, 1'(b));
        write_o[s].en[b] = (result[s] && (result_i.pair || bank(result_i.word0) == 1'(b))) ||
          (high[s] && bank(result_i.word0) == 1'(b));
        if (memory_write[s]) write_o[s].addr[b] = place(memory_write_i.word);
        else if (rns_write[s]) write_o[s].addr[b] = place(rns_write_i.word);
        else if (pointwise_write[s]) write_o[s].addr[b] = place(pointwise_result_i.word0);
        else write_o[s].addr[b] = place_of_pair(result_i.word0, result_i.word1, 1'(b));
        write_o[s].rns[b]       = rns_write[s] && bank(rns_write_i.word) == 1'(b);
        write_o[s].pointwise[b] = pointwise_write[s] && bank(pointwise_result_i.word0) == 1'(b);
      end
      for (genvar l = 0; l < Lanes; l++) begin : gen_lane
        assign memory_write_o[l][s][b] = memory_write[s] && memory_write_valid_i[l] && bank(
          memory_write_i.word
        ) == 1'(b);
      end
    end
  end

`ifndef SYNTHESIS
  // Before its first edge the registers in front hold anything.
  logic started_q;
  initial started_q = 1'b0;
  always @(posedge clk_i) started_q <= 1'b1;
  function automatic logic there(source_t source);
    return source.zero || int'(source.slot) < int'(Slots);
  endfunction

  function automatic logic all_there(operands_t sources);
    return there(sources.v) && there(sources.u) && there(sources.w);
  endfunction

  for (genvar s = 0; s < Slots; s++) begin : gen_check
    assert property (@(posedge clk_i) disable iff (!started_q) $onehot0(
      {pair[s], single[s], late[s], memory_read[s], x_read[s], own_read[s], pointwise_read[s]}
    ))
    else $error("%m: two readers at one port");
    assert property (@(posedge clk_i) disable iff (!started_q) $onehot0(
      {result[s], high[s], memory_write[s], rns_write[s], pointwise_write[s]}
    ))
    else $error("%m: two writers at one port");
  end
  logic operands_there, others_there;
  assign operands_there = there(read_i.from.v) && (read_i.pair || all_there(read_i.from));
  assign others_there   = (!late_i.valid || there(late_i.from)) && (!memory_read_i.valid || there(memory_read_i.from)) &&
                          (!EnRns || !x_read_i.valid || there(x_read_i.from)) &&
                          (!EnRns || !own_read_i.valid || there(own_read_i.from)) &&
                          (!EnPointwise || !pointwise_read_i.valid || all_there(pointwise_read_i.from));
  assert property (@(posedge clk_i) disable iff (!started_q) !read_i.valid || operands_there)
  else $error("%m: an operand's slot that is not there");
  assert property (@(posedge clk_i) disable iff (!started_q) others_there)
  else $error("%m: a slot is read that is not there");
  assert property (@(posedge clk_i) disable iff (!started_q)
                   (!result_i.valid || (|result && (!result_i.high_valid || |high))) &&
                   (memory_write_valid_i == '0 || |memory_write) &&
                   (!EnRns || !rns_write_valid_i || |rns_write) &&
                   (!EnPointwise || !pointwise_result_i.valid || |pointwise_write))
  else $error("%m: a slot is written that is not there");
`else
  logic unused_clk;
  assign unused_clk = clk_i;
`endif

endmodule
