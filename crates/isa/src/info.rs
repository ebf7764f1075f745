// SPDX-License-Identifier: Apache-2.0
//! The build that a device is, decoded from its read-only info block.

use thiserror::Error;

use crate::facts::{Facts, SMALL};
use crate::spec::ISA_VERSION;
use crate::spec::{Modifier, Op, Unit, implemented_mask};

/// How products are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Barrett with a runtime modulus.
    Barrett,
    /// Word-level Montgomery.
    Montgomery,
}

/// The host shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// AXI4 data port, AXI4-Lite registers.
    Axi4,
    /// UART and SPI.
    Serial,
}

/// The base-conversion unit of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RnsUnit {
    /// Coefficients at a time: 1, 2 or 4.
    pub rate: u32,
    /// Conversions it holds: 2..=32.
    pub conversions: u32,
    /// Entries of its constants' tables: 16..=128; a conversion of K primes takes K + 1.
    pub entries: u32,
}

/// The memory behind an AXI4 data port: which is no part of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortMemory {
    /// Cycles from an address to the first beat that is read.
    pub read_latency: u32,
    /// Cycles from the last beat of a burst to the answer that it is written.
    pub write_latency: u32,
    /// Bytes in a thousand cycles; 0: a beat every cycle.
    pub bytes_per_kilocycle: u32,
}

impl PortMemory {
    /// Memory that gives and takes a beat every cycle, soon.
    pub const IDEAL: Self = Self {
        read_latency: 20,
        write_latency: 8,
        bytes_per_kilocycle: 0,
    };

    /// Memory of a bandwidth in GB/s and a latency in ns, each 0 for the ideal, in cycles of a clock in MHz.
    pub fn new(gbs: f64, latency_ns: f64, mhz: f64) -> Self {
        let mut memory = Self::IDEAL;
        if gbs > 0.0 {
            memory.bytes_per_kilocycle = ((gbs * 1e6 / mhz).round() as u32).max(1);
        }
        if latency_ns > 0.0 {
            let cycles = ((latency_ns * mhz / 1e3).ceil() as u32).max(1);
            (memory.read_latency, memory.write_latency) = (cycles, cycles);
        }
        memory
    }
}

/// Bytes of a beat of an AXI4 data port at most.
const MOST_BEAT_BYTES: usize = 128;

/// The build, as its info block describes it, and what it is connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildInfo {
    /// Instruction-set version.
    pub isa_version: u32,
    /// W, bits of a coefficient: 14..=128.
    pub word_bits: u32,
    /// Lanes in lockstep: 1..=8.
    pub lanes: u32,
    /// P, butterflies per lane: a power of two up to 32.
    pub butterflies: u32,
    /// log2 of the largest ring degree: 3..=15.
    pub log2_n_max: u32,
    /// Dual-port slots, the two work slots included.
    pub dual_port_slots: u32,
    /// Single-port slots that instructions can name (a twiddle memory is not among them).
    pub single_port_slots: u32,
    /// Twiddle tables per lane: 1, shared by all modulus indices, or one for each.
    pub twiddle_tables: u32,
    /// Modulus indices per lane.
    pub moduli_slots: u32,
    /// Constants per lane.
    pub constants: u32,
    /// Reduction of products.
    pub reduction: Reduction,
    /// Word bits of Montgomery reduction; 0 with Barrett.
    pub montgomery_bits: u32,
    /// Bits of the smallest modulus.
    pub modulus_bits_min: u32,
    /// Tiling of the multiplier: 0 none, 1 26x17, 2 18x18.
    pub multiplier: u32,
    /// Cores behind the host shell, of which this is one: 1..=8.
    pub cores: u32,
    /// Commands that can wait.
    pub fifo_depth: u32,
    /// Host shell.
    pub host: Host,
    /// Whether the data port moves a word of every lane at a time; host buffers are interleaved by lane then.
    pub wide_port: bool,
    /// Whether a product can take an operand from the data port as it comes.
    pub stream: bool,
    /// Whether pointwise instructions have multipliers of their own and run beside transforms.
    pub pointwise_unit: bool,
    /// Whether a controller on the chip feeds programs from its memory.
    pub controller: bool,
    /// The memory behind the data port, set when the device is opened; not in the info block.
    pub port_memory: PortMemory,
    /// Whether transforms have the cyclic form.
    pub cyclic: bool,
    /// The base-conversion unit, if there is one.
    pub rns: Option<RnsUnit>,
    /// Automorphisms, and as many digits, that the unit for moves between words and lanes holds; 0 without it.
    pub moves: u32,
    /// Bits of an address on the AXI4 data port, 32 to 64; nothing on the serial host.
    pub address_bits: u32,
    /// Bit i: the instruction with opcode i is in the build, if its unit is.
    pub instructions: u64,
}

