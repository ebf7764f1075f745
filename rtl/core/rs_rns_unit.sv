// SPDX-License-Identifier: Apache-2.0
// Base-conversion unit of the core: LIFT and SCALE on slots, one instruction at a time, around rs_rns.
//
//   slots --> word of x, word of the kept residues, every lane --> rs_rns --> word of every lane --> slot
//
// A word is asked for at t0 and selected at t1, by the pins that rs_lane takes; a result is written in the cycle in which
// it comes. Lasts `convert` of spec/latency.yaml from start_i to done_o, the cycle of the last write. Every conversion the
// build can hold has a bit in configured_o and own_o, in a build of fewer than 32 the others are 0.
module rs_rns_unit
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
  import rs_rns_pkg::*;
#(
  // See rs_rns.
  parameter int unsigned W = 32,
  parameter int unsigned Lanes = 2,
  parameter int unsigned P = 2,
  parameter int unsigned RnsRate = 2,
  parameter int unsigned WordAddrBits = 4,
  parameter int unsigned RnsConversions = 4,
  parameter int unsigned RnsEntries = 32,
  parameter int unsigned MulKind = 0,
  parameter int unsigned MulStyle = 1,
  parameter int unsigned ModMinBits = 5,
  parameter int unsigned MontW = 8,
  // Bits of the host's configuration word; what does not fit rs_rns is left out.
  parameter int unsigned CfgBits = 160
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  // Constants, see rs_rns_pkg; only while no conversion runs.
  input  logic                                    cfg_we_i,
  input  logic        [             3:0]          cfg_sel_i,
  input  logic        [             2:0]          cfg_lane_i,
  input  logic        [             6:0]          cfg_idx_i,
  input  logic        [     CfgBits-1:0]          cfg_data_i,
  output logic        [            31:0]          configured_o,
  output logic        [            31:0]          own_o,
  input  logic                                    start_i,
  input  conversion_t                             instr_i,
  output logic                                    done_o,
  // Reads: t0, then the selection at t1.
  output logic                                    x_rd_valid_o,
  output source_t                                 x_rd_source_o,
  output logic        [WordAddrBits-1:0]          x_rd_word_o,
  output source_t                                 x_sel_o,
  output logic                                    x_bank_o,
  input  logic        [       Lanes-1:0][P*W-1:0] x_i,
  output logic                                    own_rd_valid_o,
  output source_t                                 own_rd_source_o,
  output logic        [WordAddrBits-1:0]          own_rd_word_o,
  output source_t                                 own_sel_o,
  output logic                                    own_bank_o,
  input  logic        [       Lanes-1:0][P*W-1:0] own_i,
  // Writes.
  output logic                                    wr_valid_o,
  output logic        [             4:0]          wr_slot_o,
  output logic        [WordAddrBits-1:0]          wr_word_o,
  output logic        [       Lanes-1:0][P*W-1:0] wr_data_o
);

  localparam int unsigned ConvBits = $clog2(RnsConversions);
  localparam int unsigned AuxBits = W + RnsGuard + 11;
  localparam int unsigned ReciprocalBits = 32'(reciprocal_bits(int'(W)));
  localparam int unsigned WordBits = AuxBits > ReciprocalBits ? AuxBits : ReciprocalBits;

  logic ready;
  logic [RnsConversions-1:0] configured, own;
  rs_rns #(
    .W             (W),
    .Lanes         (Lanes),
    .P             (P),
    .RnsRate       (RnsRate),
    .WordAddrBits  (WordAddrBits),
    .RnsConversions(RnsConversions),
    .RnsEntries    (RnsEntries),
    .MulKind       (MulKind),
    .MulStyle      (MulStyle),
    .ModMinBits    (ModMinBits),
    .MontW         (MontW),
    .EnOwn         (1'b1)
  ) u_rns (
    .clk_i,
    .rst_ni,
    .cfg_we_i,
    .cfg_sel_i,
    .cfg_lane_i,
    .cfg_idx_i,
    .cfg_data_i  (cfg_data_i[WordBits-1:0]),
    .configured_o(configured),
    .own_o       (own),
    .start_i,
    .conv_i      (instr_i.conv[ConvBits-1:0]),
    .log2_n_i    (instr_i.log2_n),
    .ready_o     (ready),
    .done_o,
    .x_rd_valid_o,
    .x_rd_word_o,
    .x_i,
    .own_rd_valid_o,
    .own_rd_word_o,
    .own_i,
    .wr_valid_o,
    .wr_word_o,
    .wr_data_o
  );
  assign configured_o = 32'(configured);
  assign own_o        = 32'(own);

  source_t x_q, own_q;
  logic [4:0] dst_q;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q   <= instr_i.x;
      own_q <= instr_i.own;
      dst_q <= instr_i.dst;
    end
  end
  assign x_rd_source_o   = x_q;
  assign x_sel_o         = x_q;
  assign own_rd_source_o = own_q;
  assign own_sel_o       = own_q;
  assign wr_slot_o       = dst_q;
  // The bank of a word is the parity of its address.
  always_ff @(posedge clk_i) begin
    x_bank_o   <= ^x_rd_word_o;
    own_bank_o <= ^own_rd_word_o;
  end

  logic unused_bits;
  assign unused_bits = ^{instr_i.conv, cfg_data_i};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || ready)
  else $error("%m: an instruction is taken while one runs");
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || int'(instr_i.conv) < int'(RnsConversions))
  else $error("%m: a conversion that is not there");
`else
  logic unused_ready;
  assign unused_ready = ready;
`endif

endmodule
