// SPDX-License-Identifier: Apache-2.0
//! Base conversions and moves on the device: their configuration.

use model::{Conversion, Digit};
use zq::Modulus;

use crate::OffloadError;
use crate::stream::partition::modulus;

/// A base conversion from primes of neighbouring lanes to those of all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Lane of the first input prime.
    pub first: u8,
    /// Input primes.
    pub inputs: Vec<u128>,
    /// Output primes, from lane 0 on.
    pub outputs: Vec<u128>,
    /// Numerator t of a rounding; `None`: a plain base conversion of the representative.
    pub numerator: Option<u64>,
    /// Factors of the inputs.
    pub before: Vec<u128>,
    /// Factors of the outputs.
    pub after: Vec<u128>,
}

impl Spec {
    /// Entries of the unit's tables that it takes.
    pub fn entries(&self) -> u32 {
        self.inputs.len() as u32 + 1
    }

    /// Its constants.
    ///
    /// # Errors
    /// [`OffloadError::Shape`] for words that cannot be moduli, or are not distinct.
    pub fn conversion(&self) -> Result<Conversion, OffloadError> {
        let moduli = |values: &[u128]| -> Result<Vec<Modulus<u128>>, OffloadError> {
            values.iter().map(|&value| modulus(value)).collect()
        };
        let (inputs, outputs) = (moduli(&self.inputs)?, moduli(&self.outputs)?);
        let made = match self.numerator {
            None => Conversion::lift(self.first, &inputs, &outputs),
            Some(t) => Conversion::round(self.first, &inputs, &outputs, t),
        };
        let made = made.map_err(|error| OffloadError::Shape {
            what: error.to_string(),
        })?;
        Ok(made.times(&self.before, &self.after))
    }

    /// The same with its results multiplied lane by lane.
    pub fn times_after(&mut self, factors: &[u128]) -> Result<(), OffloadError> {
        multiply(&mut self.after, &self.outputs, factors)
    }

    /// The same of inputs multiplied lane by lane.
    pub fn times_before(&mut self, factors: &[u128]) -> Result<(), OffloadError> {
        multiply(
            &mut self.before,
            &self.inputs,
            &factors[usize::from(self.first)..],
        )
    }
}

fn multiply(all: &mut [u128], moduli: &[u128], factors: &[u128]) -> Result<(), OffloadError> {
    for ((one, &q), &factor) in all.iter_mut().zip(moduli).zip(factors) {
        let q = modulus(q)?;
        *one = q.mul(q.reduce(*one), q.reduce(factor));
    }
    Ok(())
}

/// An operation of the move unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// x -> x^g.
    Automorphism(u16),
    /// By lane its source lane, that lane's prime and its own.
    Digit(Vec<(u8, u128, u128)>),
}

/// The digit that a move is.
///
/// # Errors
/// [`OffloadError::Shape`] for words that cannot be moduli, or do not suit each other.
pub fn digit(shares: &[(u8, u128, u128)]) -> Result<Digit, OffloadError> {
    let share = |&(from, q, p): &(u8, u128, u128)| Ok((from, modulus(q)?, modulus(p)?));
    let shares: Result<Vec<_>, OffloadError> = shares.iter().map(share).collect();
    // Where it is not reduced, a product with a constant follows: see [`crate::stream::legality::is_move`].
    Digit::unreduced(&shares?).map_err(|error| OffloadError::Shape {
        what: error.to_string(),
    })
}
