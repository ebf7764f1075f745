// SPDX-License-Identifier: Apache-2.0
// One DSP48E2 with its registers: p = z +- (a * b + w), unsigned operands. The only instance of the primitive.
//
// The product has a register, and so has p; OperandStages come before them. Built where RINGSMITH_DSP48E2 is defined,
// as the synthesis for UltraScale+ does; elsewhere the modules around it say the same in plain registers and operators.
`ifdef RINGSMITH_DSP48E2
module rs_dsp48 #(
  // Registers before a and b, 0 to 2.
  parameter int unsigned        OperandStages = 0,
  // Registers before c, 0 or 1.
  parameter int unsigned        AddendStages  = 0,
  // The constant that w may be.
  parameter logic        [47:0] Constant      = '0
) (
  input  logic        clk_i,
  input  logic [25:0] a_i,
  input  logic [16:0] b_i,
  input  logic [47:0] c_i,
  // p_o of another one, whose wires lead here.
  input  logic [47:0] chain_i,
  // Summands at the adder, see rs_mult_pkg: z may be 0, p (010), c or chain / 2^17; w 0, c or Constant. 1: the
  // difference.
  input  logic [ 2:0] z_i,
  input  logic [ 1:0] w_i,
  input  logic        sub_i,
  output logic [47:0] p_o,
  output logic [47:0] chain_o
);

  DSP48E2 #(
    .ACASCREG     (OperandStages),
    .ADREG        (0),
    .ALUMODEREG   (0),
    .AREG         (OperandStages),
    .BCASCREG     (OperandStages),
    .BREG         (OperandStages),
    .CARRYINREG   (0),
    .CARRYINSELREG(0),
    .CREG         (AddendStages),
    .DREG         (0),
    .INMODEREG    (0),
    .MREG         (1),
    .OPMODEREG    (0),
    .PREG         (1),
    .RND          (Constant)
  ) u_dsp (
    .CLK          (clk_i),
    .A            (30'(a_i)),
    .B            (18'(b_i)),
    .C            (c_i),
    .D            ('0),
    .PCIN         (chain_i),
    .ALUMODE      ({2'b00, {2{sub_i}}}),
    .CARRYIN      (1'b0),
    .CARRYINSEL   ('0),
    .INMODE       ('0),
    .OPMODE       ({w_i, z_i, 4'b0101}),
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
    .P            (p_o),
    .PCOUT        (chain_o)
  );

endmodule
`endif
