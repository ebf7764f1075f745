// SPDX-License-Identifier: Apache-2.0
//! Usage of device and host: send, compute, receive.

use std::collections::BTreeMap;

use isa::Instruction;

/// Polynomials moved one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Polynomials, all lanes of one counted as one.
    pub polynomials: u64,
    /// Bytes across the link.
    pub bytes: u64,
    /// Device cycles of the transfer instructions.
    pub cycles: u64,
}

/// Operands of instructions, by where they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// Reads by instructions.
    pub reads: u64,
    /// Loads from memory; the other reads find them on chip.
    pub loads: u64,
    /// Bytes of the loads.
    pub bytes: u64,
}

/// Instructions of a kind: how often, and what they take of a lane's memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// How many.
    pub count: u64,
    /// Coefficients of a lane that they work on, n each.
    pub coefficients: u64,
    /// Coefficients of a lane in the slots that they read, the zero slot and the stream left out.
    pub reads: u64,
}

/// Operations on polynomials of one kind that the host did for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostWork {
    /// How many.
    pub count: u64,
    /// Those of them in homomorphic operations that `Usage::on_host` does not name: the device did the rest.
    pub beside: u64,
    /// What they work on: n coefficients of each limb, for a transform times log2 n, for a base conversion times its
    /// inputs and three more.
    pub terms: u64,
}

/// Usage of a session so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Operations the device did, by name: how often.
    pub offloaded: BTreeMap<&'static str, u64>,
    /// Operations that stayed on the host whole.
    pub on_host: BTreeMap<&'static str, u64>,
    /// Operands, keys and tables to the device.
    pub send: Moved,
    /// Results from it.
    pub receive: Moved,
    /// Bytes that the host wrote to buffers of the device: operands, keys and tables that were not there.
    pub written_bytes: u64,
    /// Cycles of the work between.
    pub compute_cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Those by mnemonic.
    pub executed: BTreeMap<&'static str, Executed>,
    /// Submissions they came in.
    pub submissions: u64,
    /// Twiddle tables among the polynomials sent.
    pub tables: u64,
    /// The others: parts of ciphertexts, of keys, plaintexts, and what the device or the host made.
    pub operands: BTreeMap<&'static str, Operands>,
    /// Cycles from the first start to the last end of each submission, added up.
    pub cycles: u64,
    /// Cycles with a transfer in flight.
    pub transfer_cycles: u64,
    /// Those of them in which work was in flight too.
    pub hidden_cycles: u64,
    /// The same by the latency formulas and the scheduling rules.
    pub predicted_cycles: u64,
    /// Cycles with a base conversion in flight.
    pub conversion_cycles: u64,
    /// Base conversions whose tables were set.
    pub conversions: u64,
    /// Operations on polynomials that the host did: transforms, products, sums, conversions, whole steps.
    pub host_operations: u64,
    /// Those of them that depend on what is given, by kind and reason.
    pub host_work: BTreeMap<(&'static str, String), HostWork>,
    /// Wall time in the device and its driver, in seconds: simulation, not the device's own time.
    pub device_seconds: f64,
}

impl Moved {
    /// Counts a polynomial of `bytes` bytes.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.polynomials += 1;
        self.bytes += bytes;
    }

    fn add(&mut self, other: &Self) {
        self.polynomials += other.polynomials;
        self.bytes += other.bytes;
        self.cycles += other.cycles;
    }
}

impl Usage {
    /// Count an operation.
    pub(crate) fn count(&mut self, name: &'static str, offloaded: bool) {
        let table = if offloaded {
            &mut self.offloaded
        } else {
            &mut self.on_host
        };
        *table.entry(name).or_default() += 1;
    }

    /// Count the instructions of a submission.
    pub(crate) fn execute(&mut self, program: &[Instruction]) {
        self.instructions += program.len() as u64;
        for instruction in program {
            let kind = self
                .executed
                .entry(instruction.op.spec().mnemonic)
                .or_default();
            let n = instruction.n() as u64;
            kind.count += 1;
            kind.coefficients += n;
            kind.reads += n * instruction.reads().count() as u64;
        }
    }

    /// Add what another core has used; cycles are core cycles.
    pub fn add(&mut self, other: &Self) {
        for (table, more) in [
            (&mut self.offloaded, &other.offloaded),
            (&mut self.on_host, &other.on_host),
        ] {
            for (name, count) in more {
                *table.entry(name).or_default() += count;
            }
        }
        for (name, more) in &other.operands {
            let own = self.operands.entry(name).or_default();
            own.reads += more.reads;
            own.loads += more.loads;
            own.bytes += more.bytes;
        }
        self.send.add(&other.send);
        self.receive.add(&other.receive);
        self.written_bytes += other.written_bytes;
        self.compute_cycles += other.compute_cycles;
        self.instructions += other.instructions;
        for (mnemonic, more) in &other.executed {
            let own = self.executed.entry(mnemonic).or_default();
            own.count += more.count;
            own.coefficients += more.coefficients;
            own.reads += more.reads;
        }
        self.submissions += other.submissions;
        self.tables += other.tables;
        self.cycles += other.cycles;
        self.transfer_cycles += other.transfer_cycles;
        self.hidden_cycles += other.hidden_cycles;
        self.predicted_cycles += other.predicted_cycles;
        self.conversion_cycles += other.conversion_cycles;
        self.conversions += other.conversions;
        self.host_operations += other.host_operations;
        for (key, more) in &other.host_work {
            let own = self.host_work.entry(key.clone()).or_default();
            own.count += more.count;
            own.beside += more.beside;
            own.terms += more.terms;
        }
        self.device_seconds += other.device_seconds;
    }
}
