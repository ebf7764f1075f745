// SPDX-License-Identifier: Apache-2.0
// Generated from spec/registers.rdl by `python -m ringsmith.hw.registers`; do not edit.
//! Register addresses and fields: ringsmith co-processor.

/// 0x52534350, the characters RSCP: anything else is no ringsmith co-processor. Legal values of the info block's
/// fields: docs/knobs.md.
pub const MAGIC: u32 = 0x000;

/// Version of this register map; a driver refuses a major number it does not know.
pub const VERSION: u32 = 0x004;
/// Minor number.
pub const VERSION_MINOR: (u32, u32) = (0, 8);
/// Version of the instruction set (spec/isa.yaml).
pub const VERSION_ISA: (u32, u32) = (8, 8);
/// Major number.
pub const VERSION_MAJOR: (u32, u32) = (16, 16);

/// Shape of the core.
pub const SHAPE: u32 = 0x008;
/// W: bits of a coefficient.
pub const SHAPE_WORD_BITS: (u32, u32) = (0, 8);
/// P: butterflies per lane.
pub const SHAPE_BUTTERFLIES: (u32, u32) = (8, 6);
/// Lanes.
pub const SHAPE_LANES: (u32, u32) = (16, 4);
/// log2 of the largest ring degree.
pub const SHAPE_LOG2_N_MAX: (u32, u32) = (20, 4);
/// Modular reduction: 0 Barrett, 1 word-level Montgomery.
pub const SHAPE_REDUCTION: (u32, u32) = (24, 2);
/// Host buffers hold P coefficients of every lane side by side, in rows of whole beats; 0: lane after lane.
pub const SHAPE_WIDE_PORT: (u32, u32) = (26, 1);
/// Host: 0 AXI4, 1 serial.
pub const SHAPE_SERIAL: (u32, u32) = (27, 1);
/// Cores behind this shell.
pub const SHAPE_CORES: (u32, u32) = (28, 4);

/// Numbers of things.
pub const CAPACITY: u32 = 0x00c;
/// Polynomial slots.
pub const CAPACITY_SLOTS: (u32, u32) = (0, 8);
/// Moduli a lane holds.
pub const CAPACITY_MODULI: (u32, u32) = (8, 8);
/// CMODMUL constants a lane holds.
pub const CAPACITY_CONSTANTS: (u32, u32) = (16, 8);
/// Bytes of a coefficient in host memory: as many as hold it with a wide port, else 2, 4, 8 or 16.
pub const CAPACITY_WORD_BYTES: (u32, u32) = (24, 8);

/// Bit i of the 64: slot i is dual-port; otherwise it is single-port.
pub const DUAL_PORT: u32 = 0x010;
/// Registers of dual_port.
pub const DUAL_PORT_COUNT: u32 = 2;

/// Bit i of the 64: opcode i is in this build.
pub const FEATURES: u32 = 0x018;
/// Registers of features.
pub const FEATURES_COUNT: u32 = 2;

/// Clock the build is meant for, in kHz.
pub const CLOCK_KHZ: u32 = 0x020;

/// Queue and host port.
pub const PORTS: u32 = 0x024;
/// Commands the queue holds.
pub const PORTS_FIFO_DEPTH: (u32, u32) = (0, 16);
/// Bits of a beat of the data port (AXI4); 8 on the serial host.
pub const PORTS_DATA_BITS: (u32, u32) = (16, 16);

/// Clock of the serial link in kHz; 0 on the AXI4 host.
pub const SERIAL_KHZ: u32 = 0x028;

/// Options of the arithmetic.
pub const ARITHMETIC: u32 = 0x02c;
/// Montgomery word bits w; 0 with Barrett.
pub const ARITHMETIC_MONTGOMERY_BITS: (u32, u32) = (0, 8);
/// Smallest supported bit length of a modulus.
pub const ARITHMETIC_MODULUS_MIN_BITS: (u32, u32) = (8, 8);
/// Multiplier tiling: 0 none, 1 26x17 (DSP48), 2 18x18 (ECP5).
pub const ARITHMETIC_MULTIPLIER: (u32, u32) = (16, 2);
/// Cyclic transforms are in this build.
pub const ARITHMETIC_CYCLIC: (u32, u32) = (18, 1);
/// A product can take an operand from the data port as it comes.
pub const ARITHMETIC_STREAM: (u32, u32) = (19, 1);
/// Pointwise instructions have multipliers of their own and run beside transforms.
pub const ARITHMETIC_POINTWISE_UNIT: (u32, u32) = (20, 1);
/// A controller feeds programs from its memory: its registers are at 0x800.
pub const ARITHMETIC_CONTROLLER: (u32, u32) = (21, 1);
/// Twiddle tables a lane holds: 1 shared by all moduli, or one per modulus.
pub const ARITHMETIC_TWIDDLE_TABLES: (u32, u32) = (24, 5);

