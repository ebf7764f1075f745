// SPDX-License-Identifier: Apache-2.0
// Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
//! The facts of a build that its info block holds: docs/knobs.md.
#![allow(clippy::all, unused_parens)]

/// Smallest k with 2^k >= x (0 for x <= 1).
const fn ceil_log2(x: i64) -> i64 {
    if x <= 1 { 0 } else { 64 - (x - 1).leading_zeros() as i64 }
}

/// The fields of an info block; a named choice as its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Bits of a coefficient, W.
    pub word_bits: i64,
    /// Residues that are worked on in lockstep.
    pub lanes: i64,
    /// Butterflies of a lane, P; a memory word holds as many coefficients.
    pub butterflies: i64,
    /// Words of a slot, the largest ring degree.
    pub n_max: i64,
    /// How products are reduced, by Barrett with a modulus of run time or word by word by Montgomery with primes 1 mod
    /// 2 n_max.
    pub reduction: i64,
    /// How products are cut, in a few deep stages or in pipelined tiles of the DSP blocks of AMD (26x17) or Lattice
    /// (18x18).
    pub multiplier: i64,
    /// Bits of the smallest modulus.
    pub modulus_bits_min: i64,
    /// The cyclic form of the transforms.
    pub cyclic: i64,
    /// Memories with a read and a write port in each bank; the first two are the work slots of the transforms.
    pub dual_port_slots: i64,
    /// Moduli that a lane holds.
    pub moduli_slots: i64,
    /// Constants of CMODMUL that a lane holds.
    pub constants: i64,
    /// Coefficients that base conversion (LIFT, SCALE) takes at a time; 0 without that unit.
    pub rns_rate: i64,
    /// Conversions that the unit holds.
    pub rns_conversions: i64,
    /// Entries of the tables of their constants; a conversion of K primes takes K + 1.
    pub rns_entries: i64,
    /// Automorphisms, and as many digits, that the unit for moves between words and lanes (AUTO, DECOMP) holds; 0
    /// without it.
    pub moves: i64,
    /// The host's side, an AXI4 data port with AXI4-Lite registers or UART and SPI.
    pub host: i64,
    /// Bits of an address on the AXI4 data port; host buffers end within them. Nothing on the serial host.
    pub address_bits: i64,
    /// A beat of the data port carries a word of every lane, and host buffers hold rows of all lanes.
    pub wide_port: i64,
    /// A product can take an operand from the data port as it comes, without a slot for it.
    pub stream: i64,
    /// Pointwise instructions have multipliers of their own and run beside transforms.
    pub pointwise_unit: i64,
    /// A processor on the chip that feeds programs from its memory without the host, none or a RISC-V one.
    pub controller: i64,
    /// Cores behind one host shell and one data port, each with registers and a program queue of its own.
    pub cores: i64,
    /// Commands that can wait.
    pub fifo_depth: i64,
    /// Polynomial slots that instructions can name.
    pub slots: i64,
    /// Twiddle tables of a lane, one for all modulus indices or one for each.
    pub twiddle_tables: i64,
    /// Bits that a step of Montgomery reduction removes; moduli are 1 modulo 2 to that power. 0 with Barrett.
    pub montgomery_bits: i64,
}

