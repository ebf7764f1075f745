// SPDX-License-Identifier: Apache-2.0
// Cells of Lattice ECP5 that Yosys's library only declares, as netlists of boards use them: the block memory and the
// multiplier (FPGA-TN-02204, FPGA-TN-02205); the PLL is rtl/prim/EHXPLLL.sv. For simulation; a mode that no netlist of
// ours has ends the simulation.

// A memory of 1,024 words of 18 bits, each two bytes of 9, with two ports of 1, 2, 4, 9, 18 or 36 bits (one that writes
// and one that reads, by the data pins of both). Widths up to 4 leave the ninth bits out. Of 18 bits and more the
// lowest address pins say which bytes are written.
module DP16KD #(
  parameter logic [319:0] INITVAL_00 = 320'd0, INITVAL_01 = 320'd0, INITVAL_02 = 320'd0,
  parameter logic [319:0] INITVAL_03 = 320'd0, INITVAL_04 = 320'd0, INITVAL_05 = 320'd0,
  parameter logic [319:0] INITVAL_06 = 320'd0, INITVAL_07 = 320'd0, INITVAL_08 = 320'd0,
  parameter logic [319:0] INITVAL_09 = 320'd0, INITVAL_0A = 320'd0, INITVAL_0B = 320'd0,
  parameter logic [319:0] INITVAL_0C = 320'd0, INITVAL_0D = 320'd0, INITVAL_0E = 320'd0,
  parameter logic [319:0] INITVAL_0F = 320'd0, INITVAL_10 = 320'd0, INITVAL_11 = 320'd0,
  parameter logic [319:0] INITVAL_12 = 320'd0, INITVAL_13 = 320'd0, INITVAL_14 = 320'd0,
  parameter logic [319:0] INITVAL_15 = 320'd0, INITVAL_16 = 320'd0, INITVAL_17 = 320'd0,
  parameter logic [319:0] INITVAL_18 = 320'd0, INITVAL_19 = 320'd0, INITVAL_1A = 320'd0,
  parameter logic [319:0] INITVAL_1B = 320'd0, INITVAL_1C = 320'd0, INITVAL_1D = 320'd0,
  parameter logic [319:0] INITVAL_1E = 320'd0, INITVAL_1F = 320'd0, INITVAL_20 = 320'd0,
  parameter logic [319:0] INITVAL_21 = 320'd0, INITVAL_22 = 320'd0, INITVAL_23 = 320'd0,
  parameter logic [319:0] INITVAL_24 = 320'd0, INITVAL_25 = 320'd0, INITVAL_26 = 320'd0,
  parameter logic [319:0] INITVAL_27 = 320'd0, INITVAL_28 = 320'd0, INITVAL_29 = 320'd0,
  parameter logic [319:0] INITVAL_2A = 320'd0, INITVAL_2B = 320'd0, INITVAL_2C = 320'd0,
  parameter logic [319:0] INITVAL_2D = 320'd0, INITVAL_2E = 320'd0, INITVAL_2F = 320'd0,
  parameter logic [319:0] INITVAL_30 = 320'd0, INITVAL_31 = 320'd0, INITVAL_32 = 320'd0,
  parameter logic [319:0] INITVAL_33 = 320'd0, INITVAL_34 = 320'd0, INITVAL_35 = 320'd0,
  parameter logic [319:0] INITVAL_36 = 320'd0, INITVAL_37 = 320'd0, INITVAL_38 = 320'd0,
  parameter logic [319:0] INITVAL_39 = 320'd0, INITVAL_3A = 320'd0, INITVAL_3B = 320'd0,
  parameter logic [319:0] INITVAL_3C = 320'd0, INITVAL_3D = 320'd0, INITVAL_3E = 320'd0,
  parameter logic [319:0] INITVAL_3F = 320'd0,
  parameter int DATA_WIDTH_A = 18,
  parameter int DATA_WIDTH_B = 18,
  parameter WRITEMODE_A = "NORMAL",
  parameter WRITEMODE_B = "NORMAL",
  parameter REGMODE_A = "NOREG",
  parameter REGMODE_B = "NOREG",
  parameter CLKAMUX = "CLKA",
  parameter CLKBMUX = "CLKB",
  parameter RESETMODE = "SYNC",
  parameter ASYNC_RESET_RELEASE = "SYNC",
  parameter CSDECODE_A = "0b000",
  parameter CSDECODE_B = "0b000",
  parameter GSR = "AUTO"
) (
  input wire DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3,
    DIA2, DIA1, DIA0,
  input wire ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
  input wire CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
  output wire DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3,
    DOA2, DOA1, DOA0,
  input wire DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3,
    DIB2, DIB1, DIB0,
  input wire ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
  input wire CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
  output wire DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3,
    DOB2, DOB1, DOB0
);
  localparam logic [20479:0] Init = {
    INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
    INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
    INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
    INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
    INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
    INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
    INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
    INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00};

  logic [17:0] words[1024];
  logic [35:0] a_q, b_q;
  logic a_clk, b_clk, a_reset, b_reset;
  logic [13:0] a_at, b_at;
  logic [17:0] a_in, b_in;

  assign a_clk = CLKAMUX == "INV" ? !CLKA : CLKA;
  assign b_clk = CLKBMUX == "INV" ? !CLKB : CLKB;
  assign a_at = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  assign b_at = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  assign a_in = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0};
  assign b_in = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2,
    DIB1, DIB0};
  // Of 36 bits the lower half stands at the pins of port A, the upper at those of port B.
  assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0} = DATA_WIDTH_B == 36 ? b_q[17:0] : a_q[17:0];
  assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2,
    DOB1, DOB0} = DATA_WIDTH_B == 36 ? b_q[35:18] : b_q[17:0];

  initial begin
    for (int i = 0; i < 1024; i++) words[i] = Init[20*i+:18];
    a_q = '0;
    b_q = '0;
    if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG" || CSDECODE_A != "0b000" || CSDECODE_B != "0b000") begin
      $fatal(1, "%m: a mode of the block memory that has no model");
    end
  end

  // Data of `width` bits at an address.
  function automatic logic [35:0] at(input int width, input logic [13:0] address);
    logic [17:0] word;
    word = words[address[13:4]];
    unique case (width)
      36: return {words[{address[13:5], 1'b1}], words[{address[13:5], 1'b0}]};
      18: return 36'(word);
      9: return 36'(word[9*address[3]+:9]);
      4: return 36'(word[9*address[3]+4*address[2]+:4]);
      2: return 36'(word[9*address[3]+2*address[2:1]+:2]);
      default: return 36'(word[9*address[3]+address[2:0]+:1]);
    endcase
  endfunction

  // Write `width` bits at an address.
  task automatic put(input int width, input logic [13:0] address, input logic [35:0] data);
    unique case (width)
      36: for (int i = 0; i < 4; i++) if (address[i]) words[{address[13:5], i[1]}][9*i[0]+:9] <= data[9*i+:9];
      18: for (int i = 0; i < 2; i++) if (address[i]) words[address[13:4]][9*i+:9] <= data[9*i+:9];
      9: words[address[13:4]][9*address[3]+:9] <= data[8:0];
      4: words[address[13:4]][9*address[3]+4*address[2]+:4] <= data[3:0];
      2: words[address[13:4]][9*address[3]+2*address[2:1]+:2] <= data[1:0];
      default: words[address[13:4]][9*address[3]+address[2:0]+:1] <= data[0];
    endcase
  endtask

  // What port A and port B show after a write: what was there, what is written, or what they showed before.
  assign a_reset = RESETMODE == "ASYNC" && RSTA;
  assign b_reset = RESETMODE == "ASYNC" && RSTB;
  always @(posedge a_clk, posedge a_reset) begin
    if (RSTA) a_q <= '0;
    else if (CEA) begin
      if (!WEA || WRITEMODE_A == "READBEFOREWRITE") a_q <= at(DATA_WIDTH_A, a_at);
      else if (WRITEMODE_A == "WRITETHROUGH") a_q <= 36'(a_in);
      if (WEA) put(DATA_WIDTH_A, a_at, {b_in, a_in});
    end
  end

  always @(posedge b_clk, posedge b_reset) begin
    if (RSTB) b_q <= '0;
    else if (CEB) begin
      if (!WEB || WRITEMODE_B == "READBEFOREWRITE") b_q <= at(DATA_WIDTH_B, b_at);
      else if (WRITEMODE_B == "WRITETHROUGH") b_q <= 36'(b_in);
      if (WEB) put(DATA_WIDTH_B, b_at, 36'(b_in));
    end
  end
endmodule

// A product of 18 by 18 bits, of signed or unsigned factors, with registers at its factors, within and at its result.
module MULT18X18D #(
  parameter REG_INPUTA_CLK = "NONE",
  parameter REG_INPUTA_CE = "CE0",
  parameter REG_INPUTA_RST = "RST0",
  parameter REG_INPUTB_CLK = "NONE",
  parameter REG_INPUTB_CE = "CE0",
  parameter REG_INPUTB_RST = "RST0",
  parameter REG_PIPELINE_CLK = "NONE",
  parameter REG_PIPELINE_CE = "CE0",
  parameter REG_PIPELINE_RST = "RST0",
  parameter REG_OUTPUT_CLK = "NONE",
  parameter REG_OUTPUT_CE = "CE0",
  parameter REG_OUTPUT_RST = "RST0"
) (
  input wire A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
  input wire B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
  input wire C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
  input wire SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0,
  output wire P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16,
    P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
  logic signed [18:0] a_in, b_in, a, b, a_q, b_q;
  logic [35:0] product, inner, inner_q, p, p_q;

  assign a_in[17:0] = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
  assign b_in[17:0] = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
  assign a_in[18] = SIGNEDA && A17;
  assign b_in[18] = SIGNEDB && B17;
  assign a = REG_INPUTA_CLK == "NONE" ? a_in : a_q;
  assign b = REG_INPUTB_CLK == "NONE" ? b_in : b_q;
  assign product = 36'(a * b);
  assign inner = REG_PIPELINE_CLK == "NONE" ? product : inner_q;
  assign p = REG_OUTPUT_CLK == "NONE" ? inner : p_q;
  assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15,
    P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = p;

  always @(posedge CLK0) begin
    if (RST0) begin
      a_q <= '0;
      b_q <= '0;
      inner_q <= '0;
      p_q <= '0;
    end else if (CE0) begin
      a_q <= a_in;
      b_q <= b_in;
      inner_q <= product;
      p_q <= inner;
    end
  end

  function automatic logic known(input string clock, input string enable, input string reset);
    return clock == "NONE" || clock == "CLK0" && enable == "CE0" && reset == "RST0";
  endfunction

  initial begin
    if (!known(REG_INPUTA_CLK, REG_INPUTA_CE, REG_INPUTA_RST) ||
        !known(REG_INPUTB_CLK, REG_INPUTB_CE, REG_INPUTB_RST) ||
        !known(REG_PIPELINE_CLK, REG_PIPELINE_CE, REG_PIPELINE_RST) ||
        !known(REG_OUTPUT_CLK, REG_OUTPUT_CE, REG_OUTPUT_RST)) $fatal(1, "%m: clocks that have no model");
  end
endmodule
