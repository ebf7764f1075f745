// SPDX-License-Identifier: Apache-2.0
// One hardware multiplier that adds up its products: acc = sum of a * b since first_i, modulo 2^AccWidth, unsigned.
//
// first_i comes with the operands of a sum's first product. Latency mac_latency(MulStyle); a product every cycle.
// MulStyle 0 asic: product and accumulator are registers. MulStyle 1 dsp26x17: both lie in a DSP48E2, which has the
// adder too; synthesis packs none into it by itself, so the primitive is instantiated. MulStyle 2 dsp18x18: the
// multiplier of rs_mult_tile, the accumulator behind it.
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
`ifdef SYNTHESIS
    // The sum is X + Y + Z: X and Y give the product; Z is P, or 0 for a sum's first product.
    logic [47:0] acc;
    DSP48E2 #(
      .ACASCREG     (0),
      .ADREG        (0),
      .ALUMODEREG   (0),
      .AREG         (0),
      .BCASCREG     (0),
      .BREG         (0),
      .CARRYINREG   (0),
      .CARRYINSELREG(0),
      .CREG         (0),
      .DREG         (0),
      .INMODEREG    (0),
      .MREG         (1),
      .OPMODEREG    (0),
      .PREG         (1)
    ) u_dsp (
      .CLK          (clk_i),
      .A            (30'(a_i)),
      .B            (18'(b_i)),
      .C            ('0),
      .D            ('0),
      .ALUMODE      ('0),
      .CARRYIN      (1'b0),
      .CARRYINSEL   ('0),
      .INMODE       ('0),
      .OPMODE       ({3'b000, !first_q, 5'b00101}),
      .CEA1         (1'b1),
      .CEA2         (1'b1),
      .CEAD         (1'b1),
      .CEALUMODE    (1'b1),
      .CEB1         (1'b1),
      .CEB2         (1'b1),
      .CEC          (1'b1),
      .CECARRYIN    (1'b1),
      .CECTRL       (1'b1),
      .CED          (1'b1),
      .CEINMODE     (1'b1),
      .CEM          (1'b1),
      .CEP          (1'b1),
      .RSTA         (1'b0),
      .RSTALLCARRYIN(1'b0),
      .RSTALUMODE   (1'b0),
      .RSTB         (1'b0),
      .RSTC         (1'b0),
      .RSTCTRL      (1'b0),
      .RSTD         (1'b0),
      .RSTINMODE    (1'b0),
      .RSTM         (1'b0),
      .RSTP         (1'b0),
      .P            (acc)
    );
    assign acc_o = acc[AccWidth-1:0];
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
