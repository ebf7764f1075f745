// SPDX-License-Identifier: Apache-2.0
//! Checks of a program's guarantee against its noise bound: when it is read, and for the actual values of plaintexts.

use super::text::{power_of_two, three_digits};
use super::{Assume, Bound, Effects, ckks};
use crate::Error;
use crate::program::Program;
use ::ckks as ckks_scheme;
use rlwe::Threads;

/// By how many bits two computations of one bound may differ: what rounding can change.
const SLACK: f64 = 1e-6;

impl Program {
    /// Whether a bound is within the program's guarantee.
    fn keeps(&self, bound: &Bound) -> bool {
        let promised = self.guarantee.bits;
        bound.overflow_bits <= SLACK
            && match self.parameters.plain_modulus() {
                Some(_) => bound.bits >= promised - SLACK,
                None => bound.bits <= promised + SLACK,
            }
    }

    /// Whether there are plaintexts under which the guarantee would not hold:
    /// then they are measured before they are used.
    ///
    /// # Errors
    /// As [`Program::bound`].
    pub fn needs_measuring(&self) -> Result<bool, Error> {
        Ok(!self.encodings().is_empty() && !self.keeps(&self.bound(Assume::All, None)?))
    }

    /// Refuses plaintexts, measured, under which the guarantee would not hold.
    ///
    /// # Errors
    /// [`Error::Values`] naming the plain arguments that have part in the worst of them.
    pub fn check_plaintexts(&self, effects: &Effects) -> Result<(), Error> {
        self.check_effects(effects, || self.bound(Assume::None, Some(effects)))
    }

    /// The same with what finds the bound under them.
    fn check_effects(
        &self,
        effects: &Effects,
        bound: impl FnOnce() -> Result<Bound, Error>,
    ) -> Result<(), Error> {
        let ordinary = self.ordinary_effect();
        if let Some((worst, effect)) = effects.largest()
            && !(effect <= ordinary || self.keeps(&bound()?))
        {
            return Err(self.refused(self.harm(worst, effect, ordinary)));
        }
        Ok(())
    }

    fn harm(&self, plaintext: u32, effect: f64, ordinary: f64) -> String {
        let bits = self.guarantee.bits;
        let (harm, promise) = if self.parameters.plain_modulus().is_some() {
            let (effect, ordinary) = (effect / 2.0, ordinary / 2.0);
            (
                format!(
                    "multiply noise by up to 2^{effect:.1}, ordinary values by at most 2^{ordinary:.1}"
                ),
                format!(
                    "the result might decrypt wrongly ({bits:.1} bits of noise budget are promised)"
                ),
            )
        } else {
            (
                format!(
                    "lose up to {} units of their scale in rounding, ordinary values at most {}",
                    three_digits(effect),
                    three_digits(ordinary)
                ),
                format!(
                    "the error might exceed {}, which is promised",
                    power_of_two(bits)
                ),
            )
        };
        format!(
            "the values of {} {harm}: {promise}; make the kernel with worst_case=True, which makes room for any values",
            self.origin(plaintext)
        )
    }

    /// Checks that the engine's own estimate bears out the guarantee, with constants measured where they matter and
    /// ordinary values of arguments, and that it is what was asked for. The program was checked ([`Program::check`]).
    ///
    /// # Errors
    /// [`Error::Guarantee`]; [`Error::Step`] for a step that overflows;
    /// [`Error::Values`] for constants that are contrived.
    pub fn check_guarantee(&self) -> Result<(), Error> {
        self.check_wish()?;
        self.check_refreshes()?;
        let circuit = self.known()?;
        let bound = self.bound_of(&circuit, Assume::None, None)?;
        if bound.overflow_bits > SLACK || !self.keeps(&bound) {
            // In tiny rings the worst plaintexts do less than the limit that ordinary ones are sure to keep.
            let worst = self.bound_of(&circuit, Assume::All, None)?;
            if worst.overflow_bits <= SLACK && self.keeps(&worst) {
                return Ok(());
            }
        }
        if bound.overflow_bits > SLACK {
            return Err(self.overflow(&bound));
        }
        if !self.keeps(&bound) {
            let (promised, found) = (self.guarantee.bits, bound.bits);
            return Err(Error::Guarantee(match self.parameters.plain_modulus() {
                Some(_) => format!(
                    "the program promises more than the engine's own estimate: {promised:.2} bits of noise budget, {found:.2} are sure"
                ),
                None => format!(
                    "the program promises more than the engine's own estimate: errors of at most 2^{promised:.2}, they may reach 2^{found:.2}"
                ),
            }));
        }
        let constants = self.constant_encodings();
        if constants.is_empty() || self.keeps(&self.bound_of(&circuit, Assume::Constants, None)?) {
            return Ok(());
        }
        let numbers: Vec<u32> = constants.iter().map(|c| c.0).collect();
        let values = self.evaluate_constants(&numbers)?;
        let effects = self.measure_encodings(&values, &constants, &Threads::ONE)?;
        self.check_effects(&effects, || {
            self.bound_of(&circuit, Assume::None, Some(&effects))
        })
    }

    /// The probabilities that refreshes fail add up: to half of what the program states, the other half is noise's.
    fn check_refreshes(&self) -> Result<(), Error> {
        let (count, stated) = (self.refreshes(), self.noise_failure_bits());
        let Some(own) = self.bootstrapping.as_ref().filter(|_| count > 0) else {
            return Ok(());
        };
        let refused = |e: ckks_scheme::Error| Error::Parameters(format!("bootstrapping: {e}"));
        let each = own.params().log2_failure().map_err(refused)?;
        let all = each + (count as f64).log2();
        if all <= -f64::from(stated) {
            return Ok(());
        }
        Err(Error::Guarantee(format!(
            "{count} refreshes fail with probability 2^{all:.1} in all, 2^-{stated} is their share of what the program \
             states; a larger bound on the overflow (log2_failure) or a lighter sparse secret fails less often"
        )))
    }

    fn constant_encodings(&self) -> Vec<(u32, f64)> {
        let circuit = self.circuit();
        let constant = |(number, scale, _): (u32, f64, u32)| {
            let constant = circuit.plaintexts[number as usize].constant;
            constant.then_some((number, scale))
        };
        let encoded = circuit.encodings();
        encoded.into_iter().filter_map(constant).collect()
    }

    /// Checks the promised bits against the tolerance and the room for publication.
    fn check_wish(&self) -> Result<(), Error> {
        let g = &self.guarantee;
        let exact = self.parameters.plain_modulus().is_some();
        let publication = match (g.publish, exact) {
            (false, _) => 0.0,
            (true, true) => bfv::Publication::with_budget(0.0).budget_needed(self.parameters.n()),
            (true, false) => ckks::log2_publication(self.parameters.n(), g.failure_bits),
        };
        if exact && g.bits < publication - SLACK {
            return Err(Error::Guarantee(format!(
                "publishing a result takes {publication:.2} bits of noise budget, the program promises {:.2}",
                g.bits
            )));
        }
        let reached = g.bits + publication;
        if !exact && reached > g.tolerance.log2() + SLACK {
            return Err(Error::Guarantee(format!(
                "a result's error may reach {}, the tolerance is {}",
                power_of_two(reached),
                three_digits(g.tolerance)
            )));
        }
        Ok(())
    }

    fn overflow(&self, bound: &Bound) -> Error {
        let step = &self.steps[bound.step];
        let message = format!(
            "value and error need {:.1} bits more than the modulus has at level {} (scale 2^{:.1})",
            bound.overflow_bits,
            step.level,
            step.scale.log2()
        );
        self.at(bound.step, message)
    }
}
