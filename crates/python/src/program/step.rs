// SPDX-License-Identifier: Apache-2.0
//! Steps as Python writes them: a kind by name, operands, and what the kind needs besides.

use crate::errors::Kind;
use ::program::Encryption;
use ::program::step::{Operation, Plaintext, Promise};
use ::program::transform::{Giant, Term, Transform};
use pyo3::prelude::*;

/// Giant steps by rising rotation, each with its terms by rising rotation:
/// a term has the number of its plaintext or -1.
pub type Giants = Vec<(i32, Vec<(i32, i64)>)>;

/// The fields of a step, as Python gives them.
pub struct StepArguments<'a> {
    pub kind: &'a str,
    pub operands: &'a [u32],
    pub plaintext: i64,
    pub plain_scale: f64,
    pub rotation: i32,
    pub promise: Promise,
    pub transform: i64,
}

impl StepArguments<'_> {
    fn operands<const N: usize>(&self) -> PyResult<[u32; N]> {
        operands(self.kind, self.operands)
    }

    /// The operation of that name.
    pub fn operation(&self) -> PyResult<Operation> {
        let kind = self.kind;
        let one = || self.operands::<1>().map(|[a]| a);
        let two = || self.operands::<2>();
        let plain = || {
            let number = needed(kind, "plaintext", u32::try_from(self.plaintext).ok())?;
            let scale = self.plain_scale;
            PyResult::Ok(Plaintext { number, scale })
        };
        Ok(match kind {
            "input" => self.operands::<0>().map(|_| Operation::Input)?,
            "encrypt_zero" => self.operands::<0>().map(|_| Operation::EncryptZero)?,
            "add" => two().map(|[a, b]| Operation::Add(a, b))?,
            "sub" => two().map(|[a, b]| Operation::Sub(a, b))?,
            "negate" => Operation::Negate(one()?),
            "add_plain" => Operation::AddPlain(one()?, plain()?),
            "sub_plain" => Operation::SubPlain(one()?, plain()?),
            "multiply_plain" => Operation::MultiplyPlain(one()?, plain()?),
            "multiply" => two().map(|[a, b]| Operation::Multiply(a, b))?,
            "square" => Operation::Square(one()?),
            "relinearize" => Operation::Relinearize(one()?),
            "rotate" => Operation::Rotate(one()?, self.rotation),
            "rescale" => Operation::Rescale(one()?),
            "mod_drop" => Operation::ModDrop(one()?),
            "within" => Operation::Within(one()?, self.promise),
            "swap_rows" => Operation::SwapRows(one()?),
            "relinearize_rescale" => Operation::RelinearizeRescale(one()?),
            "linear_transform" => {
                let number = needed(kind, "transform", u32::try_from(self.transform).ok())?;
                Operation::LinearTransform(one()?, number)
            }
            _ => return Err(Kind::Input.error(format!("no operation {kind:?}"))),
        })
    }
}

/// `count` operands.
pub fn operands<const N: usize>(kind: &str, given: &[u32]) -> PyResult<[u32; N]> {
    given
        .try_into()
        .map_err(|_| Kind::Input.error(format!("{kind} takes {N} operands, not {}", given.len())))
}

/// A keyword that a kind needs.
pub fn needed<T>(kind: &str, name: &str, value: Option<T>) -> PyResult<T> {
    value.ok_or_else(|| Kind::Input.error(format!("{kind} needs {name}")))
}

/// The key of that name.
pub fn encryption(name: &str) -> PyResult<Encryption> {
    let found = Encryption::ALL.into_iter().find(|e| e.name() == name);
    found.ok_or_else(|| {
        let known = Encryption::ALL.map(Encryption::name).join(", ");
        Kind::Input.error(format!("no encryption {name:?}; there are {known}"))
    })
}

/// A linear transform with plaintexts at a scale, 1 without.
pub fn transform(scale: f64, giants: Giants) -> Transform {
    let term = |(rotation, plaintext): (i32, i64)| Term {
        rotation,
        plaintext: u32::try_from(plaintext).ok(),
    };
    let giant = |(rotation, terms): (i32, Vec<(i32, i64)>)| Giant {
        rotation,
        terms: terms.into_iter().map(term).collect(),
    };
    let giants = giants.into_iter().map(giant).collect();
    Transform { scale, giants }
}
