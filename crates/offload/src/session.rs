// SPDX-License-Identifier: Apache-2.0
//! A device with operations on it: moduli and tables set up as they are needed, operands in, results out.

use device::{Driver, Profile};
use isa::{BuildInfo, Instruction, Op, Unit};
use model::schedule_from;
use polynomial::{Graph, Host, Memory, Words};
use zq::Word;

use crate::stream::{
    BatchStatistics, Buffers, Ended, HostBuffers, Planned, Progress, Ran, Stream, Timeline, Worked,
    run_streams,
};
use crate::{Offer, OffloadError, Usage};

/// One polynomial, `[lane][n]`.
pub type Polynomial = Vec<Vec<u128>>;

/// Host buffers of an instruction or a few that are measured: operands, then results.
const OPERANDS: u32 = 16;

/// Outputs of a program; cycles of its work on the device, and those predicted.
pub(crate) type Resident<W> = (Vec<Words<W>>, [u64; 2]);

/// Instructions with the transfers around them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections {
    /// Brings the operands in.
    pub loads: Vec<Instruction>,
    /// What is measured.
    pub work: Vec<Instruction>,
    /// Takes the results out.
    pub stores: Vec<Instruction>,
}

impl Sections {
    /// Operands from the buffers from the first on, to these slots; results from slots to the buffers behind.
    pub fn new(
        log2_n: u8,
        operands: &[u8],
        work: Vec<Instruction>,
        results: &[u8],
        first: u32,
    ) -> Self {
        let transfer = |op, buf_idx| Instruction {
            log2_n,
            buf_idx,
            ..Instruction::new(op)
        };
        let load = |(buffer, &dst): (u32, &u8)| Instruction {
            dst,
            ..transfer(Op::Load, buffer)
        };
        let store = |(buffer, &src_a): (u32, &u8)| Instruction {
            src_a,
            ..transfer(Op::Store, buffer)
        };
        let behind = first + operands.len() as u32;
        Self {
            loads: (first..).zip(operands).map(load).collect(),
            work,
            stores: (behind..).zip(results).map(store).collect(),
        }
    }
}

/// A driver and its configuration.
pub struct Session {
    driver: Driver,
    /// First of the host buffers for operands.
    first: u32,
    buffers: Buffers,
    /// State shared by the cores, kept by the first.
    host: HostBuffers,
    shift: BatchStatistics,
    usage: Usage,
    /// The last work section, or submission that was more than transfers.
    last: Worked,
    /// All submissions, while they are kept.
    timeline: Option<Timeline>,
}

impl Session {
    /// Work with a device.
    ///
    /// # Errors
    /// No room for host buffers.
    pub fn new(mut driver: Driver) -> Result<Self, OffloadError> {
        let first = driver.allocate(OPERANDS)?;
        Ok(Self {
            driver,
            first,
            buffers: Buffers::default(),
            host: HostBuffers::default(),
            shift: BatchStatistics::default(),
            usage: Usage::default(),
            last: Worked::default(),
            timeline: None,
        })
    }

    /// The build.
    pub fn info(&self) -> &BuildInfo {
        self.driver.info()
    }

