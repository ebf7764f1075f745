// SPDX-License-Identifier: Apache-2.0
//! A program part by part.

use super::Program;
use super::arrays::{index_map, numbers};
use crate::context::Context;
use crate::errors::Kind;
use crate::words::Words;
use crate::work::Work;
use ::program::expression::{Expression, Operation as Plain};
use ::program::step::{Operation, Place, Plaintext, Promise, SourceLine, Step};
use ::program::transform::{Giant, Term, Transform};
use ::program::{
    Argument, Encryption, Guarantee, IndexMap, Limits, Parameters, PlaintextSource, Range, Secrecy,
};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

/// Makes a program part by part; every part is named by the number that its method returns. `finish` checks all of it.
#[pyclass(module = "ringsmith._native")]
pub struct ProgramBuilder {
    program: ::program::Program,
}

/// The set of a context.
pub fn parameters(context: &Context) -> Parameters {
    match context {
        Context::Ckks(context) => Parameters::Ckks(context.get().params.clone()),
        Context::Bfv(context) => match &context.get().params {
            Words::W64(params) => Parameters::Bfv(params.clone()),
            Words::W128(params) => Parameters::BfvWide(params.clone()),
        },
    }
}

fn encryption(name: &str) -> PyResult<Encryption> {
    match name {
        "secret" => Ok(Encryption::Secret),
        "public" => Ok(Encryption::Public),
        _ => Err(Kind::Input.error(format!("no encryption {name:?}; there are secret, public"))),
    }
}

/// `count` operands.
fn operands<const N: usize>(kind: &str, given: &[u32]) -> PyResult<[u32; N]> {
    given
        .try_into()
        .map_err(|_| Kind::Input.error(format!("{kind} takes {N} operands, not {}", given.len())))
}

/// A keyword that a kind needs.
fn needed<T>(kind: &str, name: &str, value: Option<T>) -> PyResult<T> {
    value.ok_or_else(|| Kind::Input.error(format!("{kind} needs {name}")))
}

fn number_of<T>(items: &[T]) -> usize {
    items.len() - 1
}

#[pymethods]
impl ProgramBuilder {
    /// `encryption`: the key that inputs are encrypted under, "secret" or "public".
    #[new]
    fn new(name: String, variant: String, context: Context, encryption: &str) -> PyResult<Self> {
        let program = ::program::Program {
            name,
            variant,
            parameters: parameters(&context),
            encryption: self::encryption(encryption)?,
            guarantee: Guarantee {
                bits: 0.0,
                failure_bits: 0,
                tolerance: 0.0,
                publish: false,
            },
            arguments: vec![],
            expressions: vec![],
            plaintexts: vec![],
            transforms: vec![],
            lines: vec![],
            steps: vec![],
            outputs: vec![],
            result_shape: vec![],
            result: IndexMap::default(),
        };
        Ok(Self { program })
    }

    /// Adds an argument with values from `low` to `high` (BFV: integers). `packing` has the element of every slot of its
    /// ciphertexts, -1 for zero; None: a plain argument.
    #[pyo3(signature = (name, shape, low, high, packing=None))]
    fn argument(
        &mut self,
        name: String,
        shape: Vec<u32>,
        low: &Bound<'_, PyAny>,
        high: &Bound<'_, PyAny>,
        packing: Option<PyReadonlyArrayDyn<'_, i64>>,
    ) -> PyResult<()> {
        let range = match self.program.parameters.plain_modulus() {
            Some(_) => Range::Integers {
                low: low.extract()?,
                high: high.extract()?,
            },
            None => Range::Reals {
                low: low.extract()?,
                high: high.extract()?,
            },
        };
        let secrecy = match packing {
            Some(packing) => Secrecy::Encrypted(index_map(&packing)?),
            None => Secrecy::Plain,
        };
        self.program.arguments.push(Argument {
            name,
            shape,
            range,
            secrecy,
        });
        Ok(())
    }

    /// Adds a plaintext expression. `argument`: which plain one; `values`: float64 or int64, of a constant or a polynomial;
    /// `map`: of a gather; `bound`: of within.
    #[pyo3(signature = (
        kind, operands, shape, *, argument=None, values=None, exponent=None, axis=None, map=None, bound=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn expression(
        &mut self,
        kind: &str,
        operands: Vec<u32>,
        shape: Vec<u32>,
        argument: Option<u32>,
        values: Option<Bound<'_, PyAny>>,
        exponent: Option<u32>,
        axis: Option<u8>,
        map: Option<PyReadonlyArrayDyn<'_, i64>>,
        bound: Option<f64>,
    ) -> PyResult<usize> {
        let one = || self::operands::<1>(kind, &operands).map(|[a]| a);
        let two = || self::operands::<2>(kind, &operands);
        let read = || numbers(&needed(kind, "values", values.as_ref())?.to_owned());
        let operation = match kind {
            "argument" => Plain::Argument(needed(kind, "argument", argument)?),
            "constant" => Plain::Constant(read()?),
            "add" => two().map(|[a, b]| Plain::Add(a, b))?,
            "subtract" => two().map(|[a, b]| Plain::Subtract(a, b))?,
            "multiply" => two().map(|[a, b]| Plain::Multiply(a, b))?,
            "matmul" => two().map(|[a, b]| Plain::MatMul(a, b))?,
            "negate" => Plain::Negate(one()?),
            "power" => Plain::Power(one()?, needed(kind, "exponent", exponent)?),
            "polynomial" => Plain::Polynomial(one()?, read()?),
            "sum" => Plain::Sum(one()?, axis),
            "gather" => {
                let map = index_map(&needed(kind, "map", map)?)?;
                Plain::Gather(operands, map)
            }
            "within" => Plain::Within(one()?, needed(kind, "bound", bound)?),
            _ => return Err(Kind::Input.error(format!("no expression {kind:?}"))),
        };
        self.program
            .expressions
            .push(Expression { operation, shape });
        Ok(number_of(&self.program.expressions))
    }

