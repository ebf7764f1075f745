// SPDX-License-Identifier: Apache-2.0
//! Base conversions on the device: those that its unit can do, and what it is told of one.

use isa::{BuildInfo, Op};
use model::{Conversion, MOST_PRIMES};
use polynomial::{Bundle, Graph, Operation};
use zq::{Modulus, Word};

use super::section::{Layout, modulus};
use crate::OffloadError;

/// A base conversion from primes of neighbouring lanes to those of all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Lane of the first input prime.
    pub first: u8,
    /// Input primes.
    pub inputs: Vec<u128>,
    /// Output primes, from lane 0 on.
    pub outputs: Vec<u128>,
    /// What is rounded is so many times the input; `None`: nothing is, the representative is converted.
    pub numerator: Option<u64>,
    /// What the inputs are multiplied by before.
    pub before: Vec<u128>,
    /// What the outputs are multiplied by after.
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
    /// Primes that are none, or twice the same.
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

/// Whether an operation is a base conversion.
pub fn is_conversion(operation: &Operation) -> bool {
    matches!(operation, Operation::Convert | Operation::Round { .. })
}

/// Whether the build's unit can do a conversion: its input primes stand side by side in the lanes of one section, the unit's
/// tables hold its constants, and all primes are among the usable.
pub fn fits<W: Word>(
    info: &BuildInfo,
    (graph, layout): (&Graph<W>, &Layout),
    usable: &[bool],
    bundle: &Bundle,
) -> bool {
    let Some(unit) = info.rns.filter(|_| info.has(Op::Lift)) else {
        return false;
    };
    let inputs = graph.moduli_of(&bundle.operands[0]);
    let places: Vec<(usize, usize)> = inputs.iter().map(|&m| layout.place(m)).collect();
    let side_by_side =
        |pair: &[(usize, usize)]| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1;
    // A section that works in half of a ring has no coefficients to convert.
    layout.halves == 1
        && inputs.len() <= MOST_PRIMES
        && inputs.len() < unit.entries as usize
        && places.windows(2).all(side_by_side)
        && inputs
            .iter()
            .chain(&bundle.moduli)
            .all(|&m| usable[usize::from(m)])
}
