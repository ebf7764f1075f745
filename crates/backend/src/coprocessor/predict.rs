// SPDX-License-Identifier: Apache-2.0
//! What a program would take of a co-processor, before there is one: its plan and the cycles of it.

use crate::lower::{Lower, Shape, Widened, lower, wide_shape};
use crate::scheme::{bfv, ckks};
use crate::{Error, KeySet};
use isa::{BuildInfo, Op, Reduction};
use offload::{Offer, Prediction};
use program::{Parameters, Program};
use rlwe::{Seed, Threads};

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
    /// What [`crate::Coprocessor`] takes of an idle device of this build for a batch of so many runs of a program.
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
        match &program.parameters {
            Parameters::Bfv(params) => {
                let (keys, shape) = (KeySet::default(), self.shape(params.n()));
                let scheme = bfv::Bfv::new(params, &keys, nothing(), &Threads::ONE, false)?;
                match wide_shape(params, shape) {
                    Ok(shape) => self.lowered(program, &Widened::new(scheme)?, shape),
                    Err(shape) => self.lowered(program, &scheme, shape),
                }
            }
            Parameters::BfvWide(params) => {
                let (keys, shape) = (KeySet::default(), self.shape(params.n()));
                let scheme = bfv::Bfv::new(params, &keys, nothing(), &Threads::ONE, false)?;
                self.lowered(program, &scheme, shape)
            }
            Parameters::Ckks(params) => {
                let (keys, shape) = (KeySet::default(), self.shape(params.n()).narrow());
                let scheme = ckks::Ckks::new(params, &keys, nothing(), &Threads::ONE);
                self.lowered(program, &scheme, shape)
            }
        }
    }

    fn shape(&self, n: usize) -> Shape {
        shape_of(self.info, self.offer, n)
    }

    fn lowered<S: Lower>(
        &self,
        program: &Program,
        scheme: &S,
        shape: Shape,
    ) -> Result<Prediction, Error> {
        let inputs = program
            .steps
            .iter()
            .take_while(|step| step.operation.is_input());
        let scales: Vec<f64> = inputs.map(|step| step.scale).collect();
        let lowered = lower(program, scheme, &scales, shape)?;
        let parts = lowered.parts(self.info.cores as usize);
        offload::predict(self.info, self.offer, &parts).map_err(|error| Error::Device {
            name: "this build".into(),
            message: error.to_string(),
        })
    }
}

/// A prediction draws nothing.
fn nothing() -> Seed {
    Seed::from_bytes([0; 32])
}