/// An info block that is not one of a build this driver knows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InfoError {
    /// Another instruction-set version.
    #[error("info block: instruction set version {found}, this driver speaks {expected}")]
    Version {
        /// In the block.
        found: u32,
        /// Of this driver.
        expected: u32,
    },
    /// A knob that is not given.
    #[error("the build lacks {name}")]
    Lacking {
        /// Which.
        name: String,
    },
    /// A value outside its range.
    #[error("info block: {name} is {value}, must be {legal}")]
    Range {
        /// Which value.
        name: &'static str,
        /// The value.
        value: i64,
        /// Legal values.
        legal: String,
    },
}

impl BuildInfo {
    /// Polynomial slots in all.
    pub fn slots(&self) -> u32 {
        self.dual_port_slots.saturating_add(self.single_port_slots)
    }

    /// Largest ring degree.
    pub fn n_max(&self) -> usize {
        1 << self.log2_n_max
    }

    /// Bytes of a coefficient in host memory: as many as hold W bits with a wide port, else a power of two.
    pub fn word_bytes(&self) -> usize {
        let least = (self.word_bits as usize).div_ceil(8);
        if self.wide_port {
            least
        } else {
            least.next_power_of_two()
        }
    }

    /// Coefficients of one lane that lie together in a host buffer: all, or one memory word's with a wide port.
    pub fn piece(&self) -> usize {
        if self.wide_port {
            self.butterflies as usize
        } else {
            self.n_max()
        }
    }

    /// Bytes from one piece of a lane to the next; rows of a wide port are whole beats, each the smallest power of two
    /// that holds a row, at most AXI4's 128.
    pub fn row_bytes(&self) -> usize {
        let row = self.lanes as usize * self.piece() * self.word_bytes();
        if self.wide_port {
            row.next_multiple_of(row.next_power_of_two().min(MOST_BEAT_BYTES))
        } else {
            row
        }
    }

    /// Bytes that the data port moves at a time: a row of all lanes' words with a wide port, else a lane's word.
    pub fn port_bytes(&self) -> usize {
        if self.wide_port {
            self.row_bytes()
        } else {
            self.butterflies as usize * self.word_bytes()
        }
    }

    /// Beats of what an AXI4 data port moves at a time.
    pub fn beats(&self) -> usize {
        self.port_bytes().div_ceil(MOST_BEAT_BYTES)
    }

    /// Byte of a host buffer where a lane's first piece starts.
    pub fn lane_start(&self, lane: usize) -> usize {
        lane * self.piece() * self.word_bytes()
    }

    /// Bytes of one host buffer: `[row][lane][piece]` coefficients, little-endian.
    pub fn buffer_bytes(&self) -> usize {
        self.n_max() / self.piece() * self.row_bytes()
    }

    /// Host buffers, the first at address 0, that commands can name and, on AXI4, whose bytes all have an address.
    pub fn host_buffers(&self) -> u64 {
        let named = u128::from(Modifier::BufIdx.field().max()) + 1;
        let addressed = match self.host {
            Host::Axi4 => (1 << self.address_bits) / self.buffer_bytes() as u128,
            Host::Serial => named,
        };
        named.min(addressed) as u64
    }

    /// Whether a slot has a read and a write port per bank.
    pub fn is_dual_port(&self, slot: u8) -> bool {
        u32::from(slot) < self.dual_port_slots
    }

    /// The unit of this build that executes an instruction.
    pub fn unit(&self, op: Op) -> Unit {
        op.unit(self.pointwise_unit)
    }

    /// Whether the build has the instruction.
    pub fn has(&self, op: Op) -> bool {
        let unit = match op {
            Op::Auto | Op::Decomp => self.moves > 0,
            _ => op.spec().unit != Unit::Rns || self.rns.is_some(),
        };
        unit && self.instructions >> op as u8 & 1 == 1
    }

