// SPDX-License-Identifier: Apache-2.0
//! Capabilities of a backend, told before a program is run.

use crate::Error;
use program::{Parameters, Program};
use zq::Word;

/// Names of everything that a program may ask for.
const OPERATIONS: [&str; 18] = [
    "input",
    "encrypt_zero",
    "add",
    "sub",
    "negate",
    "add_plain",
    "sub_plain",
    "multiply_plain",
    "multiply",
    "square",
    "relinearize",
    "rotate",
    "rescale",
    "mod_drop",
    "within",
    "swap_rows",
    "relinearize_rescale",
    "linear_transform",
];

/// The capabilities of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// `"bfv"`, `"ckks"`.
    pub schemes: Vec<&'static str>,
    /// Operations by [`program::step::Operation::name`].
    pub operations: Vec<&'static str>,
    /// Largest ring degree; `None`: any.
    pub max_degree: Option<usize>,
    /// Widest prime in bits.
    pub max_prime_bits: u32,
}

impl Capabilities {
    /// Everything: both schemes, all operations, any degree and prime.
    pub(crate) fn everything() -> Self {
        Self {
            schemes: vec!["bfv", "ckks"],
            operations: OPERATIONS.to_vec(),
            max_degree: None,
            max_prime_bits: u128::MAX_MODULUS_BITS,
        }
    }

    /// Fails for a program that asks for more.
    ///
    /// # Errors
    /// [`Error::Capability`].
    pub fn check(&self, backend: &str, program: &Program) -> Result<(), Error> {
        match self.lack(program) {
            None => Ok(()),
            Some(lack) => Err(Error::Capability {
                backend: backend.into(),
                lack,
            }),
        }
    }

    fn lack(&self, program: &Program) -> Option<String> {
        let parameters = &program.parameters;
        let (scheme, n) = (parameters.scheme(), parameters.n());
        if !self.schemes.contains(&scheme) {
            return Some(format!("has no {scheme}"));
        }
        if let Some(most) = self.max_degree.filter(|most| n > *most) {
            return Some(format!("has degrees up to {most}, not {n}"));
        }
        let widest = widest_prime(parameters);
        if widest > self.max_prime_bits {
            let most = self.max_prime_bits;
            return Some(format!("has primes up to {most} bits, not {widest}"));
        }
        let names = program.steps.iter().map(|step| step.operation.name());
        let mut unknown = names.filter(|name| !self.operations.contains(name));
        unknown
            .next()
            .map(|name| format!("has no operation {name}"))
    }
}

fn widest_prime(parameters: &Parameters) -> u32 {
    let bits = |q: &u128| u128::BITS - q.leading_zeros();
    parameters.primes().iter().map(bits).max().unwrap_or(0)
}