impl Facts {
    /// From the knobs, each asked for by its name.
    pub(crate) fn from_knobs<E>(
        mut knob: impl FnMut(&'static str) -> Result<i32, E>,
    ) -> Result<Self, E> {
        let word_bits = i64::from(knob("word_bits")?);
        let lanes = i64::from(knob("lanes")?);
        let butterflies = i64::from(knob("butterflies")?);
        let n_max = i64::from(knob("n_max")?);
        let reduction = i64::from(knob("reduction")?);
        let multiplier = i64::from(knob("multiplier")?);
        let modulus_bits_min = i64::from(knob("modulus_bits_min")?);
        let cyclic = i64::from(knob("cyclic")?);
        let dual_port_slots = i64::from(knob("dual_port_slots")?);
        let single_port_slots = i64::from(knob("single_port_slots")?);
        let twiddles = i64::from(knob("twiddles")?);
        let moduli_slots = i64::from(knob("moduli_slots")?);
        let constants = i64::from(knob("constants")?);
        let rns_rate = i64::from(knob("rns_rate")?);
        let rns_conversions = i64::from(knob("rns_conversions")?);
        let rns_entries = i64::from(knob("rns_entries")?);
        let moves = i64::from(knob("moves")?);
        let host = i64::from(knob("host")?);
        let address_bits = i64::from(knob("address_bits")?);
        let wide_port = i64::from(knob("wide_port")?);
        let stream = i64::from(knob("stream")?);
        let pointwise_unit = i64::from(knob("pointwise_unit")?);
        let controller = i64::from(knob("controller")?);
        let cores = i64::from(knob("cores")?);
        let fifo_depth = i64::from(knob("fifo_depth")?);
        let slots = ((dual_port_slots + single_port_slots) - (if (twiddles == 0) { 1 } else { 0 }));
        let twiddle_tables = (if (twiddles == 0) { 1 } else { moduli_slots });
        let montgomery_bits = (if (reduction == 1) { (ceil_log2(n_max) + 1) } else { 0 });
        Ok(Self {
            word_bits,
            lanes,
            butterflies,
            n_max,
            reduction,
            multiplier,
            modulus_bits_min,
            cyclic,
            dual_port_slots,
            moduli_slots,
            constants,
            rns_rate,
            rns_conversions,
            rns_entries,
            moves,
            host,
            address_bits,
            wide_port,
            stream,
            pointwise_unit,
            controller,
            cores,
            fifo_depth,
            slots,
            twiddle_tables,
            montgomery_bits,
        })
    }

    /// The first fact that no build can have: its name, its value, what it must be.
    pub(crate) fn broken(&self) -> Option<(&'static str, i64, String)> {
        if !((self.word_bits >= 14) && (self.word_bits <= 128)) {
            return Some(("word_bits", self.word_bits, "14..128".into()));
        }
        if !((self.lanes >= 1) && (self.lanes <= 15)) {
            return Some(("lanes", self.lanes, "1..15".into()));
        }
        if !((self.butterflies == 1) || (self.butterflies == 2) || (self.butterflies == 4) || (self.butterflies == 8) || (self.butterflies == 16) || (self.butterflies == 32)) {
            return Some(("butterflies", self.butterflies, "1, 2, 4, 8, 16 or 32".into()));
        }
        if !((self.n_max >= 8) && (self.n_max <= 32768) && ((1 << ceil_log2(self.n_max)) == self.n_max)) {
            return Some(("n_max", self.n_max, "a power of two from 8 to 32768".into()));
        }
        if !((self.reduction == 0) || (self.reduction == 1)) {
            return Some(("reduction", self.reduction, "barrett or montgomery".into()));
        }
        if !((self.multiplier == 0) || (self.multiplier == 1) || (self.multiplier == 2)) {
            return Some(("multiplier", self.multiplier, "asic, dsp26x17 or dsp18x18".into()));
        }
        if !((self.modulus_bits_min >= 5) && (self.modulus_bits_min <= self.word_bits)) {
            return Some(("modulus_bits_min", self.modulus_bits_min, format!("5..word_bits = {}", (self.word_bits))));
        }
        if !((self.dual_port_slots >= 2) && (self.dual_port_slots <= 32)) {
            return Some(("dual_port_slots", self.dual_port_slots, "2..32".into()));
        }
        if !((self.moduli_slots >= 1) && (self.moduli_slots <= 16)) {
            return Some(("moduli_slots", self.moduli_slots, "1..16".into()));
        }
        if !((self.constants >= 1) && (self.constants <= 32)) {
            return Some(("constants", self.constants, "1..32".into()));
        }
        if !((self.rns_rate == 0) || (self.rns_rate == 1) || (self.rns_rate == 2) || (self.rns_rate == 4)) {
            return Some(("rns_rate", self.rns_rate, "0, 1, 2 or 4".into()));
        }
        if !(if (self.rns_rate != 0) { ((self.rns_conversions >= 2) && (self.rns_conversions <= 32)) } else { (self.rns_conversions == 0) }) {
            return Some(("rns_conversions", self.rns_conversions, "2..32 where rns_rate != 0, else 0".into()));
        }
        if !(if (self.rns_rate != 0) { ((self.rns_entries >= 16) && (self.rns_entries <= 128)) } else { (self.rns_entries == 0) }) {
            return Some(("rns_entries", self.rns_entries, "16..128 where rns_rate != 0, else 0".into()));
        }
        if !((self.moves == 0) || (self.moves == 4) || (self.moves == 8) || (self.moves == 16) || (self.moves == 32)) {
            return Some(("moves", self.moves, "0, 4, 8, 16 or 32".into()));
        }
        if !((self.host == 0) || (self.host == 1)) {
            return Some(("host", self.host, "axi4 or serial".into()));
        }
        if !((self.address_bits >= 32) && (self.address_bits <= 64)) {
            return Some(("address_bits", self.address_bits, "32..64".into()));
        }
        if !((self.controller == 0) || (self.controller == 1)) {
            return Some(("controller", self.controller, "none or riscv".into()));
        }
        if !((self.cores >= 1) && (self.cores <= 8)) {
            return Some(("cores", self.cores, "1..8".into()));
        }
        if !((self.fifo_depth >= 2) && (self.fifo_depth <= 1024) && ((1 << ceil_log2(self.fifo_depth)) == self.fifo_depth)) {
            return Some(("fifo_depth", self.fifo_depth, "a power of two from 2 to 1024".into()));
        }
        if !(self.n_max >= (4 * self.butterflies)) {
            return Some(("n_max", self.n_max, format!("at least 4 * butterflies = {}", (4 * self.butterflies))));
        }
        if !((self.reduction == 0) || ((ceil_log2(self.n_max) + 3) <= self.word_bits)) {
            return Some(("word_bits", self.word_bits, format!("at least {} with reduction = montgomery at n_max = {}", (ceil_log2(self.n_max) + 3), (self.n_max))));
        }
        if !((self.rns_rate == 0) || (self.word_bits <= 64)) {
            return Some(("word_bits", self.word_bits, "at most 64 with base conversion (rns_rate)".into()));
        }
        if !((self.rns_rate == 0) || (self.lanes <= 8)) {
            return Some(("lanes", self.lanes, "at most 8 with base conversion (rns_rate)".into()));
        }
        if !((self.moves == 0) || (self.word_bits <= 64)) {
            return Some(("word_bits", self.word_bits, "at most 64 with moves between lanes (moves)".into()));
        }
        if !((self.host == 0) || (self.wide_port == 0)) {
            return Some(("wide_port", self.wide_port, "false on the serial host, which moves bytes (it needs host = axi4)".into()));
        }
        if !((self.host == 0) || (self.address_bits == 40)) {
            return Some(("address_bits", self.address_bits, "40 on the serial host, which has no addresses (others need host = axi4)".into()));
        }
        if !((self.stream == 0) || (self.wide_port == 1)) {
            return Some(("stream", self.stream, "false without a wide port, which alone brings a word of every lane at a time".into()));
        }
        if !((self.host == 0) || (self.cores == 1)) {
            return Some(("cores", self.cores, "1 on the serial host, which has one byte port (several need host = axi4)".into()));
        }
        if !((self.reduction == 1) == (self.montgomery_bits != 0)) {
            return Some(("montgomery_bits", self.montgomery_bits, "0 with Barrett only".into()));
        }
        if !((self.slots >= 3) && (self.slots <= 32)) {
            return Some(("slots", self.slots, "3..32".into()));
        }
        if !((self.twiddle_tables == 1) || (self.twiddle_tables == self.moduli_slots)) {
            return Some(("twiddle_tables", self.twiddle_tables, "1 or moduli_slots".into()));
        }
        None
    }
}

/// The small build of spec/build.yaml: the number of each knob.
pub(crate) const SMALL: &[(&str, i32)] = &[
    ("word_bits", 32),
    ("lanes", 1),
    ("butterflies", 2),
    ("n_max", 64),
    ("reduction", 0),
    ("multiplier", 1),
    ("montgomery_steps", 0),
    ("modulus_bits_min", 5),
    ("pmul", 1),
    ("cyclic", 1),
    ("dual_port_slots", 4),
    ("single_port_slots", 1),
    ("twiddles", 1),
    ("moduli_slots", 2),
    ("constants", 4),
    ("rns_rate", 0),
    ("rns_conversions", 0),
    ("rns_entries", 0),
    ("moves", 0),
    ("host", 0),
    ("address_bits", 40),
    ("wide_port", 0),
    ("stream", 0),
    ("pointwise_unit", 0),
    ("controller", 0),
    ("controller_words", 1024),
    ("cores", 1),
    ("fifo_depth", 16),
];