/// 128-bit hash of the sources and parameters of the build; 0 if unknown.
pub const BUILD: u32 = 0x030;
/// Registers of build.
pub const BUILD_COUNT: u32 = 4;

/// Latencies in cycles: 0 uniform compute pipeline (issue of a read to its result written), 1 modular multiplier, 2
/// butterfly, 3 reserved (0).
pub const LATENCY: u32 = 0x040;
/// Registers of latency.
pub const LATENCY_COUNT: u32 = 4;

/// Base conversion, and moves between words and lanes; 0 without them.
pub const BASE_CONVERSION: u32 = 0x050;
/// Coefficients at a time.
pub const BASE_CONVERSION_RATE: (u32, u32) = (0, 3);
/// Conversions it holds.
pub const BASE_CONVERSION_CONVERSIONS: (u32, u32) = (8, 6);
/// Entries of its constants' tables; a conversion of K primes takes K + 1.
pub const BASE_CONVERSION_ENTRIES: (u32, u32) = (16, 8);
/// Automorphisms, and as many digits, that it holds.
pub const BASE_CONVERSION_MOVES: (u32, u32) = (24, 6);

/// Host port.
pub const HOST_PORT: u32 = 0x054;
/// Bits of an address on the data port (AXI4); nothing on the serial host.
pub const HOST_PORT_ADDRESS_BITS: (u32, u32) = (0, 7);

/// Actions; each bit acts once when written as 1 and reads as 0.
pub const CONTROL: u32 = 0x100;
/// Forget the queue, the error, the counters and which slots were written; tables and memories are kept. Only while the
/// core is idle or has failed.
pub const CONTROL_CLEAR: (u32, u32) = (0, 1);
/// Copy all counters into their readable registers.
pub const CONTROL_SNAPSHOT: (u32, u32) = (1, 1);
/// Write TABLE_DATA to the table entry TABLE_ADDRESS names.
pub const CONTROL_TABLE_WRITE: (u32, u32) = (2, 1);
/// Hard reset of the core, also when wedged; the data port ends what it has begun on the bus. Wait for STATUS.idle,
/// then write the tables again.
pub const CONTROL_RESET: (u32, u32) = (3, 1);

/// State of the core.
pub const STATUS: u32 = 0x104;
/// No command waits or runs, no reset is under way, and nothing is in flight on the data port.
pub const STATUS_IDLE: (u32, u32) = (0, 1);
/// An error stopped the core: see ERROR.
pub const STATUS_FAILED: (u32, u32) = (1, 1);
/// A polynomial waits for the serial host: see TRANSFER.
pub const STATUS_TRANSFER: (u32, u32) = (2, 1);
/// Free places in the command queue.
pub const STATUS_FREE: (u32, u32) = (16, 16);

/// First error since reset.
pub const ERROR: u32 = 0x108;
/// Cause.
pub const ERROR_CAUSE: (u32, u32) = (0, 8);

/// Index of the instruction the error belongs to, counted from 0 since clear.
pub const ERROR_INDEX: u32 = 0x10c;

/// The 64-bit instruction word the error belongs to.
pub const ERROR_COMMAND: u32 = 0x110;
/// Registers of error_command.
pub const ERROR_COMMAND_COUNT: u32 = 2;

/// Which events raise the interrupt line.
pub const IRQ_ENABLE: u32 = 0x118;
/// The core became idle.
pub const IRQ_ENABLE_DONE: (u32, u32) = (0, 1);
/// The core stopped with an error.
pub const IRQ_ENABLE_FAILED: (u32, u32) = (1, 1);
/// A polynomial waits for the serial host.
pub const IRQ_ENABLE_TRANSFER: (u32, u32) = (2, 1);

/// Events seen; write 1 to clear. An event in the cycle of such a write is kept.
pub const IRQ_STATUS: u32 = 0x11c;
/// The core became idle.
pub const IRQ_STATUS_DONE: (u32, u32) = (0, 1);
/// The core stopped with an error.
pub const IRQ_STATUS_FAILED: (u32, u32) = (1, 1);
/// A polynomial waits for the serial host.
pub const IRQ_STATUS_TRANSFER: (u32, u32) = (2, 1);
/// A command was pushed into a full queue, or during a reset, and is lost.
pub const IRQ_STATUS_OVERFLOW: (u32, u32) = (3, 1);

/// Low half of an instruction; write it first.
pub const COMMAND_LO: u32 = 0x120;

/// High half of an instruction; writing it pushes the instruction into the queue.
pub const COMMAND_HI: u32 = 0x124;

/// Instructions finished since reset, modulo 2^32.
pub const RETIRED: u32 = 0x128;

