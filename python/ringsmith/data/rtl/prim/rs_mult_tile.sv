// SPDX-License-Identifier: Apache-2.0
// One hardware multiplier with its registers: p = a * b mod 2^OutWidth, unsigned.
//
// MulStyle 0 asic: a register behind the product. MulStyle 1 dsp26x17: two, which a DSP48 takes in (rs_dsp48) unless
// the product is too short for one. MulStyle 2 dsp18x18: one before and one behind; synthesis for ECP5 packs none by
// itself, so the primitive is instantiated with both. MulStyle 3: no register.
module rs_mult_tile #(
  // Bits of a and b: at most 26 and 17 in MulStyle 1, 18 and 18 in MulStyle 2.
  parameter int unsigned AWidth   = 18,
  parameter int unsigned BWidth   = 18,
  // Bits of the product that are wanted, at most AWidth + BWidth.
  parameter int unsigned OutWidth = AWidth + BWidth,
  // 0 asic, 1 dsp26x17, 2 dsp18x18, 3 combinational.
  parameter int unsigned MulStyle = 1
) (
  input  logic                clk_i,
  input  logic [  AWidth-1:0] a_i,
  input  logic [  BWidth-1:0] b_i,
  output logic [OutWidth-1:0] p_o
);

  if (OutWidth > AWidth + BWidth) begin : gen_width_check
    $error("%m: OutWidth must be at most AWidth + BWidth");
  end
  if (MulStyle == rs_build_pkg::MultiplierDsp26x17 && (AWidth > 26 || BWidth > 17)) begin : gen_xilinx_check
    $error("%m: AWidth and BWidth must be at most 26 and 17 in MulStyle 1");
  end
  if (MulStyle == rs_build_pkg::MultiplierDsp18x18 && (AWidth > 18 || BWidth > 18)) begin : gen_ecp5_check
    $error("%m: AWidth and BWidth must be at most 18 in MulStyle 2");
  end

  localparam int unsigned Wide = AWidth + BWidth;
  // Shorter ones are a few LUTs, made of rows so that synthesis takes no multiplier for them.
  localparam bit Long = AWidth > 1 && BWidth > 1 && OutWidth >= 10;

  // Kept apart: else the registers are shared between tiles or become the start of a shift register.
  if (MulStyle == rs_build_pkg::MultiplierDsp18x18) begin : gen_ecp5
