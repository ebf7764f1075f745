// SPDX-License-Identifier: Apache-2.0
//! When each instruction starts and ends: in-order issue to the units, a scoreboard of slots, overlapped drains.
//!
//! Every latency comes from the formulas of `spec/latency.yaml`;
//! this file adds only the order in which the sequencer applies them.

use isa::{BuildInfo, Host, Instruction, Op, Reduction, Shape, Unit};

use crate::latency;

/// One instruction's life. Cycles count from the start of the program's first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Place in the program.
    pub index: usize,
    /// Operation.
    pub op: Op,
    /// Unit that executed it.
    pub unit: Unit,
    /// Cycle of its first action.
    pub start: u64,
    /// Cycle after its last write.
    pub end: u64,
}

/// Cycle counters of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// From the first start to the last end.
    pub cycles: u64,
    /// Cycles in which the compute unit had an instruction in flight.
    pub busy_compute: u64,
    /// Cycles in which the memory unit had one.
    pub busy_memory: u64,
    /// Cycles in which the base-conversion unit had one.
    pub busy_rns: u64,
    /// Cycles in which the unit for pointwise instructions had one.
    pub busy_pointwise: u64,
    /// Cycles in which the next instruction waited for a slot.
    pub stall_hazard: u64,
    /// Cycles in which it waited for its unit.
    pub stall_unit: u64,
}

/// The timeline of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Per instruction, in program order.
    pub events: Vec<Event>,
    /// Totals.
    pub counters: Counters,
}

/// The numbers of a build that its timing depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Depth of the compute pipeline in cycles, from the issue of a read to the first issue that sees the result.
    pub pipe: u64,
    /// Butterflies per lane.
    pub butterflies: u64,
    /// Times that a transfer goes through the words of a slot: once a lane, or once for all with a wide port.
    pub passes: u64,
    /// Coefficients at a time of a base conversion; 0 without the unit.
    pub rate: u64,
    /// Cycles from the last step of a base conversion to its last write.
    pub convert_pipe: u64,
    /// Depth of the pipeline of the unit for pointwise instructions, in builds that have one.
    pub pointwise_pipe: Option<u64>,
    /// The host's side of transfers.
    pub host: HostTiming,
}

/// Host timing of a transfer. AXI4: memory of some latency and bandwidth, bursts without gaps. Serial: the link
/// through its byte port, one frame for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTiming {
    /// Cycles before the first word of a LOAD and after the last of a STORE.
    load: u64,
    store: u64,
    /// Beats of a memory word, or of a row of all lanes' words.
    beats: u64,
    /// A beat takes `beat / rate` cycles, at least one.
    beat: u64,
    rate: u64,
}

/// Words that wait for a product in the stream and before it.
const WAITING_WORDS: u64 = 10;
/// Cycles by which the port is ahead of the product's issue.
const STREAM_AHEAD: u64 = 4;
/// Cycles of a frame's header and answer on the byte port.
const SERIAL_FRAME: u64 = 6;

impl HostTiming {
    fn new(info: &BuildInfo) -> Self {
        let port_bytes = info.port_bytes() as u64;
        match info.host {
            Host::Axi4 => {
                let memory = info.port_memory;
                let beats = info.beats() as u64;
                let (beat, rate) = match memory.bytes_per_kilocycle {
                    0 => (1, 1),
                    rate => (1000 * port_bytes / beats, rate.into()),
                };
                Self {
                    load: u64::from(memory.read_latency) + 2,
                    store: u64::from(memory.write_latency) + 1,
                    beats,
                    beat,
                    rate,
                }
            }
            // The request is read, then a frame moves each lane's bytes.
            Host::Serial => {
                let frames = SERIAL_FRAME * (u64::from(info.lanes) - 1);
                Self {
                    load: 37 + frames,
                    store: 33 + frames,
                    beats: port_bytes,
                    beat: 1,
                    rate: 1,
                }
            }
        }
    }

    /// Cycles that `words` words take beyond a word a cycle.
    fn slack(&self, words: u64) -> u64 {
        let beats = self.beats * words;
        let last = ((beats - 1) * self.beat).div_ceil(self.rate);
        beats.max(last + 1) - words
    }
}

/// Until when an instruction keeps what it holds: first cycles in which another can have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Its unit.
    pub unit: u64,
    /// The slots that it reads, but for the addend of an INTT.
    pub sources: u64,
    /// The slots that it writes, scratch included, and the addend of an INTT.
    pub results: u64,
}