    /// Adds a plaintext: `slots` has the element of the expression for every slot, -1 for zero; none of them exceeds `bound`.
    fn plaintext(
        &mut self,
        expression: u32,
        slots: PyReadonlyArrayDyn<'_, i64>,
        bound: f64,
    ) -> PyResult<usize> {
        self.program.plaintexts.push(PlaintextSource {
            expression,
            slots: index_map(&slots)?,
            bound,
        });
        Ok(number_of(&self.program.plaintexts))
    }

    /// Adds a linear transform: giant steps by rising rotation, each with its terms by rising rotation, a term with the number
    /// of its plaintext or -1 for none, which holds for all or none; `scale` is that of the plaintexts, 1 without.
    fn transform(&mut self, scale: f64, giants: Vec<(i32, Vec<(i32, i64)>)>) -> usize {
        let term = |(rotation, plaintext): (i32, i64)| Term {
            rotation,
            plaintext: u32::try_from(plaintext).ok(),
        };
        let giant = |(rotation, terms): (i32, Vec<(i32, i64)>)| Giant {
            rotation,
            terms: terms.into_iter().map(term).collect(),
        };
        let giants = giants.into_iter().map(giant).collect();
        self.program.transforms.push(Transform { scale, giants });
        number_of(&self.program.transforms)
    }

    /// Adds a line of source.
    fn line(&mut self, file: String, number: u32, text: String) -> usize {
        self.program.lines.push(SourceLine { file, number, text });
        number_of(&self.program.lines)
    }

    /// Adds an operation; level, scale and size are its result's. `bound` and `everywhere` are of "within", `transform` of
    /// "linear_transform".
    #[pyo3(signature = (
        kind, operands, level, scale, size, *, plaintext=-1, plain_scale=1.0, rotation=0, bound=f64::INFINITY,
        everywhere=false, transform=-1, line=0, column=0, end_column=0
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn step(
        &mut self,
        kind: &str,
        operands: Vec<u32>,
        level: u32,
        scale: f64,
        size: u8,
        plaintext: i64,
        plain_scale: f64,
        rotation: i32,
        bound: f64,
        everywhere: bool,
        transform: i64,
        line: u32,
        column: u16,
        end_column: u16,
    ) -> PyResult<usize> {
        let none = || self::operands::<0>(kind, &operands);
        let one = || self::operands::<1>(kind, &operands).map(|[a]| a);
        let two = || self::operands::<2>(kind, &operands);
        let plain = || {
            let number = needed(kind, "plaintext", u32::try_from(plaintext).ok())?;
            let scale = plain_scale;
            PyResult::Ok(Plaintext { number, scale })
        };
        let operation = match kind {
            "input" => none().map(|_| Operation::Input)?,
            "encrypt_zero" => none().map(|_| Operation::EncryptZero)?,
            "add" => two().map(|[a, b]| Operation::Add(a, b))?,
            "sub" => two().map(|[a, b]| Operation::Sub(a, b))?,
            "negate" => Operation::Negate(one()?),
            "add_plain" => Operation::AddPlain(one()?, plain()?),
            "sub_plain" => Operation::SubPlain(one()?, plain()?),
            "multiply_plain" => Operation::MultiplyPlain(one()?, plain()?),
            "multiply" => two().map(|[a, b]| Operation::Multiply(a, b))?,
            "square" => Operation::Square(one()?),
            "relinearize" => Operation::Relinearize(one()?),
            "rotate" => Operation::Rotate(one()?, rotation),
            "rescale" => Operation::Rescale(one()?),
            "mod_drop" => Operation::ModDrop(one()?),
            "within" => Operation::Within(one()?, Promise { bound, everywhere }),
            "swap_rows" => Operation::SwapRows(one()?),
            "relinearize_rescale" => Operation::RelinearizeRescale(one()?),
            "linear_transform" => {
                let number = needed(kind, "transform", u32::try_from(transform).ok())?;
                Operation::LinearTransform(one()?, number)
            }
            _ => return Err(Kind::Input.error(format!("no operation {kind:?}"))),
        };
        let place = Place {
            line,
            column,
            end_column,
        };
        self.program.steps.push(Step {
            operation,
            level,
            scale,
            size,
            place,
        });
        Ok(number_of(&self.program.steps))
    }

    /// The program, checked; element e of its result is slot `r % slots` of output `r // slots`, r being `result[e]`.
    #[pyo3(signature = (outputs, result_shape, result, *, bits, failure_bits, tolerance, publish))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn finish(
        &mut self,
        py: Python<'_>,
        outputs: Vec<u32>,
        result_shape: Vec<u32>,
        result: PyReadonlyArrayDyn<'_, i64>,
        bits: f64,
        failure_bits: u32,
        tolerance: f64,
        publish: bool,
    ) -> PyResult<Program> {
        let mut program = self.program.clone();
        program.outputs = outputs;
        program.result_shape = result_shape;
        program.result = index_map(&result)?;
        program.guarantee = Guarantee {
            bits,
            failure_bits,
            tolerance,
            publish,
        };
        let check = || {
            program.check(&Limits::default())?;
            program.check_guarantee()
        };
        py.work::<(), ::program::Error, _>(check)?;
        Ok(Program::of(program))
    }
}
