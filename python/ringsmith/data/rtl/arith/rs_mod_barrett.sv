// SPDX-License-Identifier: Apache-2.0
// Barrett reduction with a modulus set at run time: r = T - q*m - m in [-m, m), for T < m * 2^(W+G).
//
//   Th = T >> (k-2) --> Q = (Th*mu) >> (W+G+4) --> r = T - Q*m - m      k = bits of m, mu = 2^(k+W+G+2) / m
//
// Bound (Barrett, HAC algorithm 14.42, with two guard bits): Q <= floor(T/m) since every truncation rounds down, and
//   T/m - Th*mu/2^(W+G+4)  <  2^(k-2)/m + T/2^(k+W+G+2) + D/2^(W+G+4)  <=  1/2 + 1/4 + 1/4  =  1
// because m >= 2^(k-1), T < m * 2^(W+G) < 2^(k+W+G), and the dropped tiles D stay below
// rows * 2^DropBelow <= 2^(W+G+2). The floor takes less than 1 more, so T - Q*m is in [0, 2m): only its low W+1 bits
// are computed, and so of Q*m, from as many of Q. The only variable shift is that of T,
// over W - ModMinBits + 1 positions, in two stages.
//
// Latency: reduce_barrett_latency(MulStyle, W, ModMinBits, Guard); a result every cycle.
module rs_mod_barrett
  import rs_build_pkg::*;
  import rs_latency_pkg::*;
