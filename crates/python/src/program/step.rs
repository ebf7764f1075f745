// SPDX-License-Identifier: Apache-2.0
//! Steps as Python writes them: a kind by name, operands, and what the kind needs besides.

use crate::errors::Kind;
use crate::numbers::number;
use ::program::Encryption;
use ::program::operation::{self, Attributes, Misfit, Operation, Plaintext, Promise};
use ::program::step::Place;
use ::program::transform::{Giant, Term, Transform};
use pyo3::prelude::*;

/// Giant steps by rising rotation, each with its terms by rising rotation:
/// a term has the number of its plaintext or -1.
pub type Giants = Vec<(i32, Vec<(i32, i64)>)>;

/// A homomorphic operation with level, scale and size of its result; `ProgramBuilder.step` and `Circuit.step` add it.
#[pyclass(module = "ringsmith._native", frozen)]
pub struct Step {
    pub inner: ::program::step::Step,
}

#[pymethods]
impl Step {
    /// `kind` is the operation's name. The keywords are what kinds take besides ciphertexts, each for kinds of its own
    /// (-1: none), and the place in the source: a line of the program, columns from 0.
    #[new]
    #[pyo3(signature = (
        kind, operands, level, scale, size, *, plaintext=-1, plain_scale=1.0, rotation=0, bound=f64::INFINITY,
        everywhere=false, error=f64::INFINITY, transform=-1, line=0, column=0, end_column=0
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn new(
        kind: &str,
        #[pyo3(from_py_with = number)] operands: Vec<u32>,
        #[pyo3(from_py_with = number)] level: u32,
        #[pyo3(from_py_with = number)] scale: f64,
        #[pyo3(from_py_with = number)] size: u8,
        #[pyo3(from_py_with = number)] plaintext: i64,
        #[pyo3(from_py_with = number)] plain_scale: f64,
        #[pyo3(from_py_with = number)] rotation: i32,
        #[pyo3(from_py_with = number)] bound: f64,
        everywhere: bool,
        #[pyo3(from_py_with = number)] error: f64,
        #[pyo3(from_py_with = number)] transform: i64,
        #[pyo3(from_py_with = number)] line: u32,
        #[pyo3(from_py_with = number)] column: u16,
        #[pyo3(from_py_with = number)] end_column: u16,
    ) -> PyResult<Self> {
        let scale_of = |number| Plaintext {
            number,
            scale: plain_scale,
        };
        let attributes = Attributes {
            plaintext: u32::try_from(plaintext).ok().map(scale_of),
            rotation: Some(rotation),
            promise: Some(Promise {
                bound,
                everywhere,
                error,
            }),
            transform: u32::try_from(transform).ok(),
        };
        let place = Place {
            line,
            column,
            end_column,
        };
        let inner = ::program::step::Step {
            operation: operation(kind, &operands, &attributes)?,
            level,
            scale,
            size,
            place,
        };
        Ok(Self { inner })
    }
}

fn operation(kind: &str, operands: &[u32], attributes: &Attributes) -> PyResult<Operation> {
    let unknown = || Kind::Input.error(format!("no operation {kind:?}"));
    let named = operation::Kind::named(kind).ok_or_else(unknown)?;
    named.with(operands, attributes).map_err(|misfit| {
        Kind::Input.error(match misfit {
            Misfit::Operands(needed) => {
                format!("{kind} takes {needed} operands, not {}", operands.len())
            }
            Misfit::Lacks(attribute) => format!("{kind} needs {attribute}"),
        })
    })
}

/// `count` operands of an expression.
pub fn operands<const N: usize>(kind: &str, given: &[u32]) -> PyResult<[u32; N]> {
    given
        .try_into()
        .map_err(|_| Kind::Input.error(format!("{kind} takes {N} operands, not {}", given.len())))
}

/// A keyword that a kind of expression needs.
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
