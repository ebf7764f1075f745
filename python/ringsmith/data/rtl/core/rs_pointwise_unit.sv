// SPDX-License-Identifier: Apache-2.0
// Unit of pointwise instructions: multipliers of its own beside the butterflies, and its own choice of the modulus.
//
//   instr --> sequencer --> slots (t0) --> words of v, u, w (t1) --|reg|--> rs_pointwise --> slots
//
// One instruction at a time: done_o comes with its last write, pointwise_pipe - 1 cycles after its last step. It takes
// the factor w from a slot, a constant or the stream.
module rs_pointwise_unit
  import rs_build_pkg::*;
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
#(
  // The parameters of the core: see rs_build_pkg.
  parameter core_cfg_t Cfg = SmallCore,
  localparam int unsigned W = Cfg.W,
  localparam int unsigned P = Cfg.P,
  localparam int unsigned Lanes = Cfg.Lanes,
  localparam int unsigned WordAddrBits = word_addr_bits(Cfg)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  // Configuration: see rs_config.
  input  logic                                 cfg_we_i,
  input  logic     [             1:0]          cfg_sel_i,
  input  logic     [             3:0]          cfg_lane_i,
  input  logic     [             4:0]          cfg_idx_i,
  input  logic     [           W+2:0]          cfg_data_i,
  // Only while no instruction is in the unit: the instruction, no transform and no PMUL, and its modulus.
  input  logic                                 start_i,
  input  compute_t                             instr_i,
  input  logic     [             3:0]          mod_idx_i,
  output logic                                 done_o,
  // The modulus of the present or the last instruction.
  output logic     [             3:0]          mod_idx_o,
  // A streamed factor: as rs_compute_seq, and its words.
  input  logic                                 stream_ready_i,
  output logic                                 stream_claim_o,
  output logic                                 stream_take_o,
  input  logic     [       Lanes-1:0][P*W-1:0] stream_i,
  // t0: one word from each source.
  output logic                                 rd_valid_o,
  output source_t                              rd_v_o,
  output source_t                              rd_u_o,
  output source_t                              rd_w_o,
  output logic     [WordAddrBits-1:0]          rd_word_o,
  // t1: the slots whose words come; those of the zero slot are ignored.
  output source_t                              sel_v_o,
  output source_t                              sel_u_o,
  output source_t                              sel_w_o,
  input  logic     [       Lanes-1:0][P*W-1:0] v_i,
  input  logic     [       Lanes-1:0][P*W-1:0] u_i,
  input  logic     [       Lanes-1:0][P*W-1:0] w_i,
  // Results.
  output logic                                 wr_valid_o,
  output logic     [             4:0]          wr_slot_o,
  output logic     [WordAddrBits-1:0]          wr_word_o,
  output logic     [       Lanes-1:0][P*W-1:0] wr_data_o
);

  // The sequencer of the compute unit, which transforms nothing here.
  compute_t instr;
  always_comb begin
    instr = instr_i;
    {instr.transform, instr.inverse, instr.cyclic, instr.product, instr.first_work} = '0;
    instr.e    = '{zero: 1'b1, slot: '0};
    instr.high = '0;
  end

  logic sel_constant, crossed, sub;
  logic [4:0] const_idx;
  // Of transforms and PMUL.
  logic pair, table_rd_en, sel_pair, inverse, cyclic, first_word, straight, v_bank, halve, product, late_valid, e_bank;
  logic wr_pair, wr_forward, wr_bank, high_valid, ready, issuing, sources_done, table_busy;
  logic [WordAddrBits-1:0] rd_word1, table_word, late_word0, late_word1, wr_word1;
  logic [2:0] level;
  logic [4:0] high_slot;
  logic [MaxSlots-1:0] end_writes, end_late;
  source_t late_source, sel_e;
  logic unused_transform;
  assign unused_transform = ^{
    pair, table_rd_en, sel_pair, inverse, cyclic, first_word, straight, halve, product, late_valid, e_bank, wr_pair,
    wr_forward, wr_bank, high_valid, issuing, sources_done, table_busy, rd_word1, table_word, late_word0, late_word1,
    wr_word1, v_bank, level, high_slot, end_writes, end_late, late_source, sel_e
  };

  rs_compute_seq #(
    .WordAddrBits(WordAddrBits),
    .P(P),
    .SumLatency(32'(addsub_latency(int'(Cfg.MulStyle)))),
    .MulLatency(32'(mod_mul_latency(
      int'(Cfg.MulKind), int'(Cfg.MulStyle), int'(W), int'(Cfg.ModMinBits), int'(Cfg.MontW)
    ))),
    .PipeLatency(32'(pointwise_pipe(
      int'(Cfg.MulKind), int'(Cfg.MulStyle), int'(W), int'(Cfg.ModMinBits), int'(Cfg.MontW)
    )))
  ) u_sequencer (
    .clk_i,
    .rst_ni,
    .start_i,
    .instr_i         (instr),
    .ready_o         (ready),
    .stream_ready_i,
    .stream_claim_o,
    .issuing_o       (issuing),
    .sources_done_o  (sources_done),
    .table_busy_o    (table_busy),
    .rd_valid_o,
    .rd_pair_o       (pair),
    .rd_v_o,
    .rd_u_o,
    .rd_w_o,
    .rd_word0_o      (rd_word_o),
    .rd_word1_o      (rd_word1),
    .table_rd_en_o   (table_rd_en),
    .table_word_o    (table_word),
    .sel_v_o,
    .sel_u_o,
    .sel_w_o,
    .sel_v_bank_o    (v_bank),
    .sel_straight_o  (straight),
    .sel_pair_o      (sel_pair),
    .sel_inverse_o   (inverse),
    .sel_constant_o  (sel_constant),
    .sel_stream_o    (stream_take_o),
    .sel_const_idx_o (const_idx),
    .sel_cyclic_o    (cyclic),
    .sel_level_o     (level),
    .sel_first_word_o(first_word),
    .cross_o         (crossed),
    .sub_o           (sub),
    .halve_o         (halve),
    .product_o       (product),
    .late_valid_o    (late_valid),
    .late_source_o   (late_source),
    .late_word0_o    (late_word0),
    .late_word1_o    (late_word1),
    .sel_e_o         (sel_e),
    .sel_e_bank_o    (e_bank),
    .wr_valid_o,
    .wr_pair_o       (wr_pair),
    .wr_forward_o    (wr_forward),
    .wr_bank_o       (wr_bank),
    .wr_slot_o,
    .wr_high_valid_o (high_valid),
    .wr_high_slot_o  (high_slot),
    .wr_word0_o      (wr_word_o),
    .wr_word1_o      (wr_word1),
    .end_o           (done_o),
    .end_writes_o    (end_writes),
    .end_late_o      (end_late)
  );

  // Its own modulus: transforms may work with another one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mod_idx_o <= '0;
    else if (start_i) mod_idx_o <= mod_idx_i;
  end

  logic [15:0] unused_configured;
  logic [Lanes-1:0][W-1:0] modulus, constant, unused_minus_one;
  logic [Lanes-1:0][W+2:0] aux;
  logic [Lanes-1:0][  7:0] mod_bits;
  rs_config #(
    .W      (W),
    .Lanes  (Lanes),
    .Moduli (Cfg.Moduli),
    .Consts (Cfg.Consts),
    .MulKind(Cfg.MulKind)
  ) u_config (
    .clk_i,
    .rst_ni,
    .we_i        (cfg_we_i),
    .sel_i       (cfg_sel_i),
    .lane_i      (cfg_lane_i),
    .idx_i       (cfg_idx_i),
    .data_i      (cfg_data_i),
    .configured_o(unused_configured),
    .mod_idx_i   (mod_idx_o),
    .modulus_o   (modulus),
    .aux_o       (aux),
    .mod_bits_o  (mod_bits),
    .minus_one_o (unused_minus_one),
    .const_idx_i (const_idx),
    .constant_o  (constant)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    for (genvar p = 0; p < P; p++) begin : gen_coefficient
      logic [W-1:0] u_q, v_q, w_q;
      always_ff @(posedge clk_i) begin
        u_q <= sel_u_o.zero ? '0 : u_i[l][p*W+:W];
        v_q <= sel_v_o.zero ? '0 : v_i[l][p*W+:W];
        if (Cfg.EnStream && stream_take_o) w_q <= stream_i[l][p*W+:W];
        else if (sel_constant) w_q <= constant[l];
        else w_q <= sel_w_o.zero ? '0 : w_i[l][p*W+:W];
      end
      rs_pointwise #(
        .W         (W),
        .MulKind   (Cfg.MulKind),
        .MulStyle  (Cfg.MulStyle),
        .ModMinBits(Cfg.ModMinBits),
        .MontW     (Cfg.MontW),
        .StepLuts  (Cfg.MontSteps == MontgomeryStepsLuts)
      ) u_pointwise (
        .clk_i,
        .modulus_i (modulus[l]),
        .aux_i     (aux[l]),
        .mod_bits_i(mod_bits[l]),
        .crossed_i (crossed),
        .sub_i     (sub),
        .u_i       (u_q),
        .v_i       (v_q),
        .w_i       (w_q),
        .x_o       (wr_data_o[l][p*W+:W])
      );
    end
  end

  if (!Cfg.EnStream) begin : gen_no_stream
    logic unused_stream;
    assign unused_stream = ^stream_i;
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  logic busy_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (start_i) busy_q <= 1'b1;
    else if (done_o) busy_q <= 1'b0;
  end
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || (ready && !busy_q))
  else $error("%m: an instruction starts in another");
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || !(instr_i.transform || instr_i.product))
  else $error("%m: a transform or an unreduced product");
  assert property (@(posedge clk_i) disable iff (!armed) !cfg_we_i || cfg_sel_i == 2'd3 || !busy_q ||
                                                         cfg_idx_i[3:0] != mod_idx_o)
  else $error("%m: the modulus in use is written");
`else
  logic unused_ready;
  assign unused_ready = ready;
`endif

endmodule
