// SPDX-License-Identifier: Apache-2.0
//! A program part by part.

use super::Program;
use super::arrays::{index_map, numbers};
use super::circuit::{Noise, received, strength};
use super::step::{Giants, Step, encryption, needed, operands, transform};
use crate::bootstrapping::Bootstrapping;
use crate::context::Context;
use crate::errors::Kind;
use crate::numbers::number;
use crate::word_width::WordWidth;
use crate::work::Work;
use ::program::expression::{Expression, PlainOp};
use ::program::step::SourceLine;
use ::program::{
    Argument, Guarantee, Handed, IndexMap, Limits, Parameters, PlaintextSource, Producer, Range,
    Reading, Secrecy,
};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;

/// Makes a program part by part; every part is named by the number that its method returns. `finish` checks all of it.
#[pyclass(module = "ringsmith._native")]
pub struct ProgramBuilder {
    program: ::program::Program,
}

/// The program whose result an argument is: its name and identity; of each ciphertext output, level, scale and noise.
type Maker = (String, [u8; 16], Vec<(u32, u32, f64, Noise)>);

/// The set of a context.
pub fn parameters(context: &Context) -> Parameters {
    match context {
        Context::Ckks(context) => Parameters::Ckks(context.get().params.clone()),
        Context::Bfv(context) => match &context.get().params {
            WordWidth::W64(params) => Parameters::Bfv(params.clone()),
            WordWidth::W128(params) => Parameters::BfvWide(params.clone()),
        },
    }
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
            bootstrapping: None,
            encryption: self::encryption(encryption)?,
            guarantee: Guarantee {
                bits: 0.0,
                failure_bits: 0,
                tolerance: 0.0,
                publish: false,
                strength: ::program::Strength::Certain,
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
            reading: Reading::default(),
        };
        Ok(Self { program })
    }

    /// Sets what refreshes are made of.
    fn bootstrapping(&mut self, own: &Bootstrapping) {
        self.program.bootstrapping = Some(own.inner.clone());
    }

    /// Adds an argument with values from `low` to `high` (BFV: integers). `packing` has the element of every slot of
    /// its ciphertexts, -1 for zero; None: a plain argument.
    ///
    /// `producer`: of one that is the result of another program, which the client does not encrypt: that program's name
    /// and identity (16 bytes), and of each ciphertext its number among the outputs, level, scale and noise (as in
    /// `CkksEstimator.results`); its packing says nothing of slots without an element.
    #[pyo3(signature = (name, shape, low, high, packing=None, producer=None))]
    fn argument(
        &mut self,
        name: String,
        #[pyo3(from_py_with = number)] shape: Vec<u32>,
        low: &Bound<'_, PyAny>,
        high: &Bound<'_, PyAny>,
        packing: Option<PyReadonlyArrayDyn<'_, i64>>,
        producer: Option<Maker>,
    ) -> PyResult<()> {
        let range = match self.program.parameters.plain_modulus() {
            Some(_) => Range::Integers {
                low: number(low)?,
                high: number(high)?,
            },
            None => Range::Reals {
                low: number(low)?,
                high: number(high)?,
            },
        };
        let secrecy = match packing {
            Some(packing) => Secrecy::Encrypted(index_map(&packing)?),
            None => Secrecy::Plain,
        };
        let exact = self.program.parameters.plain_modulus().is_some();
        let handed = |(output, level, scale, noise)| {
            Ok(Handed {
                output,
                level,
                scale,
                noise: received(exact, noise)?,
            })
        };
        let producer = match producer {
            Some(_) if secrecy == Secrecy::Plain => {
                return Err(Kind::Input.error(format!(
                    "argument {name}: a result of another program is encrypted, and has a packing"
                )));
            }
            Some((name, identity, ciphertexts)) => Some(Producer {
                name,
                identity,
                ciphertexts: ciphertexts
                    .into_iter()
                    .map(handed)
                    .collect::<PyResult<_>>()?,
            }),
            None => None,
        };
        self.program.arguments.push(Argument {
            name,
            shape,
            range,
            secrecy,
            producer,
        });
        Ok(())
    }

    /// Adds a plaintext expression. `argument`: which plain one; `values`: float64 or int64, of a constant or a
    /// polynomial; `map`: of a gather; `bound`: of within.
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
        #[pyo3(from_py_with = number)] operands: Vec<u32>,
        #[pyo3(from_py_with = number)] shape: Vec<u32>,
        #[pyo3(from_py_with = number)] argument: Option<u32>,
        values: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = number)] exponent: Option<u32>,
        #[pyo3(from_py_with = number)] axis: Option<u8>,
        map: Option<PyReadonlyArrayDyn<'_, i64>>,
        #[pyo3(from_py_with = number)] bound: Option<f64>,
    ) -> PyResult<usize> {
        let one = || self::operands::<1>(kind, &operands).map(|[a]| a);
        let two = || self::operands::<2>(kind, &operands);
        let read = || numbers(&needed(kind, "values", values.as_ref())?.to_owned());
        let operation = match kind {
            "argument" => PlainOp::Argument(needed(kind, "argument", argument)?),
            "constant" => PlainOp::Constant(read()?),
            "add" => two().map(|[a, b]| PlainOp::Add(a, b))?,
            "subtract" => two().map(|[a, b]| PlainOp::Subtract(a, b))?,
            "multiply" => two().map(|[a, b]| PlainOp::Multiply(a, b))?,
            "matmul" => two().map(|[a, b]| PlainOp::MatMul(a, b))?,
            "negate" => PlainOp::Negate(one()?),
            "power" => PlainOp::Power(one()?, needed(kind, "exponent", exponent)?),
            "polynomial" => PlainOp::Polynomial(one()?, read()?),
            "sum" => PlainOp::Sum(one()?, axis),
            "gather" => {
                let map = index_map(&needed(kind, "map", map)?)?;
                PlainOp::Gather(operands, map)
            }
            "within" => PlainOp::Within(one()?, needed(kind, "bound", bound)?),
            _ => return Err(Kind::Input.error(format!("no expression {kind:?}"))),
        };
        self.program
            .expressions
            .push(Expression { operation, shape });
        Ok(number_of(&self.program.expressions))
    }

    /// Adds a plaintext: `slots` has the element of the expression for every slot, -1 for zero;
    /// none of them exceeds `bound`.
    fn plaintext(
        &mut self,
        #[pyo3(from_py_with = number)] expression: u32,
        slots: PyReadonlyArrayDyn<'_, i64>,
        #[pyo3(from_py_with = number)] bound: f64,
    ) -> PyResult<usize> {
        self.program.plaintexts.push(PlaintextSource {
            expression,
            slots: index_map(&slots)?,
            bound,
        });
        Ok(number_of(&self.program.plaintexts))
    }

    /// Adds a linear transform: giant steps by rising rotation, each with its terms by rising rotation, a term with the
    /// number of its plaintext or -1 for none, which holds for all or none;
    /// `scale` is that of the plaintexts, 1 without.
    fn transform(&mut self, #[pyo3(from_py_with = number)] scale: f64, giants: Giants) -> usize {
        let transform = self::transform(scale, giants);
        self.program.transforms.push(transform);
        number_of(&self.program.transforms)
    }

    /// Adds a line of source.
    fn line(
        &mut self,
        file: String,
        #[pyo3(from_py_with = number)] number: u32,
        text: String,
    ) -> usize {
        self.program.lines.push(SourceLine { file, number, text });
        number_of(&self.program.lines)
    }

    /// Adds an operation.
    fn step(&mut self, step: &Step) -> usize {
        self.program.steps.push(step.inner);
        number_of(&self.program.steps)
    }

    /// The program, checked; element e of its result is slot `r % slots` of output `r // slots`, r being `result[e]`.
    /// `complex`: its first axis holds real and imaginary parts; `divisor`: of the result of BFV.
    #[pyo3(signature = (
        outputs, result_shape, result, *, bits, failure_bits, tolerance, publish, complex=false, divisor=1,
        guarantee="certain"
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python method"
    )]
    fn finish(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] outputs: Vec<u32>,
        #[pyo3(from_py_with = number)] result_shape: Vec<u32>,
        result: PyReadonlyArrayDyn<'_, i64>,
        #[pyo3(from_py_with = number)] bits: f64,
        #[pyo3(from_py_with = number)] failure_bits: u32,
        #[pyo3(from_py_with = number)] tolerance: f64,
        publish: bool,
        complex: bool,
        #[pyo3(from_py_with = number)] divisor: u64,
        guarantee: &str,
    ) -> PyResult<Program> {
        let mut program = self.program.clone();
        program.outputs = outputs;
        program.result_shape = result_shape;
        program.result = index_map(&result)?;
        program.reading = Reading { complex, divisor };
        program.guarantee = Guarantee {
            bits,
            failure_bits,
            tolerance,
            publish,
            strength: strength(guarantee)?,
        };
        let check = || {
            program.check(&Limits::default())?;
            program.check_guarantee()
        };
        py.work::<(), ::program::Error, _>(check)?;
        Ok(Program::of(program))
    }
}
