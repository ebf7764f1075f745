// SPDX-License-Identifier: Apache-2.0
// Generated from spec/isa.yaml by `python -m ringsmith.gen`; do not edit.
// The instruction set: opcodes, the instruction word, and what each instruction reads and writes.
package rs_isa_pkg;

  // Not every build uses every name.
  /* verilator lint_off UNUSEDPARAM */
  localparam int IsaVersion = 1;
  localparam int InstrWidth = 64;
  localparam int OpcodeWidth = 6;
  localparam int DstWidth = 6;
  localparam int SrcAWidth = 6;
  localparam int SrcBWidth = 6;
  localparam int SrcCWidth = 6;
  localparam int Log2NWidth = 4;
  localparam int ModIdxWidth = 4;
  localparam int CyclicWidth = 1;
  localparam int ConstIdxWidth = 5;
  localparam int BufIdxWidth = 20;
  localparam logic [DstWidth-1:0] ZeroSlot = 6'd63;
  localparam logic [DstWidth-1:0] TwiddleSlot = 6'd62;
  localparam logic [DstWidth-1:0] StreamSlot = 6'd61;

  typedef enum logic [5:0] {
    OpNtt = 6'd1,
    OpIntt = 6'd2,
    OpPmodadd = 6'd3,
    OpPmodsub = 6'd4,
    OpPmodmul = 6'd5,
    OpPmodsqr = 6'd6,
    OpCmodmul = 6'd7,
    OpPmul = 6'd8,
    OpPmac = 6'd9,
    OpMemcpy = 6'd16,
    OpMemcpyr = 6'd17,
    OpLoad = 6'd18,
    OpStore = 6'd19,
    OpSync = 6'd32,
    OpAuto = 6'd40,
    OpLift = 6'd41,
    OpScale = 6'd42,
    OpDecomp = 6'd43,
    OpKeyswitch = 6'd45
  } opcode_e;

  typedef enum logic [2:0] {
    UnitCompute = 3'd0,
    UnitMemory  = 3'd1,
    UnitControl = 3'd2,
    UnitRns     = 3'd3
  } unit_e;

  // The opcode is plain bits: an unknown value must stay representable.
  typedef struct packed {
    logic [19:0] buf_idx;
    logic [4:0] const_idx;
    logic [0:0] cyclic;
    logic [3:0] mod_idx;
    logic [3:0] log2_n;
    logic [5:0] src_c;
    logic [5:0] src_b;
    logic [5:0] src_a;
    logic [5:0] dst;
    logic [5:0] opcode;
  } instr_t;

  // The instruction exists (implemented or reserved). Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskKnown = 64'h00002f01000f03fe;
  function automatic logic op_known(logic [OpcodeWidth-1:0] opcode);
    return MaskKnown[opcode];
  endfunction

  // The instruction can be in a build. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskImplemented = 64'h00000f01000f03fe;
  function automatic logic op_implemented(logic [OpcodeWidth-1:0] opcode);
    return MaskImplemented[opcode];
  endfunction

  // Reads slot src_a. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskReadsA = 64'h00002f00000b03fe;
  function automatic logic op_reads_a(logic [OpcodeWidth-1:0] opcode);
    return MaskReadsA[opcode];
  endfunction

  // Reads slot src_b. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskReadsB = 64'h0000040000000338;
  function automatic logic op_reads_b(logic [OpcodeWidth-1:0] opcode);
    return MaskReadsB[opcode];
  endfunction

  // Reads slot src_c. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskReadsC = 64'h0000000000000284;
  function automatic logic op_reads_c(logic [OpcodeWidth-1:0] opcode);
    return MaskReadsC[opcode];
  endfunction

  // Writes slot dst. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskWritesDst = 64'h00002f00000703fe;
  function automatic logic op_writes_dst(logic [OpcodeWidth-1:0] opcode);
    return MaskWritesDst[opcode];
  endfunction

  // Writes slot src_c. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskWritesC = 64'h0000200000000100;
  function automatic logic op_writes_c(logic [OpcodeWidth-1:0] opcode);
    return MaskWritesC[opcode];
  endfunction

  // Uses both work slots as scratch. Bit i of the mask stands for opcode i.
  localparam logic [63:0] MaskTransform = 64'h0000000000000006;
  function automatic logic op_transform(logic [OpcodeWidth-1:0] opcode);
    return MaskTransform[opcode];
  endfunction

  // The unit that executes an instruction; unknown opcodes go to the sequencer, which refuses them.
  localparam logic [63:0] MaskCompute = 64'h00002000000003fe;
  localparam logic [63:0] MaskMemory = 64'h00000000000f0000;
  localparam logic [63:0] MaskRns = 64'h00000f0000000000;
  function automatic unit_e op_unit(logic [OpcodeWidth-1:0] opcode);
    if (MaskCompute[opcode]) return UnitCompute;
    if (MaskMemory[opcode]) return UnitMemory;
    if (MaskRns[opcode]) return UnitRns;
    return UnitControl;
  endfunction

  /* verilator lint_on UNUSEDPARAM */

endpackage
