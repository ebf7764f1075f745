// SPDX-License-Identifier: Apache-2.0
// Two hardware multipliers and the subtraction behind them: r = c - a * b modulo 2^Width; a, b unsigned, c of either
// sign.
//
//   low  = c mod 2^26 + 2^(26 + BWidth) - a0 * b     > 0                       a = a1 * 2^26 + a0
//   high = floor(c / 2^26) - 2^BWidth - a1 * b       47 bits and a borrow
//   r    = high * 2^26 + low                         the only adder in LUTs, of BWidth + 1 bits and carries
//
// Without the two constants, which cancel, the carry from low would have a sign to spread over the upper bits.
// MulStyle 1 (dsp26x17) only. Latency mul_latency(1, AWidth, BWidth) + 1 = 4; a result every cycle.
module rs_msub_pair #(
  // Bits of a, 27 to 52, and of b, 1 to 17.
  parameter int unsigned AWidth = 45,
  parameter int unsigned BWidth = 15,
  // Bits of c and r, at least BWidth + 28.
  parameter int unsigned Width  = 61
) (
  input  logic              clk_i,
  input  logic [AWidth-1:0] a_i,
  input  logic [BWidth-1:0] b_i,
  input  logic [ Width-1:0] c_i,
  output logic [ Width-1:0] r_o
);

  if (AWidth < 27 || AWidth > 52 || BWidth < 1 || BWidth > 17 || Width < BWidth + 28) begin : gen_width_check
    $error("%m: AWidth must be 27 to 52, BWidth 1 to 17 and Width at least BWidth + 28");
  end

`ifdef RINGSMITH_DSP48E2
  localparam int unsigned LowBits = 26;
  localparam int unsigned HighWidth = Width - LowBits;
  // Bits of high that its adder has; those above lack the borrow.
  localparam int unsigned Near = HighWidth <= 48 ? HighWidth : 47;
  localparam logic [47:0] Offset = 48'd1 << (LowBits + BWidth);

  // c waits for the product: here, then in front of the adders.
  logic [LowBits+Near-1:0] c_q;
  always_ff @(posedge clk_i) c_q <= c_i[LowBits+Near-1:0];

  logic [47:0] low, high, unused_chain_low, unused_chain_high;
  rs_dsp48 #(
    .OperandStages(1),
    .AddendStages (1)
  ) u_low (
    .clk_i,
    .a_i    (a_i[LowBits-1:0]),
    .b_i    (17'(b_i)),
    .c_i    (Offset | 48'(c_q[LowBits-1:0])),
    .chain_i('0),
    .z_i    (rs_mult_pkg::ZAddend),
    .w_i    (rs_mult_pkg::WNone),
    .sub_i  (1'b1),
    .p_o    (low),
    .chain_o(unused_chain_low)
  );
  rs_dsp48 #(
    .OperandStages(1),
    .AddendStages (1),
    .Constant     (Offset >> LowBits)
  ) u_high (
    .clk_i,
    .a_i    (26'(a_i[AWidth-1:LowBits])),
    .b_i    (17'(b_i)),
    .c_i    (48'(c_q[LowBits+:Near])),
    .chain_i('0),
    .z_i    (rs_mult_pkg::ZAddend),
    .w_i    (rs_mult_pkg::WConstant),
    .sub_i  (1'b1),
    .p_o    (high),
    .chain_o(unused_chain_high)
  );

  // What high lacks of its upper bits and of the carry: all ones above a borrow.
  logic [HighWidth-1:0] wide, rest;
  if (HighWidth > Near) begin : gen_borrow
    logic [HighWidth-Near-1:0] above;
    rs_delay #(
      .Width      (HighWidth - Near),
      .Stages     (3),
      .ShortStages(3)
    ) u_above (
      .clk_i,
      .data_i(c_i[Width-1:LowBits+Near]),
      .data_o(above)
    );
    assign wide = {above, high[Near-1:0]};
    assign rest = {{(HighWidth - Near) {high[47]}}, Near'(low[47:LowBits])};
  end else begin : gen_whole
    assign wide = high[Near-1:0];
    assign rest = Near'(low[LowBits+BWidth:LowBits]);
    if (Near < 48) begin : gen_unused
      logic unused_high;
      assign unused_high = ^high[47:Near];
    end
  end
  always_ff @(posedge clk_i) r_o <= {wide + rest, low[LowBits-1:0]};
  logic unused_low;
  assign unused_low = ^low[47:LowBits+BWidth+1];
`else
  logic [AWidth-1:0] a_q;
  logic [BWidth-1:0] b_q;
  logic [AWidth+BWidth-1:0] product_q;
  logic [Width-1:0] c_q, c_q2, r_q;
  always_ff @(posedge clk_i) begin
    a_q       <= a_i;
    b_q       <= b_i;
    product_q <= (AWidth + BWidth)'(a_q) * (AWidth + BWidth)'(b_q);
    c_q       <= c_i;
    c_q2      <= c_q;
    r_q       <= c_q2 - Width'(product_q);
    r_o       <= r_q;
  end
`endif

endmodule
