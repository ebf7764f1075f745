// SPDX-License-Identifier: Apache-2.0
//! Rust errors as the package's own exceptions (`ringsmith.errors`), with the Rust message.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The exception classes that errors of the engine become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something else: the base class.
    Other,
    /// Bad data.
    Input,
    /// A seed that would be used twice.
    Seed,
    /// Bad or insecure parameters.
    Parameter,
    /// Bytes that do not decode.
    Format,
    /// Objects that do not belong together, or a missing key.
    KeyMismatch,
    /// A device that refused, failed or hung.
    Device,
}

static OTHER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SEED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static PARAMETER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static FORMAT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static KEY_MISMATCH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DEVICE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

impl Kind {
    fn home(self) -> (&'static PyOnceLock<Py<PyType>>, &'static str) {
        match self {
            Self::Other => (&OTHER, "RingsmithError"),
            Self::Input => (&INPUT, "InputError"),
            Self::Seed => (&SEED, "SeedError"),
            Self::Parameter => (&PARAMETER, "ParameterError"),
            Self::Format => (&FORMAT, "FormatError"),
            Self::KeyMismatch => (&KEY_MISMATCH, "KeyMismatchError"),
            Self::Device => (&DEVICE, "DeviceError"),
        }
    }

    /// An exception of this kind.
    pub fn error(self, message: impl std::fmt::Display) -> PyErr {
        Python::attach(|py| {
            let (cell, name) = self.home();
            match cell.import(py, "ringsmith.errors", name) {
                Ok(class) => PyErr::from_type(class.clone(), message.to_string()),
                Err(missing) => missing,
            }
        })
    }
}

/// Turns an engine's result into Python's.
pub trait OrRaise<T> {
    /// The value, or the package's exception.
    fn or_raise(self) -> PyResult<T>;
}

/// Errors that know which exception they are.
pub trait Raise: std::fmt::Display {
    /// The exception's kind.
    fn kind(&self) -> Kind;
}

impl<T, E: Raise> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| error.kind().error(&error))
    }
}

impl Raise for zq::ZqError {
    fn kind(&self) -> Kind {
        Kind::Parameter
    }
}

impl Raise for rlwe::wire::WireError {
    fn kind(&self) -> Kind {
        Kind::Format
    }
}

impl Raise for rlwe::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Wire(_) => Kind::Format,
            Self::ParameterMismatch { .. }
            | Self::KeyMismatch { .. }
            | Self::MissingGaloisKey { .. } => Kind::KeyMismatch,
            Self::Shape { .. } => Kind::Input,
            Self::Forked { .. } => Kind::Seed,
            Self::Entropy(_) | Self::Threads { .. } => Kind::Other,
            _ => Kind::Parameter,
        }
    }
}

impl Raise for ckks::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Rlwe(error) => error.kind(),
            Self::Rns(_) | Self::Chain(_) => Kind::Parameter,
            _ => Kind::Input,
        }
    }
}

impl Raise for bfv::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Rlwe(error) => error.kind(),
            Self::PlainModulus { .. } | Self::NoBatching { .. } => Kind::Parameter,
            _ => Kind::Input,
        }
    }
}

impl Raise for program::Error {
    fn kind(&self) -> Kind {
        match self {
            Self::Wire(_) | Self::Limit { .. } => Kind::Format,
            Self::Parameters(_) | Self::Guarantee(_) => Kind::Parameter,
            _ => Kind::Input,
        }
    }
}

impl Raise for ::backend::Error {
    fn kind(&self) -> Kind {
        match self.cause() {
            Self::Program(error) => error.kind(),
            Self::Bfv(error) => error.kind(),
            Self::Ckks(error) => error.kind(),
            Self::Rlwe(error) => error.kind(),
            Self::Keys(_) => Kind::KeyMismatch,
            Self::Device { .. } => Kind::Device,
            _ => Kind::Input,
        }
    }
}

impl Raise for device::DeviceError {
    fn kind(&self) -> Kind {
        Kind::Device
    }
}

impl Raise for isa::IsaError {
    fn kind(&self) -> Kind {
        Kind::Device
    }
}

impl Raise for offload::OffloadError {
    fn kind(&self) -> Kind {
        Kind::Device
    }
}
