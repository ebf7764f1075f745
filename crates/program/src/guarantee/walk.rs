// SPDX-License-Identifier: Apache-2.0
//! The bound of a circuit: the walk of its scheme and strength.

use super::circuit::{Circuit, Estimator, Failure, Plaintexts};
use super::{Assume, Bound, Effects, bfv, ckks, probable};
use crate::Error;
use crate::program::Strength;

impl Circuit<'_> {
    /// Bound on the results of a circuit made by hand under a set, with plaintexts as assumed.
    ///
    /// # Errors
    /// [`Error::Step`] for a step that has no estimate, [`Error::Layout`] for a set or outputs that do not fit.
    pub fn bound(
        &self,
        estimator: &Estimator,
        strength: Strength,
        assume: Assume,
    ) -> Result<Bound, Error> {
        self.check_under(estimator)?;
        let bound = self.walked(estimator, strength, assume, None);
        bound.map_err(|f| self.at(f.step, &self.steps[f.step], f.message))
    }

    /// Bound on the results, for plaintexts that were measured and others as assumed.
    pub(super) fn walked(
        &self,
        estimator: &Estimator,
        strength: Strength,
        assume: Assume,
        measured: Option<&Effects>,
    ) -> Result<Bound, Failure> {
        let plaintexts = Plaintexts::assumed(self, assume, estimator).measured(measured);
        match (estimator, strength) {
            (Estimator::Ckks(e), Strength::Certain) => ckks::bound(&plaintexts, e),
            // What is certain holds with any probability: now and then it is the better bound.
            (Estimator::Ckks(e), Strength::Probable) => {
                let probable = probable::ckks(&plaintexts, e)?;
                Ok(ckks::bound(&plaintexts, e)
                    .map_or(probable, |certain| probable.or_lower(certain)))
            }
            (Estimator::Bfv(e), Strength::Certain) => bfv::bound(&plaintexts, e),
            (Estimator::Bfv(e), Strength::Probable) => {
                let probable = probable::bfv(&plaintexts, e)?;
                let certain = bfv::bound(&plaintexts, e);
                Ok(certain.map_or(probable, |certain| {
                    if certain.bits > probable.bits {
                        certain
                    } else {
                        probable
                    }
                }))
            }
        }
    }
}
