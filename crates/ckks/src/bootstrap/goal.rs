// SPDX-License-Identifier: Apache-2.0
//! What a set with a bootstrapping is planned for.

use super::Message;
use crate::Error;

/// Digits of keys that planned sets have at least.
pub(super) const DIGITS: usize = 3;

/// What a bootstrapping is wanted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapGoal {
    /// Degree of the ring.
    pub n: usize,
    /// Slots of the ciphertexts, a power of two from 2 to n/2.
    pub slots: usize,
    /// Real or complex messages.
    pub message: Message,
    /// Bound on the absolute value of every slot.
    pub bound: f64,
    /// Least levels of the application between two refreshes.
    pub levels: usize,
    /// Most levels: as many as make a level cheapest are taken.
    pub most_levels: usize,
    /// log2 of the error that a refresh may add to a slot.
    pub log2_error: f64,
    /// log2 of the probability that a refresh fails.
    pub log2_failure: f64,
    /// Coefficients ±1 of the sparse secret.
    pub weight: u32,
    /// 1, or 2 for a second refresh, of the first one's error.
    pub passes: u32,
}

impl BootstrapGoal {
    /// Refuses numbers out of range.
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |what, got: String, allowed: &str| {
            Err(Error::Bootstrap {
                what,
                got,
                allowed: allowed.into(),
            })
        };
        if !self.n.is_power_of_two() || !(16..=1 << 17).contains(&self.n) {
            return refuse(
                "the degree",
                self.n.to_string(),
                "a power of two, 16..=131072",
            );
        }
        if !self.slots.is_power_of_two() || !(2..=self.n / 2).contains(&self.slots) {
            let got = format!("{} for n = {}", self.slots, self.n);
            return refuse("the number of slots", got, "a power of two, 2..=n/2");
        }
        if !(1..=self.most_levels).contains(&self.levels) || self.most_levels > 64 {
            let got = format!("{}..={}", self.levels, self.most_levels);
            return refuse(
                "the levels between two refreshes",
                got,
                "1..=64, the least first",
            );
        }
        if !(-100.0..=100.0).contains(&self.log2_error) {
            return refuse("log2_error", self.log2_error.to_string(), "-100..=100");
        }
        if !(self.bound.is_finite() && self.bound > 0.0) {
            return refuse(
                "the bound on messages",
                self.bound.to_string(),
                "finite and above 0",
            );
        }
        if !(-1024.0..=-40.0).contains(&self.log2_failure) {
            let got = self.log2_failure.to_string();
            return refuse("log2_failure", got, "-1024..=-40");
        }
        if !(1..=2).contains(&self.passes) {
            return refuse("the number of passes", self.passes.to_string(), "1 or 2");
        }
        if self.weight == 0 || self.weight as usize > self.n {
            return refuse("the weight", self.weight.to_string(), "1..=n");
        }
        Ok(())
    }

    /// log2 of the error that one pass may add.
    pub(super) fn log2_error_of_pass(&self) -> f64 {
        match self.passes {
            1 => self.log2_error,
            // The second pass leaves the square of the first one's error, over the bound, four times at most.
            _ => (self.log2_error + self.bound.log2() - 3.0) / 2.0,
        }
    }
}
