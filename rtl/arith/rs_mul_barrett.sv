// SPDX-License-Identifier: Apache-2.0
// Barrett multiplier with a modulus set at run time: r = a*b - q*m - m in [-m, m), congruent to a*b.
//
//   T = a*b --> Th = T >> (k-2) --> Q = (Th*mu) >> (W+4) --> r = T - Q*m - m      k = bits of m, mu = 2^(k+W+2) / m
//
// Bound (Barrett, HAC algorithm 14.42, with two guard bits): Q <= floor(T/m) since every truncation rounds down, and
//   T/m - Th*mu/2^(W+4)  <  2^(k-2)/m + T/2^(k+W+2) + D/2^(W+4)  <=  1/2 + 1/4 + 1/4  =  1
// because m >= 2^(k-1), T < m^2 <= 2^(k+W), and the dropped tiles D stay below rows * 2^DropBelow <= 2^(W+2).
// The floor takes less than 1 more, so T - Q*m is in [0, 2m): only its low W+1 bits are computed, and so of Q*m.
// The only variable shift is that of T, over Width - ModMinBits + 1 positions, in two stages.
//
// product_o is T itself, mul_latency after the operands. Latency of result_o: barrett_latency(Style, Width, ModMinBits).
module rs_mul_barrett
  import rs_latency_pkg::*;
