// SPDX-License-Identifier: Apache-2.0
// Word-level Montgomery multiplier for primes m = mh * 2^w + 1: r in (-m, m), congruent to a*b*2^-(w*steps).
//
//   T = a*b;  steps times:  T <- (T >> w) - (T mod 2^w) * mh        steps = ceil(Width / w)
//
// Each step is T * 2^-w mod m exactly: T = Th*2^w + Tl and 2^-w = -mh mod m. It is exact for signed T. A step divides
// the positive side by 2^w and takes off less than (2^w - 1)*mh = m - 1 - mh, so T > -m throughout; after the steps
// 2^(w*steps) >= 2^Width > m and a*b < m^2 leave T < m. One small product a word (Mert, Ozturk, Savas, 2020).
//
// product_o is T itself, mul_latency after the operands. Latency of result_o: montgomery_latency(Style, Width, WordBits).
module rs_mul_montgomery
  import rs_latency_pkg::*;
#(
  // Bits of the operands, 5 or more.
  parameter int unsigned Width = 32,
  // w: m is 1 modulo 2^w; 2 to Width - 2.
  parameter int unsigned WordBits = 13,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned Style = 1
) (
  input  logic                      clk_i,
  // mh = (m - 1) >> WordBits. Quasi-static.
  input  logic [Width-WordBits-1:0] modulus_high_i,
  input  logic [         Width-1:0] a_i,
  input  logic [         Width-1:0] b_i,
  output logic [       2*Width-1:0] product_o,
  output logic [           Width:0] result_o
);

  if (WordBits < 2 || WordBits + 2 > Width) begin : gen_bits_check
    $error("%m: WordBits must be from 2 to Width - 2");
  end

  localparam int unsigned Steps = (Width + WordBits - 1) / WordBits;
  localparam int unsigned HighWidth = Width - WordBits;
  localparam int unsigned StepLatency = 32'(mul_latency(int'(Style), int'(HighWidth), int'(WordBits)));

  rs_mul_tiled #(
    .AWidth(Width),
    .BWidth(Width),
    .Style (Style)
  ) u_product (
    .clk_i,
    .a_i,
    .b_i,
    .p_o(product_o)
  );

  for (genvar s = 0; s <= Steps; s++) begin : gen_step
    // Signed width of T after s steps: 2*Width - s*w magnitude bits, at least Width.
    localparam int unsigned Bits = (s * WordBits >= Width ? Width : 2 * Width - s * WordBits) + 1;
    (* keep *) logic [Bits-1:0] t;
    if (s == 0) begin : gen_first
      assign t = {1'b0, product_o};
    end else begin : gen_reduce
      localparam int unsigned Before = ((s - 1) * WordBits >= Width ? Width : 2 * Width - (s - 1) * WordBits) + 1;
      localparam int unsigned RestBits = Before - WordBits;
      logic [RestBits-1:0] rest;
      logic [Width-1:0] multiple;
      rs_mul_tiled #(
        .AWidth(HighWidth),
        .BWidth(WordBits),
        .Style (Style)
      ) u_multiple (
        .clk_i,
        .a_i(modulus_high_i),
        .b_i(gen_step[s-1].t[WordBits-1:0]),
        .p_o(multiple)
      );
      rs_delay #(
        .Width (RestBits),
        .Stages(StepLatency)
      ) u_rest (
        .clk_i,
        .data_i(gen_step[s-1].t[Before-1:WordBits]),
        .data_o(rest)
      );
      always_ff @(posedge clk_i) begin
        t <= {{(Bits > RestBits ? Bits - RestBits : 0) {rest[RestBits-1]}}, rest} - Bits'(multiple);
      end
    end
  end

  assign result_o = gen_step[Steps].t;

`ifndef SYNTHESIS
  // Operands below m = mh * 2^w + 1, which stays, give a result in (-m, m).
  localparam int unsigned Latency = 32'(montgomery_latency(int'(Style), int'(Width), int'(WordBits)));
  logic [HighWidth-1:0] high_q;
  logic [Width-1:0] modulus;
  logic [Latency-1:0] held_q;
  logic signed [Width+1:0] signed_result, signed_m;
  assign signed_result = {result_o[Width], result_o};
  assign signed_m      = {2'b0, modulus};
  assign modulus = {modulus_high_i, WordBits'(1)};
  initial held_q = '0;
  always @(posedge clk_i) begin
    high_q <= modulus_high_i;
    held_q <= {modulus_high_i == high_q ? held_q[Latency-2:0] : '0, a_i < modulus && b_i < modulus};
  end
  assert property (@(posedge clk_i) !held_q[Latency-1] || modulus_high_i != high_q ||
                   (signed_result < signed_m && signed_result > -signed_m))
  else $error("%m: a result is not in (-m, m)");
`endif

endmodule