#(
  // W: bits of the largest modulus, 5 or more.
  parameter int unsigned W = 32,
  // Bits of the smallest modulus, 5 to W.
  parameter int unsigned ModMinBits = 5,
  // G: bits of T beyond those of a product of a W-bit word and a residue.
  parameter int unsigned Guard = 0,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational.
  parameter int unsigned MulStyle = 1,
  // 1: each T comes with its own modulus; 0: the modulus is quasi-static.
  parameter bit Moving = 1'b0
) (
  input  logic                 clk_i,
  // Not a power of two, with ModMinBits to W bits; mu and k belong to it.
  input  logic [        W-1:0] modulus_i,
  input  logic [  W+Guard+2:0] mu_i,
  input  logic [          7:0] mod_bits_i,
  // Below m * 2^(W+Guard).
  input  logic [2*W+Guard-1:0] t_i,
  output logic [          W:0] result_o
);

  if (ModMinBits < ModMinBitsLeast || ModMinBits > W) begin : gen_bits_check
    $error("%m: ModMinBits must be %0d to W", ModMinBitsLeast);
  end

  localparam int unsigned InWidth = 2 * W + Guard;
  localparam int unsigned ThWidth = W + Guard + 2;
  localparam int unsigned MuWidth = W + Guard + 3;
  // Four tiles a product, without the columns of a DSP block.
  localparam bit Short = MulStyle == MultiplierAsic || MulStyle == rs_mult_pkg::MultiplierWires;
  localparam int unsigned TileB = Short ? (MuWidth + 1) / 2 : MulStyle == MultiplierDsp26x17 ? 17 : 18;
  localparam int unsigned Rows = (ThWidth + TileB - 1) / TileB;
  // rows * 2^DropBelow <= 2^(W+G+2); the four tiles of an asic are all built.
  localparam int unsigned DropBelow = Short ? 0 : ThWidth - $clog2(Rows);
  localparam int unsigned Range = ModMinBits < W ? W - ModMinBits : 0;
  localparam int unsigned ShiftBits = Range == 0 ? 1 : $clog2(Range + 1);
  localparam int unsigned FineBits = ShiftBits / 2;
  localparam int unsigned ShiftLatency = 32'(shift_latency(int'(MulStyle), int'(W), int'(ModMinBits)));
  localparam int unsigned QuotientLatency = 32'(mul_latency(int'(MulStyle), int'(MuWidth), int'(ThWidth)));
  // Low bits of Q that its multiple needs; without guard Q has no more than W.
  localparam int unsigned LowBits = Guard == 0 ? W : W + 1;
  localparam int unsigned MultipleLatency = 32'(mul_latency(int'(MulStyle), int'(LowBits), int'(W)));
  localparam int unsigned TailLatency = ShiftLatency + QuotientLatency + MultipleLatency;
  localparam int unsigned RestLatency = Short ? 0 : 1;

  // Modulus constants of each stage.
  logic [ShiftBits-1:0] shift, shift_fine;
  logic [MuWidth-1:0] mu;
  logic [W-1:0] modulus_multiple, modulus_rest;
  assign shift = ShiftBits'(mod_bits_i - 8'(ModMinBits));
  rs_delay #(
    .Width (ShiftBits),
    .Stages(Moving ? ShiftLatency / 2 : 0)
  ) u_shift (
    .clk_i,
    .data_i(shift),
    .data_o(shift_fine)
  );
  rs_delay #(
    .Width (MuWidth),
    .Stages(Moving ? ShiftLatency : 0)
  ) u_mu (
    .clk_i,
    .data_i(mu_i),
    .data_o(mu)
  );
  rs_delay #(
    .Width (W),
    .Stages(Moving ? ShiftLatency + QuotientLatency : 0)
  ) u_modulus_multiple (
    .clk_i,
    .data_i(modulus_i),
    .data_o(modulus_multiple)
  );
  rs_delay #(
    .Width (W),
    .Stages(Moving ? MultipleLatency + RestLatency : 0)
  ) u_modulus_rest (
    .clk_i,
    .data_i(modulus_multiple),
    .data_o(modulus_rest)
  );

  // Alignment: the fixed part first, then coarse and fine.
  localparam int unsigned CoarseWidth = ThWidth + (1 << FineBits) - 1;
  logic [InWidth-ModMinBits+1:0] fixed;
  logic [CoarseWidth-1:0] coarse_d, coarse;
  logic [ThWidth-1:0] th_d, th;

  assign fixed    = t_i[InWidth-1:ModMinBits-2];
  assign coarse_d = CoarseWidth'(fixed >> ((shift >> FineBits) << FineBits));
  assign th_d     = ThWidth'(coarse >> (shift_fine & ShiftBits'((1 << FineBits) - 1)));

  if (ShiftLatency == 2) begin : gen_shift_stages
    always_ff @(posedge clk_i) begin
      coarse <= coarse_d;
      th     <= th_d;
    end
  end else begin : gen_shift_wires
    assign coarse = coarse_d;
    assign th     = th_d;
  end

  logic [MuWidth+ThWidth-1:0] quotient;
  logic [W:0] multiple, low, rest, result_d;

  rs_mul_tiled #(
    .AWidth   (MuWidth),
    .BWidth   (ThWidth),
    .DropBelow(DropBelow),
    .MulStyle (MulStyle)
  ) u_quotient (
    .clk_i,
    .a_i(mu),
    .b_i(th),
    .p_o(quotient)
  );

  rs_mul_tiled #(
    .AWidth  (LowBits),
    .BWidth  (W),
    .OutWidth(W + 1),
    .MulStyle(MulStyle)
  ) u_multiple (
    .clk_i,
    .a_i(quotient[W+Guard+4+:LowBits]),
    .b_i(modulus_multiple),
    .p_o(multiple)
  );

  rs_delay #(
    .Width (W + 1),
    .Stages(TailLatency)
  ) u_low (
    .clk_i,
    .data_i(t_i[W:0]),
    .data_o(low)
  );

  // rest is in [0, 2m) and so exact in W + 1 bits; rest - m is signed in as many.
  assign result_d = rest - {1'b0, modulus_rest};
  if (MulStyle == rs_mult_pkg::MultiplierWires) begin : gen_wires
    assign rest     = low - multiple;
    assign result_o = result_d;
  end else if (MulStyle == MultiplierAsic) begin : gen_flat
    assign rest = low - multiple;
    always_ff @(posedge clk_i) result_o <= result_d;
  end else begin : gen_deep
    always_ff @(posedge clk_i) begin
      rest     <= low - multiple;
      result_o <= result_d;
    end
  end

`ifndef SYNTHESIS
  // T in range under a modulus whose constants agree with it, and which stays unless it moves along: r in [-m, m).
  if (MulStyle != rs_mult_pkg::MultiplierWires) begin : gen_check
    localparam int unsigned Latency = 32'(reduce_barrett_latency(
      int'(MulStyle), int'(W), int'(ModMinBits), int'(Guard)
    ));
    localparam int unsigned WideBits = 2 * W + Guard + 4;
    typedef logic [WideBits-1:0] wide_t;
    logic [W-1:0] modulus_q, modulus_late;
    logic [MuWidth-1:0] mu_q;
    logic [7:0] mod_bits_q;
    logic changed, stays, agree, agree_q;
    logic [Latency-1:0] held_q;
    wide_t rest_mu;
    logic signed [W+1:0] signed_result, signed_m;
    assign signed_result = {result_o[W], result_o};
    assign signed_m      = {2'b0, modulus_late};
    assign changed = modulus_i != modulus_q || mu_i != mu_q || mod_bits_i != mod_bits_q;
    assign stays = Moving || !changed;
    always_comb begin
      agree   = agree_q;
      rest_mu = '0;
      if (changed) begin
        agree = int'(mod_bits_i) >= int'(ModMinBits) && int'(mod_bits_i) <= int'(W);
        agree &= (wide_t'(modulus_i) >> mod_bits_i) == '0 && (wide_t'(modulus_i) >> (mod_bits_i - 8'd1)) == wide_t'(1);
        agree &= (modulus_i & (modulus_i - 1'b1)) != '0;
        // 0 <= 2^(k+W+G+2) - mu * m < m.
        rest_mu = (wide_t'(1) << (int'(mod_bits_i) + int'(W + Guard) + 2)) - wide_t'(mu_i) * wide_t'(modulus_i);
        agree &= rest_mu < wide_t'(modulus_i);
      end
    end
    rs_delay #(
      .Width (W),
      .Stages(Moving ? Latency : 0)
    ) u_check (
      .clk_i,
      .data_i(modulus_i),
      .data_o(modulus_late)
    );
    // Before the first edge pins and registers hold anything.
    logic started_q;
    initial {started_q, agree_q, held_q} = '0;
    always @(posedge clk_i) begin
      modulus_q  <= modulus_i;
      mu_q       <= mu_i;
      mod_bits_q <= mod_bits_i;
      agree_q    <= agree;
      started_q  <= 1'b1;
      held_q <= {
        stays ? held_q[Latency-2:0] : '0, started_q && agree && wide_t'(t_i) >> (W + Guard) < wide_t'(modulus_i)
      };
    end
    assert property (@(posedge clk_i) !held_q[Latency-1] || !stays || (signed_result < signed_m && signed_result >= -signed_m))
    else $error("%m: a result is not in [-m, m)");
  end
`endif

  logic unused_bits;
  assign unused_bits = ^{quotient, mod_bits_i};

endmodule
