// SPDX-License-Identifier: Apache-2.0
// Ports of all slots: early and late reads and the writes of the compute unit, accesses of the memory unit,
// the base-conversion unit and the unit of pointwise instructions.
//
// Combinational. The bank of a word is the parity of its address, its place in the bank the address without the
// lowest bit: words j and j + n/(2P), and words 2j and 2j + 1, never share a bank, at any n. The scoreboard sees to
// it that no two users meet at a port; the assertion says so.
module rs_slot_ports
  import rs_core_pkg::*;
#(
  parameter int unsigned Slots = 3,
  parameter int unsigned WordAddrBits = 4,
  parameter int unsigned Lanes = 1,
  // 1: there is a base-conversion unit.
  parameter bit EnRns = 1'b0,
  // 1: there is a unit of pointwise instructions.
  parameter bit EnPointwise = 1'b0,
  localparam int unsigned BankBits = WordAddrBits - 1
) (
  input  logic                                                clk_i,
  // Early reads of the compute unit: a pair from v, or one word from each of v, u, w.
  input  logic                                                rd_valid_i,
  input  logic                                                rd_pair_i,
  input  source_t                                             rd_v_i,
  input  source_t                                             rd_u_i,
  input  source_t                                             rd_w_i,
  input  logic    [WordAddrBits-1:0]                          rd_word0_i,
  input  logic    [WordAddrBits-1:0]                          rd_word1_i,
  // Late read of a pair.
  input  logic                                                late_valid_i,
  input  source_t                                             late_source_i,
  input  logic    [WordAddrBits-1:0]                          late_word0_i,
  input  logic    [WordAddrBits-1:0]                          late_word1_i,
  // Memory unit's read of a word.
  input  logic                                                mem_rd_valid_i,
  input  source_t                                             mem_rd_source_i,
  input  logic    [WordAddrBits-1:0]                          mem_rd_word_i,
  // Base-conversion unit's reads of a word each.
  input  logic                                                x_rd_valid_i,
  input  source_t                                             x_rd_source_i,
  input  logic    [WordAddrBits-1:0]                          x_rd_word_i,
  input  logic                                                own_rd_valid_i,
  input  source_t                                             own_rd_source_i,
  input  logic    [WordAddrBits-1:0]                          own_rd_word_i,
  // Pointwise unit's reads of one word from each of v, u, w.
  input  logic                                                pw_rd_valid_i,
  input  source_t                                             pw_rd_v_i,
  input  source_t                                             pw_rd_u_i,
  input  source_t                                             pw_rd_w_i,
  input  logic    [WordAddrBits-1:0]                          pw_rd_word_i,
  // Results: a pair, or one word and perhaps its upper half.
  input  logic                                                wr_valid_i,
  input  logic                                                wr_pair_i,
  input  logic    [             4:0]                          wr_slot_i,
  input  logic                                                wr_high_valid_i,
  input  logic    [             4:0]                          wr_high_slot_i,
  input  logic    [WordAddrBits-1:0]                          wr_word0_i,
  input  logic    [WordAddrBits-1:0]                          wr_word1_i,
  // Memory unit's write of a word, by lane.
  input  logic    [       Lanes-1:0]                          mem_wr_valid_i,
  input  logic    [             4:0]                          mem_wr_slot_i,
  input  logic    [WordAddrBits-1:0]                          mem_wr_word_i,
  // Base-conversion unit's write of a word.
  input  logic                                                rns_wr_valid_i,
  input  logic    [             4:0]                          rns_wr_slot_i,
  input  logic    [WordAddrBits-1:0]                          rns_wr_word_i,
  // Pointwise unit's write of a word.
  input  logic                                                pw_wr_valid_i,
  input  logic    [             4:0]                          pw_wr_slot_i,
  input  logic    [WordAddrBits-1:0]                          pw_wr_word_i,
  // To the slots.
  output logic    [       Slots-1:0][      1:0]               rd_en_o,
  output logic    [       Slots-1:0][      1:0][BankBits-1:0] rd_addr_o,
  // The bank of the first or only word read.
  output logic    [       Slots-1:0]                          rd_first_o,
  output logic    [       Slots-1:0][      1:0]               wr_en_o,
  output logic    [       Slots-1:0]                          wr_high_o,
  output logic    [       Lanes-1:0][Slots-1:0][         1:0] wr_mem_o,
  output logic    [       Slots-1:0][      1:0]               wr_rns_o,
  output logic    [       Slots-1:0][      1:0]               wr_pw_o,
  output logic    [       Slots-1:0][      1:0][BankBits-1:0] wr_addr_o
);

  // Word at bank b of a pair; bank of a word.
  function automatic logic [BankBits-1:0] place(logic [WordAddrBits-1:0] word0, logic [BankBits-1:0] other, logic b);
    return ^word0 == b ? word0[WordAddrBits-1:1] : other;
  endfunction
  function automatic logic is(source_t source, logic [4:0] slot);
    return !source.zero && source.slot == slot;
  endfunction

  // The second word of a pair lies in the other bank: its lowest bit says nothing new.
  logic unused_low;
  assign unused_low = ^{rd_word1_i[0], late_word1_i[0], wr_word1_i[0]};

  if (!EnRns) begin : gen_no_rns
    logic unused_rns;
    assign unused_rns = ^{x_rd_valid_i, x_rd_source_i, x_rd_word_i, own_rd_valid_i, own_rd_source_i, own_rd_word_i,
                          rns_wr_valid_i, rns_wr_slot_i, rns_wr_word_i};
  end

  if (!EnPointwise) begin : gen_no_pointwise
    logic unused_pointwise;
    assign unused_pointwise = ^{pw_rd_valid_i, pw_rd_v_i, pw_rd_u_i, pw_rd_w_i, pw_rd_word_i, pw_wr_valid_i,
                                pw_wr_slot_i, pw_wr_word_i};
  end

  logic [Slots-1:0] pair, single, late, mem_rd, x_rd, own_rd, pw_rd, mem_wr, rns_wr, pw_wr, result, high;

  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    assign pair[s]   = rd_valid_i && rd_pair_i && is(rd_v_i, 5'(s));
    assign single[s] = rd_valid_i && !rd_pair_i && (is(rd_v_i, 5'(s)) || is(rd_u_i, 5'(s)) || is(rd_w_i, 5'(s)));
    assign late[s]   = late_valid_i && is(late_source_i, 5'(s));
    assign mem_rd[s] = mem_rd_valid_i && is(mem_rd_source_i, 5'(s));
    assign x_rd[s]   = EnRns && x_rd_valid_i && is(x_rd_source_i, 5'(s));
    assign own_rd[s] = EnRns && own_rd_valid_i && is(own_rd_source_i, 5'(s));
    assign pw_rd[s]  = EnPointwise && pw_rd_valid_i &&
                       (is(pw_rd_v_i, 5'(s)) || is(pw_rd_u_i, 5'(s)) || is(pw_rd_w_i, 5'(s)));
    assign pw_wr[s]  = EnPointwise && pw_wr_valid_i && pw_wr_slot_i == 5'(s);
    assign rns_wr[s] = EnRns && rns_wr_valid_i && rns_wr_slot_i == 5'(s);
    assign result[s] = wr_valid_i && wr_slot_i == 5'(s);
    assign high[s]   = wr_valid_i && wr_high_valid_i && wr_high_slot_i == 5'(s);
    assign mem_wr[s] = |mem_wr_valid_i && mem_wr_slot_i == 5'(s);
    assign wr_high_o[s] = high[s];
    always_comb begin
      if (late[s]) rd_first_o[s] = ^late_word0_i;
      else if (mem_rd[s]) rd_first_o[s] = ^mem_rd_word_i;
      else if (x_rd[s]) rd_first_o[s] = ^x_rd_word_i;
      else if (own_rd[s]) rd_first_o[s] = ^own_rd_word_i;
      else if (pw_rd[s]) rd_first_o[s] = ^pw_rd_word_i;
      else rd_first_o[s] = ^rd_word0_i;
    end

    for (genvar b = 0; b < 2; b++) begin : gen_bank
      always_comb begin
        rd_en_o[s][b] = pair[s] || (single[s] && ^rd_word0_i == 1'(b)) || late[s] ||
                        (mem_rd[s] && ^mem_rd_word_i == 1'(b)) || (x_rd[s] && ^x_rd_word_i == 1'(b)) ||
                        (own_rd[s] && ^own_rd_word_i == 1'(b)) || (pw_rd[s] && ^pw_rd_word_i == 1'(b));
        if (late[s]) rd_addr_o[s][b] = place(late_word0_i, late_word1_i[WordAddrBits-1:1], 1'(b));
        else if (mem_rd[s]) rd_addr_o[s][b] = mem_rd_word_i[WordAddrBits-1:1];
        else if (x_rd[s]) rd_addr_o[s][b] = x_rd_word_i[WordAddrBits-1:1];
        else if (own_rd[s]) rd_addr_o[s][b] = own_rd_word_i[WordAddrBits-1:1];
        else if (pw_rd[s]) rd_addr_o[s][b] = pw_rd_word_i[WordAddrBits-1:1];
        else rd_addr_o[s][b] = place(rd_word0_i, rd_word1_i[WordAddrBits-1:1], 1'(b));
        wr_en_o[s][b] = (result[s] && (wr_pair_i || ^wr_word0_i == 1'(b))) || (high[s] && ^wr_word0_i == 1'(b));
        if (mem_wr[s]) wr_addr_o[s][b] = mem_wr_word_i[WordAddrBits-1:1];
        else if (rns_wr[s]) wr_addr_o[s][b] = rns_wr_word_i[WordAddrBits-1:1];
        else if (pw_wr[s]) wr_addr_o[s][b] = pw_wr_word_i[WordAddrBits-1:1];
        else wr_addr_o[s][b] = place(wr_word0_i, wr_word1_i[WordAddrBits-1:1], 1'(b));
        wr_rns_o[s][b] = rns_wr[s] && ^rns_wr_word_i == 1'(b);
        wr_pw_o[s][b] = pw_wr[s] && ^pw_wr_word_i == 1'(b);
      end
      for (genvar l = 0; l < Lanes; l++) begin : gen_lane
        assign wr_mem_o[l][s][b] = mem_wr[s] && mem_wr_valid_i[l] && ^mem_wr_word_i == 1'(b);
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

  for (genvar s = 0; s < Slots; s++) begin : gen_check
    assert property (@(posedge clk_i) disable iff (!started_q) $onehot0(
      {pair[s], single[s], late[s], mem_rd[s], x_rd[s], own_rd[s], pw_rd[s]}
    ))
    else $error("%m: two readers at one port");
    assert property (@(posedge clk_i) disable iff (!started_q) $onehot0(
      {result[s], high[s], mem_wr[s], rns_wr[s], pw_wr[s]}
    ))
    else $error("%m: two writers at one port");
  end
  logic operands_there, others_there;
  assign operands_there = there(rd_v_i) && (rd_pair_i || (there(rd_u_i) && there(rd_w_i)));
  assign others_there   = (!late_valid_i || there(late_source_i)) && (!mem_rd_valid_i || there(mem_rd_source_i)) &&
                          (!EnRns || !x_rd_valid_i || there(x_rd_source_i)) &&
                          (!EnRns || !own_rd_valid_i || there(own_rd_source_i)) &&
                          (!EnPointwise || !pw_rd_valid_i ||
                           (there(pw_rd_v_i) && there(pw_rd_u_i) && there(pw_rd_w_i)));
  assert property (@(posedge clk_i) disable iff (!started_q) !rd_valid_i || operands_there)
  else $error("%m: an operand's slot that is not there");
  assert property (@(posedge clk_i) disable iff (!started_q) others_there)
  else $error("%m: a slot is read that is not there");
  assert property (@(posedge clk_i) disable iff (!started_q)
                   (!wr_valid_i || (|result && (!wr_high_valid_i || |high))) && (mem_wr_valid_i == '0 || |mem_wr) &&
                   (!EnRns || !rns_wr_valid_i || |rns_wr) && (!EnPointwise || !pw_wr_valid_i || |pw_wr))
  else $error("%m: a slot is written that is not there");
`else
  logic unused_clk;
  assign unused_clk = clk_i;
`endif

endmodule
