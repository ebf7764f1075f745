// SPDX-License-Identifier: Apache-2.0
// The multiplier of Xilinx UltraScale+ (UG579), as far as rs_dsp48 uses it: declared for synthesis, modelled in
// simulation.
//
// P = Z + (W + M), or Z - (W + M), where M is the product of the low 27 bits of A with B, both signed. OPMODE is W, Z,
// then 0101 for M; W: 00 nothing, 10 RND, 11 C; Z: 000 nothing, 010 P, 011 C, 101 PCIN / 2^17.
`ifdef RINGSMITH_DSP48E2
`ifdef SYNTHESIS (* blackbox *)
`endif
module DSP48E2 #(
  parameter int          ACASCREG      = 1,
  parameter int          ADREG         = 1,
  parameter int          ALUMODEREG    = 1,
  parameter int          AREG          = 1,
  parameter int          BCASCREG      = 1,
  parameter int          BREG          = 1,
  parameter int          CARRYINREG    = 1,
  parameter int          CARRYINSELREG = 1,
  parameter int          CREG          = 1,
  parameter int          DREG          = 1,
  parameter int          INMODEREG     = 1,
  parameter int          MREG          = 1,
  parameter int          OPMODEREG     = 1,
  parameter int          PREG          = 1,
  parameter logic [47:0] RND           = '0
) (
  input logic CLK,
  input logic [29:0] A,
  input logic [17:0] B,
  input logic [47:0] C,
  input logic [26:0] D,
  input logic [47:0] PCIN,
  input logic [3:0] ALUMODE,
  input logic CARRYIN,
  input logic [2:0] CARRYINSEL,
  input logic [4:0] INMODE,
  input logic [8:0] OPMODE,
  input logic CEA1,
  input logic CEA2,
  input logic CEAD,
  input logic CEALUMODE,
  input logic CEB1,
  input logic CEB2,
  input logic CEC,
  input logic CECARRYIN,
  input logic CECTRL,
  input logic CED,
  input logic CEINMODE,
  input logic CEM,
  input logic CEP,
  input logic RSTA,
  input logic RSTALLCARRYIN,
  input logic RSTALUMODE,
  input logic RSTB,
  input logic RSTC,
  input logic RSTCTRL,
  input logic RSTD,
  input logic RSTINMODE,
  input logic RSTM,
  input logic RSTP,
  output logic [47:0] P,
  output logic [47:0] PCOUT
);
`ifndef SYNTHESIS
  localparam int Controls = ADREG + ALUMODEREG + CARRYINREG + CARRYINSELREG + DREG + INMODEREG + OPMODEREG;
  localparam bit Modelled = AREG == BREG && ACASCREG == AREG && BCASCREG == BREG && MREG == 1 && PREG == 1;
  if (!Modelled || Controls != 0) begin : gen_registers_check
    $error("%m: this model has no such registers");
  end

  logic [2:0][29:0] a;
  logic [2:0][17:0] b;
  logic [47:0] c_q, c, w, z;
  logic signed [44:0] m_q;
  assign a[0]  = A;
  assign b[0]  = B;
  assign c     = CREG == 1 ? c_q : C;
  assign w     = OPMODE[8:7] == 2'b11 ? c : OPMODE[8:7] == 2'b10 ? RND : '0;
  assign PCOUT = P;
  always_comb begin
    case (OPMODE[6:4])
      3'b010:  z = P;
      3'b011:  z = c;
      3'b101:  z = {{17{PCIN[47]}}, PCIN[47:17]};
      default: z = '0;
    endcase
  end
  always_ff @(posedge CLK) begin
    a[2:1] <= a[1:0];
    b[2:1] <= b[1:0];
    c_q    <= C;
    m_q    <= signed'(45'(signed'(a[AREG][26:0]))) * signed'(45'(signed'(b[BREG])));
    P      <= ALUMODE == 4'b0011 ? z - (w + 48'(m_q)) : z + (w + 48'(m_q));
  end

  logic unused_pins;
  assign unused_pins = ^{a, D, CARRYIN, CARRYINSEL, INMODE, OPMODE, CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC,
                         CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP, RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC,
                         RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP, PCIN};
`endif
endmodule
`endif
