// SPDX-License-Identifier: Apache-2.0
//! Running a program.

use super::Program;
use super::arrays::numbers;
use super::build::parameters;
use crate::backend::Backend;
use crate::bfv::BfvCiphertext;
use crate::bootstrapping::BootstrapKeys;
use crate::ckks::CkksCiphertext;
use crate::context::Context;
use crate::errors::{Kind, OrRaise};
use crate::keys::{GaloisKeys, PublicKey, RelinKey};
use crate::numbers::number;
use crate::threads::threads_or_all;
use crate::watch::watched;
use crate::word_width::{WordWidth, mismatch};
use crate::work::finished;
use ::backend::{
    Backend as _, Cpu, Input, Keeper, KeySet, Keys, Outcome, Recorder, Request, Resources, Run,
};
use ::program::Message;
use ::program::expression::Numbers;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use rlwe::Seed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use zq::Word;
use zq::memory::{attempt, reserved};

/// Bytes that a session keeps between runs, unless told otherwise.
const MEMORY: usize = 256 << 20;

/// A program with the keys to run it.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct Session {
    program: Arc<::program::Program>,
    keys: Keys,
    run: Box<dyn Run>,
}

/// Results as bytes, and seconds by kind of operation.
type Ran<'py> = (Vec<Bound<'py, PyBytes>>, BTreeMap<&'static str, f64>);

/// A result as a message, and seconds by kind of operation.
type Answered<'py> = (Bound<'py, PyBytes>, BTreeMap<&'static str, f64>);

/// Ciphertexts as Python has them.
enum Sent {
    Bytes(Vec<PyBackedBytes>),
    Bfv(Vec<Py<BfvCiphertext>>),
    Ckks(Vec<Py<CkksCiphertext>>),
}

/// By the kind of the first one: trying one kind after the other makes an exception for each that it is not.
impl<'a, 'py> FromPyObject<'a, 'py> for Sent {
    type Error = PyErr;

    fn extract(all: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let first = match all.len()? {
            0 => return Ok(Self::Bytes(Vec::new())),
            _ => all.get_item(0)?,
        };
        if first.is_instance_of::<BfvCiphertext>() {
            Ok(Self::Bfv(all.extract()?))
        } else if first.is_instance_of::<CkksCiphertext>() {
            Ok(Self::Ckks(all.extract()?))
        } else {
            Ok(Self::Bytes(all.extract()?))
        }
    }
}

impl Sent {
    /// As a backend takes them.
    fn inputs(&self) -> Vec<Input<'_>> {
        match self {
            Self::Bytes(all) => all.iter().map(|bytes| Input::Bytes(bytes)).collect(),
            Self::Ckks(all) => {
                let all = all.iter().map(|c| &c.get().inner);
                all.map(|inner| Input::Ciphertext(inner)).collect()
            }
            Self::Bfv(all) => {
                let all = all.iter().map(|c| &c.get().inner);
                all.map(|inner| match inner {
                    WordWidth::W64(inner) => Input::Ciphertext(inner),
                    WordWidth::W128(inner) => Input::Ciphertext(inner),
                })
                .collect()
            }
        }
    }
}

/// Keys of one width out of those of both.
fn key_set<W: Word>(
    relinearization: Option<Option<Arc<rlwe::RelinKey<W>>>>,
    galois: Option<Option<Arc<rlwe::GaloisKeys<W>>>>,
    public: Option<Option<Arc<rlwe::PublicKey<W>>>>,
    bootstrapping: Option<&BootstrapKeys>,
) -> PyResult<KeySet<W>> {
    let (Some(relinearization), Some(galois), Some(public)) = (relinearization, galois, public)
    else {
        return Err(mismatch());
    };
    Ok(KeySet {
        relinearization,
        galois,
        public,
        bootstrapping: bootstrapping.map(|keys| Arc::clone(&keys.inner)),
    })
}

/// A key of a width; no key is of any.
macro_rules! of_width {
    ($key:expr, $width:ident) => {
        match $key.map(|key| &key.key) {
            None => Some(None),
            Some(WordWidth::$width(key)) => Some(Some(Arc::clone(key))),
            Some(_) => None,
        }
    };
}