#(
  // Bits of the operands, 5 or more.
  parameter int unsigned Width = 32,
  // Bits of the smallest modulus, 5 to Width.
  parameter int unsigned ModMinBits = 5,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational (Barrett only).
  parameter int unsigned Style = 1
) (
  input  logic               clk_i,
  // Not a power of two, with ModMinBits to Width bits. Quasi-static, as are mu and k.
  input  logic [  Width-1:0] modulus_i,
  input  logic [  Width+2:0] mu_i,
  input  logic [        7:0] mod_bits_i,
  input  logic [  Width-1:0] a_i,
  input  logic [  Width-1:0] b_i,
  output logic [2*Width-1:0] product_o,
  output logic [    Width:0] result_o
);

  if (ModMinBits < 5 || ModMinBits > Width) begin : gen_bits_check
    $error("%m: ModMinBits must be from 5 to Width");
  end

  localparam int unsigned ThWidth = Width + 2;
  localparam int unsigned MuWidth = Width + 3;
  localparam int unsigned TileB = Style == 1 ? 17 : Style == 2 ? 18 : (MuWidth + 1) / 2;
  localparam int unsigned Rows = (ThWidth + TileB - 1) / TileB;
  // rows * 2^DropBelow <= 2^(W+2); the four tiles of an asic are all built.
  localparam int unsigned DropBelow = Style == 0 || Style == 3 ? 0 : Width + 2 - $clog2(Rows);
  localparam int unsigned Range = Width - ModMinBits;
  localparam int unsigned ShiftBits = Range == 0 ? 1 : $clog2(Range + 1);
  localparam int unsigned FineBits = ShiftBits / 2;
  localparam int unsigned ShiftLatency = 32'(shift_latency(int'(Style), int'(Width), int'(ModMinBits)));
  localparam int unsigned TailLatency = ShiftLatency + 32'(mul_latency(
    int'(Style), int'(MuWidth), int'(ThWidth)
  )) + 32'(mul_latency(
    int'(Style), int'(Width), int'(Width)
  ));

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

  // Alignment: the fixed part first, then coarse and fine.
  localparam int unsigned CoarseWidth = ThWidth + (1 << FineBits) - 1;
  logic [ShiftBits-1:0] shift;
  logic [2*Width-ModMinBits+1:0] fixed;
  logic [CoarseWidth-1:0] coarse_d, coarse;
  logic [ThWidth-1:0] th_d, th;

  assign shift    = ShiftBits'(mod_bits_i - 8'(ModMinBits));
  assign fixed    = product_o[2*Width-1:ModMinBits-2];
  assign coarse_d = CoarseWidth'(fixed >> ((shift >> FineBits) << FineBits));
  assign th_d     = ThWidth'(coarse >> (shift & ShiftBits'((1 << FineBits) - 1)));

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
  logic [Width:0] multiple, low, rest, result_d;

  rs_mul_tiled #(
    .AWidth   (MuWidth),
    .BWidth   (ThWidth),
    .DropBelow(DropBelow),
    .Style    (Style)
  ) u_quotient (
    .clk_i,
    .a_i(mu_i),
    .b_i(th),
    .p_o(quotient)
  );

  rs_mul_tiled #(
    .AWidth  (Width),
    .BWidth  (Width),
    .OutWidth(Width + 1),
    .Style   (Style)
  ) u_multiple (
    .clk_i,
    .a_i(quotient[2*Width+3:Width+4]),
    .b_i(modulus_i),
    .p_o(multiple)
  );

  rs_delay #(
    .Width (Width + 1),
    .Stages(TailLatency)
  ) u_low (
    .clk_i,
    .data_i(product_o[Width:0]),
    .data_o(low)
  );

  // rest is in [0, 2m) and so exact in Width + 1 bits; rest - m is signed in as many.
  assign result_d = rest - {1'b0, modulus_i};
  if (Style == 3) begin : gen_wires
    assign rest     = low - multiple;
    assign result_o = result_d;
  end else if (Style == 0) begin : gen_flat
    assign rest = low - multiple;
    always_ff @(posedge clk_i) result_o <= result_d;
  end else begin : gen_deep
    always_ff @(posedge clk_i) begin
      rest     <= low - multiple;
      result_o <= result_d;
    end
  end

`ifndef SYNTHESIS
  // Operands below a modulus whose constants agree with it, and which stays, give a result in [-m, m).
  if (Style != 3) begin : gen_check
    localparam int unsigned Latency = 32'(barrett_latency(int'(Style), int'(Width), int'(ModMinBits)));
    localparam int unsigned WideBits = 2 * Width + 3;
    typedef logic [WideBits-1:0] wide_t;
    logic [Width-1:0] modulus_q;
    logic [Width+2:0] mu_q;
    logic [7:0] mod_bits_q;
    logic changed, agree, agree_q;
    logic [Latency-1:0] held_q;
    logic signed [Width+1:0] signed_result, signed_m;
    assign signed_result = {result_o[Width], result_o};
    assign signed_m      = {2'b0, modulus_i};
    assign changed = modulus_i != modulus_q || mu_i != mu_q || mod_bits_i != mod_bits_q;
    always_comb begin
      agree = agree_q;
      if (changed) begin
        agree = int'(mod_bits_i) >= int'(ModMinBits) && int'(mod_bits_i) <= int'(Width);
        agree &= (wide_t'(modulus_i) >> mod_bits_i) == '0 && (wide_t'(modulus_i) >> (mod_bits_i - 8'd1)) == wide_t'(1);
        agree &= (modulus_i & (modulus_i - 1'b1)) != '0;
        if (agree) agree = wide_t'(mu_i) == (wide_t'(1) << (int'(mod_bits_i) + int'(Width) + 2)) / wide_t'(modulus_i);
      end
    end
    initial {agree_q, held_q} = '0;
    always @(posedge clk_i) begin
      modulus_q  <= modulus_i;
      mu_q       <= mu_i;
      mod_bits_q <= mod_bits_i;
      agree_q    <= agree;
      held_q     <= {agree && !changed ? held_q[Latency-2:0] : '0, agree && a_i < modulus_i && b_i < modulus_i};
    end
    assert property (@(posedge clk_i) !held_q[Latency-1] || changed || (signed_result < signed_m && signed_result >= -signed_m))
    else $error("%m: a result is not in [-m, m)");
  end
`endif

  logic unused_bits;
  assign unused_bits = ^{quotient[MuWidth+ThWidth-1:2*Width+4], quotient[Width+3:0], mod_bits_i};

endmodule
