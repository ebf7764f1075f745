// SPDX-License-Identifier: Apache-2.0
//! Why a program was not run to its end.

use program::Program;

/// Errors of running a program.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program itself, or its plaintexts for these arguments.
    #[error(transparent)]
    Program(#[from] program::Error),
    /// BFV refused.
    #[error(transparent)]
    Bfv(#[from] bfv::Error),
    /// CKKS refused.
    #[error(transparent)]
    Ckks(#[from] ckks::Error),
    /// The ring-LWE layer refused.
    #[error(transparent)]
    Rlwe(#[from] rlwe::Error),
    /// The residue layer refused.
    #[error(transparent)]
    Rns(#[from] rns::RnsError),
    /// Keys are missing, too short, or of different owners.
    #[error("{0}")]
    Keys(String),
    /// Inputs or plain arguments are not what the program takes.
    #[error("{0}")]
    Input(String),
    /// A device failed or cannot do what it was asked to.
    #[error("{name}: {message}")]
    Device {
        /// Its name.
        name: String,
        /// The reason.
        message: String,
    },
    /// The observer wanted it to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// A step failed.
    #[error("step {number} ({operation}, {place}): {source}")]
    Step {
        /// Its number.
        number: usize,
        /// Its operation.
        operation: &'static str,
        /// File and line of the kernel.
        place: String,
        /// The reason.
        source: Box<Self>,
    },
}

impl Error {
    /// The error of a step, with its place.
    pub(crate) fn at(self, program: &Program, number: u32) -> Self {
        let step = &program.steps[number as usize];
        Self::Step {
            number: number as usize,
            operation: step.operation.name(),
            place: program.place(step),
            source: Box::new(self),
        }
    }

    /// The error itself, without the step it happened in.
    pub fn cause(&self) -> &Self {
        match self {
            Self::Step { source, .. } => source.cause(),
            other => other,
        }
    }
}
