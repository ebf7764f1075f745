// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream shell of the 8-point accelerator: a polynomial a beat, transforms back to back, no register polled.
//
// A beat carries eight words, word i in bits [32 i +: 32], the upper bits of each unused; s_tuser 1 asks for an
// inverse. Modulus and twiddles come on ports that must be stable while beats are in flight. Results leave in order; a
// queue of Depth results holds those in flight when the sink stalls, and no beat is accepted that would not fit.
module rs_ntt8_axis
  import rs_build_pkg::*;
  import rs_latency_pkg::*;
#(
  // Bits of a word, 14 to 32.
  parameter int unsigned W = 32,
  // Multiplier: 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [W-1:0]        modulus_i,
  input  logic [W+2:0]        mu_i,
  input  logic [  7:0]        mod_bits_i,
  input  logic [  7:0][W-1:0] twiddle_i,
  input  logic                s_axis_tvalid_i,
  output logic                s_axis_tready_o,
  input  logic [255:0]        s_axis_tdata_i,
  input  logic                s_axis_tuser_i,
  output logic                m_axis_tvalid_o,
  input  logic                m_axis_tready_i,
  output logic [255:0]        m_axis_tdata_o
);

  localparam int unsigned Latency = 32'(ntt8_latency(int'(VariantStream), int'(MulStyle), int'(W), int'(ModMinBits)));
  // One place for each transform in flight and one more, so that a sink that always takes sees one result a cycle.
  localparam int unsigned Depth = 1 << $clog2(Latency + 2);
  localparam int unsigned CountBits = $clog2(Depth + 1);

  logic accept, give, result_valid, result_ready;
  logic [7:0][W-1:0] operand, result, shown;
  logic [CountBits-1:0] held_q;

  assign s_axis_tready_o = held_q != CountBits'(Depth);
  assign accept          = s_axis_tvalid_i && s_axis_tready_o;
  assign give            = m_axis_tvalid_o && m_axis_tready_i;

  // Transforms accepted and not yet given away.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) held_q <= '0;
    else held_q <= held_q + CountBits'(accept) - CountBits'(give);
  end

  logic engine_ready;
  rs_ntt8_engine #(
    .Variant   (VariantStream),
    .W         (W),
    .MulStyle  (MulStyle),
    .ModMinBits(ModMinBits)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .modulus_i,
    .mu_i,
    .mod_bits_i,
    .twiddle_i,
    .valid_i  (accept),
    .ready_o  (engine_ready),
    .inverse_i(s_axis_tuser_i),
    .data_i   (operand),
    .valid_o  (result_valid),
    .data_o   (result)
  );

  logic [$clog2(Depth):0] level;
  rs_fifo #(
    .Width(8 * W),
    .Depth(Depth)
  ) u_results (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(result_valid),
    .ready_o(result_ready),
    .data_i (result),
    .valid_o(m_axis_tvalid_o),
    .ready_i(m_axis_tready_i),
    .data_o (shown),
    .level_o(level)
  );

  for (genvar i = 0; i < 8; i++) begin : gen_word
    assign operand[i]                = s_axis_tdata_i[32*i+:W];
    assign m_axis_tdata_o[32*i+:32] = 32'(shown[i]);
    if (W < 32) begin : gen_upper
      logic unused_upper;
      assign unused_upper = ^s_axis_tdata_i[32*i+31:32*i+W];
    end
  end

  logic unused_signals;
  assign unused_signals = ^{engine_ready, level};

`ifndef SYNTHESIS
  logic armed;
  rs_reset_seen u_armed (
    .clk_i,
    .rst_ni,
    .seen_o(armed)
  );
  NeverOverflows :
  assert property (@(posedge clk_i) disable iff (!armed) result_valid |-> result_ready)
  else $error("%m: the result queue must have room for every result");
`endif

endmodule
