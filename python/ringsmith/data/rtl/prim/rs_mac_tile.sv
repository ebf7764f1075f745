// SPDX-License-Identifier: Apache-2.0
// One hardware multiplier that adds up its products: acc = sum of a * b since first_i, modulo 2^AccWidth, unsigned.
//
// first_i comes with the operands of a sum's first product. Latency mac_latency(MulStyle); a product every cycle.
// MulStyle 0 asic: product and accumulator are registers. MulStyle 1 dsp26x17: both lie in a DSP48, which has the adder
// too (see rs_dsp48). MulStyle 2 dsp18x18: the multiplier of rs_mult_tile, the accumulator behind it.
module rs_mac_tile #(
  // Bits of a and b: at most 26 and 17 in MulStyle 1, 18 and 18 in MulStyle 2.
  parameter int unsigned AWidth   = 18,
  parameter int unsigned BWidth   = 18,
  // Bits of the sum, at least AWidth + BWidth; at most 48 in MulStyle 1.
  parameter int unsigned AccWidth = AWidth + BWidth + 4,
  // 0 asic, 1 dsp26x17, 2 dsp18x18.
  parameter int unsigned MulStyle = 1
) (
  input  logic                clk_i,
  input  logic                first_i,
  input  logic [  AWidth-1:0] a_i,
  input  logic [  BWidth-1:0] b_i,
  output logic [AccWidth-1:0] acc_o
);

  if (MulStyle > rs_build_pkg::MultiplierDsp18x18) begin : gen_style_check
    $error("%m: MulStyle must be 0 (asic), 1 (dsp26x17) or 2 (dsp18x18)");
  end
  if (AccWidth < AWidth + BWidth) begin : gen_width_check
    $error("%m: AccWidth must be at least AWidth + BWidth");
  end
  localparam bit Xilinx = MulStyle == rs_build_pkg::MultiplierDsp26x17;
  if (Xilinx && (AWidth > 26 || BWidth > 17 || AccWidth > 48)) begin : gen_xilinx_check
    $error("%m: AWidth, BWidth and AccWidth must be at most 26, 17 and 48 in MulStyle 1");
  end

  if (Xilinx) begin : gen_xilinx
    logic first_q;
    always_ff @(posedge clk_i) first_q <= first_i;
`ifdef RINGSMITH_DSP48E2
    logic [47:0] acc, unused_chain;
    rs_dsp48 u_dsp (
      .clk_i,
      .a_i    (26'(a_i)),
      .b_i    (17'(b_i)),
      .c_i    ('0),
      .chain_i('0),
      .z_i    ({1'b0, !first_q, 1'b0}),
      .w_i    (rs_mult_pkg::WNone),
      .sub_i  (1'b0),
      .p_o    (acc),
      .chain_o(unused_chain)
    );
    assign acc_o = acc[AccWidth-1:0];
    if (AccWidth < 48) begin : gen_high
      logic unused_high;
      assign unused_high = ^acc[47:AccWidth];
    end
`else
    logic [AWidth+BWidth-1:0] product_q;
    always_ff @(posedge clk_i) begin
      product_q <= (AWidth + BWidth)'(a_i) * (AWidth + BWidth)'(b_i);
      acc_o     <= AccWidth'(product_q) + (first_q ? '0 : acc_o);
    end
`endif
  end else begin : gen_inferred
    // Cycles from the operands to their product.
    localparam int unsigned ProductLatency = MulStyle == rs_build_pkg::MultiplierDsp18x18 ? 2 : 1;
    logic first;
    logic [AWidth+BWidth-1:0] product;
    rs_mult_tile #(
      .AWidth  (AWidth),
      .BWidth  (BWidth),
      .MulStyle(MulStyle)
    ) u_product (
      .clk_i,
      .a_i,
      .b_i,
      .p_o(product)
    );
    rs_delay #(
      .Width (1),
      .Stages(ProductLatency)
    ) u_first (
      .clk_i,
      .data_i(first_i),
      .data_o(first)
    );
    always_ff @(posedge clk_i) acc_o <= AccWidth'(product) + (first ? '0 : acc_o);
  end

endmodule