#[pymethods]
impl Session {
    /// Keys that the program needs must be there, and of one owner. `threads`: one per core unless given; results do
    /// not depend on their number. `device`: a backend that runs the program in place of this machine's processor.
    /// `memory`: bytes that may stay taken between runs by what is prepared once, keys and plaintexts.
    #[new]
    #[pyo3(signature = (
        program, context, relinearization, galois, public, bootstrapping=None, *, threads=None, device=None, memory=MEMORY
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python's keyword arguments are separate"
    )]
    fn new(
        program: &Program,
        context: Context,
        relinearization: Option<&RelinKey>,
        galois: Option<&GaloisKeys>,
        public: Option<&PublicKey>,
        bootstrapping: Option<&BootstrapKeys>,
        #[pyo3(from_py_with = number)] threads: Option<usize>,
        device: Option<&Backend>,
        #[pyo3(from_py_with = number)] memory: usize,
    ) -> PyResult<Self> {
        let (own, given) = (
            program.inner.parameters.fingerprint(),
            parameters(&context).fingerprint(),
        );
        if own != given {
            return Err(Kind::KeyMismatch.error(format!(
                "the context is of parameter set {given}, the program of {own}"
            )));
        }
        let keys = match &program.inner.parameters {
            ::program::Parameters::BfvWide(_) => Keys::Wide(key_set(
                of_width!(relinearization, W128),
                of_width!(galois, W128),
                of_width!(public, W128),
                bootstrapping,
            )?),
            _ => Keys::Narrow(key_set(
                of_width!(relinearization, W64),
                of_width!(galois, W64),
                of_width!(public, W64),
                bootstrapping,
            )?),
        };
        let threads = threads_or_all(threads)?;
        let resources = Resources { threads, memory };
        let run = match device {
            Some(device) => device.inner.open(&program.inner, &keys, &resources),
            None => Cpu.open(&program.inner, &keys, &resources),
        };
        Ok(Self {
            program: Arc::clone(&program.inner),
            keys,
            run: run.or_raise()?,
        })
    }

    /// Runs the program on ciphertexts (objects or bytes) and the plain arguments in order: float64 in CKKS, int64 in
    /// BFV. Zeros are encrypted from the 32 bytes `seed`.
    /// Returns the results as bytes, and seconds by kind of operation.
    ///
    /// `progress(done, total)` is called now and then; what it raises, and Ctrl-C, ends the run.
    #[pyo3(signature = (inputs, plain, seed, *, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: Sent,
        plain: Vec<Bound<'py, PyAny>>,
        seed: &[u8],
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Ran<'py>> {
        Self::run_on(py, &*self.run, (inputs, plain, seed), progress)
    }

    /// Runs the program as `run` does, and calls `keep(bytes)` with what it has made after each refresh. `state`: the
    /// last of these bytes of a run on the same arguments, from which this one goes on to the same results.
    #[pyo3(signature = (inputs, plain, seed, state, keep, *, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's arguments are separate")]
    fn run_kept<'py>(
        &self,
        py: Python<'py>,
        inputs: Sent,
        plain: Vec<Bound<'py, PyAny>>,
        seed: &[u8],
        state: Option<PyBackedBytes>,
        keep: Py<PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Ran<'py>> {
        let (plain, inputs) = (numbers_of(&plain)?, inputs.inputs());
        let request = request(&inputs, &plain, seed)?;
        let kept = Kept {
            state,
            keep,
            raised: Mutex::default(),
        };
        let outcome = watched(py, progress.as_ref(), |watch| {
            self.run.evaluate_kept(&request, &kept, watch)
        });
        let raised = kept
            .raised
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(ran(py, raised.map_or(outcome, Err)?))
    }

    /// Runs the program on a message of encrypted arguments, given and returned as bytes: `run` without what lies
    /// between. `labels`: of the arguments and of the result (`message_label`).
    ///
    /// Returns None, and does nothing, where the message has another label, another number of ciphertexts, an empty
    /// one, or one twice: the caller then parses it and reports the error.
    #[pyo3(signature = (message, labels, plain, seed, *, progress=None))]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        message: PyBuffer<u8>,
        labels: (PyBackedBytes, PyBackedBytes),
        plain: Vec<Bound<'py, PyAny>>,
        seed: &[u8],
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Answered<'py>>> {
        // Copied: other processes may write where it lies.
        let mut data = finished(attempt(|| {
            let mut room: Vec<u8> = reserved(message.item_count());
            room.resize(message.item_count(), 0);
            Ok::<_, PyErr>(room)
        }))?;
        message.copy_to_slice(py, &mut data)?;
        let parts = Message::parts_labelled(&data, &labels.0).or_raise()?;
        let Some(parts) = parts.filter(|parts| self.sound(parts)) else {
            return Ok(None);
        };
        let plain = numbers_of(&plain)?;
        let inputs: Vec<Input<'_>> = parts.into_iter().map(Input::Bytes).collect();
        let request = request(&inputs, &plain, seed)?;
        let outcome = watched(py, progress.as_ref(), |watch| {
            self.run.evaluate(&request, watch)
        })?;
        let outputs: Vec<&[u8]> = outcome.outputs.iter().map(AsRef::as_ref).collect();
        let written = PyBytes::new(py, &Message::labelled(&labels.1, &outputs));
        Ok(Some((written, outcome.seconds.0)))
    }

    /// Most sets of ciphertexts that `run_many` works on at a time.
    #[getter]
    fn batch_size(&self) -> usize {
        self.run.batch_size()
    }

    /// Runs the program on several sets of ciphertexts with the same plain arguments, as many at a time as the engine
    /// takes, each with its seed. Returns what `run` does for each;
    /// the seconds are those of all that were worked on together.
    #[pyo3(signature = (many, plain, seeds, *, progress=None))]
    fn run_many<'py>(
        &self,
        py: Python<'py>,
        many: Vec<Sent>,
        plain: Vec<Bound<'py, PyAny>>,
        seeds: Vec<PyBackedBytes>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Ran<'py>>> {
        if many.len() != seeds.len() {
            return Err(Kind::Input.error(format!(
                "{} sets of ciphertexts and {} seeds; each set takes one",
                many.len(),
                seeds.len()
            )));
        }
        let plain = numbers_of(&plain)?;
        let inputs: Vec<Vec<Input<'_>>> = many.iter().map(Sent::inputs).collect();
        let requests = inputs.iter().zip(&seeds);
        let requests: Vec<Request<'_>> = requests
            .map(|(inputs, seed)| request(inputs, &plain, seed))
            .collect::<PyResult<_>>()?;
        let outcomes = watched(py, progress.as_ref(), |watch| {
            self.run.evaluate_batch(&requests, watch)
        })?;
        Ok(outcomes.into_iter().map(|one| ran(py, one)).collect())
    }

    /// Runs the program by its polynomial operations on this machine. Returns what `run` does, then the operations in
    /// the flat FHETCH form, and what they start from as JSON.
    #[pyo3(signature = (inputs, plain, seed, *, progress=None))]
    fn record<'py>(
        &self,
        py: Python<'py>,
        inputs: Sent,
        plain: Vec<Bound<'py, PyAny>>,
        seed: &[u8],
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Ran<'py>, String, String)> {
        let recorder = Recorder::default();
        let resources = Resources {
            threads: rlwe::Threads::ONE,
            memory: 0,
        };
        let run = recorder.open(&self.program, &self.keys, &resources);
        let ran = Self::run_on(py, &*run.or_raise()?, (inputs, plain, seed), progress)?;
        let record = recorder.take();
        Ok((ran, record.trace, record.inputs))
    }
}