`ifdef SYNTHESIS
    logic [17:0] a, b;
    logic [35:0] product;
    assign a = 18'(a_i);
    assign b = 18'(b_i);
    MULT18X18D #(
      .REG_INPUTA_CLK("CLK0"),
      .REG_INPUTA_CE ("CE0"),
      .REG_INPUTA_RST("RST0"),
      .REG_INPUTB_CLK("CLK0"),
      .REG_INPUTB_CE ("CE0"),
      .REG_INPUTB_RST("RST0"),
      .REG_OUTPUT_CLK("CLK0"),
      .REG_OUTPUT_CE ("CE0"),
      .REG_OUTPUT_RST("RST0")
    ) u_mult (
      .CLK0   (clk_i),
      .CE0    (1'b1),
      .RST0   (1'b0),
      .SIGNEDA(1'b0),
      .SIGNEDB(1'b0),
      .SOURCEA(1'b0),
      .SOURCEB(1'b0),
      .A0     (a[0]),
      .A1     (a[1]),
      .A2     (a[2]),
      .A3     (a[3]),
      .A4     (a[4]),
      .A5     (a[5]),
      .A6     (a[6]),
      .A7     (a[7]),
      .A8     (a[8]),
      .A9     (a[9]),
      .A10    (a[10]),
      .A11    (a[11]),
      .A12    (a[12]),
      .A13    (a[13]),
      .A14    (a[14]),
      .A15    (a[15]),
      .A16    (a[16]),
      .A17    (a[17]),
      .B0     (b[0]),
      .B1     (b[1]),
      .B2     (b[2]),
      .B3     (b[3]),
      .B4     (b[4]),
      .B5     (b[5]),
      .B6     (b[6]),
      .B7     (b[7]),
      .B8     (b[8]),
      .B9     (b[9]),
      .B10    (b[10]),
      .B11    (b[11]),
      .B12    (b[12]),
      .B13    (b[13]),
      .B14    (b[14]),
      .B15    (b[15]),
      .B16    (b[16]),
      .B17    (b[17]),
      .P0     (product[0]),
      .P1     (product[1]),
      .P2     (product[2]),
      .P3     (product[3]),
      .P4     (product[4]),
      .P5     (product[5]),
      .P6     (product[6]),
      .P7     (product[7]),
      .P8     (product[8]),
      .P9     (product[9]),
      .P10    (product[10]),
      .P11    (product[11]),
      .P12    (product[12]),
      .P13    (product[13]),
      .P14    (product[14]),
      .P15    (product[15]),
      .P16    (product[16]),
      .P17    (product[17]),
      .P18    (product[18]),
      .P19    (product[19]),
      .P20    (product[20]),
      .P21    (product[21]),
      .P22    (product[22]),
      .P23    (product[23]),
      .P24    (product[24]),
      .P25    (product[25]),
      .P26    (product[26]),
      .P27    (product[27]),
      .P28    (product[28]),
      .P29    (product[29]),
      .P30    (product[30]),
      .P31    (product[31]),
      .P32    (product[32]),
      .P33    (product[33]),
      .P34    (product[34]),
      .P35    (product[35])
    );
    assign p_o = product[OutWidth-1:0];
`else
    logic [AWidth-1:0] a_q;
    logic [BWidth-1:0] b_q;
    always_ff @(posedge clk_i) begin
      a_q <= a_i;
      b_q <= b_i;
      p_o <= OutWidth'(Wide'(a_q) * Wide'(b_q));
    end
`endif
  end else if (MulStyle == rs_build_pkg::MultiplierDsp26x17 && rs_mult_pkg::Dsp48e2 && Long) begin : gen_xilinx
`ifdef RINGSMITH_DSP48E2
    logic [47:0] product, unused_chain;
    rs_dsp48 u_dsp (
      .clk_i,
      .a_i    (26'(a_i)),
      .b_i    (17'(b_i)),
      .c_i    ('0),
      .chain_i('0),
      .z_i    (rs_mult_pkg::ZNone),
      .w_i    (rs_mult_pkg::WNone),
      .sub_i  (1'b0),
      .p_o    (product),
      .chain_o(unused_chain)
    );
    assign p_o = product[OutWidth-1:0];
    logic unused_high;
    assign unused_high = ^product[47:OutWidth];
`endif
  end else begin : gen_inferred
    logic [OutWidth-1:0] product;
    if (MulStyle == rs_build_pkg::MultiplierDsp26x17 && !Long) begin : gen_rows
      always_comb begin
        product = '0;
        for (int i = 0; i < int'(AWidth); i++) product += OutWidth'({OutWidth{a_i[i]}} & OutWidth'(Wide'(b_i) << i));
      end
    end else begin : gen_product
      assign product = OutWidth'(Wide'(a_i) * Wide'(b_i));
    end
    if (MulStyle == rs_mult_pkg::MultiplierWires) begin : gen_wire
      assign p_o = product;
      logic unused_clk;
      assign unused_clk = clk_i;
    end else begin : gen_first
      (* keep *) logic [OutWidth-1:0] product_q;
      always_ff @(posedge clk_i) product_q <= product;
      if (MulStyle == rs_build_pkg::MultiplierDsp26x17) begin : gen_second
        (* keep *) logic [OutWidth-1:0] product_q2;
        always_ff @(posedge clk_i) product_q2 <= product_q;
        assign p_o = product_q2;
      end else begin : gen_one
        assign p_o = product_q;
      end
    end
  end

endmodule
