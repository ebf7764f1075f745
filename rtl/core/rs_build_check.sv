// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
// Elaboration checks of the parameters of a core: an illegal value stops the build.
// docs/knobs.md has their meaning.
module rs_build_check #(
  // Bits of a coefficient, W.
  parameter int unsigned W = 14,
  // Residues that are worked on in lockstep.
  parameter int unsigned Lanes = 1,
  // Butterflies of a lane, P; a memory word holds as many coefficients.
  parameter int unsigned P = 1,
  // Words of a slot, the largest ring degree.
  parameter int unsigned NMaxLog2 = 3,
  // How products are reduced, by Barrett with a modulus of run time or word by word by Montgomery with primes 1 mod 2
  // n_max.
  parameter int unsigned MulKind = 0,
  // How products are cut, in a few deep stages or in pipelined tiles of the DSP blocks of AMD (26x17) or Lattice
  // (18x18).
  parameter int unsigned MulStyle = 0,
  // Bits of the smallest modulus.
  parameter int unsigned ModMinBits = 5,
  // Moduli that a lane holds.
  parameter int unsigned Moduli = 1,
  // Constants of CMODMUL that a lane holds.
  parameter int unsigned Consts = 1,
  // Coefficients that base conversion (LIFT, SCALE) takes at a time; 0 without that unit.
  parameter int unsigned RnsRate = 0,
  // Conversions that the unit holds.
  parameter int unsigned RnsConversions = 2,
  // Entries of the tables of their constants; a conversion of K primes takes K + 1.
  parameter int unsigned RnsEntries = 16,
  // Automorphisms, and as many digits, that the unit for moves between words and lanes (AUTO, DECOMP) holds; 0 without
  // it.
  parameter int unsigned Moves = 0,
  // Cores behind one host shell and one data port, each with registers and a program queue of its own.
  parameter int unsigned Cores = 1,
  // Commands that can wait.
  parameter int unsigned FifoDepth = 2,
  // Polynomial slots that instructions can name.
  parameter int unsigned Slots = 3,
  // Bit s, slot s is single-port; the dual-port slots come first.
  parameter int unsigned SinglePort = 0,
  // Twiddle tables of a lane, one for all modulus indices or one for each.
  parameter int unsigned TwTables = 1
);

  if (!((W >= 14) && (W <= 128))) begin : gen_check_0_word_bits
    $error("%m: W (word_bits) must be 14..128");
  end
  if (!((Lanes >= 1) && (Lanes <= 15))) begin : gen_check_1_lanes
    $error("%m: Lanes (lanes) must be 1..15");
  end
  if (!((P == 1) || (P == 2) || (P == 4) || (P == 8) || (P == 16) || (P == 32))) begin : gen_check_2_butterflies
    $error("%m: P (butterflies) must be 1, 2, 4, 8, 16 or 32");
  end
  if (!(((1 << NMaxLog2) >= 8) && ((1 << NMaxLog2) <= 32768) && ((1 << $clog2((1 << NMaxLog2))) == (1 << NMaxLog2)))) begin : gen_check_3_n_max
    $error("%m: NMaxLog2 is log2(n_max): n_max must be a power of two from 8 to 32768");
  end
  if (!((MulKind == 0) || (MulKind == 1))) begin : gen_check_4_reduction
    $error("%m: MulKind (reduction) must be barrett or montgomery");
  end
  if (!((MulStyle == 0) || (MulStyle == 1) || (MulStyle == 2))) begin : gen_check_5_multiplier
    $error("%m: MulStyle (multiplier) must be asic, dsp26x17 or dsp18x18");
  end
  if (!((ModMinBits >= 5) && (ModMinBits <= W))) begin : gen_check_6_modulus_bits_min
    $error("%m: ModMinBits (modulus_bits_min) must be 5..word_bits = %0d", (W));
  end
  if (!((Moduli >= 1) && (Moduli <= 16))) begin : gen_check_7_moduli_slots
    $error("%m: Moduli (moduli_slots) must be 1..16");
  end
  if (!((Consts >= 1) && (Consts <= 32))) begin : gen_check_8_constants
    $error("%m: Consts (constants) must be 1..32");
  end
  if (!((RnsRate == 0) || (RnsRate == 1) || (RnsRate == 2) || (RnsRate == 4))) begin : gen_check_9_rns_rate
    $error("%m: RnsRate (rns_rate) must be 0, 1, 2 or 4");
  end
  if (!((RnsConversions >= 2) && (RnsConversions <= 32))) begin : gen_check_10_rns_conversions
    $error("%m: RnsConversions is max(rns_conversions, 2): rns_conversions must be 2..32 where rns_rate != 0, else 0");
  end
  if (!((RnsEntries >= 16) && (RnsEntries <= 128))) begin : gen_check_11_rns_entries
    $error("%m: RnsEntries is max(rns_entries, 16): rns_entries must be 16..128 where rns_rate != 0, else 0");
  end
  if (!((Moves == 0) || (Moves == 4) || (Moves == 8) || (Moves == 16) || (Moves == 32))) begin : gen_check_12_moves
    $error("%m: Moves (moves) must be 0, 4, 8, 16 or 32");
  end
  if (!((Cores >= 1) && (Cores <= 8))) begin : gen_check_13_cores
    $error("%m: Cores (cores) must be 1..8");
  end
  if (!((FifoDepth >= 2) && (FifoDepth <= 1024) && ((1 << $clog2(FifoDepth)) == FifoDepth))) begin : gen_check_14_fifo_depth
    $error("%m: FifoDepth (fifo_depth) must be a power of two from 2 to 1024");
  end
  if (!((1 << NMaxLog2) >= (4 * P))) begin : gen_check_15_n_max
    $error("%m: NMaxLog2 is log2(n_max): n_max must be at least 4 * butterflies = %0d", (4 * P));
  end
  if (!((MulKind == 0) || (($clog2((1 << NMaxLog2)) + 3) <= W))) begin : gen_check_16_word_bits
    $error("%m: W (word_bits) must be at least %0d with reduction = montgomery at n_max = %0d", ($clog2((1 << NMaxLog2)) + 3), (1 << NMaxLog2));
  end
  if (!((RnsRate == 0) || (W <= 64))) begin : gen_check_17_word_bits
    $error("%m: W (word_bits) must be at most 64 with base conversion (rns_rate)");
  end
  if (!((RnsRate == 0) || (Lanes <= 8))) begin : gen_check_18_lanes
    $error("%m: Lanes (lanes) must be at most 8 with base conversion (rns_rate)");
  end
  if (!((Moves == 0) || (W <= 64))) begin : gen_check_19_word_bits
    $error("%m: W (word_bits) must be at most 64 with moves between lanes (moves)");
  end
  if (!((SinglePort % 4) == 0)) begin : gen_check_20_single_port_mask
    $error("%m: SinglePort (single_port_mask) must be 0 in its two lowest bits, which are the work slots");
  end
  if (!((Slots >= 3) && (Slots <= 32))) begin : gen_check_21_slots
    $error("%m: Slots (slots) must be 3..32");
  end
  if (!((TwTables == 1) || (TwTables == Moduli))) begin : gen_check_22_twiddle_tables
    $error("%m: TwTables (twiddle_tables) must be 1 or moduli_slots");
  end

endmodule