/// Entry CONTROL.table_write fills.
pub const TABLE_ADDRESS: u32 = 0x130;
/// Modulus or constant index; of a base conversion its number or an entry; of an automorphism or digit its number.
pub const TABLE_ADDRESS_INDEX: (u32, u32) = (0, 7);
/// Lane.
pub const TABLE_ADDRESS_LANE: (u32, u32) = (8, 4);
/// Table: 0 modulus m; 1 Barrett: floor(2^(k+W+2)/m), Montgomery: (m-1) >> w; 2 Barrett: k, the bit length of m,
/// Montgomery: -R mod m, R = 2^(w ceil(W/w)); 3 constant (Montgomery: times R mod m). w is ARITHMETIC.montgomery_bits.
/// 4 and above, of the base-conversion unit, written while it rests: by entry 4 q_i, 5 Barrett: {floor(2^(k+W+2)/q_i),
/// k in 8 bits}, 6 f_i (Montgomery: times R), 7 C_i; by lane and entry 8 own_j and m_ij (Montgomery: times 2^(w
/// ceil((W+4)/w))), 9 v c_j mod p_j; by lane and conversion 10 p_j, 11 Barrett: {floor(2^(k+W+6)/p_j), k in 8 bits}; by
/// conversion, last, 12 its shape: base entry in bits 6:0, input primes K in 10:7, kept residues take part in 11, bits
/// of the narrowest q_i in 18:12, lane of q_0 in 21:19. Of moves, written while that unit rests: by number 13 g; by
/// lane and number, lane 0 first, 14 bound in 63:0, offset in 127:64, source lane in 131:128.
pub const TABLE_ADDRESS_KIND: (u32, u32) = (12, 4);

/// Value for a table entry (W+3 bits; of the base-conversion unit up to W+15, of digits 132), least significant word
/// first.
pub const TABLE_DATA: u32 = 0x140;
/// Registers of table_data.
pub const TABLE_DATA_COUNT: u32 = 5;

/// Low half of the address of host buffer 0; a multiple of 4096.
pub const DMA_BASE_LO: u32 = 0x160;
/// Bits 31 to 12.
pub const DMA_BASE_LO_VALUE: (u32, u32) = (12, 20);

/// High half of the address of host buffer 0; bits at and above HOST_PORT.address_bits read 0. Write both halves only
/// while the core is idle.
pub const DMA_BASE_HI: u32 = 0x164;

/// Transfer that waits for the serial host.
pub const TRANSFER: u32 = 0x168;
/// Host buffer number.
pub const TRANSFER_BUFFER: (u32, u32) = (0, 20);
/// log2 of the ring degree n; all lanes are transferred, n coefficients each, lane 0 first.
pub const TRANSFER_LOG2_N: (u32, u32) = (24, 4);
/// 1: the host reads (STORE); 0: the host writes (LOAD).
pub const TRANSFER_STORE: (u32, u32) = (28, 1);
/// A transfer waits.
pub const TRANSFER_VALID: (u32, u32) = (31, 1);

/// Clock cycles since clear.
pub const CYCLES: u32 = 0x200;
/// Registers of cycles.
pub const CYCLES_COUNT: u32 = 2;

/// Cycles the compute unit worked.
pub const BUSY_COMPUTE: u32 = 0x208;
/// Registers of busy_compute.
pub const BUSY_COMPUTE_COUNT: u32 = 2;

/// Cycles the memory unit worked.
pub const BUSY_MEMORY: u32 = 0x210;
/// Registers of busy_memory.
pub const BUSY_MEMORY_COUNT: u32 = 2;

/// Cycles the next instruction waited for a slot.
pub const STALL_HAZARD: u32 = 0x218;
/// Registers of stall_hazard.
pub const STALL_HAZARD_COUNT: u32 = 2;

/// Cycles the next instruction waited for its unit.
pub const STALL_UNIT: u32 = 0x220;
/// Registers of stall_unit.
pub const STALL_UNIT_COUNT: u32 = 2;

/// Cycles a transfer was in flight on the data port.
pub const BUSY_PORT: u32 = 0x228;
/// Registers of busy_port.
pub const BUSY_PORT_COUNT: u32 = 2;

/// Memory words (P coefficients of a lane) the data port brought in.
pub const WORDS_READ: u32 = 0x230;
/// Registers of words_read.
pub const WORDS_READ_COUNT: u32 = 2;

/// Memory words (P coefficients of a lane) the data port took out.
pub const WORDS_WRITTEN: u32 = 0x238;
/// Registers of words_written.
pub const WORDS_WRITTEN_COUNT: u32 = 2;

/// Cycles the base-conversion unit worked.
pub const BUSY_RNS: u32 = 0x240;
/// Registers of busy_rns.
pub const BUSY_RNS_COUNT: u32 = 2;

/// Cycles the unit for pointwise instructions worked.
pub const BUSY_POINTWISE: u32 = 0x248;
/// Registers of busy_pointwise.
pub const BUSY_POINTWISE_COUNT: u32 = 2;
