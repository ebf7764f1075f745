// SPDX-License-Identifier: Apache-2.0
// Spreads memory words of the core into beats of the host's data port: the inverse of rs_host_unpack.
//
// Each coefficient is zero-extended from W to CoeffBits bits, least significant coefficient first.
//
//   word_* (P * W) --> [ shift register of whole beats ] --> beat_* (BeatBits)
//
// Latency: the first beat is valid one cycle after its word was taken. Throughput: a beat per cycle, also across words.
module rs_host_pack #(
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
  // Forget a partly sent word.
  input  logic                clear_i,
  input  logic                word_valid_i,
  output logic                word_ready_o,
  input  logic [     P*W-1:0] word_data_i,
  output logic                beat_valid_o,
  input  logic                beat_ready_i,
  output logic [BeatBits-1:0] beat_data_o
);
  localparam int unsigned Beats = (P * CoeffBits + BeatBits - 1) / BeatBits;
  localparam int unsigned WordBits = Beats * BeatBits;
  localparam int unsigned CountWidth = $clog2(Beats + 1);

  if (CoeffBits < W) begin : gen_check_coeff
    $fatal(1, "%m: CoeffBits = %0d must be at least W = %0d", CoeffBits, W);
  end

  logic [WordBits-1:0] widened, held_q;
  logic [CountWidth-1:0] left_q;
  logic last;

  for (genvar i = 0; i < P; i++) begin : gen_coeff
    assign widened[i*CoeffBits+:CoeffBits] = CoeffBits'(word_data_i[i*W+:W]);
  end
  if (WordBits > P * CoeffBits) begin : gen_padding
    assign widened[WordBits-1:P*CoeffBits] = '0;
  end

  assign beat_valid_o = left_q != '0;
  assign last         = left_q == CountWidth'(1);
  assign word_ready_o = !beat_valid_o || (last && beat_ready_i);
  assign beat_data_o  = held_q[BeatBits-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) left_q <= '0;
    else if (clear_i) left_q <= '0;
    else if (word_ready_o) left_q <= word_valid_i ? CountWidth'(Beats) : '0;
    else if (beat_ready_i) left_q <= left_q - CountWidth'(1);
  end

  always_ff @(posedge clk_i) begin
    if (word_ready_o && word_valid_i) held_q <= widened;
    else if (beat_valid_o && beat_ready_i) held_q <= held_q >> BeatBits;
  end

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  // A beat that is not taken stays.
  assert property (@(posedge clk_i) disable iff (!armed || clear_i) beat_valid_o && !beat_ready_i |=> beat_valid_o && $stable(
    beat_data_o
  ));
  assert property (@(posedge clk_i) disable iff (!armed) 32'(left_q) <= Beats);
`endif
endmodule
