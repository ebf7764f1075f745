// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
// Least and most of parameters, for the checks of modules that are built alone too; names of choices; a core's
// parameters as one. The parameters of tops and of arithmetic hold a choice by number, since tools set them.
package rs_build_pkg;
  localparam int unsigned WLeast = 14;
  localparam int unsigned WMost = 128;
  localparam int unsigned LanesLeast = 1;
  localparam int unsigned LanesMost = 15;
  localparam int unsigned PLeast = 1;
  localparam int unsigned PMost = 32;
  localparam int unsigned NMaxLog2Least = 3;
  localparam int unsigned NMaxLog2Most = 15;
  localparam int unsigned ModMinBitsLeast = 5;
  localparam int unsigned ModuliLeast = 1;
  localparam int unsigned ModuliMost = 16;
  localparam int unsigned ConstsLeast = 1;
  localparam int unsigned ConstsMost = 32;
  localparam int unsigned RnsRateLeast = 0;
  localparam int unsigned RnsRateMost = 4;
  localparam int unsigned RnsConversionsLeast = 2;
  localparam int unsigned RnsConversionsMost = 32;
  localparam int unsigned RnsEntriesLeast = 16;
  localparam int unsigned RnsEntriesMost = 128;
  localparam int unsigned MovesLeast = 0;
  localparam int unsigned MovesMost = 32;
  localparam int unsigned AddrWidthLeast = 32;
  localparam int unsigned AddrWidthMost = 64;
  localparam int unsigned ControllerWordsLeast = 64;
  localparam int unsigned ControllerWordsMost = 16384;
  localparam int unsigned CoresLeast = 1;
  localparam int unsigned CoresMost = 8;
  localparam int unsigned FifoDepthLeast = 2;
  localparam int unsigned FifoDepthMost = 1024;
  localparam int unsigned SlotsLeast = 3;
  localparam int unsigned SlotsMost = 32;
  localparam int unsigned TwTablesLeast = 1;

  // How products are reduced, by Barrett with a modulus of run time or word by word by Montgomery with primes 1 mod 2
  // n_max.
  typedef enum int unsigned {
    ReductionBarrett = 0,
    ReductionMontgomery = 1
  } reduction_e;

  // How products are cut, in a few deep stages or in pipelined tiles of the DSP blocks of AMD (26x17) or Lattice
  // (18x18).
  typedef enum int unsigned {
    MultiplierAsic = 0,
    MultiplierDsp26x17 = 1,
    MultiplierDsp18x18 = 2
  } multiplier_e;

  // Multipliers of the steps of Montgomery reduction, DSP blocks, LUTs for the factors of base conversion (mixed), or
  // LUTs.
  typedef enum int unsigned {
    MontgomeryStepsDsp = 0,
    MontgomeryStepsMixed = 1,
    MontgomeryStepsLuts = 2
  } montgomery_steps_e;

  // A processor on the chip that feeds programs from its memory without the host, none or a RISC-V one.
  typedef enum int unsigned {
    ControllerNone = 0,
    ControllerRiscv = 1
  } controller_e;

  // The rows of butterflies, one combinational circuit, registered, one row used three times, pipelined, or that behind
  // AXI4-Stream.
  typedef enum int unsigned {
    VariantCn = 0,
    VariantPn3 = 1,
    VariantPn1 = 2,
    VariantPn3d = 3,
    VariantStream = 4
  } variant_e;

  // The parameters of a core, which a top hands to the modules inside it as one.
  typedef struct packed {
    // Bits of a coefficient, W.
    int unsigned W;
    // Residues that are worked on in lockstep.
    int unsigned Lanes;
    // Butterflies of a lane, P; a memory word holds as many coefficients.
    int unsigned P;
    // Words of a slot, the largest ring degree.
    int unsigned NMaxLog2;
    // How products are reduced, by Barrett with a modulus of run time or word by word by Montgomery with primes 1 mod 2
    // n_max.
    reduction_e MulKind;
    // How products are cut, in a few deep stages or in pipelined tiles of the DSP blocks of AMD (26x17) or Lattice
    // (18x18).
    multiplier_e MulStyle;
    // Multipliers of the steps of Montgomery reduction, DSP blocks, LUTs for the factors of base conversion (mixed), or
    // LUTs.
    montgomery_steps_e MontSteps;
    // Bits of the smallest modulus.
    int unsigned ModMinBits;
    // The product that is not reduced, PMUL.
    bit EnPmul;
    // The cyclic form of the transforms.
    bit EnCyclic;
    // Moduli that a lane holds.
    int unsigned Moduli;
    // Constants of CMODMUL that a lane holds.
    int unsigned Consts;
    // Coefficients that base conversion (LIFT, SCALE) takes at a time; 0 without that unit.
    int unsigned RnsRate;
    // Conversions that the unit holds.
    int unsigned RnsConversions;
    // Entries of the tables of their constants; a conversion of K primes takes K + 1.
    int unsigned RnsEntries;
    // Automorphisms, and as many digits, that the unit for moves between words and lanes (AUTO, DECOMP) holds; 0
    // without it.
    int unsigned Moves;
    // Bits of an address on the AXI4 data port; host buffers end within them. Nothing on the serial host.
    int unsigned AddrWidth;
    // A beat of the data port carries a word of every lane, and host buffers hold rows of all lanes.
    bit WidePort;
    // A product can take an operand from the data port as it comes, without a slot for it.
    bit EnStream;
    // Pointwise instructions have multipliers of their own and run beside transforms.
    bit EnPointwise;
    // A processor on the chip that feeds programs from its memory without the host, none or a RISC-V one.
    controller_e Controller;
    // Words of 32 bits of the controller's memory, which holds firmware and program; nothing without one.
    int unsigned ControllerWords;
    // Cores behind one host shell and one data port, each with registers and a program queue of its own.
    int unsigned Cores;
    // Commands that can wait.
    int unsigned FifoDepth;
    // Polynomial slots that instructions can name.
    int unsigned Slots;
    // Bit s, slot s is single-port; the dual-port slots come first.
    logic [31:0] SinglePort;
    // Twiddle tables of a lane, one for all modulus indices or one for each.
    int unsigned TwTables;
    // Bits that a step of Montgomery reduction removes; moduli are 1 modulo 2 to that power. 0 with Barrett.
    int unsigned MontW;
  } core_cfg_t;

  // What modules have that are built alone.
  localparam core_cfg_t SmallCore = '{
    W: 32,
    Lanes: 1,
    P: 2,
    NMaxLog2: 6,
    MulKind: ReductionBarrett,
    MulStyle: MultiplierDsp26x17,
    MontSteps: MontgomeryStepsDsp,
    ModMinBits: 5,
    EnPmul: 1'b1,
    EnCyclic: 1'b1,
    Moduli: 2,
    Consts: 4,
    RnsRate: 0,
    RnsConversions: 2,
    RnsEntries: 16,
    Moves: 0,
    AddrWidth: 40,
    WidePort: 1'b0,
    EnStream: 1'b0,
    EnPointwise: 1'b0,
    Controller: ControllerNone,
    ControllerWords: 1024,
    Cores: 1,
    FifoDepth: 16,
    Slots: 5,
    SinglePort: 32'h10,
    TwTables: 2,
    MontW: 7
  };
endpackage
