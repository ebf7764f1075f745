// SPDX-License-Identifier: Apache-2.0
// Two hardware multipliers in a chain: p = a * b + c * 2^17 modulo 2^(AWidth + BWidth + Extra), unsigned.
//
//   a * b low  --|Stages|--|reg|--|reg|----------------------------------> bits 16..0
//                                   \--> / 2^17 --+--|reg|--> the others
//   a * b high --|Stages + 1|--|reg|--------------+
//   c, two cycles and Stages after a and b -------+
//
// MulStyle 1 (dsp26x17) only. Latency 3 + Stages; a result every cycle. No adder is left outside the DSP48s.
module rs_mult_chain #(
  // Bits of a, at most 26, and of b, 18 to 34.
  parameter int unsigned AWidth = 26,
  parameter int unsigned BWidth = 30,
  // Bits the sum may be longer than the product; the upper part has 48 bits at most.
  parameter int unsigned Extra = 4,
  // Registers before the operands, 0 or 1.
  parameter int unsigned Stages = 1,
  localparam int unsigned OutWidth = AWidth + BWidth + Extra,
  localparam int unsigned HighWidth = OutWidth - 17
) (
  input  logic                 clk_i,
  input  logic [   AWidth-1:0] a_i,
  input  logic [   BWidth-1:0] b_i,
  input  logic [HighWidth-1:0] c_i,
  output logic [ OutWidth-1:0] p_o
);

  if (AWidth > 26 || BWidth < 18 || BWidth > 34 || HighWidth > 48) begin : gen_width_check
    $error("%m: AWidth must be at most 26, BWidth 18 to 34, AWidth + BWidth + Extra at most 65");
  end
  if (Stages > 1) begin : gen_stages_check
    $error("%m: Stages must be 0 or 1");
  end

  logic [16:0] low_q;
  logic [HighWidth-1:0] high;
  assign p_o = {high, low_q};

`ifdef RINGSMITH_DSP48E2
  logic [47:0] low, chain, sum, unused_chain;
  rs_dsp48 #(
    .OperandStages(Stages)
  ) u_low (
    .clk_i,
    .a_i    (26'(a_i)),
    .b_i    (b_i[16:0]),
    .c_i    ('0),
    .chain_i('0),
    .z_i    (rs_mult_pkg::ZNone),
    .w_i    (rs_mult_pkg::WNone),
    .sub_i  (1'b0),
    .p_o    (low),
    .chain_o(chain)
  );
  rs_dsp48 #(
    .OperandStages(Stages + 1)
  ) u_high (
    .clk_i,
    .a_i    (26'(a_i)),
    .b_i    (17'(b_i[BWidth-1:17])),
    .c_i    (48'(c_i)),
    .chain_i(chain),
    .z_i    (rs_mult_pkg::ZChain),
    .w_i    (rs_mult_pkg::WAddend),
    .sub_i  (1'b0),
    .p_o    (sum),
    .chain_o(unused_chain)
  );
  assign high = sum[HighWidth-1:0];
  always_ff @(posedge clk_i) low_q <= low[16:0];
  logic unused_high;
  assign unused_high = ^{low[47:17], sum};
`else
  logic [AWidth-1:0] a, a_q;
  logic [ BWidth-1:0] b;
  logic [BWidth-18:0] b_high_q;
  logic [AWidth+16:0] m_low_q, low_q1;
  logic [AWidth+BWidth-18:0] m_high_q;
  rs_delay #(
    .Width (AWidth + BWidth),
    .Stages(Stages)
  ) u_operands (
    .clk_i,
    .data_i({a_i, b_i}),
    .data_o({a, b})
  );
  always_ff @(posedge clk_i) begin
    a_q      <= a;
    b_high_q <= b[BWidth-1:17];
    m_low_q  <= (AWidth + 17)'(a) * (AWidth + 17)'(b[16:0]);
    low_q1   <= m_low_q;
    m_high_q <= (AWidth + BWidth - 17)'(a_q) * (AWidth + BWidth - 17)'(b_high_q);
    low_q    <= low_q1[16:0];
    high     <= HighWidth'(m_high_q) + HighWidth'(low_q1[AWidth+16:17]) + c_i;
  end
`endif

endmodule
