// SPDX-License-Identifier: Apache-2.0
//! A device with operations on it: moduli and tables set up as they are needed, operands in, results out.

use device::{Driver, Profile};
use isa::{BuildInfo, Instruction, Op};
use model::{Lane, schedule_from};
use ntt::NttPlan;
use polynomial::{Graph, Host, Memory};
use zq::{Modulus, Word};

use crate::operation::{DIGITS, Form, Operation, OperationProgram, ProgramArgs};
use crate::ring_split::{Half, Halving};
use crate::stream::{Buffers, Common, Ended, Progress, Ran, Shift, Stream, Timeline, run_streams};
use crate::{Offer, OffloadError, Usage};

/// One polynomial, `[lane][n]`.
pub type Polynomial = Vec<Vec<u128>>;

/// Host buffers that operations use: the inputs and outputs of a key switch, which has the most.
const OPERANDS: u32 = 3 * DIGITS as u32 + 2;

/// A driver and its configuration.
pub struct Session {
    driver: Driver,
    /// First of the host buffers for operands.
    first: u32,
    /// Per modulus index the last moduli set, and when.
    sets: Vec<(Vec<u128>, u64)>,
    clock: u64,
    halvings: Vec<Halving>,
    buffers: Buffers,
    /// State shared by the cores, kept by the first.
    common: Common,
    shift: Shift,
    usage: Usage,
    /// Timeline of the last work section.
    profile: Profile,
    program: Vec<Instruction>,
    /// Of all submissions, if they are kept.
    timeline: Option<Timeline>,
    /// Predicted cycles of the work sections since the usage was last taken.
    predicted_work: u64,
}

