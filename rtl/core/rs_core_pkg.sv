// SPDX-License-Identifier: Apache-2.0
// Types that the parts of the core share: the decoded instruction, and with them the error codes.
package rs_core_pkg;

  // Slots a build can have besides the zero slot and the twiddle tables.
  localparam int unsigned MaxSlots = 32;

  // error_e. Its values are imported where they are used:
  // a wildcard export hands on only what the package itself names.
  import rs_error_pkg::*;

  // A source slot of the datapath; zero: reads as 0.
  typedef struct packed {
    logic zero;
    logic [4:0] slot;
  } source_t;

  // Decoded fields for the compute unit, and for the unit of pointwise instructions.
  typedef struct packed {
    logic       transform;
    logic       inverse;
    logic       cyclic;
    logic       crossed;     // butterfly mode, see rs_butterfly
    logic       sub;
    logic       product;
    logic       constant;    // factor w is the constant
    logic       first_work;  // work slot that the first stage of a transform writes
    logic       stream;      // w comes from the stream
    source_t    v;           // first operand word; source of a transform
    source_t    u;
    source_t    w;
    source_t    e;           // addend of the last stage of an inverse transform
    logic [4:0] dst;
    logic [4:0] high;        // PMUL: slot of the upper halves
    logic [3:0] log2_n;
    logic [4:0] const_idx;
  } compute_t;

  // Decoded fields for the memory unit.
  typedef struct packed {
    logic load;
    logic store;
    logic reverse;
    logic table_dst;  // LOAD into the twiddle table
    logic stream;  // LOAD into the stream
    source_t src;
    logic [4:0] dst;
    logic [3:0] log2_n;
    logic [3:0] mod_idx;
    logic [19:0] buf_idx;
  } memory_t;

  // Decoded fields for the unit of base conversion and moves.
  typedef struct packed {
    logic moves;  // AUTO, DECOMP; else LIFT, SCALE
    logic automorphism;  // AUTO
    source_t x;  // what is moved; residues modulo the input primes
    source_t own;  // SCALE: residues modulo the output primes
    logic [4:0] dst;
    logic [3:0] log2_n;
    logic [4:0] entry;  // automorphism, digit or conversion
  } conversion_t;

  // A decoded instruction waiting at the head. Masks have a bit for each slot.
  typedef struct packed {
    logic compute;
    logic memory;
    logic rns;
    logic pointwise;  // with the fields of the compute unit
    logic sync;
    error_e error;
    logic [3:0] mod_idx;
    logic needs_table;
    logic [MaxSlots-1:0] reads;  // all slots read
    logic [MaxSlots-1:0] late;  // those of them read by the last stage only
    logic [MaxSlots-1:0] writes;  // results
    logic [MaxSlots-1:0] works;  // scratch
    compute_t c;
    memory_t m;
    conversion_t r;
  } decoded_t;

  // Bytes of a coefficient of w bits in the host's memory: as many as hold it with a wide port, else a power of two.
  function automatic int unsigned coeff_bytes(int unsigned w, bit wide_port);
    if (wide_port) return (w + 7) / 8;
    return w <= 16 ? 2 : w <= 32 ? 4 : w <= 64 ? 8 : 16;
  endfunction

  // Bits of a beat of the AXI4 data port that moves `bits` at a time: a power of two, at most 1024.
  function automatic int unsigned beat_bits(int unsigned bits);
    return bits > 512 ? 1024 : 1 << $clog2(bits);
  endfunction

  // Stretches of a host buffer, whose sizes are powers of two (see rs_axi_dma), and log2 of the bytes of a stride.
  function automatic int unsigned stretches(rs_build_pkg::core_cfg_t cfg);
    return cfg.WidePort ? row_beats(cfg) : cfg.Lanes;
  endfunction
  function automatic int unsigned stride_log2(rs_build_pkg::core_cfg_t cfg);
    int unsigned beat_bytes = beat_bits(row_bytes(cfg) * 8) / 8;
    return cfg.NMaxLog2 + (cfg.WidePort ? $clog2(beat_bytes) - $clog2(cfg.P) : $clog2(coeff_bytes(cfg.W, 1'b0)));
  endfunction
  function automatic int unsigned row_bytes(rs_build_pkg::core_cfg_t cfg);
    return (cfg.WidePort ? cfg.Lanes : 1) * cfg.P * coeff_bytes(cfg.W, cfg.WidePort);
  endfunction
  function automatic int unsigned row_beats(rs_build_pkg::core_cfg_t cfg);
    int unsigned beat_bytes = beat_bits(row_bytes(cfg) * 8) / 8;
    return (row_bytes(cfg) + beat_bytes - 1) / beat_bytes;
  endfunction

  // Bits of the address of a word of P coefficients in a slot.
  function automatic int unsigned word_addr_bits(rs_build_pkg::core_cfg_t cfg);
    return cfg.NMaxLog2 - $clog2(cfg.P);
  endfunction

  // Whether there is a third unit: base conversion, moves, or both.
  function automatic bit third_unit(rs_build_pkg::core_cfg_t cfg);
    return cfg.RnsRate != 0 || cfg.Moves != 0;
  endfunction

  function automatic logic [MaxSlots-1:0] slot_mask(logic [5:0] slot);
    return slot[5] ? '0 : MaxSlots'(1) << slot[4:0];
  endfunction

endpackage
