// SPDX-License-Identifier: Apache-2.0
// Unit of the core for base conversion and moves: LIFT and SCALE on slots around rs_rns, AUTO and DECOMP around
// rs_move, one instruction at a time. A build has either or both.
//
//   slots --> word of x, word of the kept residues, every lane --> rs_rns or rs_move --> word of every lane --> slot
//
// A word is requested at t0 and selected at t1, by the pins that rs_lane takes; a result is written as it arrives.
// Lasts `convert` or `move_words` of spec/latency.yaml from start_i to done_o, the cycle of the last write. Every
// conversion the build can hold has a bit in configured_o and own_o, every automorphism and digit in automorphisms_o
// and digits_o; those that it cannot hold are 0.
module rs_rns_unit
  import rs_build_pkg::*;
  import rs_bundle_pkg::*;
  import rs_core_pkg::*;
  import rs_latency_pkg::*;
  import rs_rns_pkg::*;
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
  // Constants of rs_rns_pkg, from sel 4 on; only while no instruction runs.
  input  constant_write_t                      constant_i,
  output logic            [     31:0]          configured_o,
  output logic            [     31:0]          own_o,
  output logic            [     31:0]          automorphisms_o,
  output logic            [     31:0]          digits_o,
  input  logic                                 start_i,
  input  conversion_t                          instr_i,
  output logic                                 done_o,
  // Reads: t0; their sources stay the same, also for the selection at t1.
  output word_read_t                           x_read_o,
  input  logic            [Lanes-1:0][P*W-1:0] x_i,
  output word_read_t                           own_read_o,
  input  logic            [Lanes-1:0][P*W-1:0] own_i,
  // Writes.
  output logic                                 write_valid_o,
  output word_write_t                          write_o,
  output logic            [Lanes-1:0][P*W-1:0] data_o
);

  localparam int unsigned AuxBits = W + RnsGuard + 11;
  localparam int unsigned ReciprocalBits = 32'(reciprocal_bits(int'(W)));
  localparam int unsigned WordBits = AuxBits > ReciprocalBits ? AuxBits : ReciprocalBits;

  // Outputs of the conversion or of the move unit: end, reads and writes of slots.
  typedef struct packed {
    logic done, rd_valid, wr_valid;
    logic [WordAddrBits-1:0] rd_word, wr_word;
    logic [Lanes-1:0][P*W-1:0] wr_data;
  } port_t;
  port_t conversion, move, chosen;
  logic moves_q, conversion_ready, move_ready, own_rd_valid;
  logic [WordAddrBits-1:0] own_rd_word;

  logic cfg_we;
  logic [3:0] cfg_sel;
  assign cfg_we  = constant_i.we && constant_i.sel >= 4'd4;
  assign cfg_sel = constant_i.sel - 4'd4;

  if (Cfg.RnsRate != 0) begin : gen_conversion
    localparam int unsigned ConvBits = $clog2(Cfg.RnsConversions);
    logic [Cfg.RnsConversions-1:0] configured, own;
    rs_rns #(
      .W             (W),
      .Lanes         (Lanes),
      .P             (P),
      .RnsRate       (Cfg.RnsRate),
      .WordAddrBits  (WordAddrBits),
      .RnsConversions(Cfg.RnsConversions),
      .RnsEntries    (Cfg.RnsEntries),
      .MulKind       (Cfg.MulKind),
      .MulStyle      (Cfg.MulStyle),
      .ModMinBits    (Cfg.ModMinBits),
      .MontW         (Cfg.MontW),
      .MontSteps     (Cfg.MontSteps),
      .EnOwn         (1'b1)
    ) u_rns (
      .clk_i,
      .rst_ni,
      .cfg_we_i      (cfg_we && cfg_sel <= RnsShape),
      .cfg_sel_i     (cfg_sel),
      .cfg_lane_i    (constant_i.lane),
      .cfg_idx_i     (constant_i.idx),
      .cfg_data_i    (constant_i.data[WordBits-1:0]),
      .configured_o  (configured),
      .own_o         (own),
      .start_i       (start_i && !instr_i.moves),
      .conv_i        (instr_i.entry[ConvBits-1:0]),
      .log2_n_i      (instr_i.log2_n),
      .ready_o       (conversion_ready),
      .done_o        (conversion.done),
      .x_rd_valid_o  (conversion.rd_valid),
      .x_rd_word_o   (conversion.rd_word),
      .x_i,
      .own_rd_valid_o(own_rd_valid),
      .own_rd_word_o (own_rd_word),
      .own_i,
      .wr_valid_o    (conversion.wr_valid),
      .wr_word_o     (conversion.wr_word),
      .wr_data_o     (conversion.wr_data)
    );
    assign configured_o = 32'(configured);
    assign own_o        = 32'(own);