impl Session {
    /// Work with a device.
    ///
    /// # Errors
    /// No room for host buffers.
    pub fn new(mut driver: Driver) -> Result<Self, OffloadError> {
        let first = driver.allocate(OPERANDS)?;
        let sets = vec![(Vec::new(), 0); driver.info().moduli_slots as usize];
        Ok(Self {
            driver,
            first,
            sets,
            clock: 0,
            halvings: Vec::new(),
            buffers: Buffers::default(),
            common: Common::default(),
            shift: Shift::default(),
            usage: Usage::default(),
            profile: Profile::default(),
            program: Vec::new(),
            timeline: None,
            predicted_work: 0,
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

    /// Return and reset the usage.
    pub fn take_usage(&mut self) -> Usage {
        self.predicted_work = 0;
        std::mem::take(&mut self.usage)
    }

    /// Timeline of the last work section or submission.
    pub fn profile(&self) -> &Profile {
        &self.profile
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

    /// The instructions of the last submission of a program.
    pub fn program(&self) -> &[Instruction] {
        &self.program
    }

    /// Predicted cycles of the work sections since the usage was last taken.
    pub fn predicted_work(&self) -> u64 {
        self.predicted_work
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
        let jobs = [(graph, host)];
        let mut memories = Self::run_together(&mut [self], offer, &jobs, progress)?;
        Ok(memories.swap_remove(0))
    }

    /// As [`Session::run_program`], a program on each of several cores of a device at the same time.
    ///
    /// # Errors
    /// As [`Session::run_program`]; all cores are reset if one fails.
    pub fn run_together<'g, W: Word, H: Host<W>>(
        sessions: &mut [&mut Self],
        offer: &Offer,
        jobs: &[(&'g Graph<W>, &H)],
        progress: &dyn Progress,
    ) -> Result<Vec<Memory<'g, W>>, Ended<H::Error>> {
        let Some(first) = sessions.first_mut() else {
            return Ok(Vec::new());
        };
        let (mut common, mut shift) = (
            std::mem::take(&mut first.common),
            std::mem::take(&mut first.shift),
        );
        let mut streams: Vec<Stream<'_>> = sessions
            .iter_mut()
            .map(|session| session.stream(offer))
            .collect();
        let outcome = run_streams(&mut streams, &mut common, jobs, progress, &mut shift);
        drop(streams);
        (sessions[0].common, sessions[0].shift) = (common, shift);
        outcome
    }

    fn stream<'s>(&'s mut self, offer: &'s Offer) -> Stream<'s> {
        // The program sets moduli by its own plan.
        self.sets.iter_mut().for_each(|set| set.0.clear());
        Stream {
            driver: &mut self.driver,
            offer,
            buffers: &mut self.buffers,
            usage: &mut self.usage,
            profile: &mut self.profile,
            last: &mut self.program,
            timeline: self.timeline.as_mut(),
        }
    }

    /// Forget what cores did together, and return it; the first of them keeps it.
    pub fn take_shift(&mut self) -> Shift {
        std::mem::take(&mut self.shift)
    }

    /// Do an operation on one residue per lane; the moduli are those of the lanes.
    ///
    /// # Errors
    /// An operation, moduli or a degree that the build cannot take; a device error.
    pub fn run(
        &mut self,
        operation: Operation,
        moduli: &[u128],
        inputs: &[Polynomial],
    ) -> Result<Vec<Polynomial>, OffloadError> {
        let outcome = self.attempt(operation, moduli, inputs);
        if outcome.is_err() {
            // A device that failed was reset and holds nothing.
            self.sets.iter_mut().for_each(|set| set.0.clear());
        }
        outcome
    }

    fn attempt(
        &mut self,
        operation: Operation,
        moduli: &[u128],
        inputs: &[Polynomial],
    ) -> Result<Vec<Polynomial>, OffloadError> {
        let n = inputs[0][0].len();
        self.fits(moduli, n)?;
        let mod_idx = self.select(moduli)?;
        if n <= self.driver.info().n_max() {
            let cycles = self.driver.load_twiddles(mod_idx, n)?;
            self.count_table(n, cycles);
            return self.whole(operation, self.args(n, mod_idx), inputs);
        }
        self.in_halves(operation, moduli, mod_idx, inputs)
    }

    /// Data locations of an operation over degree n.
    pub(crate) fn args(&self, n: usize, mod_idx: u8) -> ProgramArgs {
        ProgramArgs {
            log2_n: n.trailing_zeros() as u8,
            mod_idx,
            first: self.first,
            tables: None,
        }
    }

    fn count_table(&mut self, n: usize, cycles: u64) {
        if cycles > 0 {
            let bytes = self.bytes(n);
            self.usage.send.count(bytes);
            self.usage.send.cycles += cycles;
        }
    }

    /// An operation whose polynomials fit the slots.
    fn whole(
        &mut self,
        operation: Operation,
        args: ProgramArgs,
        inputs: &[Polynomial],
    ) -> Result<Vec<Polynomial>, OffloadError> {
        let program = OperationProgram::new(self.driver.info(), operation, args)?;
        let scaled = self.carry_factors(operation, args.mod_idx, inputs)?;
        self.transact(&program, args, &scaled, operation.outputs())
    }

    /// Multiply one factor of each product by the Montgomery factor (not with Barrett).
    fn carry_factors(
        &self,
        operation: Operation,
        mod_idx: u8,
        inputs: &[Polynomial],
    ) -> Result<Vec<Polynomial>, OffloadError> {
        let mut inputs = inputs.to_vec();
        let factors = self.driver.factors(mod_idx)?;
        if factors.iter().all(|&factor| factor == 1) {
            return Ok(inputs);
        }
        let chosen: Vec<usize> = match operation {
            Operation::Polymul => vec![1],
            Operation::Tensor => vec![2, 3],
            Operation::ZeroEncrypt(_) => vec![1, 2],
            Operation::Decrypt(_) => vec![1],
            Operation::KeySwitch => (0..3 * DIGITS).filter(|i| i % 3 != 0).collect(),
        };
        let moduli = self.driver.moduli(mod_idx).unwrap_or_default().to_vec();
        for input in chosen {
            for ((lane, q), &factor) in inputs[input].iter_mut().zip(&moduli).zip(&factors) {
                q.scalar_mul_assign(lane, factor);
            }
        }
        Ok(inputs)
    }

    /// Send the inputs, run the sections, receive the outputs.
    pub(crate) fn transact(
        &mut self,
        program: &OperationProgram,
        args: ProgramArgs,
        inputs: &[Polynomial],
        outputs: u32,
    ) -> Result<Vec<Polynomial>, OffloadError> {
        for (buffer, input) in (args.first..).zip(inputs) {
            self.driver.upload(buffer, input)?;
        }
        self.usage.send.cycles += self.section(&program.loads)?.counters.cycles;
        self.profile = self.section(&program.work)?;
        self.usage.compute_cycles += self.profile.counters.cycles;
        let predicted = schedule_from(self.driver.info(), self.driver.state(), &program.work);
        self.predicted_work += predicted.counters.cycles;
        self.usage.receive.cycles += self.section(&program.stores)?.counters.cycles;
        let first = args.first + inputs.len() as u32;
        let n = 1 << args.log2_n;
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

    /// A modulus index that holds these moduli: the one that does, else the one not used for longest.
    pub(crate) fn select(&mut self, moduli: &[u128]) -> Result<u8, OffloadError> {
        self.clock += 1;
        let held = self.sets.iter().position(|(set, _)| set == moduli);
        let oldest = || {
            (0..self.sets.len())
                .min_by_key(|&index| self.sets[index].1)
                .unwrap_or(0)
        };
        let index = held.unwrap_or_else(oldest);
        if held.is_none() {
            self.driver.set_moduli(index as u8, moduli)?;
        }
        self.sets[index] = (moduli.to_vec(), self.clock);
        Ok(index as u8)
    }

    /// An operation in a ring of twice the build's degree: split x^n + 1 into two factors, work modulo each, join.
    fn in_halves(
        &mut self,
        operation: Operation,
        moduli: &[u128],
        mod_idx: u8,
        inputs: &[Polynomial],
    ) -> Result<Vec<Polynomial>, OffloadError> {
        let halving = self.set_up_halves(moduli, inputs[0][0].len())?;
        let args = self.args(halving.n() / 2, mod_idx);
        let mut sides = [Vec::new(), Vec::new()];
        for (input, form) in inputs.iter().zip(operation.inputs()) {
            let parts = match form {
                Form::Coefficients => {
                    self.transact(&Halving::split(args), args, &halves_of(input), 2)?
                }
                // Block 0 of the second stage's blocks is the first half of the values.
                Form::Values => halves_of(input),
            };
            for (side, part) in sides.iter_mut().zip(parts) {
                side.push(part);
            }
        }
        let mut results = Vec::with_capacity(2);
        for (half, side) in [Half::Left, Half::Right].into_iter().zip(&sides) {
            let tables = Some(halving.tables(half));
            results.push(self.whole(operation, ProgramArgs { tables, ..args }, side)?);
        }
        let right = results.pop().unwrap_or_default();
        let left = results.pop().unwrap_or_default();
        let join = |session: &mut Self, pair: (Polynomial, Polynomial)| {
            let parts = match operation.output_form() {
                Form::Values => vec![pair.0, pair.1],
                Form::Coefficients => {
                    session.transact(&Halving::join(args), args, &[pair.0, pair.1], 2)?
                }
            };
            Ok((0..parts[0].len())
                .map(|lane| [&parts[0][lane][..], &parts[1][lane][..]].concat())
                .collect())
        };
        left.into_iter()
            .zip(right)
            .map(|pair| join(self, pair))
            .collect()
    }

    /// Constants on the device and tables in host buffers for a ring of twice the degree.
    pub(crate) fn set_up_halves(
        &mut self,
        moduli: &[u128],
        n: usize,
    ) -> Result<Halving, OffloadError> {
        let halving = self.halving(moduli, n)?;
        for (index, constants) in (0..).zip(halving.constants()) {
            self.driver.set_constant(index, constants)?;
        }
        Ok(halving)
    }

    /// The tables and constants of a ring of twice the degree, in host buffers.
    fn halving(&mut self, moduli: &[u128], n: usize) -> Result<Halving, OffloadError> {
        if let Some(known) = self.halvings.iter().find(|known| known.serves(moduli, n)) {
            return Ok(known.clone());
        }
        let mut lanes = Vec::with_capacity(moduli.len());
        for &value in moduli {
            let shape = |what: String| OffloadError::Shape { what };
            let modulus = Modulus::new(value).map_err(|error| shape(error.to_string()))?;
            let plan = NttPlan::new(modulus, n).map_err(|error| shape(error.to_string()))?;
            lanes.push((
                Lane::new(self.driver.info(), modulus),
                plan.psi_rev().to_vec(),
            ));
        }
        let buffers = self.driver.allocate(2)?;
        let halving = Halving::new(moduli, &lanes, buffers);
        for (buffer, half) in (buffers..).zip([Half::Left, Half::Right]) {
            let table: Polynomial = lanes
                .iter()
                .map(|(lane, psi)| half.table(lane, psi))
                .collect();
            self.driver.upload(buffer, &table)?;
        }
        self.halvings.push(halving.clone());
        Ok(halving)
    }
}

/// The low and the high half of every lane.
pub(crate) fn halves_of(polynomial: &Polynomial) -> Vec<Polynomial> {
    let half = polynomial[0].len() / 2;
    let low = polynomial
        .iter()
        .map(|lane| lane[..half].to_vec())
        .collect();
    vec![
        low,
        polynomial
            .iter()
            .map(|lane| lane[half..].to_vec())
            .collect(),
    ]
}
