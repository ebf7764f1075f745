// SPDX-License-Identifier: Apache-2.0
//! What a build is: the contents of its read-only info block.

use thiserror::Error;

use crate::generated::ISA_VERSION;
use crate::spec::{Op, Unit, implemented_mask};

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
}

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
    /// Commands that can wait.
    pub fifo_depth: u32,
    /// Host shell.
    pub host: Host,
    /// Whether the data port moves a word of every lane at a time; what lies side by side in host buffers.
    pub wide_port: bool,
    /// The memory behind the data port, which whoever opens the device knows; the info block does not.
    pub port_memory: PortMemory,
    /// Whether transforms have the cyclic form.
    pub cyclic: bool,
    /// The base-conversion unit, if there is one.
    pub rns: Option<RnsUnit>,
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
    /// A value outside its range.
    #[error("info block: {name} is {value}, must be {legal}")]
    Range {
        /// Which value.
        name: &'static str,
        /// The value.
        value: u64,
        /// Legal values.
        legal: &'static str,
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

    /// Bytes of a coefficient in host memory: the smallest power of two that holds W bits, at least 2.
    pub fn word_bytes(&self) -> usize {
        (self.word_bits as usize)
            .div_ceil(8)
            .next_power_of_two()
            .max(2)
    }

    /// Lanes of a host buffer; a wide port pads them to a power of two.
    pub fn buffer_lanes(&self) -> usize {
        let lanes = self.lanes as usize;
        if self.wide_port {
            lanes.next_power_of_two()
        } else {
            lanes
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

    /// Bytes from one piece of a lane to the next.
    pub fn row_bytes(&self) -> usize {
        self.buffer_lanes() * self.piece() * self.word_bytes()
    }

    /// Byte of a host buffer where a lane's first piece starts.
    pub fn lane_start(&self, lane: usize) -> usize {
        lane * self.piece() * self.word_bytes()
    }

    /// Bytes of one host buffer: `[row][lane][piece]` coefficients, little-endian.
    pub fn buffer_bytes(&self) -> usize {
        self.n_max() / self.piece() * self.row_bytes()
    }

    /// Whether a slot has a read and a write port per bank.
    pub fn is_dual_port(&self, slot: u8) -> bool {
        u32::from(slot) < self.dual_port_slots
    }

    /// Whether the build has the instruction.
    pub fn has(&self, op: Op) -> bool {
        let unit = op.spec().unit != Unit::Rns || self.rns.is_some();
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
        let montgomery = self.reduction == Reduction::Montgomery;
        let fits = self.butterflies <= 1 << self.log2_n_max.min(15) >> 2;
        let rules = [
            (
                "word_bits",
                self.word_bits,
                (14..=128).contains(&self.word_bits),
                "14..128",
            ),
            ("lanes", self.lanes, (1..=8).contains(&self.lanes), "1..8"),
            (
                "butterflies",
                self.butterflies,
                self.butterflies.is_power_of_two(),
                "a power of two",
            ),
            (
                "butterflies",
                self.butterflies,
                self.butterflies <= 32,
                "at most 32",
            ),
            (
                "log2_n_max",
                self.log2_n_max,
                (3..=15).contains(&self.log2_n_max),
                "3..15",
            ),
            ("butterflies", self.butterflies, fits, "at most n_max / 4"),
            (
                "dual_port_slots",
                self.dual_port_slots,
                self.dual_port_slots >= 2,
                "at least 2",
            ),
            (
                "slots",
                self.slots(),
                (3..=32).contains(&self.slots()),
                "3..32",
            ),
            (
                "twiddle_tables",
                self.twiddle_tables,
                [1, self.moduli_slots].contains(&self.twiddle_tables),
                "1 or moduli_slots",
            ),
            (
                "moduli_slots",
                self.moduli_slots,
                (1..=16).contains(&self.moduli_slots),
                "1..16",
            ),
            (
                "constants",
                self.constants,
                (1..=32).contains(&self.constants),
                "1..32",
            ),
            (
                "modulus_bits_min",
                self.modulus_bits_min,
                (2..=self.word_bits).contains(&self.modulus_bits_min),
                "2..word_bits",
            ),
            (
                "multiplier",
                self.multiplier,
                self.multiplier <= 2,
                "0, 1 or 2",
            ),
            (
                "montgomery_bits",
                self.montgomery_bits,
                montgomery != (self.montgomery_bits == 0),
                "0 with Barrett only",
            ),
            (
                "wide_port",
                self.wide_port.into(),
                !self.wide_port || self.host == Host::Axi4,
                "0 on the serial host",
            ),
        ];
        for (name, value, holds, legal) in rules.into_iter().chain(self.rns_rules()) {
            if !holds {
                return Err(InfoError::Range {
                    name,
                    value: value.into(),
                    legal,
                });
            }
        }
        let unknown = self.instructions & !implemented_mask();
        if unknown != 0 {
            return Err(InfoError::Range {
                name: "instructions",
                value: unknown,
                legal: "known instructions",
            });
        }
        Ok(())
    }

    /// Name, value, whether it is legal, what is.
    fn rns_rules(&self) -> Vec<(&'static str, u32, bool, &'static str)> {
        let Some(unit) = self.rns else {
            return Vec::new();
        };
        let RnsUnit {
            rate,
            conversions,
            entries,
        } = unit;
        let (wide, few) = (self.word_bits > 64, !(2..=32).contains(&conversions));
        vec![
            ("rns_rate", rate, [1, 2, 4].contains(&rate), "1, 2 or 4"),
            (
                "word_bits",
                self.word_bits,
                !wide,
                "at most 64 with base conversion",
            ),
            ("rns_conversions", conversions, !few, "2..32"),
            (
                "rns_entries",
                entries,
                (16..=128).contains(&entries),
                "16..128",
            ),
        ]
    }
}
