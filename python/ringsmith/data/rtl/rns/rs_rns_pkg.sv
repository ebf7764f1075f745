// SPDX-License-Identifier: Apache-2.0
// Types that the parts of the base-conversion unit share.
package rs_rns_pkg;

  // Bits a sum of nine products (eight primes, one kept residue) may be longer than one.
  localparam int unsigned RnsGuard = 4;

  // Kind of a configuration word: constants of an input prime (by step), of a lane and step, of a lane and conversion.
  typedef enum logic [3:0] {
    RnsPrime        = 4'd0,  // q_i
    RnsPrimeAux     = 4'd1,  // Barrett: {floor(2^(k+W+2) / q_i), k in 8 bits}; unused with Montgomery
    RnsFactor       = 4'd2,  // f_i
    RnsReciprocal   = 4'd3,  // C_i
    RnsRow          = 4'd4,  // own_j (step 0 of a conversion with kept residues), m_ij
    RnsMultiple     = 4'd5,  // v c_j mod p_j, v from 0 on
    RnsModulus      = 4'd6,  // p_j
    RnsModulusAux   = 4'd7,  // Barrett: {floor(2^(k+W+6) / p_j), k in 8 bits}; unused with Montgomery
    RnsShape        = 4'd8,  // shape_t; written last
    // Of moves, see rs_move: by number g; by lane and number a digit, the last lane last.
    RnsAutomorphism = 4'd9,
    RnsDigit        = 4'd10
  } rns_cfg_e;

  // A conversion: first entry of its constants, its input primes, whether it reads kept residues.
  typedef struct packed {
    logic [2:0] first;     // lane of q_0; q_i belongs to lane first + i
    logic [6:0] min_bits;  // bits of the narrowest q_i
    logic       own;
    logic [3:0] primes;    // 1 to 8
    logic [6:0] base;      // step s has entry base + s; primes + 1 entries in all
  } shape_t;

endpackage
