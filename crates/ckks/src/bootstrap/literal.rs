// SPDX-License-Identifier: Apache-2.0
//! A bootstrapping as it is wished for, unchecked.

use crate::{CkksParams, Error};

/// log2 of the largest factor between the scale of a ciphertext that is refreshed and the set's.
pub const SCALE_ROOM: f64 = 0.25;

/// Least −log2 of the ratio of message to modulus.
pub(super) const MIN_LOG2_RATIO: f64 = 3.0;

/// What the slots hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Message {
    /// Real numbers: one reduction for all of them.
    #[default]
    Real,
    /// Complex numbers: real and imaginary parts are reduced apart, at twice the price.
    Complex,
}

/// Unchecked input of [`BootstrapParams`]; any field may be wrong.
///
/// The chain of the main set is, from below: q[0], at which the modulus is raised; `slots_to_coeffs` primes; the
/// levels of the application; those of the reduction; `coeffs_to_slots` primes at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct BootstrapLiteral {
    /// Slots of the ciphertexts, a power of two from 2 to n/2.
    pub slots: usize,
    /// Real or complex messages.
    pub message: Message,
    /// Bound on the absolute value of every slot (of real and imaginary part apart).
    pub bound: f64,
    /// Levels, and factors, of the transform before the modulus is raised.
    pub slots_to_coeffs: usize,
    /// Levels, and factors, of the transform after it.
    pub coeffs_to_slots: usize,
    /// −log2 of the largest message, as a coefficient, to q[0]. A larger one bends less and is rounded more.
    pub log2_ratio: f64,
    /// Coefficients ±1 of the sparse secret.
    pub weight: u32,
    /// log2 of the probability, for each refresh, that an overflow exceeds what the reduction covers.
    pub log2_failure: f64,
    /// Degree of the cosine, even.
    pub degree: usize,
    /// Double angles.
    pub doublings: u32,
    /// Degree of the arcsine, 1, 3, 5 or 7; 1 for none.
    pub arcsine: u32,
    /// 1, or 2 for a second refresh, of the first one's error, which takes one level more and twice the time.
    pub passes: u32,
    /// Bytes that the keys may take as they are sent; none for as many as the fastest refresh takes. Fewer keys mean
    /// more key switches, and other keys: both sides have to name the same limit.
    pub key_bytes: Option<usize>,
}

impl Default for BootstrapLiteral {
    /// Degree 30 with three double angles for a sparse secret of weight 32, failing with probability below 2^-128.
    fn default() -> Self {
        Self {
            slots: 0,
            message: Message::Real,
            bound: 1.0,
            slots_to_coeffs: 3,
            coeffs_to_slots: 4,
            log2_ratio: 10.0,
            weight: 32,
            log2_failure: -128.0,
            degree: 30,
            doublings: 3,
            arcsine: 1,
            passes: 1,
            key_bytes: None,
        }
    }
}

impl BootstrapLiteral {
    /// Refuses numbers out of range for a set.
    pub(super) fn check(&self, main: &CkksParams) -> Result<(), Error> {
        let refuse =
            |what, got: String, allowed: String| Err(Error::Bootstrap { what, got, allowed });
        let slots = self.slots;
        if !slots.is_power_of_two() || !(2..=main.slots()).contains(&slots) {
            let allowed = format!("a power of two, 2..={}", main.slots());
            return refuse("the number of slots", slots.to_string(), allowed);
        }
        let log = slots.trailing_zeros() as usize;
        for (what, count) in [
            (
                "the number of levels of slots to coefficients",
                self.slots_to_coeffs,
            ),
            (
                "the number of levels of coefficients to slots",
                self.coeffs_to_slots,
            ),
        ] {
            if !(1..=log).contains(&count) {
                return refuse(
                    what,
                    count.to_string(),
                    format!("1..={log} for {slots} slots"),
                );
            }
        }
        if !(self.bound.is_finite() && self.bound > 0.0) {
            return refuse(
                "the bound on messages",
                self.bound.to_string(),
                "finite and above 0".into(),
            );
        }
        if !(MIN_LOG2_RATIO..=40.0).contains(&self.log2_ratio) {
            return refuse("log2_ratio", self.log2_ratio.to_string(), "3..=40".into());
        }
        if !(1..=2).contains(&self.passes) {
            return refuse(
                "the number of passes",
                self.passes.to_string(),
                "1 or 2".into(),
            );
        }
        if !(-1024.0..=-40.0).contains(&self.log2_failure) {
            return refuse(
                "log2_failure",
                self.log2_failure.to_string(),
                "-1024..=-40".into(),
            );
        }
        Ok(())
    }
}
