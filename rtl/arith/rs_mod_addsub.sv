// SPDX-License-Identifier: Apache-2.0
// Modular sum or difference, halved on request: r = (a +- b) * 2^-halve mod m, fully reduced.
//
//   s = a +- b        in (-m, 2m)
//   t = s - m or s    in [-m, m):  m is taken off where s may reach 2m: a sum with b >= 0, a difference with b < 0
//   r = t + {0,m}     in [0, m);   halved: an odd t takes m, an even negative one 2m, then one shift
//
// b is signed in [-m, m): the multiplier's unreduced result needs no correction of its own. a is in [0, m).
// Each line is one adder deep and has its own stage (MulStyle 1, 2); one stage for all in MulStyle 0.
// Latency: addsub_latency(MulStyle).
module rs_mod_addsub
  import rs_latency_pkg::*;
#(
  // Bits of the modulus, 2 or more.
  parameter int unsigned W = 32,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational: the number of stages.
  parameter int unsigned MulStyle = 1,
  // 0: only differences of reduced operands, or halves of even sums below 2^(W+1), are formed: m is never subtracted.
  parameter bit TakeOff = 1'b1,
  // 1: whole_i is heeded.
  parameter bit KeepWhole = 1'b0
) (
  input  logic         clk_i,
  input  logic [W-1:0] modulus_i,
  // 1: difference; 1: halve. Valid with the operands.
  input  logic         sub_i,
  input  logic         halve_i,
  // 1: m is not taken off: r = a for any a, if b is 0 and it is a sum that is not halved.
  input  logic         whole_i,
  input  logic [W-1:0] a_i,
  input  logic [  W:0] b_i,
  output logic [W-1:0] result_o
);

  if (W < 2) begin : gen_width_check
    $error("%m: W must be 2 or more");
  end

  localparam bit Deep = addsub_latency(int'(MulStyle)) == 3;

  logic [W+1:0] s_d, s, t_d, t, r_d;
  logic take_d, take, halve, halve_late, negative, odd;

  assign s_d    = (W + 2)'(a_i) + ({b_i[W], b_i} ^ {(W + 2) {sub_i}}) + (W + 2)'(sub_i);
  assign take_d = TakeOff && !(KeepWhole && whole_i) && sub_i == b_i[W];
  assign t_d    = s - (take ? (W + 2)'(modulus_i) : '0);

  // The addend of the last line: 0, m or 2m.
  assign negative = t[W+1];
  assign odd      = t[0];
  logic [W+1:0] addend;
  always_comb begin
    if (halve_late) addend = odd ? (W + 2)'(modulus_i) : negative ? {1'b0, modulus_i, 1'b0} : '0;
    else addend = negative ? (W + 2)'(modulus_i) : '0;
  end
  assign r_d = t + addend;

  if (Deep) begin : gen_deep
    logic [W-1:0] result_q;
    always_ff @(posedge clk_i) begin
      s          <= s_d;
      take       <= take_d;
      halve      <= halve_i;
      t          <= t_d;
      halve_late <= halve;
      result_q   <= halve_late ? r_d[W:1] : r_d[W-1:0];
    end
    assign result_o = result_q;
  end else begin : gen_flat
    assign s          = s_d;
    assign take       = take_d;
    assign halve      = halve_i;
    assign t          = t_d;
    assign halve_late = halve;
    logic [W-1:0] result_d;
    assign result_d = halve_late ? r_d[W:1] : r_d[W-1:0];
    if (MulStyle == rs_mult_pkg::MultiplierWires) begin : gen_wire
      assign result_o = result_d;
      logic unused_clk;
      assign unused_clk = clk_i;
    end else begin : gen_register
      always_ff @(posedge clk_i) result_o <= result_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{r_d[W+1:W], whole_i};

`ifndef SYNTHESIS
  // Operands in range, under a modulus that stays, give a result in range.
  localparam int unsigned Latency = 32'(addsub_latency(int'(MulStyle)));
  if (MulStyle != rs_mult_pkg::MultiplierWires) begin : gen_check
    logic in_range, whole, reduced;
    logic signed [W+1:0] signed_b, signed_m;
    logic [W-1:0] modulus_q;
    logic [Latency-1:0] held_q;
    // b in [-m, m); halving takes an odd modulus or an even sum; without TakeOff only sums that are below m anyhow.
    assign signed_b = {b_i[W], b_i};
    assign signed_m = {2'b0, modulus_i};
    assign reduced  = a_i < modulus_i && signed_b < signed_m && signed_b >= -signed_m;
    assign whole    = !halve_i || modulus_i[0] || !s_d[0];
    assign in_range = reduced && whole && !(KeepWhole && whole_i) && (TakeOff || (sub_i && !b_i[W]) || (halve_i && !s_d[0] && !b_i[W]));
    initial held_q = '0;
    always @(posedge clk_i) begin
      modulus_q <= modulus_i;
      held_q    <= modulus_i == modulus_q ? Latency'({held_q, in_range}) : Latency'(in_range);
    end
    assert property (@(posedge clk_i) !held_q[Latency-1] || modulus_i != modulus_q || result_o < modulus_i)
    else $error("%m: a result is not below the modulus");
  end
`endif

endmodule