`ifndef SYNTHESIS
    logic armed;
    rs_reset_seen u_armed (
      .clk_i,
      .rst_ni,
      .seen_o(armed)
    );
    assert property (@(posedge clk_i) disable iff (!armed)
                     !start_i || instr_i.moves || int'(instr_i.entry) < int'(Cfg.RnsConversions))
    else $error("%m: a conversion that is not there");
`endif
  end else begin : gen_no_conversion
    logic unused_own;
    assign unused_own = ^own_i;
    assign {conversion, conversion_ready, configured_o, own_o, own_rd_valid, own_rd_word} = '0;
  end

  if (Cfg.Moves != 0) begin : gen_moves
    rs_move #(
      .W           (W),
      .Lanes       (Lanes),
      .P           (P),
      .WordAddrBits(WordAddrBits),
      .Moves       (Cfg.Moves)
    ) u_move (
      .clk_i,
      .rst_ni,
      .auto_we_i (cfg_we && cfg_sel == RnsAutomorphism),
      .digit_we_i(cfg_we && cfg_sel == RnsDigit),
      .cfg_lane_i(constant_i.lane),
      .cfg_idx_i (constant_i.idx[4:0]),
      .cfg_data_i(constant_i.data[131:0]),
      .automorphisms_o,
      .digits_o,
      .start_i   (start_i && instr_i.moves),
      .auto_i    (instr_i.automorphism),
      .idx_i     (instr_i.entry),
      .log2_n_i  (instr_i.log2_n),
      .ready_o   (move_ready),
      .done_o    (move.done),
      .rd_valid_o(move.rd_valid),
      .rd_word_o (move.rd_word),
      .words_i   (x_i),
      .wr_valid_o(move.wr_valid),
      .wr_word_o (move.wr_word),
      .wr_data_o (move.wr_data)
    );
  end else begin : gen_no_moves
    assign {move, move_ready, automorphisms_o, digits_o} = '0;
  end

  source_t x_q, own_q;
  logic [4:0] dst_q;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      x_q     <= instr_i.x;
      own_q   <= instr_i.own;
      dst_q   <= instr_i.dst;
      moves_q <= instr_i.moves;
    end
  end
  assign chosen          = Cfg.Moves == 0 || (Cfg.RnsRate != 0 && !moves_q) ? conversion : move;
  assign done_o          = chosen.done;
  assign x_read_o        = '{valid: chosen.rd_valid, from: x_q, word: word_addr_t'(chosen.rd_word)};
  assign own_read_o      = '{valid: own_rd_valid, from: own_q, word: word_addr_t'(own_rd_word)};
  assign write_valid_o   = chosen.wr_valid;
  assign write_o         = '{slot: dst_q, word: word_addr_t'(chosen.wr_word)};
  assign data_o          = chosen.wr_data;

  logic unused_bits;
  assign unused_bits = ^{instr_i, constant_i, moves_q, conversion_ready, move_ready};

`ifndef SYNTHESIS
  logic checked;
  rs_reset_seen u_checked (
    .clk_i,
    .rst_ni,
    .seen_o(checked)
  );
  assert property (@(posedge clk_i) disable iff (!checked) !start_i || (instr_i.moves ? move_ready : conversion_ready))
  else $error("%m: an instruction is taken while one runs");
`endif

endmodule
