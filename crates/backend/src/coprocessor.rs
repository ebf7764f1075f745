// SPDX-License-Identifier: Apache-2.0
//! A co-processor: the polynomial operations of a whole program, planned at once.

use crate::capabilities::OPERATIONS;
use crate::lower::{Engine, run};
use crate::{Backend, Capabilities, Error, Observer, Outcome, Request};
use ::polynomial::{Graph, Host, Memory};
use offload::{Ended, Progress, Stream};
use rlwe::Threads;
use std::sync::{Arc, Mutex, PoisonError};
use zq::Word;

/// Runs programs on a co-processor; what it cannot do, and what only the schemes do, stays on this machine's processor.
#[derive(Clone)]
pub struct Coprocessor {
    name: String,
    stream: Arc<Mutex<Stream>>,
    threads: Threads,
}

impl Coprocessor {
    /// On a device, named for reports: `model:cofhee`.
    pub fn new(name: impl Into<String>, stream: Arc<Mutex<Stream>>, threads: Threads) -> Self {
        Self {
            name: name.into(),
            stream,
            threads,
        }
    }
}

/// Shows a stream's progress to whoever waits for the run.
struct Shown<'a>(&'a dyn Observer);

impl Progress for Shown<'_> {
    fn tell(&self, done: usize, total: usize) -> bool {
        self.0.progress(done, total);
        !self.0.cancelled()
    }
}

impl Engine for Coprocessor {
    fn lanes(&self) -> usize {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.info().lanes as usize
    }

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        if observer.cancelled() {
            return Err(Error::Cancelled);
        }
        // A panic elsewhere leaves counters behind at worst: a plan reckons with nothing that the device holds.
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream
            .run(graph, host, &Shown(observer))
            .map_err(|ended| match ended {
                Ended::Host(error) => error,
                Ended::Stopped => Error::Cancelled,
                Ended::Device(error) => Error::Device {
                    name: self.name.clone(),
                    message: error.to_string(),
                },
            })
    }
}

impl Backend for Coprocessor {
    fn name(&self) -> &str {
        &self.name
    }

    /// Everything: the host does what the device cannot.
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            schemes: vec!["bfv", "ckks"],
            operations: OPERATIONS.to_vec(),
            max_degree: None,
            max_prime_bits: u128::MAX_MODULUS_BITS,
        }
    }

    fn run(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error> {
        self.capabilities().check(self.name(), request.program)?;
        run(self, &self.threads, request, observer)
    }
}
