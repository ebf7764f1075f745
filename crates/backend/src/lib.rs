// SPDX-License-Identifier: Apache-2.0
//! Whole programs on an engine. A backend gets a program, evaluation keys, ciphertexts and plain arguments and gives
//! ciphertexts back; in between it may schedule, keep and share what it likes. The same seed gives the same bytes on
//! every backend.
//!
//! ```text
//! Program ─┐
//! Keys ────┼─> Backend ──> ciphertexts, seconds by kind of operation
//! inputs ──┘       └─> Observer: progress, cancellation
//! ```

mod coprocessor;
mod cpu;
mod error;
mod keys;
mod lower;
pub mod measure;
mod record;
mod request;
mod scheme;

pub use coprocessor::{Build, Coprocessor};
pub use cpu::Cpu;
pub use error::Error;
pub use keys::{KeySet, Keys};
pub use record::{Record, Recorder};
pub use request::{Inputs, Observer, Outcome, Request, Seconds, Unobserved};

/// An engine that runs whole programs.
pub trait Backend {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// Runs a program.
    ///
    /// # Errors
    /// Keys or inputs that are not the program's, plaintexts that break its guarantee, a step that failed, with its
    /// place; [`Error::Cancelled`].
    fn run(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error>;

    /// Most requests that [`Backend::run_batch`] works on at a time: 1 where they take turns.
    fn batch_size(&self) -> usize {
        1
    }

    /// Runs one program on many sets of ciphertexts, under the same keys and plain arguments. Outcomes in the order of
    /// the requests.
    ///
    /// # Errors
    /// Those of [`Backend::run`]; [`Error::Input`] for requests that have not as much in common.
    fn run_batch(
        &self,
        requests: &[Request<'_>],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Error> {
        let run = |request| self.run(request, observer);
        requests.iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests;
