// SPDX-License-Identifier: Apache-2.0
//! Whole programs on an engine. A backend gets a program, evaluation keys, ciphertexts and plain arguments and gives
//! ciphertexts back; in between it may schedule, keep and share what it likes. The same seed gives the same bytes on
//! every backend.
//!
//! ```text
//! Program ─┐                  inputs
//! Keys ────┼─> Backend ──> Run ──┴──> ciphertexts, seconds by kind of operation
//! Resources┘                └─> Observer: progress, cancellation
//! ```

mod client;
mod coprocessor;
mod cpu;
mod error;
mod instances;
mod keys;
mod lower;
pub mod measure;
mod record;
mod request;
mod scheme;

pub use client::{Client, ClientWord};
pub use coprocessor::{Build, Coprocessor};
pub use cpu::Cpu;
pub use error::Error;
pub use keys::{KeySet, Keys};
pub use record::{Record, Recorder};
pub use request::{Input, Keeper, Observer, Outcome, Request, Seconds, Unobserved};

use ::program::Program;
use rlwe::Threads;
use std::sync::Arc;

/// An engine that runs whole programs.
pub trait Backend: Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// Opens a program with the keys of its evaluations. Between evaluations the run keeps what it prepared once, keys
    /// and plaintexts, within its resources.
    ///
    /// # Errors
    /// Keys that are not the program's; what the backend cannot do.
    fn open(
        &self,
        program: &Arc<Program>,
        keys: &Keys,
        resources: &Resources,
    ) -> Result<Box<dyn Run>, Error>;

    /// Its part of a client; `None` where clients are left to this machine's processor.
    fn client(&self) -> Option<Arc<dyn Client>> {
        None
    }
}

/// What a run may use of this machine.
#[derive(Clone)]
pub struct Resources {
    /// Threads; results do not depend on their number.
    pub threads: Threads,
    /// Bytes that it may keep between evaluations, beside the keys and the program themselves; as many again in the
    /// buffers of a device.
    pub memory: usize,
}

/// A program that is opened with its keys.
pub trait Run: Send + Sync {
    /// Evaluates the program.
    ///
    /// # Errors
    /// Inputs that are not the program's, plaintexts that break its guarantee, a step that failed, with its place;
    /// [`Error::Cancelled`].
    fn evaluate(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error>;

    /// Evaluates the program, and leaves what it has made with a keeper on the way; goes on from what an earlier
    /// evaluation of an equal request left there, to the same bytes.
    ///
    /// # Errors
    /// Those of [`Run::evaluate`]; [`Error::Input`] for what no evaluation of this program left, and where the engine
    /// does not do it.
    fn evaluate_kept(
        &self,
        _: &Request<'_>,
        _: &dyn Keeper,
        _: &dyn Observer,
    ) -> Result<Outcome, Error> {
        Err(Error::Input(
            "this engine keeps no state of a run; run it on the cpu, or without state=".into(),
        ))
    }

    /// Most requests that [`Run::evaluate_batch`] works on at a time: 1 where they take turns.
    fn batch_size(&self) -> usize {
        1
    }

    /// Evaluates the program on many sets of ciphertexts with the same plain arguments. Outcomes in the order of the
    /// requests.
    ///
    /// # Errors
    /// Those of [`Run::evaluate`]; [`Error::Input`] for requests of other plain arguments than the first.
    fn evaluate_batch(
        &self,
        requests: &[Request<'_>],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Error> {
        let evaluate = |request| self.evaluate(request, observer);
        requests.iter().map(evaluate).collect()
    }
}

#[cfg(test)]
mod tests;