impl Timing {
    /// The timing of a build.
    pub fn new(info: &BuildInfo) -> Self {
        let kind = u64::from(info.reduction == Reduction::Montgomery);
        let [style, w, least, word] = [
            info.multiplier,
            info.word_bits,
            info.modulus_bits_min,
            info.montgomery_bits,
        ]
        .map(u64::from);
        let (butterflies, rate) = (
            info.butterflies.into(),
            info.rns.map_or(0, |unit| unit.rate.into()),
        );
        let convert_pipe = match rate {
            0 => 0,
            _ => latency::convert_pipe(kind, style, w, least, word, butterflies, rate),
        };
        Self {
            pipe: latency::pipe_latency(kind, style, w, least, word),
            butterflies,
            passes: if info.wide_port { 1 } else { info.lanes.into() },
            rate,
            convert_pipe,
            pointwise_pipe: (info.pointwise_unit)
                .then(|| latency::pointwise_pipe(kind, style, w, least, word)),
            host: HostTiming::new(info),
        }
    }

    /// The unit that executes an instruction.
    pub fn unit(&self, i: &Instruction) -> Unit {
        i.op.unit(self.pointwise_pipe.is_some())
    }

    /// Cycles in which an instruction occupies the issue of its unit.
    pub fn issue(&self, i: &Instruction) -> u64 {
        match i.op {
            _ if i.op.is_transform() => {
                latency::transform_issue(i.log2_n.into(), self.butterflies, self.pipe)
            }
            _ if self.unit(i) == Unit::Compute => {
                latency::pointwise_issue(i.log2_n.into(), self.butterflies)
            }
            _ => self.alone(i),
        }
    }

    /// Cycles from the start of a product to the end of the LOAD of its streamed operand, if the words waited for it:
    /// the port goes on when the first is taken.
    pub fn streamed(&self, i: &Instruction) -> u64 {
        let words = i.n() as u64 / self.butterflies;
        let rest = words.saturating_sub(WAITING_WORDS);
        (words + self.host.slack(words) * rest / words).saturating_sub(STREAM_AHEAD)
    }

    /// Cycles of an instruction alone on a device that holds these base conversions.
    pub fn cycles(&self, i: &Instruction, conversions: &[Option<Shape>]) -> u64 {
        if !matches!(i.op, Op::Lift | Op::Scale) {
            return self.alone(i);
        }
        let shape = conversions.get(usize::from(i.const_idx)).copied();
        // A term for each input prime, and one for kept residues.
        let terms = shape
            .flatten()
            .map_or(0, |shape| u64::from(shape.inputs) + u64::from(shape.own));
        latency::convert(i.log2_n.into(), terms, self.rate, self.convert_pipe)
    }

    /// Until when an instruction from `start` to `end` keeps its unit and its slots.
    pub fn holds(&self, i: &Instruction, start: u64, end: u64) -> Holds {
        if self.unit(i) != Unit::Compute {
            return Holds {
                unit: end + 1,
                sources: end + 1,
                results: end + 1,
            };
        }
        let issue = end - start - self.pipe;
        // A transform has read its source after its first stage.
        let reading = match i.op.is_transform() {
            true => (i.n() as u64 / (2 * self.butterflies) + 1).min(issue),
            false => issue,
        };
        Holds {
            unit: start + issue,
            sources: start + reading + 1,
            results: end + 1,
        }
    }

    /// Cycles of an instruction alone, from its start to its last write; not of a base conversion.
    pub fn alone(&self, i: &Instruction) -> u64 {
        let (n, p) = (i.log2_n.into(), self.butterflies);
        match i.op {
            Op::Ntt => latency::ntt(n, p, self.pipe),
            Op::Intt => latency::intt(n, p, self.pipe),
            Op::Pmul => latency::pmul(n, p, self.pipe),
            Op::Memcpy => latency::memcpy(n, p),
            Op::Memcpyr => latency::memcpyr(n),
            Op::Auto | Op::Decomp => latency::move_words(n, p),
            Op::Load => latency::load(n, p, self.passes) + self.transfer(self.host.load, i),
            Op::Store => latency::store(n, p, self.passes) + self.transfer(self.host.store, i),
            Op::Sync => 0,
            _ => latency::pointwise(n, p, self.pointwise_pipe.unwrap_or(self.pipe)),
        }
    }

    /// The host's share of a transfer's cycles.
    fn transfer(&self, latency: u64, i: &Instruction) -> u64 {
        latency
            + self
                .host
                .slack(self.passes * i.n() as u64 / self.butterflies)
    }
}
