// SPDX-License-Identifier: Apache-2.0
//! What a program would take of a co-processor, before there is one: its plan and the cycles of it.

use crate::lower::{Lower, Shape, Visitor, lower, visit};
use crate::{Error, Keys};
use isa::{BuildInfo, Op, Reduction};
use offload::{Offer, Prediction};
use program::Program;
use rlwe::Threads;

/// Ciphertext sets that one core works on as one program: more take more of the host's memory and hide no more.
pub(crate) const MOST_RUNS: usize = 8;

/// How programs over rings of degree `n` are lowered for a build that gets an offer of operations.
pub(crate) fn shape_of(info: &BuildInfo, offer: &Offer, n: usize) -> Shape {
    let takes = |name: &str| offer.takes(name);
    // Lanes work on one limb each: fewer limbs would leave some idle.
    let is_wide = info.lanes == 1
        && info.reduction == Reduction::Barrett
        && n <= 2 * info.n_max()
        && takes("tensor")
        && takes("key-switch");
    Shape {
        lanes: info.lanes as usize,
        wide_bits: is_wide.then_some(info.word_bits),
        converts: info.has(Op::Lift) && n <= info.n_max() && takes("tensor"),
        moves: info.has(Op::Decomp) && n <= info.n_max() && takes("key-switch"),
        tables: info.twiddle_tables.min(info.moduli_slots) as usize,
        digit_major: false,
        zeros: offload::fits_degree(info, n) && takes("zero-encrypt"),
    }
}

/// A build and what it is given.
pub struct Build<'a> {
    /// The build.
    pub info: &'a BuildInfo,
    /// `tensor`, `key-switch`, …
    pub offer: &'a Offer,
}

impl Build<'_> {
    /// What [`crate::Coprocessor`] takes of an idle device of this build for a batch of `runs` of a program.
    ///
    /// # Errors
    /// [`Error::Device`] with what the build cannot do; the scheme's.
    pub fn predict(&self, program: &Program, runs: usize) -> Result<Prediction, Error> {
        let size = match program.can_repeat() {
            true => self.info.cores as usize * MOST_RUNS,
            false => 1,
        };
        let mut found = Prediction::default();
        let whole = match runs / size {
            0 => Prediction::default(),
            _ => self.round(program, size)?,
        };
        (0..runs / size).for_each(|_| found.add(&whole));
        if !runs.is_multiple_of(size) {
            found.add(&self.round(program, runs % size)?);
        }
        Ok(found)
    }

    fn round(&self, program: &Program, runs: usize) -> Result<Prediction, Error> {
        let repeated;
        let program = match runs {
            1 => program,
            _ => {
                repeated = program.repeated(runs);
                &repeated
            }
        };
        let shape = shape_of(self.info, self.offer, program.parameters.n());
        let keys = Keys::none(&program.parameters);
        let predicting = Predicting {
            build: self,
            program,
        };
        visit(program, &keys, &Threads::ONE, shape, predicting)
    }
}

/// A build and a program whose scheme is still to come.
struct Predicting<'a> {
    build: &'a Build<'a>,
    program: &'a Program,
}

impl Visitor for Predicting<'_> {
    type Out = Prediction;

    fn visit<S: Lower>(self, scheme: S, shape: Shape) -> Result<Prediction, Error> {
        let Self { build, program } = self;
        let inputs = program
            .steps
            .iter()
            .take_while(|step| step.operation.is_input());
        let scales: Vec<f64> = inputs.map(|step| step.scale).collect();
        let lowered = lower(program, &scheme, &scales, shape)?;
        let parts = lowered.parts(build.info.cores as usize);
        offload::predict(build.info, build.offer, &parts).map_err(|error| Error::Device {
            name: "this build".into(),
            message: error.to_string(),
        })
    }
}
