// SPDX-License-Identifier: Apache-2.0
//! A co-processor: the polynomial operations of a whole program, planned at once.

use crate::capabilities::OPERATIONS;
use crate::lower::{Engine, Shape, run};
use crate::{Backend, Capabilities, Error, Observer, Outcome, Request};
use ::polynomial::{Graph, Host, Memory};
use isa::Reduction;
use offload::{CoEngine, Ended, Progress};
use rlwe::Threads;
use std::sync::Arc;
use zq::Word;

/// Runs programs on a co-processor; what it cannot do, and what only the schemes do, stays on this machine's processor.
#[derive(Clone)]
pub struct Coprocessor {
    engine: Arc<CoEngine>,
    threads: Threads,
}

impl Coprocessor {
    /// On a device; the threads are for what stays here.
    pub fn new(engine: Arc<CoEngine>, threads: Threads) -> Self {
        Self { engine, threads }
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
    fn shape(&self, n: usize) -> Shape {
        let session = self.engine.session();
        let info = session.info();
        let takes = |name: &str| self.engine.takes_named(name);
        // Lanes work on one limb each: fewer limbs would leave some idle.
        let is_wide = info.lanes == 1
            && info.reduction == Reduction::Barrett
            && n <= 2 * info.n_max()
            && takes("tensor")
            && takes("key-switch");
        Shape {
            lanes: info.lanes as usize,
            wide_bits: is_wide.then_some(info.word_bits),
        }
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
        self.engine
            .run_program(graph, host, &Shown(observer))
            .map_err(|ended| match ended {
                Ended::Host(error) => error,
                Ended::Stopped => Error::Cancelled,
                Ended::Device(error) => Error::Device {
                    name: self.name().into(),
                    message: error.to_string(),
                },
            })
    }
}

impl Backend for Coprocessor {
    fn name(&self) -> &str {
        self.engine.name()
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
