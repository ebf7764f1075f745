// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
// Elaboration checks of the parameters of a core: an illegal value stops the build.
// docs/knobs.md has their meaning.
module rs_build_check
  import rs_build_pkg::*;
#(
  parameter core_cfg_t Cfg = SmallCore
);

  if (!((Cfg.W >= 14) && (Cfg.W <= 128))) begin : gen_check_0_word_bits
    $error("%m: W (word_bits) must be 14..128");
  end
  if (!((Cfg.Lanes >= 1) && (Cfg.Lanes <= 15))) begin : gen_check_1_lanes
    $error("%m: Lanes (lanes) must be 1..15");
  end
  if (!((Cfg.P == 1) || (Cfg.P == 2) || (Cfg.P == 4) || (Cfg.P == 8) || (Cfg.P == 16) || (Cfg.P == 32))) begin : gen_check_2_butterflies
    $error("%m: P (butterflies) must be 1, 2, 4, 8, 16 or 32");
  end
  if (!(((1 << Cfg.NMaxLog2) >= 8) && ((1 << Cfg.NMaxLog2) <= 32768) && ((1 << $clog2((1 << Cfg.NMaxLog2))) == (1 << Cfg.NMaxLog2)))) begin : gen_check_3_n_max
    $error("%m: NMaxLog2 is log2(n_max): n_max must be a power of two from 8 to 32768");
  end
  if (!((Cfg.MulKind == 0) || (Cfg.MulKind == 1))) begin : gen_check_4_reduction
    $error("%m: MulKind (reduction) must be barrett or montgomery");
  end
  if (!((Cfg.MulStyle == 0) || (Cfg.MulStyle == 1) || (Cfg.MulStyle == 2))) begin : gen_check_5_multiplier
    $error("%m: MulStyle (multiplier) must be asic, dsp26x17 or dsp18x18");
  end
  if (!((Cfg.MontSteps == 0) || (Cfg.MontSteps == 1) || (Cfg.MontSteps == 2))) begin : gen_check_6_montgomery_steps
    $error("%m: MontSteps (montgomery_steps) must be dsp, mixed or luts");
  end
  if (!((Cfg.ModMinBits >= 5) && (Cfg.ModMinBits <= Cfg.W))) begin : gen_check_7_modulus_bits_min
    $error("%m: ModMinBits (modulus_bits_min) must be 5..word_bits = %0d", (Cfg.W));
  end
  if (!((Cfg.Moduli >= 1) && (Cfg.Moduli <= 16))) begin : gen_check_8_moduli_slots
    $error("%m: Moduli (moduli_slots) must be 1..16");
  end
  if (!((Cfg.Consts >= 1) && (Cfg.Consts <= 32))) begin : gen_check_9_constants
    $error("%m: Consts (constants) must be 1..32");
  end
  if (!((Cfg.RnsRate == 0) || (Cfg.RnsRate == 1) || (Cfg.RnsRate == 2) || (Cfg.RnsRate == 4))) begin : gen_check_10_rns_rate
    $error("%m: RnsRate (rns_rate) must be 0, 1, 2 or 4");
  end
  if (!((Cfg.RnsConversions >= 2) && (Cfg.RnsConversions <= 32))) begin : gen_check_11_rns_conversions
    $error("%m: RnsConversions is max(rns_conversions, 2): rns_conversions must be 2..32 where rns_rate != 0, else 0");
  end
  if (!((Cfg.RnsEntries >= 16) && (Cfg.RnsEntries <= 128))) begin : gen_check_12_rns_entries
    $error("%m: RnsEntries is max(rns_entries, 16): rns_entries must be 16..128 where rns_rate != 0, else 0");
  end
  if (!((Cfg.Moves == 0) || (Cfg.Moves == 4) || (Cfg.Moves == 8) || (Cfg.Moves == 16) || (Cfg.Moves == 32))) begin : gen_check_13_moves
    $error("%m: Moves (moves) must be 0, 4, 8, 16 or 32");
  end
  if (!((Cfg.AddrWidth >= 32) && (Cfg.AddrWidth <= 64))) begin : gen_check_14_address_bits
    $error("%m: AddrWidth (address_bits) must be 32..64");
  end
  if (!((Cfg.Controller == 0) || (Cfg.Controller == 1))) begin : gen_check_15_controller
    $error("%m: Controller (controller) must be none or riscv");
  end
  if (!((Cfg.ControllerWords >= 64) && (Cfg.ControllerWords <= 16384) && ((1 << $clog2(Cfg.ControllerWords)) == Cfg.ControllerWords))) begin : gen_check_16_controller_words
    $error("%m: ControllerWords (controller_words) must be a power of two from 64 to 16384");
  end
  if (!((Cfg.Cores >= 1) && (Cfg.Cores <= 8))) begin : gen_check_17_cores
    $error("%m: Cores (cores) must be 1..8");
  end
  if (!((Cfg.FifoDepth >= 2) && (Cfg.FifoDepth <= 1024) && ((1 << $clog2(Cfg.FifoDepth)) == Cfg.FifoDepth))) begin : gen_check_18_fifo_depth
    $error("%m: FifoDepth (fifo_depth) must be a power of two from 2 to 1024");
  end
  if (!((1 << Cfg.NMaxLog2) >= (4 * Cfg.P))) begin : gen_check_19_n_max
    $error("%m: NMaxLog2 is log2(n_max): n_max must be at least 4 * butterflies = %0d", (4 * Cfg.P));
  end
  if (!((Cfg.MulKind == 0) || (($clog2((1 << Cfg.NMaxLog2)) + 3) <= Cfg.W))) begin : gen_check_20_word_bits
    $error("%m: W (word_bits) must be at least %0d with reduction = montgomery at n_max = %0d", ($clog2((1 << Cfg.NMaxLog2)) + 3), (1 << Cfg.NMaxLog2));
  end
  if (!((Cfg.MontSteps == 0) || ((Cfg.MulKind == 1) && (Cfg.MulStyle == 1)))) begin : gen_check_21_montgomery_steps
    $error("%m: MontSteps (montgomery_steps) must be dsp unless reduction = montgomery and multiplier = dsp26x17");
  end
  if (!((Cfg.RnsRate == 0) || (Cfg.W <= 64))) begin : gen_check_22_word_bits
    $error("%m: W (word_bits) must be at most 64 with base conversion (rns_rate)");
  end
  if (!((Cfg.RnsRate == 0) || (Cfg.Lanes <= 8))) begin : gen_check_23_lanes
    $error("%m: Lanes (lanes) must be at most 8 with base conversion (rns_rate)");
  end
  if (!((Cfg.Moves == 0) || (Cfg.W <= 64))) begin : gen_check_24_word_bits
    $error("%m: W (word_bits) must be at most 64 with moves between lanes (moves)");
  end
  if (!((Cfg.SinglePort % 4) == 0)) begin : gen_check_25_single_port_mask
    $error("%m: SinglePort (single_port_mask) must be 0 in its two lowest bits, which are the work slots");
  end
  if (!((Cfg.Slots >= 3) && (Cfg.Slots <= 32))) begin : gen_check_26_slots
    $error("%m: Slots (slots) must be 3..32");
  end
  if (!((Cfg.TwTables == 1) || (Cfg.TwTables == Cfg.Moduli))) begin : gen_check_27_twiddle_tables
    $error("%m: TwTables (twiddle_tables) must be 1 or moduli_slots");
  end

endmodule
