// SPDX-License-Identifier: Apache-2.0
// Unit of pointwise instructions: multipliers of its own beside the butterflies, and its own choice of the modulus.
//
//   instr --> sequencer --> slots (t0) --> words of v, u, w (t1) --|reg|--> rs_pointwise --> slots
//
// One instruction at a time: done_o comes with its last write, pointwise_pipe - 1 cycles after its last step. It takes
// the factor w from a slot, a constant or the stream.
module rs_pointwise_unit
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
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
  // Those of rs_config are its own too.
  input  constant_write_t                      constant_i,
  // Only while no instruction is in the unit: the instruction, no transform and no PMUL, and its modulus.
  input  logic                                 start_i,
  input  compute_t                             instr_i,
  input  logic            [      3:0]          mod_idx_i,
  output logic                                 done_o,
  // The modulus of the present or the last instruction.
  output logic            [      3:0]          mod_idx_o,
  // A streamed factor: as rs_compute_seq, and its words.
  input  logic                                 stream_ready_i,
  output logic                                 stream_claim_o,
  output logic                                 stream_take_o,
  input  logic            [Lanes-1:0][P*W-1:0] stream_i,
  // t0: one word from each source, then its selection at t1; words of the zero slot are ignored.
  output operand_read_t                        read_o,
  output operands_t                            select_o,
  input  logic            [Lanes-1:0][P*W-1:0] v_i,
  input  logic            [Lanes-1:0][P*W-1:0] u_i,
  input  logic            [Lanes-1:0][P*W-1:0] w_i,
  // Results: a word.
  output result_t                              result_o,
  output logic            [Lanes-1:0][P*W-1:0] data_o
);

  // The sequencer of the compute unit, which transforms nothing here.
  compute_t instr;
  always_comb begin
    instr = instr_i;
    {instr.transform, instr.inverse, instr.cyclic, instr.product, instr.first_work} = '0;
    instr.e    = '{zero: 1'b1, slot: '0};
    instr.high = '0;
  end

  select_t select;
  mode_t   mode;
  finish_t finish;
  assign select_o      = select.from;
  assign stream_take_o = select.stream;
  assign done_o        = finish.valid;

  // Of transforms and PMUL.
  logic ready, issuing, sources_done, table_busy, table_rd_en;
  logic [WordAddrBits-1:0] table_word;
  late_read_t late;
  addend_t addend;
  logic unused_transform;
  assign unused_transform = ^{issuing, sources_done, table_busy, table_rd_en, table_word, late, addend, select, mode,
                              finish};

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
    .instr_i       (instr),
    .ready_o       (ready),
    .stream_ready_i,
    .stream_claim_o,
    .issuing_o     (issuing),
    .sources_done_o(sources_done),
    .table_busy_o  (table_busy),
    .read_o,
    .table_rd_en_o (table_rd_en),
    .table_word_o  (table_word),
    .select_o      (select),
    .mode_o        (mode),
    .late_o        (late),
    .addend_o      (addend),
    .result_o,
    .finish_o      (finish)
  );

  // Its own modulus: transforms may work with another one.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mod_idx_o <= '0;
    else if (start_i) mod_idx_o <= mod_idx_i;
  end

  logic cfg_we, unused_constant;
  assign cfg_we          = constant_i.we && constant_i.sel < 4'd4;
  assign unused_constant = ^constant_i;
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
    .we_i        (cfg_we),
    .sel_i       (constant_i.sel[1:0]),
    .lane_i      (constant_i.lane),
    .idx_i       (constant_i.idx[4:0]),
    .data_i      (constant_i.data[W+2:0]),
    .configured_o(unused_configured),
    .mod_idx_i   (mod_idx_o),
    .modulus_o   (modulus),
    .aux_o       (aux),
    .mod_bits_o  (mod_bits),
    .minus_one_o (unused_minus_one),
    .const_idx_i (select.const_idx),
    .constant_o  (constant)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    for (genvar p = 0; p < P; p++) begin : gen_coefficient
      logic [W-1:0] u_q, v_q, w_q;
      always_ff @(posedge clk_i) begin
        u_q <= select.from.u.zero ? '0 : u_i[l][p*W+:W];
        v_q <= select.from.v.zero ? '0 : v_i[l][p*W+:W];
        if (Cfg.EnStream && stream_take_o) w_q <= stream_i[l][p*W+:W];
        else if (select.constant) w_q <= constant[l];
        else w_q <= select.from.w.zero ? '0 : w_i[l][p*W+:W];
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
        .crossed_i (mode.crossed),
        .sub_i     (mode.sub),
        .u_i       (u_q),
        .v_i       (v_q),
        .w_i       (w_q),
        .x_o       (data_o[l][p*W+:W])
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
  assert property (@(posedge clk_i) disable iff (!armed) !cfg_we || constant_i.sel == 4'd3 || !busy_q ||
                                                         constant_i.idx[3:0] != mod_idx_o)
  else $error("%m: the modulus in use is written");
`else
  logic unused_ready;
  assign unused_ready = ready;
`endif

endmodule
