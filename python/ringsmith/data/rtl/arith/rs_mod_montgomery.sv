// SPDX-License-Identifier: Apache-2.0
// Word-level Montgomery reduction for primes m = mh * 2^w + 1: r in (-m, m), congruent to T * 2^-(w*steps).
//
//   steps times:  T <- (T >> w) - (T mod 2^w) * mh        steps = ceil((W + Guard) / w)
//
// Each step is T * 2^-w mod m exactly: T = Th*2^w + Tl and 2^-w = -mh mod m. It is exact for signed T. A step divides
// the positive side by 2^w and takes off less than (2^w - 1)*mh = m - 1 - mh, so T > -m throughout; T < m * 2^(w*steps)
// leaves r < m. One small product a word (Mert, Ozturk, Savas, 2020).
//
// Latency: reduce_montgomery_latency(MulStyle, W, MontW, Guard); a result every cycle.
module rs_mod_montgomery
  import rs_latency_pkg::*;
#(
  // Bits of the modulus, 5 or more.
  parameter int unsigned W = 32,
  // w: m is 1 modulo 2^w; 2 to W - 2.
  parameter int unsigned MontW = 13,
  // Bits of T beyond 2 * W, 0 for one product.
  parameter int unsigned Guard = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1,
  // 1: each T comes with its own modulus; 0: the modulus is quasi-static.
  parameter bit Moving = 1'b0,
  // 1: the small products are made of LUTs; dsp26x17 only.
  parameter bit StepLuts = 1'b0
) (
  input  logic                 clk_i,
  // mh = (m - 1) >> MontW.
  input  logic [  W-MontW-1:0] modulus_high_i,
  // Below m * 2^(w*steps).
  input  logic [2*W+Guard-1:0] t_i,
  output logic [          W:0] result_o
);

  if (MontW < 2 || MontW + 2 > W) begin : gen_bits_check
    $error("%m: MontW must be from 2 to W - 2");
  end
  if (StepLuts && MulStyle != rs_build_pkg::MultiplierDsp26x17) begin : gen_luts_check
    $error("%m: StepLuts needs MulStyle 1");
  end

  localparam int unsigned Steps = (W + Guard + MontW - 1) / MontW;
  localparam int unsigned HighWidth = W - MontW;
  localparam int unsigned InWidth = 2 * W + Guard;
  // A step is one multiplier and the adder behind it in a DSP48.
  localparam bit OneTile = MulStyle == rs_build_pkg::MultiplierDsp26x17 && HighWidth <= 26 && MontW <= 17;
  // Or two of each.
  localparam bit TwoTiles = MulStyle == rs_build_pkg::MultiplierDsp26x17 && !OneTile && HighWidth <= 52 && MontW <= 17;
  localparam int unsigned StepLatency = 32'(mul_latency(int'(MulStyle), int'(HighWidth), int'(MontW)));

  // Signed width of T after s steps: InWidth - s*w magnitude bits, at least W.
  function automatic int unsigned bits_after(int unsigned s);
    return (InWidth < W + s * MontW ? W : InWidth - s * MontW) + 1;
  endfunction

  for (genvar s = 0; s <= Steps; s++) begin : gen_step
    localparam int unsigned Bits = bits_after(s);
    (* keep *) logic [Bits-1:0] t;
    if (s == 0) begin : gen_first
      assign t = {1'b0, t_i};
    end else begin : gen_reduce
      localparam int unsigned Before = bits_after(s - 1);
      localparam int unsigned RestBits = Before - MontW;
      logic [HighWidth-1:0] high;
      rs_delay #(
        .Width (HighWidth),
        .Stages(Moving ? (s - 1) * (StepLatency + 1) : 0)
      ) u_high (
        .clk_i,
        .data_i(modulus_high_i),
        .data_o(high)
      );
      // T >> w.
      logic signed [RestBits-1:0] shifted;
      assign shifted = gen_step[s-1].t[Before-1:MontW];
      if (StepLuts) begin : gen_luts
        rs_msub_luts #(
          .AWidth(HighWidth),
          .BWidth(MontW),
          .Width (Bits),
          .Extra (StepLatency - 2)
        ) u_step (
          .clk_i,
          .a_i(high),
          .b_i(gen_step[s-1].t[MontW-1:0]),
          .c_i(Bits'(shifted)),
          .r_o(t)
        );
      end else if (OneTile) begin : gen_msub
        rs_msub_tile #(
          .AWidth(HighWidth),
          .BWidth(MontW),
          .Width (Bits)
        ) u_step (
          .clk_i,
          .a_i(high),
          .b_i(gen_step[s-1].t[MontW-1:0]),
          .c_i(Bits'(shifted)),
          .r_o(t)
        );
      end else if (TwoTiles) begin : gen_pair
        rs_msub_pair #(
          .AWidth(HighWidth),
          .BWidth(MontW),
          .Width (Bits)
        ) u_step (
          .clk_i,
          .a_i(high),
          .b_i(gen_step[s-1].t[MontW-1:0]),
          .c_i(Bits'(shifted)),
          .r_o(t)
        );
      end else begin : gen_tiles
        logic [RestBits-1:0] rest;
        logic [W-1:0] multiple;
        rs_mul_tiled #(
          .AWidth  (HighWidth),
          .BWidth  (MontW),
          .MulStyle(MulStyle)
        ) u_multiple (
          .clk_i,
          .a_i(high),
          .b_i(gen_step[s-1].t[MontW-1:0]),
          .p_o(multiple)
        );
        rs_delay #(
          .Width (RestBits),
          .Stages(StepLatency)
        ) u_rest (
          .clk_i,
          .data_i(shifted),
          .data_o(rest)
        );
        always_ff @(posedge clk_i) begin
          t <= {{(Bits - RestBits) {rest[RestBits-1]}}, rest} - Bits'(multiple);
        end
      end
    end
  end

  // The sign and W bits.
  assign result_o = gen_step[Steps].t;

`ifndef SYNTHESIS
  // T in range under a modulus, which stays unless it moves along, gives a result in (-m, m).
  localparam int unsigned Latency = 32'(reduce_montgomery_latency(int'(MulStyle), int'(W), int'(MontW), int'(Guard)));
  localparam int unsigned LimitBits = W + Steps * MontW + Guard;
  logic [HighWidth-1:0] high_q, high_late;
  logic [Latency-1:0] held_q;
  logic stays, in_range;
  logic signed [W+1:0] signed_result, signed_m;
  assign signed_result = {result_o[W], result_o};
  assign signed_m      = {2'b0, high_late, MontW'(1)};
  assign stays         = Moving || modulus_high_i == high_q;
  assign in_range      = LimitBits'(t_i) < LimitBits'({modulus_high_i, MontW'(1)}) << (Steps * MontW);
  rs_delay #(
    .Width (HighWidth),
    .Stages(Moving ? Latency : 0)
  ) u_check (
    .clk_i,
    .data_i(modulus_high_i),
    .data_o(high_late)
  );
  // Before the first edge pins and registers hold anything.
  logic started_q;
  initial {started_q, held_q} = '0;
  always @(posedge clk_i) begin
    started_q <= 1'b1;
    high_q    <= modulus_high_i;
    held_q    <= {stays ? held_q[Latency-2:0] : '0, started_q && in_range};
  end
  assert property (@(posedge clk_i) !held_q[Latency-1] || !stays ||
                   (signed_result < signed_m && signed_result > -signed_m))
  else $error("%m: a result is not in (-m, m)");
`endif

endmodule