    /// Check every value, as a driver does on opening a device.
    ///
    /// # Errors
    /// The first value that no build can have.
    pub fn validate(&self) -> Result<(), InfoError> {
        if self.isa_version != ISA_VERSION {
            return Err(InfoError::Version {
                found: self.isa_version,
                expected: ISA_VERSION,
            });
        }
        if let Some((name, value, legal)) = self.facts().broken() {
            return Err(InfoError::Range { name, value, legal });
        }
        let unknown = self.instructions & !implemented_mask();
        if unknown != 0 {
            return Err(InfoError::Range {
                name: "instructions",
                value: unknown as i64,
                legal: "known instructions".into(),
            });
        }
        Ok(())
    }

    /// The small build of spec/build.yaml: a legal one, of which others say what differs.
    ///
    /// # Errors
    /// [`InfoError`] if the small build breaks a rule.
    pub fn small() -> Result<Self, InfoError> {
        Self::from_knobs(|name| {
            let known = SMALL.iter().find(|(knob, _)| *knob == name);
            known
                .map(|&(_, number)| number)
                .ok_or_else(|| InfoError::Lacking { name: name.into() })
        })
    }

    fn facts(&self) -> Facts {
        let rns = self
            .rns
            .map_or([0; 3], |unit| [unit.rate, unit.conversions, unit.entries]);
        Facts {
            word_bits: self.word_bits.into(),
            lanes: self.lanes.into(),
            butterflies: self.butterflies.into(),
            n_max: 1 << self.log2_n_max.min(62),
            reduction: self.reduction as i64,
            multiplier: self.multiplier.into(),
            modulus_bits_min: self.modulus_bits_min.into(),
            cyclic: self.cyclic.into(),
            dual_port_slots: self.dual_port_slots.into(),
            moduli_slots: self.moduli_slots.into(),
            constants: self.constants.into(),
            rns_rate: rns[0].into(),
            rns_conversions: rns[1].into(),
            rns_entries: rns[2].into(),
            moves: self.moves.into(),
            address_bits: self.address_bits.into(),
            host: self.host as i64,
            wide_port: self.wide_port.into(),
            stream: self.stream.into(),
            pointwise_unit: self.pointwise_unit.into(),
            controller: self.controller.into(),
            cores: self.cores.into(),
            fifo_depth: self.fifo_depth.into(),
            slots: self.slots().into(),
            twiddle_tables: self.twiddle_tables.into(),
            montgomery_bits: self.montgomery_bits.into(),
        }
    }

    /// The build that knobs describe: `knob` gives the number of each, by its name in a preset.
    ///
    /// # Errors
    /// The error of `knob`, or [`InfoError::Range`] for the first value that no build can have.
    pub fn from_knobs<E: From<InfoError>>(
        mut knob: impl FnMut(&'static str) -> Result<i32, E>,
    ) -> Result<Self, E> {
        let pmul = knob("pmul")? != 0;
        let facts = Facts::from_knobs(knob)?;
        if let Some((name, value, legal)) = facts.broken() {
            return Err(InfoError::Range { name, value, legal }.into());
        }
        // Legal values fit.
        let number = |value: i64| value as u32;
        let without = if pmul { 0 } else { 1 << Op::Pmul as u8 };
        Ok(Self {
            isa_version: ISA_VERSION,
            word_bits: number(facts.word_bits),
            lanes: number(facts.lanes),
            butterflies: number(facts.butterflies),
            log2_n_max: facts.n_max.ilog2(),
            dual_port_slots: number(facts.dual_port_slots),
            single_port_slots: number(facts.slots - facts.dual_port_slots),
            twiddle_tables: number(facts.twiddle_tables),
            moduli_slots: number(facts.moduli_slots),
            constants: number(facts.constants),
            reduction: [Reduction::Barrett, Reduction::Montgomery][facts.reduction as usize],
            montgomery_bits: number(facts.montgomery_bits),
            modulus_bits_min: number(facts.modulus_bits_min),
            multiplier: number(facts.multiplier),
            cores: number(facts.cores),
            fifo_depth: number(facts.fifo_depth),
            host: [Host::Axi4, Host::Serial][facts.host as usize],
            wide_port: facts.wide_port != 0,
            stream: facts.stream != 0,
            pointwise_unit: facts.pointwise_unit != 0,
            controller: facts.controller != 0,
            port_memory: PortMemory::IDEAL,
            cyclic: facts.cyclic != 0,
            rns: (facts.rns_rate != 0).then(|| RnsUnit {
                rate: number(facts.rns_rate),
                conversions: number(facts.rns_conversions),
                entries: number(facts.rns_entries),
            }),
            moves: number(facts.moves),
            address_bits: number(facts.address_bits),
            instructions: implemented_mask() & !without,
        })
    }
}
