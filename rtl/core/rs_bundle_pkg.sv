// SPDX-License-Identifier: Apache-2.0
// Bundles: signals that travel together between the units of the core, its slots and its lanes.
// Widths are those of the largest build: a smaller one uses the low bits of an address, and the others are 0.
package rs_bundle_pkg;

  import rs_core_pkg::*;

  // Address of a word in a slot, and in a bank of it.
  typedef logic [14:0] word_addr_t;
  typedef logic [13:0] bank_addr_t;

  // Slots of the operands of a step.
  typedef struct packed {
    source_t v;
    source_t u;
    source_t w;
  } operands_t;

  // t0 of a step: reads a pair of words from v, or word0 from each of v, u, w.
  typedef struct packed {
    logic valid;
    logic pair;
    operands_t from;
    word_addr_t word0;
    word_addr_t word1;
  } operand_read_t;

  // t1 of a step: forms the operands of the butterflies from the words read.
  typedef struct packed {
    operands_t from;
    logic v_bank;  // bank of v's word; of a pair, of its second word
    logic straight;  // u from the first word, v from the second of a pair; else neighbours in the row of both
    logic pair;
    logic inverse;
    logic constant;  // w is a constant
    logic [4:0] const_idx;
    logic stream;  // w is the word of the stream that was claimed first
    logic cyclic;
    logic first_word;  // the twiddle word is the first of the table
    logic [2:0] level;  // log2 of the different twiddles in a word
  } select_t;

  // t2 of a step: see rs_butterfly.
  typedef struct packed {
    logic crossed;
    logic sub;
    logic halve;
    logic product;
  } mode_t;

  // Late read of the addends of a step: a pair of words; and their selection a cycle later.
  typedef struct packed {
    logic valid;
    source_t from;
    word_addr_t word0;
    word_addr_t word1;
  } late_read_t;
  typedef struct packed {
    source_t from;
    logic bank;  // bank of the first word
  } addend_t;

  // Write time of a step: a pair of words, or one and perhaps its upper half in another slot.
  typedef struct packed {
    logic valid;
    logic pair;
    logic forward;  // of a pair: x and y interleaved
    logic bank;  // bank of the first word
    logic [4:0] slot;
    logic high_valid;
    logic [4:0] high;  // slot of the upper half
    word_addr_t word0;
    word_addr_t word1;
  } result_t;

  // The end of an instruction: the slots that it wrote, work slots included, and those that it read late.
  typedef struct packed {
    logic valid;
    logic [MaxSlots-1:0] writes;
    logic [MaxSlots-1:0] late;
  } finish_t;

  // Read of a word and write of a word by another unit.
  typedef struct packed {
    logic valid;
    source_t from;
    word_addr_t word;
  } word_read_t;
  typedef struct packed {
    logic [4:0] slot;
    word_addr_t word;
  } word_write_t;

  // A lane's part in what the memory unit does: the word that is read, at t1, and at t2 what is written.
  typedef struct packed {
    source_t from;
    logic load;  // in place of it, the word on the data port
    logic reverse;  // a word assembled from a coefficient of each word read: `pick` of it goes to `place`
    logic [4:0] pick;
    logic [4:0] place;
  } memory_path_t;

  // Ports of a slot, by bank.
  typedef struct packed {
    logic [1:0] en;
    bank_addr_t [1:0] addr;
    logic first;  // bank of the first or only word read
  } slot_read_t;
  typedef struct packed {
    logic [1:0] en;  // the butterflies write
    logic [1:0] rns;  // the base-conversion unit writes
    logic [1:0] pointwise;  // the unit of pointwise instructions writes
    logic high;  // of a result: the upper half
    bank_addr_t [1:0] addr;
  } slot_write_t;

  // A LOAD or STORE at the data port: host buffer and degree.
  typedef struct packed {
    logic valid;
    logic store;
    logic [19:0] buf_idx;
    logic [3:0] log2_n;
  } transfer_t;

  // Data port: what the core drives, and what the port answers. The words, as wide as the build, are ports beside them.
  typedef struct packed {
    transfer_t transfer;  // valid until ready
    logic ld_ready;
    logic st_valid;
    logic st_last;
  } port_req_t;
  typedef struct packed {
    logic ready;  // for a transfer
    logic ld_valid;
    logic ld_err;
    logic st_ready;
    logic st_done;
    logic st_err;
  } port_rsp_t;

  // A bit for each unit.
  typedef struct packed {
    logic pointwise;
    logic rns;
    logic memory;
    logic compute;
  } units_t;

  // Constants that the host writes: sel 0 to 3 see rs_config, from 4 on rs_rns_pkg.
  typedef struct packed {
    logic we;
    logic [3:0] sel;
    logic [3:0] lane;
    logic [6:0] idx;
    logic [159:0] data;
  } constant_write_t;

  // The first error, with the index and the word of its instruction.
  typedef struct packed {
    logic [3:0]  code;
    logic [31:0] index;
    logic [63:0] cmd;
  } failure_t;

  // Instructions that ended; cycles in all, of work by unit, of waiting for a slot or for a unit.
  typedef struct packed {
    logic [31:0] retired;
    logic [63:0] cycles;
    logic [63:0] busy_compute;
    logic [63:0] busy_mem;
    logic [63:0] busy_rns;
    logic [63:0] busy_pointwise;
    logic [63:0] stall_hazard;
    logic [63:0] stall_unit;
  } counters_t;

  // Instructions that start and that end in this cycle, by unit: bit and place 0 are the compute unit's.
  typedef struct packed {
    units_t start;
    units_t ends;
    logic [3:0][31:0] start_idx;
    logic [3:0][31:0] end_idx;
    logic [3:0][63:0] start_cmd;
  } events_t;

endpackage
