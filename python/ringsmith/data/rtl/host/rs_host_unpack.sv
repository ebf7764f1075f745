// SPDX-License-Identifier: Apache-2.0
// Gathers beats of the host's data port into memory words of the core.
//
// The host keeps each coefficient in CoeffBits bits, least significant coefficient first; a memory word holds P
// coefficients of W bits, tightly packed. The bits above W of a coefficient are dropped.
//
//   beat_* (BeatBits) --> [ shift register of whole beats ] --> word_* (P * W)
//
// Latency: a word is valid one cycle after its last beat. Throughput: a beat per cycle, also across words.
module rs_host_unpack #(
  // Bits of a coefficient in the core, 14 to 128.
  parameter int unsigned W = 32,
  // Coefficients per memory word, or of a row of all lanes' words.
  parameter int unsigned P = 1,
  // Bits of a coefficient on the host's side: at least W.
  parameter int unsigned CoeffBits = 32,
  // Bits of a beat: a word is padded to whole ones.
  parameter int unsigned BeatBits = 32
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // Forget a partly gathered word.
  input  logic                clear_i,
  input  logic                beat_valid_i,
  output logic                beat_ready_o,
  input  logic [BeatBits-1:0] beat_data_i,
  input  logic                beat_err_i,
  output logic                word_valid_o,
  input  logic                word_ready_i,
  output logic [     P*W-1:0] word_data_o,
  // An error came with any beat of the word.
  output logic                word_err_o
);
  localparam int unsigned Beats = (P * CoeffBits + BeatBits - 1) / BeatBits;
  localparam int unsigned WordBits = Beats * BeatBits;
  localparam int unsigned CountWidth = $clog2(Beats + 1);

  if (CoeffBits < W) begin : gen_check_coeff
    $fatal(1, "%m: CoeffBits = %0d must be at least W = %0d", CoeffBits, W);
  end

  logic [  WordBits-1:0] gathered_q;
  logic [CountWidth-1:0] count_q;
  logic valid_q, err_q;
  logic take, last;

  assign beat_ready_o = !valid_q || word_ready_i;
  assign take = beat_valid_i && beat_ready_o;
  assign last = count_q == CountWidth'(Beats - 1);

  if (Beats == 1) begin : gen_single
    always_ff @(posedge clk_i) begin
      if (take) gathered_q <= beat_data_i;
    end
  end else begin : gen_shift
    always_ff @(posedge clk_i) begin
      if (take) gathered_q <= {beat_data_i, gathered_q[WordBits-1:BeatBits]};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      valid_q <= 1'b0;
      err_q   <= 1'b0;
    end else if (clear_i) begin
      count_q <= '0;
      valid_q <= 1'b0;
      err_q   <= 1'b0;
    end else begin
      if (take) begin
        count_q <= last ? '0 : count_q + CountWidth'(1);
        err_q   <= beat_err_i || (err_q && count_q != '0);
      end
      if (beat_ready_o) valid_q <= take && last;
    end
  end

  for (genvar i = 0; i < P; i++) begin : gen_coeff
    assign word_data_o[i*W+:W] = gathered_q[i*CoeffBits+:W];
    if (CoeffBits > W) begin : gen_drop
      logic unused_bits;
      assign unused_bits = ^gathered_q[i*CoeffBits+W+:CoeffBits-W];
    end
  end
  if (WordBits > P * CoeffBits) begin : gen_padding
    logic unused_padding;
    assign unused_padding = ^gathered_q[WordBits-1:P*CoeffBits];
  end
  assign word_valid_o = valid_q;
  assign word_err_o   = err_q;

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  // A word that is not taken stays.
  assert property (@(posedge clk_i) disable iff (!armed || clear_i) word_valid_o && !word_ready_i |=> word_valid_o && $stable(
    word_data_o
  ));
  assert property (@(posedge clk_i) disable iff (!armed) 32'(count_q) < Beats);
`endif
endmodule
