// SPDX-License-Identifier: Apache-2.0
// One lane of the base-conversion unit: out = [own a + sum y_i m_i + v c]_p for its modulus p, its residues regrouped.
//
//   word of x   --> group --> x_o, for the broadcast                   y_i (column r, r cycles late)
//                                                                       |
//   word of own --> group ----------------------------------------------+--> rs_rns_dot --> reduce --> + v c --> words
//
// m_i, own and the multiples v c are constants written at run time; with Montgomery reduction m_i and own carry the
// factor 2^(MontW*ceil((W+4)/MontW)), the multiples none. Times: see rs_rns_seq.
module rs_rns_lane
  import rs_latency_pkg::*;
  import rs_rns_pkg::*;
#(
  // Bits of a coefficient.
  parameter int unsigned W = 32,
  // Coefficients of a memory word; coefficients at a time: 1, 2 or 4.
  parameter int unsigned P = 2,
  parameter int unsigned RnsRate = 2,
  // See rs_mod_reduce.
  parameter int unsigned MulKind = 0,
  parameter int unsigned MulStyle = 1,
  parameter int unsigned ModMinBits = 5,
  parameter int unsigned MontW = 8,
  parameter bit StepLuts = 1'b0,
  // RnsEntries of the constants' tables, conversions.
  parameter int unsigned RnsEntries = 32,
  parameter int unsigned RnsConversions = 4,
  // 1: conversions with kept residues.
  parameter bit EnOwn = 1'b1,
  localparam int unsigned EntryBits = $clog2(RnsEntries),
  localparam int unsigned ConvBits = $clog2(RnsConversions),
  localparam int unsigned PlaceBits = P > 1 ? $clog2(P) : 1,
  localparam int unsigned AuxBits = W + RnsGuard + 11
) (
  input  logic                        clk_i,
  // Constants.
  input  logic                        row_we_i,
  input  logic                        multiple_we_i,
  input  logic                        modulus_we_i,
  input  logic                        aux_we_i,
  input  logic [          6:0]        cfg_idx_i,
  input  logic [  AuxBits-1:0]        cfg_data_i,
  // The conversion, from a cycle before its first step on.
  input  logic [ ConvBits-1:0]        conv_i,
  // Words of x and of the kept residues.
  input  logic                        x_load_i,
  input  logic                        x_take_i,
  input  logic [        P-1:0][W-1:0] x_i,
  output logic [  RnsRate-1:0][W-1:0] x_o,
  input  logic                        own_load_i,
  input  logic                        own_take_i,
  input  logic [        P-1:0][W-1:0] own_i,
  // A cycle before a step of column 0: the entry of its constant. With it: what it is, and all columns' y.
  input  logic [EntryBits-1:0]        row_i,
  input  logic                        first_i,
  input  logic                        last_i,
  input  logic                        own_step_i,
  input  logic [  RnsRate-1:0][W-1:0] y_i,
  // A cycle before the reduced sum: the entry of the multiple.
  input  logic [EntryBits-1:0]        multiple_i,
  // The result's place in its word; word_o is whole with the last place.
  input  logic [PlaceBits-1:0]        place_i,
  output logic [        P-1:0][W-1:0] word_o
);

  localparam int unsigned SumBits = 2 * W + RnsGuard;

  // Constants. The modulus in use stays throughout a conversion, so its index is registered, not its bits.
  logic [W-1:0] row, multiple, modulus;
  logic [ AuxBits-1:0] aux;
  logic [ConvBits-1:0] conv_q;
  always_ff @(posedge clk_i) conv_q <= conv_i;
  rs_table #(
    .Width     (W),
    .DepthWords(RnsEntries)
  ) u_rows (
    .clk_i,
    .rd_addr_i(row_i),
    .rd_data_o(row),
    .wr_en_i  (row_we_i),
    .wr_addr_i(cfg_idx_i[EntryBits-1:0]),
    .wr_data_i(cfg_data_i[W-1:0])
  );
  rs_table #(
    .Width     (W),
    .DepthWords(RnsEntries)
  ) u_multiples (
    .clk_i,
    .rd_addr_i(multiple_i),
    .rd_data_o(multiple),
    .wr_en_i  (multiple_we_i),
    .wr_addr_i(cfg_idx_i[EntryBits-1:0]),
    .wr_data_i(cfg_data_i[W-1:0])
  );
  rs_table #(
    .Width     (W),
    .DepthWords(RnsConversions),
    .Registered(1'b0)
  ) u_moduli (
    .clk_i,
    .rd_addr_i(conv_q),
    .rd_data_o(modulus),
    .wr_en_i  (modulus_we_i),
    .wr_addr_i(cfg_idx_i[ConvBits-1:0]),
    .wr_data_i(cfg_data_i[W-1:0])
  );
  if (MulKind == rs_build_pkg::ReductionBarrett) begin : gen_aux
    rs_table #(
      .Width     (AuxBits),
      .DepthWords(RnsConversions),
      .Registered(1'b0)
    ) u_aux (
      .clk_i,
      .rd_addr_i(conv_q),
      .rd_data_o(aux),
      .wr_en_i  (aux_we_i),
      .wr_addr_i(cfg_idx_i[ConvBits-1:0]),
      .wr_data_i(cfg_data_i)
    );
  end else begin : gen_no_aux
    logic unused_aux;
    assign unused_aux = ^{aux_we_i, cfg_data_i[AuxBits-1:W]};
    assign aux = '0;
  end
  logic unused_idx;
  assign unused_idx = ^cfg_idx_i;

  rs_rns_group #(
    .W      (W),
    .P      (P),
    .RnsRate(RnsRate)
  ) u_x (
    .clk_i,
    .load_i (x_load_i),
    .take_i (x_take_i),
    .word_i (x_i),
    .group_o(x_o)
  );

  // Column r's operand: y, or in its own step the kept residue.
  logic [RnsRate-1:0][W-1:0] operand;
  if (EnOwn) begin : gen_own
    logic [RnsRate-1:0][W-1:0] own;
    logic [RnsRate-1:0] own_step;
    rs_rns_group #(
      .W      (W),
      .P      (P),
      .RnsRate(RnsRate)
    ) u_own (
      .clk_i,
      .load_i (own_load_i),
      .take_i (own_take_i),
      .word_i (own_i),
      .group_o(own)
    );
    assign own_step[0] = own_step_i;
    for (genvar r = 0; r < RnsRate; r++) begin : gen_column
      if (r > 0) begin : gen_late
        always_ff @(posedge clk_i) own_step[r] <= own_step[r-1];
      end
      assign operand[r] = own_step[r] ? own[r] : y_i[r];
    end
  end else begin : gen_no_own
    logic unused_own;
    assign unused_own = ^{own_load_i, own_take_i, own_i, own_step_i};
    assign operand = y_i;
  end

  logic [SumBits-1:0] sum;
  logic [W:0] reduced;
  logic [W-1:0] result;
  rs_rns_dot #(
    .FactorBits (W),
    .OperandBits(W),
    .RnsRate    (RnsRate),
    .Guard      (RnsGuard),
    .MulStyle   (MulStyle)
  ) u_dot (
    .clk_i,
    .first_i,
    .last_i,
    .factor_i (row),
    .operand_i(operand),
    .sum_o    (sum)
  );
  rs_mod_reduce #(
    .W         (W),
    .Guard     (RnsGuard),
    .MulKind   (MulKind),
    .MulStyle  (MulStyle),
    .ModMinBits(ModMinBits),
    .MontW     (MontW),
    .StepLuts  (StepLuts)
  ) u_reduce (
    .clk_i,
    .modulus_i (modulus),
    .aux_i     (aux[AuxBits-1:8]),
    .mod_bits_i(aux[7:0]),
    .t_i       (sum),
    .result_o  (reduced)
  );
  rs_mod_addsub #(
    .W(W),
    .MulStyle(MulStyle)
  ) u_add (
    .clk_i,
    .modulus_i(modulus),
    .sub_i    (1'b0),
    .halve_i  (1'b0),
    .whole_i  (1'b0),
    .a_i      (multiple),
    .b_i      (reduced),
    .result_o (result)
  );

  if (P == 1) begin : gen_whole
    logic unused_place;
    assign unused_place = place_i;
    assign word_o = result;
  end else begin : gen_assemble
    logic [P-2:0][W-1:0] partial_q;
    for (genvar p = 0; p < P - 1; p++) begin : gen_part
      always_ff @(posedge clk_i) if (place_i == PlaceBits'(p)) partial_q[p] <= result;
    end
    assign word_o = {result, partial_q};
  end

endmodule
