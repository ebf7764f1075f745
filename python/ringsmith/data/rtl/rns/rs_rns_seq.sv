// SPDX-License-Identifier: Apache-2.0
// Sequencer of the base-conversion unit: reads, steps and writes, each at its time.
// T = max(own + primes, RnsRate) cycles a group.
//
//   start  c     c+1+s                 +1+Words  +2+Words             +factor latency         +dot+reduce+add latency
//          take  issue step s,         select    broadcast register,  step of column 0:       result of column 0,
//                read words (s<Words)  prime     factor's operands    y or kept residue, row  of column r r later
//
// Step 0 is that of the kept residues, if any; their words are read so that they come in time for it.
// Groups follow each other without a gap, results come one a cycle, in order; a word is written with its last
// coefficient. ready_o is high from the cycle of the last write, done_o, on.
module rs_rns_seq
  import rs_latency_pkg::*;
#(
  // Bits of a word address: log2(n_max / P).
  parameter int unsigned WordAddrBits = 4,
  // Coefficients of a word; coefficients of a group: 1, 2 or 4.
  parameter int unsigned P = 2,
  parameter int unsigned RnsRate = 2,
  // RnsEntries of the constants' tables.
  parameter int unsigned RnsEntries = 32,
  // factor_latency, dot_latency and what follows it up to the result, of the build.
  parameter int unsigned FactorLatency = 8,
  parameter int unsigned DotLatency = 4,
  parameter int unsigned TailLatency = 6,
  localparam int unsigned EntryBits = $clog2(RnsEntries),
  localparam int unsigned PlaceBits = P > 1 ? $clog2(P) : 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    start_i,
  input  logic [             3:0] log2_n_i,
  output logic                    ready_o,
  output logic                    done_o,
  // Of the conversion, from the cycle after start_i on.
  input  logic [             3:0] primes_i,
  input  logic                    own_i,
  input  logic [   EntryBits-1:0] base_i,
  // Reads; words arrive a cycle later.
  output logic                    x_rd_valid_o,
  output logic [WordAddrBits-1:0] x_rd_word_o,
  output logic                    own_rd_valid_o,
  output logic [WordAddrBits-1:0] own_rd_word_o,
  output logic                    x_load_o,
  output logic                    x_take_o,
  output logic                    own_load_o,
  output logic                    own_take_o,
  // A cycle before the factor's operands: which input prime, and its entry.
  output logic [             2:0] prime_o,
  output logic [   EntryBits-1:0] prime_entry_o,
  // A cycle before column 0's step: its entry; with it: what it is.
  output logic [   EntryBits-1:0] row_entry_o,
  output logic                    first_o,
  output logic                    first_prime_o,
  output logic                    last_o,
  output logic                    own_step_o,
  // Results.
  output logic [   PlaceBits-1:0] place_o,
  output logic                    wr_valid_o,
  output logic [WordAddrBits-1:0] wr_word_o
);

  localparam int unsigned Words = RnsRate > P ? RnsRate / P : 1;
  localparam int unsigned Split = P > RnsRate ? P / RnsRate : 1;
  localparam int unsigned Log2Rate = $clog2(RnsRate);
  localparam int unsigned Log2P = $clog2(P);
  // Bits of a coefficient's index.
  localparam int unsigned IndexBits = WordAddrBits + Log2P;
  // From issue to selection, to column 0's step, to its result.
  localparam int unsigned SelectDelay = 1 + Words;
  localparam int unsigned StepDelay = SelectDelay + 1 + FactorLatency;
  localparam int unsigned ResultDelay = StepDelay + DotLatency + TailLatency;

  if (IndexBits < Log2Rate + 1) begin : gen_size_check
    $error("%m: the largest n must be 2 RnsRate or more");
  end

  // Position in the conversion: step of the group, index of the coefficient.
  logic busy_q, issue_q;
  logic [3:0] step_q, terms, last_step, log2_n_q;
  logic [IndexBits-1:0] index_q, last_index;
  logic group_end, loads;
  assign terms      = primes_i + 4'(own_i);
  assign last_step  = (terms > 4'(RnsRate) ? terms : 4'(RnsRate)) - 4'd1;
  assign last_index = IndexBits'((IndexBits + 1)'(1) << log2_n_q) - IndexBits'(RnsRate);
  assign group_end  = issue_q && step_q == last_step;
  // The group starts a word.
  assign loads      = Split == 1 || (index_q & IndexBits'(P - 1)) == '0;
  assign ready_o    = !busy_q || done_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      issue_q <= 1'b0;
      step_q  <= '0;
      index_q <= '0;
    end else if (start_i) begin
      busy_q  <= 1'b1;
      issue_q <= 1'b1;
      step_q  <= '0;
      index_q <= '0;
    end else begin
      if (done_o) busy_q <= 1'b0;
      if (group_end) begin
        issue_q <= index_q != last_index;
        step_q  <= '0;
        index_q <= index_q + IndexBits'(RnsRate);
      end else if (issue_q) begin
        step_q <= step_q + 4'd1;
      end
    end
  end
  always_ff @(posedge clk_i) if (start_i) log2_n_q <= log2_n_i;

  // Words of x: with the first steps of the group.
  assign x_rd_valid_o = issue_q && int'(step_q) < int'(Words) && loads;
  assign x_rd_word_o  = WordAddrBits'(index_q >> Log2P) + WordAddrBits'(step_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      x_load_o <= 1'b0;
      x_take_o <= 1'b0;
    end else begin
      x_load_o <= x_rd_valid_o;
      x_take_o <= issue_q && step_q == 4'(Words - 1);
    end
  end

  // Words of the kept residues: taken as column 0's step 0 comes.
  localparam int unsigned OwnDelay = FactorLatency + 1;
  logic [OwnDelay+Words-1:0] own_line_q, own_load_line_q;
  logic [WordAddrBits-1:0] own_word_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      own_line_q      <= '0;
      own_load_line_q <= '0;
    end else begin
      own_line_q      <= (OwnDelay + Words)'({own_line_q, issue_q && own_i && step_q == '0});
      own_load_line_q <= (OwnDelay + Words)'({own_load_line_q, issue_q && own_i && step_q == '0 && loads});
    end
  end
  assign own_rd_valid_o = |own_load_line_q[OwnDelay-1+:Words];
  assign own_rd_word_o  = own_word_q;
  always_ff @(posedge clk_i) begin
    if (start_i) own_word_q <= '0;
    else if (own_rd_valid_o) own_word_q <= own_word_q + 1'b1;
  end
  assign own_load_o = |own_load_line_q[OwnDelay+:Words];
  assign own_take_o = own_line_q[OwnDelay+Words-1];

  // The step, as it reaches the select stage and column 0.
  logic [3:0] select_step, row_step;
  rs_delay #(
    .Width (4),
    .Stages(SelectDelay)
  ) u_select_step (
    .clk_i,
    .data_i(step_q),
    .data_o(select_step)
  );
  rs_delay #(
    .Width (4),
    .Stages(FactorLatency)
  ) u_row_step (
    .clk_i,
    .data_i(select_step),
    .data_o(row_step)
  );
  assign prime_o       = 3'(select_step - 4'(own_i));
  assign prime_entry_o = base_i + EntryBits'(select_step);
  assign row_entry_o   = base_i + EntryBits'(row_step);
  always_ff @(posedge clk_i) begin
    first_o       <= row_step == '0;
    first_prime_o <= row_step == 4'(own_i);
    own_step_o    <= own_i && row_step == '0;
  end

  // The last step, as it reaches column 0 and the result; then RnsRate results.
  logic [ResultDelay+RnsRate-2:0] last_line_q;
  logic result_valid;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) last_line_q <= '0;
    else last_line_q <= (ResultDelay + RnsRate - 1)'({last_line_q, issue_q && step_q == terms - 4'd1});
  end
  assign last_o       = last_line_q[StepDelay-1];
  assign result_valid = |last_line_q[ResultDelay-1+:RnsRate];

  logic [IndexBits-1:0] result_index_q;
  always_ff @(posedge clk_i) begin
    if (start_i) result_index_q <= '0;
    else if (result_valid) result_index_q <= result_index_q + 1'b1;
  end
  if (P == 1) begin : gen_whole
    assign place_o    = '0;
    assign wr_valid_o = result_valid;
  end else begin : gen_places
    assign place_o    = result_index_q[Log2P-1:0];
    assign wr_valid_o = result_valid && &place_o;
  end
  assign wr_word_o = WordAddrBits'(result_index_q >> Log2P);
  assign done_o    = wr_valid_o && result_index_q == (last_index | IndexBits'(RnsRate - 1));

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  assert property (@(posedge clk_i) disable iff (!armed) !start_i || ready_o)
  else $error("%m: a conversion is taken while one runs");
  assert property (@(posedge clk_i) disable iff (!armed) !issue_q || (primes_i >= 4'd1 && primes_i <= 4'd8))
  else $error("%m: input primes out of range");
  assert property (@(posedge clk_i) disable iff (!armed)
                   !start_i || (int'(log2_n_i) >= int'(Log2P) && int'(log2_n_i) >= int'(Log2Rate)
                                && int'(log2_n_i) <= int'(IndexBits)))
  else $error("%m: a degree out of range");
  assert property (@(posedge clk_i) disable iff (!armed) $countones(last_line_q[ResultDelay-1+:RnsRate]) <= 1)
  else $error("%m: the results of two groups meet");
  assert property (@(posedge clk_i) disable iff (!armed) !(|last_line_q) || busy_q)
  else $error("%m: a result of nothing");
`endif

endmodule