/// A Python function that keeps the state of a run.
struct Kept {
    state: Option<PyBackedBytes>,
    keep: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Keeper for Kept {
    fn kept(&self) -> Option<&[u8]> {
        self.state.as_deref()
    }

    fn keep(&self, state: Vec<u8>) -> Result<(), ::backend::Error> {
        let called = Python::attach(|py| self.keep.call1(py, (PyBytes::new(py, &state),)));
        called.map(drop).map_err(|error| {
            let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert(error);
            ::backend::Error::Cancelled
        })
    }
}

/// Ciphertexts, plain arguments, seed.
type Given<'a, 'py> = (Sent, Vec<Bound<'py, PyAny>>, &'a [u8]);

/// Plain arguments as the backend takes them.
fn numbers_of(plain: &[Bound<'_, PyAny>]) -> PyResult<Vec<Numbers>> {
    plain.iter().map(numbers).collect()
}

fn request<'a>(
    inputs: &'a [Input<'a>],
    plain: &'a [Numbers],
    seed: &[u8],
) -> PyResult<Request<'a>> {
    let seed = seed
        .try_into()
        .map_err(|_| Kind::Input.error(format!("a seed of {} bytes; 32 are needed", seed.len())))?;
    Ok(Request {
        inputs,
        plain,
        seed: Seed::from_bytes(seed),
    })
}

/// An outcome as Python gets it.
fn ran(py: Python<'_>, outcome: Outcome) -> Ran<'_> {
    let outputs = outcome.outputs.iter().map(|data| PyBytes::new(py, data));
    (outputs.collect(), outcome.seconds.0)
}

impl Session {
    /// Whether as many ciphertexts came as the program takes, none empty and none twice, by their checksums.
    fn sound(&self, parts: &[&[u8]]) -> bool {
        let ends: BTreeSet<_> = parts
            .iter()
            .filter_map(|part| part.last_chunk::<8>())
            .collect();
        parts.len() == self.program.input_count() && ends.len() == parts.len()
    }

    fn run_on<'py>(
        py: Python<'py>,
        run: &dyn Run,
        (inputs, plain, seed): Given<'_, 'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Ran<'py>> {
        let (plain, inputs) = (numbers_of(&plain)?, inputs.inputs());
        let request = request(&inputs, &plain, seed)?;
        let outcome = watched(py, progress.as_ref(), |watch| run.evaluate(&request, watch))?;
        Ok(ran(py, outcome))
    }
}
