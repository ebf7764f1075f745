// SPDX-License-Identifier: Apache-2.0
//! What a circuit's results are known to be, for a program that takes them without decryption.

use super::circuit::{Circuit, Estimator, Failure, Plaintexts};
use super::{Assume, bfv, ckks};
use crate::Error;
use crate::handed::Received;
use rlwe::noise::{Noise, log2_add};

impl Circuit<'_> {
    /// The noise of every output of a circuit whose guarantee is `bits`: errors as large and budgets as small as that
    /// promises, since a run holds plaintexts to no more. Magnitudes are those of the walks along the steps.
    ///
    /// # Errors
    /// As [`Circuit::bound`].
    pub fn results(&self, estimator: &Estimator, bits: f64) -> Result<Vec<Received>, Error> {
        self.check_under(estimator)?;
        let plaintexts = Plaintexts::assumed(self, Assume::All, estimator);
        let found = match estimator {
            Estimator::Ckks(e) => self.reals(&plaintexts, e, bits),
            Estimator::Bfv(e) => self.integers(&plaintexts, e, bits),
        };
        found.map_err(|f| self.at(f.step, &self.steps[f.step], f.message))
    }

    fn reals(
        &self,
        plaintexts: &Plaintexts<'_>,
        estimator: &::ckks::noise::Estimator,
        bits: f64,
    ) -> Result<Vec<Received>, Failure> {
        let walked = |promises| {
            let walk = ckks::Walk {
                plaintexts,
                estimator,
                promises,
            };
            walk.run()
        };
        let (promised, every) = (walked(true)?, walked(false)?);
        let one = |(number, &output): (usize, &u32)| {
            let (promised, every) = (&promised[output as usize], &every[output as usize]);
            let error = estimator.log2_slot_error(every).exp2();
            Received::Reals {
                // The guarantee is about the slots that are read.
                log2_error: log2_add(bits, self.ranges.beside(number, output).log2()),
                magnitude: promised.message,
                everywhere: every.message.max(promised.message) + error,
            }
        };
        Ok(self.outputs.iter().enumerate().map(one).collect())
    }

    fn integers(
        &self,
        plaintexts: &Plaintexts<'_>,
        estimator: &::bfv::noise::Estimator,
        bits: f64,
    ) -> Result<Vec<Received>, Failure> {
        let walk = bfv::Walk {
            plaintexts,
            estimator,
        };
        let values = walk.run()?;
        let one = |&output: &u32| {
            let step = output as usize;
            let factors = values[step].factors;
            let limbs = self.steps[step].level as usize + 1;
            // A budget falls by a bit for each bit of the deviation.
            let unit = Noise {
                log2_variance: 0.0,
                factors,
            };
            let most = estimator.budget(unit, limbs);
            let most = most.map_err(|e| bfv::failed(step, &e))?;
            Ok(Received::Integers {
                log2_variance: 2.0 * (most - bits),
                factors,
            })
        };
        self.outputs.iter().map(one).collect()
    }
}
