// SPDX-License-Identifier: Apache-2.0
// Base conversion of polynomials, as crates/rns and docs/arithmetic.md define it, bit for bit:
//
//   y_i   = [x_i f_i]_{q_i}                                     lane first + i, i < K
//   v     = floor((sum y_i C_i + 2^(F-1)) / 2^F)
//   out_j = [own_j a_j + sum y_i m_ij + v c_j]_{p_j}            lane j
//
//   x of every lane --> groups --> one prime a cycle --> RnsRate multipliers --> y
//   y, broadcast --+--> RnsRate columns a lane --> words
//                  +--> quotient v
//
// Lift (BaseConverter) has no a; scaling, rescaling and division by special primes (ScaleRounder) have. Every constant
// is written at run time: no prime is wired in. A conversion takes (n/RnsRate - 1) max(K + own, RnsRate) + K + own +
// convert_pipe(...) cycles from its start to its last write (`convert` of spec/latency.yaml). Words are read and
// written at the time given: the memory never makes the unit wait. Lanes that are no output lanes of a conversion give
// residues of whatever their modulus and rows say. In place (out over x or over a) is right: a word is written after
// it was read.
module rs_rns
  import rs_build_pkg::*;
  import rs_latency_pkg::*;
  import rs_rns_pkg::*;
