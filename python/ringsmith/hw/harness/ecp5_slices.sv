// SPDX-License-Identifier: Apache-2.0
// Halves of ECP5's logic slices as nextpnr's netlists hold them once they are packed (FPGA-DS-02012, 2.2). For
// simulation: hw/board/routed.py gives an input without a wire the level that it has on the device.

// A LUT with what stands beside it: half of a carry (MODE "CCU2"), 16 bits of memory ("DPRAM"), a multiplexer of two
// LUTs or, where `Wide` is set, of the multiplexers of two slices.
module TRELLIS_COMB #(
  parameter MODE = "LOGIC",
  parameter logic [15:0] INITVAL = 16'h0,
  parameter CCU2_INJECT1 = "NO",
  parameter bit Wide = 1'b0
) (
  input wire A, B, C, D, M, FCI, F1, FXA, FXB, WD, WAD0, WAD1, WAD2, WAD3, WRE, WCK,
  output wire F, FCO, OFX
);
  wire [3:0] address = {D, C, B, A};
  wire lut = INITVAL[address];
  // An ordinary adder: `lut` says that a carry passes, the LUT of two inputs whether one is made.
  wire carried = CCU2_INJECT1 == "NO" ? FCI : 1'b0;
  wire made = CCU2_INJECT1 == "NO" ? INITVAL[{2'b00, B, A}] : 1'b0;

  assign FCO = lut ? FCI : made;
  assign OFX = Wide ? (M ? FXB : FXA) : (M ? F1 : F);

  if (MODE == "DPRAM") begin : gen_memory
    logic [15:0] words_q;
    initial words_q = INITVAL;
    always @(posedge WCK) if (WRE) words_q[{WAD3, WAD2, WAD1, WAD0}] <= WD;
    // The slice that writes brings its address bits in the order of its pins: D, B, C, A.
    assign F = words_q[{A, C, B, D}];
  end else if (MODE == "CCU2") begin : gen_carry
    assign F = lut ^ carried;
  end else begin : gen_lut
    assign F = lut;
  end
endmodule

// The slice beside two of memory: it holds no LUT and passes data and address of a write on.
module TRELLIS_RAMW (
  input wire A0, B0, C0, D0, A1, B1, C1, D1,
  output wire WDO0, WDO1, WDO2, WDO3, WADO0, WADO1, WADO2, WADO3
);
  assign {WDO3, WDO2, WDO1, WDO0} = {B1, D1, A1, C1};
  assign {WADO3, WADO2, WADO1, WADO0} = {A0, C0, B0, D0};
endmodule