    /// The driver.
    pub fn driver(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// Bytes of the host buffers that programs use: those of tiles and tables, and what stays for later runs.
    pub fn memory_in_use(&mut self) -> u64 {
        let bytes = self.driver.info().buffer_bytes();
        self.host.residents.in_use(bytes)
    }

    /// Return and reset the usage.
    pub fn take_usage(&mut self) -> Usage {
        std::mem::take(&mut self.usage)
    }

    /// Timeline of the last work section, or of the last submission that was more than transfers.
    pub fn profile(&self) -> &Profile {
        &self.last.profile
    }

    pub(crate) fn last(&self) -> &Worked {
        &self.last
    }

    /// Keeps the submissions of programs from now on, for [`Session::take_timeline`]: instructions up to
    /// [`MOST_KEPT`](crate::MOST_KEPT), the rest summed up.
    pub fn keep_timeline(&mut self) {
        self.timeline.get_or_insert_default();
    }

    /// Returns and forgets the submissions that were kept, in order.
    pub fn take_timeline(&mut self) -> Vec<Ran> {
        self.timeline
            .as_mut()
            .map(Timeline::take)
            .unwrap_or_default()
    }

    /// The instructions of the same.
    pub fn program(&self) -> &[Instruction] {
        &self.last.program
    }

    /// Whether the build can work with these moduli at this degree: n up to twice its own (in halves).
    ///
    /// # Errors
    /// [`OffloadError::Shape`] with what does not fit.
    pub fn fits(&self, moduli: &[u128], n: usize) -> Result<(), OffloadError> {
        let info = self.driver.info();
        let least = 8.max(4 * info.butterflies as usize);
        let most = if info.constants >= 3 {
            2 * info.n_max()
        } else {
            info.n_max()
        };
        if !(least..=most).contains(&n) {
            let what =
                format!("n = {n} is beyond the build, which can work with n = {least}..{most}");
            return Err(OffloadError::Shape { what });
        }
        let wide = moduli
            .iter()
            .find(|q| 128 - q.leading_zeros() > info.word_bits);
        match wide {
            Some(q) => Err(OffloadError::Shape {
                what: format!("modulus {q} is wider than {} bits", info.word_bits),
            }),
            None => Ok(()),
        }
    }

    /// Computes a program of polynomial operations; `offer` has those that the device takes. Its outputs can be
    /// taken from the memory that is returned.
    ///
    /// # Errors
    /// [`Ended`]. A device that failed was reset.
    pub fn run_program<'g, W: Word, H: Host<W>>(
        &mut self,
        offer: &Offer,
        graph: &'g Graph<W>,
        host: &H,
        progress: &dyn Progress,
    ) -> Result<Memory<'g, W>, Ended<H::Error>> {
        let planned = Planned::new(self.info(), offer, std::iter::once(graph))?;
        let (planned, jobs) = (&planned, [(graph, host)]);
        let mut memories = Self::run_together(&mut [self], planned, &jobs, progress)?;
        Ok(memories.swap_remove(0))
    }

    /// As [`Session::run_program`], a program on each of several cores of a device at the same time, as they are
    /// planned.
    ///
    /// # Errors
    /// As [`Session::run_program`]; all cores are reset if one fails.
    pub fn run_together<'g, W: Word, H: Host<W>>(
        sessions: &mut [&mut Self],
        planned: &Planned,
        jobs: &[(&'g Graph<W>, &H)],
        progress: &dyn Progress,
    ) -> Result<Vec<Memory<'g, W>>, Ended<H::Error>> {
        let Some(first) = sessions.first_mut() else {
            return Ok(Vec::new());
        };
        let (mut host, mut shift) = (
            std::mem::take(&mut first.host),
            std::mem::take(&mut first.shift),
        );
        let mut streams: Vec<Stream<'_>> = sessions
            .iter_mut()
            .map(|session| session.stream())
            .collect();
        let outcome = run_streams(&mut streams, &mut host, planned, jobs, progress, &mut shift);
        drop(streams);
        if matches!(outcome, Err(Ended::Device(_) | Ended::Stopped)) {
            host.residents.forget();
        }
        (sessions[0].host, sessions[0].shift) = (host, shift);
        outcome
    }

    fn stream(&mut self) -> Stream<'_> {
        Stream {
            driver: &mut self.driver,
            buffers: &mut self.buffers,
            usage: &mut self.usage,
            last: &mut self.last,
            timeline: self.timeline.as_mut(),
        }
    }

    /// Forget what cores did together, and return it; the first of them keeps it.
    pub fn take_shift(&mut self) -> BatchStatistics {
        std::mem::take(&mut self.shift)
    }

    /// Runs a program whose transfers are apart from its work: its outputs, and the cycles of the work with those
    /// predicted.
    ///
    /// # Errors
    /// As [`Session::run_program`].
    pub(crate) fn run_resident<W: Word, H: Host<W>>(
        &mut self,
        graph: &Graph<W>,
        host: &H,
    ) -> Result<Resident<W>, Ended<H::Error>> {
        let offer = Offer::resident(graph);
        let kept = self.timeline.replace(Timeline::default());
        let outcome = self.run_program(&offer, graph, host, &Unwatched);
        let ran = std::mem::replace(&mut self.timeline, kept);
        let mut memory = outcome?;
        let outputs = graph.outputs().iter().map(|limb| memory.take(*limb, host));
        let outputs = outputs.collect::<Result<_, _>>().map_err(Ended::Host)?;
        let mut cycles = [0; 2];
        for one in ran.map(|mut ran| ran.take()).unwrap_or_default() {
            if one.events.iter().any(|event| event.unit != Unit::Memory) {
                cycles[0] += one.cycles;
                cycles[1] += one.predicted_cycles;
            }
        }
        Ok((outputs, cycles))
    }

    /// The first host buffer of an instruction that is measured.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Sends the inputs, runs the sections and receives as many outputs.
    pub(crate) fn transact(
        &mut self,
        sections: Sections,
        n: usize,
        inputs: &[Polynomial],
        outputs: u32,
    ) -> Result<Vec<Polynomial>, OffloadError> {
        for (buffer, input) in (self.first..).zip(inputs) {
            self.driver.upload(buffer, input)?;
        }
        self.usage.send.cycles += self.section(&sections.loads)?.counters.cycles;
        let profile = self.section(&sections.work)?;
        self.usage.compute_cycles += profile.counters.cycles;
        self.last = Worked {
            predicted: schedule_from(self.driver.info(), self.driver.state(), &sections.work),
            program: sections.work,
            profile,
        };
        self.usage.receive.cycles += self.section(&sections.stores)?.counters.cycles;
        let first = self.first + inputs.len() as u32;
        (first..first + outputs)
            .map(|buffer| Ok(self.driver.download(buffer, n)?))
            .collect()
    }

    /// Run a section and count its transfers.
    fn section(&mut self, program: &[Instruction]) -> Result<Profile, OffloadError> {
        if program.is_empty() {
            return Ok(Profile::default());
        }
        for instruction in program {
            let bytes = self.bytes(instruction.n());
            match instruction.op {
                Op::Load => self.usage.send.count(bytes),
                Op::Store => self.usage.receive.count(bytes),
                _ => {}
            }
        }
        self.usage.execute(program);
        Ok(self.driver.run(program)?)
    }

    /// Bytes of a polynomial of degree n, all lanes, as it travels.
    fn bytes(&self, n: usize) -> u64 {
        let info = self.driver.info();
        n as u64 * u64::from(info.lanes) * info.word_bytes() as u64
    }
}

/// A run that is not watched and not stopped.
struct Unwatched;

impl Progress for Unwatched {
    fn tell(&self, _done: usize, _total: usize) -> bool {
        true
    }

    fn stopped(&self) -> bool {
        false
    }
}
