// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
// Least and most of parameters, for the checks of modules that are built alone too; names of choices. Parameters hold a
// choice by number, since tools set them.
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

  // The rows of butterflies, one combinational circuit, registered, one row used three times, pipelined, or that behind
  // AXI4-Stream.
  typedef enum int unsigned {
    VariantCn = 0,
    VariantPn3 = 1,
    VariantPn1 = 2,
    VariantPn3d = 3,
    VariantStream = 4
  } variant_e;
endpackage
