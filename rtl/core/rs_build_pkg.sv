// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
// Least and most of parameters, for the checks of modules that are built alone too.
package rs_build_pkg;
  localparam int unsigned WLeast = 14;
  localparam int unsigned WMost = 128;
  localparam int unsigned LanesLeast = 1;
  localparam int unsigned LanesMost = 8;
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
  localparam int unsigned FifoDepthLeast = 2;
  localparam int unsigned FifoDepthMost = 1024;
  localparam int unsigned SlotsLeast = 3;
  localparam int unsigned SlotsMost = 32;
  localparam int unsigned TwTablesLeast = 1;
endpackage
