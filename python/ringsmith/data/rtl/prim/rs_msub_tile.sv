// SPDX-License-Identifier: Apache-2.0
// One hardware multiplier and the subtraction behind it: r = c - a * b modulo 2^Width; a, b unsigned, c of either sign.
//
// MulStyle 1 (dsp26x17) only: a DSP48 has the adder too, for 47 bits and their borrow; bits above wait for it. Latency
// mul_latency(1, AWidth, BWidth) + 1 = 3; a result every cycle.
module rs_msub_tile #(
  // Bits of a and b, at most 26 and 17.
  parameter int unsigned AWidth = 26,
  parameter int unsigned BWidth = 17,
  // Bits of c and r.
  parameter int unsigned Width  = 48
) (
  input  logic              clk_i,
  input  logic [AWidth-1:0] a_i,
  input  logic [BWidth-1:0] b_i,
  input  logic [ Width-1:0] c_i,
  output logic [ Width-1:0] r_o
);

  if (AWidth > 26 || BWidth > 17) begin : gen_width_check
    $error("%m: AWidth and BWidth must be at most 26 and 17");
  end

`ifdef RINGSMITH_DSP48E2
  // c waits for the product: here, then in front of the adder.
  localparam int unsigned Near = Width <= 48 ? Width : 47;
  logic [Near-1:0] c_q;
  always_ff @(posedge clk_i) c_q <= c_i[Near-1:0];
  logic [47:0] difference, unused_chain;
  rs_dsp48 #(
    .OperandStages(1),
    .AddendStages (1)
  ) u_dsp (
    .clk_i,
    .a_i    (26'(a_i)),
    .b_i    (17'(b_i)),
    .c_i    (48'(c_q)),
    .chain_i('0),
    .z_i    (rs_mult_pkg::ZAddend),
    .w_i    (rs_mult_pkg::WNone),
    .sub_i  (1'b1),
    .p_o    (difference),
    .chain_o(unused_chain)
  );
  assign r_o[Near-1:0] = difference[Near-1:0];
  if (Width > 48) begin : gen_borrow
    // c's 47 low bits lack less than 2^47, so the difference's sign is the borrow.
    logic [Width-48:0] above;
    rs_delay #(
      .Width (Width - 47),
      .Stages(3)
    ) u_above (
      .clk_i,
      .data_i(c_i[Width-1:47]),
      .data_o(above)
    );
    assign r_o[Width-1:47] = above - (Width - 47)'(difference[47]);
  end else if (Width < 48) begin : gen_high
    logic unused_high;
    assign unused_high = ^difference[47:Width];
  end
`else
  logic [AWidth+BWidth-1:0] product;
  logic [Width-1:0] c_q, c_q2;
  rs_mult_tile #(
    .AWidth  (AWidth),
    .BWidth  (BWidth),
    .MulStyle(rs_build_pkg::MultiplierDsp26x17)
  ) u_product (
    .clk_i,
    .a_i,
    .b_i,
    .p_o(product)
  );
  always_ff @(posedge clk_i) begin
    c_q  <= c_i;
    c_q2 <= c_q;
    r_o  <= c_q2 - Width'(product);
  end
`endif

endmodule
