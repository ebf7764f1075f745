// SPDX-License-Identifier: Apache-2.0
//! The engine's work: without the interpreter's lock, and a shortage of memory as Python's `MemoryError`.

use crate::errors::Raise;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zq::memory::{OutOfMemory, attempt};

/// An error of the engine or of Python as a Python exception.
pub trait Failure {
    /// The exception.
    fn raised(self) -> PyErr;
}

impl<E: Raise> Failure for E {
    fn raised(self) -> PyErr {
        self.kind().error(&self)
    }
}

impl Failure for PyErr {
    fn raised(self) -> PyErr {
        self
    }
}

/// How bindings call the engine.
pub trait Work {
    /// Does `work` without the interpreter's lock.
    fn work<T, E, F>(self, work: F) -> PyResult<T>
    where
        T: Send,
        E: Failure + Send,
        F: Send + FnOnce() -> Result<T, E>;
}

impl Work for Python<'_> {
    fn work<T, E, F>(self, work: F) -> PyResult<T>
    where
        T: Send,
        E: Failure + Send,
        F: Send + FnOnce() -> Result<T, E>,
    {
        finished(self.detach(|| attempt(work)))
    }
}

/// The result of attempted work; running out of memory becomes `MemoryError`.
pub fn finished<T, E: Failure>(done: Result<Result<T, E>, OutOfMemory>) -> PyResult<T> {
    match done {
        Ok(done) => done.map_err(Failure::raised),
        Err(shortage) => Err(PyMemoryError::new_err(shortage.to_string())),
    }
}

/// The output of `write` as Python's bytes.
pub fn written<'py, B: AsRef<[u8]> + Send>(
    py: Python<'py>,
    write: impl Send + FnOnce() -> B,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = py.work(|| Ok::<_, PyErr>(write()))?;
    let data = data.as_ref();
    PyBytes::new_with(py, data.len(), |room| {
        room.copy_from_slice(data);
        Ok(())
    })
}