#(
  // Bits of a coefficient, 14 to 64.
  parameter int unsigned W = 32,
  // Lanes, 1 to 8: as many input primes and output primes at most.
  parameter int unsigned Lanes = 2,
  // Coefficients of a memory word, a power of two.
  parameter int unsigned P = 2,
  // Coefficients at a time: 1, 2 or 4.
  parameter int unsigned RnsRate = 2,
  // Bits of a word address: log2(n_max / P).
  parameter int unsigned WordAddrBits = 4,
  // RnsConversions held, 2 to 32, and entries of their constants, 16 to 128: K + 1 for each conversion.
  parameter int unsigned RnsConversions = 4,
  parameter int unsigned RnsEntries = 32,
  // 0 Barrett, 1 word-level Montgomery.
  parameter int unsigned MulKind = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Barrett: bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // Montgomery: moduli are 1 modulo 2^MontW, 4 to W - 2; where the products of its steps are (montgomery_steps_e).
  parameter int unsigned MontW = 8,
  parameter int unsigned MontSteps = 0,
  // 1: conversions with kept residues a_j.
  parameter bit EnOwn = 1'b1,
  localparam int unsigned ConvBits = $clog2(RnsConversions),
  localparam int unsigned ReciprocalBits = 32'(reciprocal_bits(int'(W))),
  localparam int unsigned AuxBits = W + RnsGuard + 11,
  localparam int unsigned CfgBits = AuxBits > ReciprocalBits ? AuxBits : ReciprocalBits
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // Constants, see rs_rns_pkg; only while no conversion runs.
  input  logic                               cfg_we_i,
  input  logic [               3:0]          cfg_sel_i,
  input  logic [               3:0]          cfg_lane_i,
  input  logic [               6:0]          cfg_idx_i,
  input  logic [       CfgBits-1:0]          cfg_data_i,
  // Conversions whose shape was written, and which of them take kept residues.
  output logic [RnsConversions-1:0]          configured_o,
  output logic [RnsConversions-1:0]          own_o,
  input  logic                               start_i,
  input  logic [      ConvBits-1:0]          conv_i,
  input  logic [               3:0]          log2_n_i,
  output logic                               ready_o,
  output logic                               done_o,
  // Words of every lane, a cycle after the request.
  output logic                               x_rd_valid_o,
  output logic [  WordAddrBits-1:0]          x_rd_word_o,
  input  logic [         Lanes-1:0][P*W-1:0] x_i,
  output logic                               own_rd_valid_o,
  output logic [  WordAddrBits-1:0]          own_rd_word_o,
  input  logic [         Lanes-1:0][P*W-1:0] own_i,
  output logic                               wr_valid_o,
  output logic [  WordAddrBits-1:0]          wr_word_o,
  output logic [         Lanes-1:0][P*W-1:0] wr_data_o
);

  if (W < WLeast || W > 64) begin : gen_width_check
    $error("%m: W must be %0d to 64", WLeast);
  end
  // More lanes do without base conversion: a rule of spec/build.yaml.
  if (Lanes < LanesLeast || Lanes > 8) begin : gen_lanes_check
    $error("%m: Lanes must be %0d to 8", LanesLeast);
  end
  if (RnsRate < 1 || RnsRate > RnsRateMost || RnsRate != 1 << $clog2(RnsRate)) begin : gen_rate_check
    $error("%m: RnsRate must be a power of two up to %0d", RnsRateMost);
  end
  if (RnsConversions < RnsConversionsLeast || RnsConversions > RnsConversionsMost) begin : gen_conversions_check
    $error("%m: RnsConversions must be %0d to %0d", RnsConversionsLeast, RnsConversionsMost);
  end
  if (RnsEntries < RnsEntriesLeast || RnsEntries > RnsEntriesMost) begin : gen_entries_check
    $error("%m: RnsEntries must be %0d to %0d", RnsEntriesLeast, RnsEntriesMost);
  end
  if (MulKind == ReductionMontgomery && MontW < 4) begin : gen_word_check
    $error("%m: MontW must be from 4 to W - 2");
  end

  localparam int unsigned EntryBits = $clog2(RnsEntries);
  localparam int unsigned PlaceBits = P > 1 ? $clog2(P) : 1;
  localparam int unsigned LaneBits = Lanes > 1 ? $clog2(Lanes) : 1;
  // Bits of the narrowest modulus that can be.
  localparam int unsigned Lowest = MulKind == ReductionBarrett ? ModMinBits : MontW + 1;
  localparam int unsigned FactorLatency = 32'(factor_latency(
    int'(MulKind), int'(MulStyle), int'(W), int'(ModMinBits), int'(MontW)
  ));
  localparam int unsigned DotLatency = 32'(dot_latency(int'(MulStyle), int'(W), int'(W)));
  localparam int unsigned ReduceLatency = 32'(reduce_latency(
    int'(MulKind), int'(MulStyle), int'(W), int'(ModMinBits), int'(MontW), int'(RnsGuard)
  ));
  localparam int unsigned AddLatency = 32'(addsub_latency(int'(MulStyle)));
  localparam int unsigned QuotientLatency = 32'(quotient_latency(int'(MulStyle), int'(W)));
  // v waits for the sum to be reduced; the multiple is read a cycle before.
  localparam int unsigned QuotientWait = DotLatency + ReduceLatency - 1 - QuotientLatency;

  if (int'(DotLatency + ReduceLatency) < int'(QuotientLatency) + 1) begin : gen_wait_check
    $error("%m: the quotient comes after the sum it corrects");
  end

  // The conversion: its shape is there in the cycle after start_i.
  logic [ConvBits-1:0] conv_q, conv;
  shape_t shape, shape_cfg;
  logic unused_shape;
  logic shape_we;
  assign conv      = start_i ? conv_i : conv_q;
  assign shape_cfg = shape_t'(cfg_data_i[$bits(shape_t)-1:0]);
  assign shape_we  = cfg_we_i && cfg_sel_i == RnsShape;
  assign unused_shape = ^shape_cfg;
  always_ff @(posedge clk_i) if (start_i) conv_q <= conv_i;
  rs_table #(
    .Width     ($bits(shape_t)),
    .DepthWords(RnsConversions)
  ) u_shapes (
    .clk_i,
    .rd_addr_i(conv),
    .rd_data_o(shape),
    .wr_en_i  (shape_we),
    .wr_addr_i(cfg_idx_i[ConvBits-1:0]),
    .wr_data_i(cfg_data_i[$bits(shape_t)-1:0])
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      configured_o <= '0;
      own_o        <= '0;
    end else if (shape_we && int'(cfg_idx_i) < int'(RnsConversions)) begin
      configured_o[cfg_idx_i[ConvBits-1:0]] <= 1'b1;
      own_o[cfg_idx_i[ConvBits-1:0]]        <= shape_cfg.own;
    end
  end

  logic x_load, x_take, own_load, own_take, first, first_prime, last, own_step;
  logic [2:0] prime;
  logic [EntryBits-1:0] prime_entry, row_entry;
  logic [PlaceBits-1:0] place;
  rs_rns_seq #(
    .WordAddrBits (WordAddrBits),
    .P            (P),
    .RnsRate      (RnsRate),
    .RnsEntries   (RnsEntries),
    .FactorLatency(FactorLatency),
    .DotLatency   (DotLatency),
    .TailLatency  (ReduceLatency + AddLatency)
  ) u_seq (
    .clk_i,
    .rst_ni,
    .start_i,
    .log2_n_i,
    .ready_o,
    .done_o,
    .primes_i     (shape.primes),
    .own_i        (EnOwn && shape.own),
    .base_i       (shape.base[EntryBits-1:0]),
    .x_rd_valid_o,
    .x_rd_word_o,
    .own_rd_valid_o,
    .own_rd_word_o,
    .x_load_o     (x_load),
    .x_take_o     (x_take),
    .own_load_o   (own_load),
    .own_take_o   (own_take),
    .prime_o      (prime),
    .prime_entry_o(prime_entry),
    .row_entry_o  (row_entry),
    .first_o      (first),
    .first_prime_o(first_prime),
    .last_o       (last),
    .own_step_o   (own_step),
    .place_o      (place),
    .wr_valid_o,
    .wr_word_o
  );

  // Constants of the input primes, with the broadcast x; C with column 0's step.
  logic [W-1:0] prime_modulus, factor;
  logic [W+2:0] prime_aux;
  logic [7:0] prime_bits;
  logic [ReciprocalBits-1:0] reciprocal;
  rs_table #(
    .Width     (W),
    .DepthWords(RnsEntries)
  ) u_primes (
    .clk_i,
    .rd_addr_i(prime_entry),
    .rd_data_o(prime_modulus),
    .wr_en_i  (cfg_we_i && cfg_sel_i == RnsPrime),
    .wr_addr_i(cfg_idx_i[EntryBits-1:0]),
    .wr_data_i(cfg_data_i[W-1:0])
  );
  rs_table #(
    .Width     (W),
    .DepthWords(RnsEntries)
  ) u_factors (
    .clk_i,
    .rd_addr_i(prime_entry),
    .rd_data_o(factor),
    .wr_en_i  (cfg_we_i && cfg_sel_i == RnsFactor),
    .wr_addr_i(cfg_idx_i[EntryBits-1:0]),
    .wr_data_i(cfg_data_i[W-1:0])
  );
  rs_table #(
    .Width     (ReciprocalBits),
    .DepthWords(RnsEntries)
  ) u_reciprocals (
    .clk_i,
    .rd_addr_i(row_entry),
    .rd_data_o(reciprocal),
    .wr_en_i  (cfg_we_i && cfg_sel_i == RnsReciprocal),
    .wr_addr_i(cfg_idx_i[EntryBits-1:0]),
    .wr_data_i(cfg_data_i[ReciprocalBits-1:0])
  );
  if (MulKind == ReductionBarrett) begin : gen_barrett
    rs_table #(
      .Width     (W + 11),
      .DepthWords(RnsEntries)
    ) u_aux (
      .clk_i,
      .rd_addr_i(prime_entry),
      .rd_data_o({prime_aux, prime_bits}),
      .wr_en_i  (cfg_we_i && cfg_sel_i == RnsPrimeAux),
      .wr_addr_i(cfg_idx_i[EntryBits-1:0]),
      .wr_data_i(cfg_data_i[W+10:0])
    );
  end else begin : gen_montgomery
    assign prime_aux  = (W + 3)'(prime_modulus >> MontW);
    assign prime_bits = '0;
  end

  // One prime a cycle: its lane's residues to everyone.
  logic [Lanes-1:0][RnsRate-1:0][W-1:0] x;
  logic [RnsRate-1:0][W-1:0] x_q, y;
  logic [2:0] source;
  assign source = shape.first + prime;
  always_ff @(posedge clk_i) x_q <= x[source[LaneBits-1:0]];
  rs_rns_factor #(
    .W         (W),
    .RnsRate   (RnsRate),
    .MulKind   (MulKind),
    .MulStyle  (MulStyle),
    .ModMinBits(ModMinBits),
    .MontW     (MontW),
    .StepLuts  (MontSteps != MontgomeryStepsDsp)
  ) u_factor (
    .clk_i,
    .modulus_i (prime_modulus),
    .aux_i     (prime_aux),
    .mod_bits_i(prime_bits),
    .factor_i  (factor),
    .x_i       (x_q),
    .y_o       (y)
  );

  // The quotient, and the entry of its multiple.
  logic [3:0] v, v_late;
  logic [EntryBits-1:0] multiple_entry;
  rs_rns_quotient #(
    .W(W),
    .RnsRate(RnsRate),
    .Lowest(Lowest),
    .MulStyle(MulStyle)
  ) u_quotient (
    .clk_i,
    .min_bits_i  (shape.min_bits),
    .first_i     (first_prime),
    .last_i      (last),
    .reciprocal_i(reciprocal),
    .y_i         (y),
    .v_o         (v)
  );
  rs_delay #(
    .Width (4),
    .Stages(QuotientWait)
  ) u_wait (
    .clk_i,
    .data_i(v),
    .data_o(v_late)
  );
  assign multiple_entry = shape.base[EntryBits-1:0] + EntryBits'(v_late);

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic mine;
    assign mine = cfg_we_i && cfg_lane_i == 4'(l);
    rs_rns_lane #(
      .W             (W),
      .P             (P),
      .RnsRate       (RnsRate),
      .MulKind       (MulKind),
      .MulStyle      (MulStyle),
      .ModMinBits    (ModMinBits),
      .MontW         (MontW),
      .StepLuts      (MontSteps == MontgomeryStepsLuts),
      .RnsEntries    (RnsEntries),
      .RnsConversions(RnsConversions),
      .EnOwn         (EnOwn)
    ) u_lane (
      .clk_i,
      .row_we_i     (mine && cfg_sel_i == RnsRow),
      .multiple_we_i(mine && cfg_sel_i == RnsMultiple),
      .modulus_we_i (mine && cfg_sel_i == RnsModulus),
      .aux_we_i     (mine && cfg_sel_i == RnsModulusAux),
      .cfg_idx_i,
      .cfg_data_i   (cfg_data_i[AuxBits-1:0]),
      .conv_i       (conv),
      .x_load_i     (x_load),
      .x_take_i     (x_take),
      .x_i          (x_i[l]),
      .x_o          (x[l]),
      .own_load_i   (own_load),
      .own_take_i   (own_take),
      .own_i        (own_i[l]),
      .row_i        (row_entry),
      .first_i      (first),
      .last_i       (last),
      .own_step_i   (own_step),
      .y_i          (y),
      .multiple_i   (multiple_entry),
      .place_i      (place),
      .word_o       (wr_data_o[l])
    );
  end

  logic unused_bits;
  assign unused_bits = ^{cfg_data_i[CfgBits-1:AuxBits<CfgBits?AuxBits : CfgBits-1], cfg_idx_i, source, shape.base};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || configured_o[conv_i])
  else $error("%m: a conversion that was never written");
  assert property (@(posedge clk_i) disable iff (!armed) !cfg_we_i || ready_o)
  else $error("%m: constants are written while a conversion runs");
  logic shape_held_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) shape_held_q <= 1'b0;
    else shape_held_q <= !ready_o || start_i;
  assert property (@(posedge clk_i) disable iff (!armed)
                   !shape_held_q || int'(shape.first) + int'(shape.primes) <= int'(Lanes))
  else $error("%m: more input primes than lanes");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !shape_held_q || (int'(shape.min_bits) >= int'(Lowest) && int'(shape.min_bits) <= int'(W)))
  else $error("%m: the narrowest prime is out of range");
`endif

endmodule
