// SPDX-License-Identifier: Apache-2.0
//! Programs of operations on residue polynomials, put together in Python, computed here or on a device.

use crate::arrays::elements;
use crate::device::Device;
use crate::errors::{Kind, OrRaise, Raise};
use crate::numbers::number;
use crate::watch::watched;
use crate::work::Failure;
use ::backend::Observer;
use numpy::{PyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use offload::{Ended, Offer, OffloadError, Progress};
use polynomial::{BuildError, Builder, Form, Graph, Host, Limb, Memory, PolyOp, Words};
use pyo3::prelude::*;
use rns::RnsError;
use std::sync::Arc;

/// The name of all operations of a program in reports.
const TASK: &str = "trace";
/// Degrees of programs at most, and moduli.
const MOST_DEGREE: usize = 1 << 17;
const MOST_MODULI: usize = 1 << 12;

impl Raise for BuildError {
    fn kind(&self) -> Kind {
        match self {
            Self::Modulus(_) => Kind::Parameter,
            _ => Kind::Input,
        }
    }
}

impl Raise for RnsError {
    fn kind(&self) -> Kind {
        Kind::Parameter
    }
}

/// A program of operations on polynomials modulo x^n + 1 and primes below 2^64. Limbs, each a polynomial modulo one
/// prime, have numbers; an operation on several limbs, of a modulus each, gives as many with numbers that follow.
#[pyclass(module = "ringsmith._native")]
pub struct Polynomials {
    builder: Builder<u128>,
}

fn form(name: &str) -> PyResult<Form> {
    match name {
        "coefficients" => Ok(Form::Coefficients),
        "values" => Ok(Form::Values),
        _ => Err(Kind::Input.error(format!("form {name:?}: coefficients or values"))),
    }
}

fn operation(name: &str, constants: Vec<u128>) -> PyResult<PolyOp> {
    let scales = matches!(name, "scale" | "scale_add");
    if !scales && !constants.is_empty() {
        return Err(Kind::Input.error(format!("{name} takes no constants")));
    }
    Ok(match name {
        "ntt" => PolyOp::Ntt,
        "intt" => PolyOp::Intt,
        "add" => PolyOp::Add,
        "sub" => PolyOp::Sub,
        "neg" => PolyOp::Neg,
        "mul" => PolyOp::Mul,
        "mul_add" => PolyOp::MulAdd,
        "scale" => PolyOp::Scale(constants),
        "scale_add" => PolyOp::ScaleAdd(constants),
        _ => {
            return Err(Kind::Input.error(format!(
                "{name:?} is no operation: ntt, intt, add, sub, neg, mul, mul_add, scale or scale_add"
            )));
        }
    })
}

fn first(limbs: Result<Vec<Limb>, BuildError>) -> PyResult<u32> {
    Ok(limbs.or_raise()?.first().map_or(0, |limb| limb.0))
}

#[pymethods]
impl Polynomials {
    /// An empty program. `families`: moduli that are worked on side by side, each with the 2n-th root of its transform,
    /// 0 for the smallest one; a modulus has the number of its place in all.
    #[new]
    fn new(
        #[pyo3(from_py_with = number)] n: usize,
        families: Vec<Vec<(u64, u64)>>,
    ) -> PyResult<Self> {
        let count: usize = families.iter().map(Vec::len).sum();
        if n > MOST_DEGREE || count > MOST_MODULI {
            return Err(Kind::Parameter.error(format!(
                "n = {n} and {count} moduli; at most {MOST_DEGREE} and {MOST_MODULI}"
            )));
        }
        let one = |(q, root): (u64, u64)| (u128::from(q), (root > 0).then_some(u128::from(root)));
        let families: Vec<Vec<_>> = families
            .into_iter()
            .map(|family| family.into_iter().map(one).collect())
            .collect();
        let builder = Builder::new(n, &families, TASK).or_raise()?;
        Ok(Self { builder })
    }

    /// The next polynomial given to `run`, as coefficients or values, modulo the moduli of these numbers; its first
    /// limb.
    fn source(
        &mut self,
        form: &str,
        #[pyo3(from_py_with = number)] moduli: Vec<u16>,
    ) -> PyResult<u32> {
        first(self.builder.source(self::form(form)?, moduli))
    }

    /// An operation limb by limb: ntt, intt, neg of one operand, add, sub, mul of two, mul_add (a b + c) of three,
    /// scale (a by a constant for each limb), scale_add (the same plus b); the limbs of the result.
    #[pyo3(signature = (operation, operands, constants=Vec::new()))]
    fn apply(
        &mut self,
        operation: &str,
        operands: Vec<Vec<u32>>,
        #[pyo3(from_py_with = number)] constants: Vec<u128>,
    ) -> PyResult<Vec<u32>> {
        let operation = self::operation(operation, constants)?;
        let limbs = self.builder.by_limb(operation, &operands).or_raise()?;
        Ok(limbs.into_iter().map(|limb| limb.0).collect())
    }

    /// The image under x -> x^element; its first limb.
    fn permute(
        &mut self,
        #[pyo3(from_py_with = number)] operand: Vec<u32>,
        #[pyo3(from_py_with = number)] element: u64,
        form: &str,
    ) -> PyResult<u32> {
        let form = self::form(form)?;
        first(
            self.builder
                .by_limb(PolyOp::Permute { element, form }, &[operand]),
        )
    }

    /// The centred representative of limbs, coefficients, modulo other primes; its first limb.
    fn convert(
        &mut self,
        #[pyo3(from_py_with = number)] operand: Vec<u32>,
        #[pyo3(from_py_with = number)] moduli: Vec<u16>,
    ) -> PyResult<u32> {
        first(self.builder.convert(&operand, &moduli))
    }

    /// round(t x / D) - t x / D modulo other primes, of limbs modulo the factors of D, coefficients; its first limb.
    fn round(
        &mut self,
        #[pyo3(from_py_with = number)] operand: Vec<u32>,
        #[pyo3(from_py_with = number)] moduli: Vec<u16>,
        #[pyo3(from_py_with = number)] numerator: u64,
    ) -> PyResult<u32> {
        first(self.builder.round(&operand, &moduli, numerator))
    }

    /// Limbs that `run` returns, after those before.
    fn output(&mut self, #[pyo3(from_py_with = number)] limbs: Vec<u32>) -> PyResult<()> {
        self.builder.output(&limbs).or_raise()
    }

    /// Compute the outputs, a row each, from the sources: for each an array of uint64 with a row of n residues for each
    /// limb. On a device, if one is given, whose usage then tells what it took; `alone`: refused if the host would do
    /// something.
    #[pyo3(signature = (sources, device=None, *, alone=false))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        sources: Vec<PyReadonlyArrayDyn<'py, u64>>,
        device: Option<&Device>,
        alone: bool,
    ) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let given = self.given(&sources)?;
        let graph = self.builder.graph();
        let rows = watched(py, None, |observer| {
            outputs(graph, &given, device, alone, observer)
        })?;
        let n = graph.n();
        let shaped = numpy::ndarray::Array2::from_shape_vec((rows.len() / n, n), rows);
        let shaped = shaped.map_err(|error| Kind::Other.error(error))?;
        Ok(PyArray2::from_owned_array(py, shaped))
    }
}

impl Polynomials {
    fn given(&self, sources: &[PyReadonlyArrayDyn<'_, u64>]) -> PyResult<Given> {
        let (graph, known) = (self.builder.graph(), self.builder.sources());
        if sources.len() != known.len() {
            let (found, needed) = (sources.len(), known.len());
            return Err(Kind::Input.error(format!("{found} sources, {needed} are needed")));
        }
        let mut all = Vec::with_capacity(sources.len());
        for (at, (source, moduli)) in sources.iter().zip(known).enumerate() {
            if source.shape() != [moduli.len(), graph.n()] {
                let (shape, rows, n) = (source.shape(), moduli.len(), graph.n());
                return Err(Kind::Input.error(format!(
                    "source {at} has the shape {shape:?}, {rows} rows of {n} residues are needed"
                )));
            }
            let words = elements(source);
            for (row, m) in words.chunks_exact(graph.n()).zip(moduli) {
                let q = graph.plans()[usize::from(*m)].modulus().value();
                if let Some(word) = row.iter().find(|word| u128::from(**word) >= q) {
                    return Err(Kind::Input.error(format!(
                        "source {at} has the word {word}, which is not below the modulus {q}"
                    )));
                }
            }
            all.push(words.into_owned());
        }
        Ok(Given { n: graph.n(), all })
    }
}

/// The sources as they were given.
struct Given {
    n: usize,
    all: Vec<Vec<u64>>,
}

impl Host<u128> for Given {
    type Error = RnsError;

    fn source(&self, number: u32) -> Result<Vec<Words<u128>>, RnsError> {
        let words = |row: &[u64]| row.iter().copied().map(u128::from).collect::<Vec<_>>();
        let rows = self.all[number as usize].chunks_exact(self.n);
        Ok(rows.map(|row| Arc::new(words(row).into())).collect())
    }

    fn step(&self, _: u32, _: &[Vec<Words<u128>>]) -> Result<Vec<Vec<u128>>, RnsError> {
        unreachable!("such a program has no step that the host does")
    }
}

/// Why a run ended early.
enum Stopped {
    Device(OffloadError),
    Host(RnsError),
    Signal,
}

impl Failure for Stopped {
    fn raised(self) -> PyErr {
        match self {
            Self::Device(error) => error.raised(),
            Self::Host(error) => error.raised(),
            // The signal's own exception takes its place.
            Self::Signal => Kind::Other.error("the run was stopped"),
        }
    }
}

impl From<Ended<RnsError>> for Stopped {
    fn from(ended: Ended<RnsError>) -> Self {
        match ended {
            Ended::Device(error) => Self::Device(error),
            Ended::Host(error) => Self::Host(error),
            Ended::Stopped => Self::Signal,
        }
    }
}

struct Shown<'a>(&'a dyn Observer);

impl Progress for Shown<'_> {
    fn tell(&self, done: usize, total: usize) -> bool {
        self.0.progress(done, total);
        !self.0.cancelled()
    }

    fn stopped(&self) -> bool {
        self.0.cancelled()
    }
}

fn outputs(
    graph: &Graph<u128>,
    given: &Given,
    device: Option<&Device>,
    alone: bool,
    observer: &dyn Observer,
) -> Result<Vec<u64>, Stopped> {
    let mut memory = match device {
        None => Memory::whole(graph),
        Some(device) => {
            let offer = Offer {
                alone,
                ..Offer::new([TASK.to_owned()])
            };
            let mut session = device.coprocessor.session();
            session.run_program(&offer, graph, given, &Shown(observer))?
        }
    };
    let mut words = Vec::with_capacity(graph.outputs().len() * graph.n());
    for limb in graph.outputs() {
        if observer.cancelled() {
            return Err(Stopped::Signal);
        }
        let row = memory.take(*limb, given).map_err(Stopped::Host)?;
        words.extend(row.iter().map(|word| *word as u64));
    }
    Ok(words)
}

/// Add the class.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Polynomials>()
}
