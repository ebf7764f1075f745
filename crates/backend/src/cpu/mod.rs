// SPDX-License-Identifier: Apache-2.0
//! This machine's processor.

mod walk;

use crate::scheme::inputs::{self, Given, of_another_scheme};
use crate::scheme::interface::Scheme;
use crate::scheme::plaintexts::Plaintexts;
use crate::scheme::plan::Plan;
use crate::scheme::{bfv, ckks};
use crate::{Backend, Error, Inputs, Observer, Outcome, Request, Seconds};
use program::Parameters;
use rlwe::Threads;
use std::time::Instant;
use walk::Walk;

/// Runs programs on this machine's processor. Independent steps run side by side, each on one thread; a step that
/// nothing else can run beside has all threads. Results do not depend on their number.
#[derive(Clone)]
pub struct Cpu {
    threads: Threads,
}

impl Cpu {
    /// On these threads.
    pub fn new(threads: Threads) -> Self {
        Self { threads }
    }

    fn run_on<S: Scheme>(
        &self,
        scheme: &S,
        given: &Given<'_, S::Ciphertext>,
        request: &Request<'_>,
        observer: &dyn Observer,
    ) -> Result<Outcome, Error> {
        let program = request.program;
        let owner = request.keys.check(program)?;
        let mut seconds = Seconds::default();
        let start = Instant::now();
        let inputs = inputs::read(scheme, given, &self.threads)?;
        inputs::check(scheme, program, &inputs, owner)?;
        seconds.add("read", start);
        let start = Instant::now();
        let plaintexts = Plaintexts::new(program, scheme, request.plain, &self.threads)?;
        if !program.plaintexts.is_empty() {
            seconds.add("encode", start);
        }
        let plan = Plan::new(program);
        let walk = Walk::new(program, &plan, scheme, &plaintexts, inputs, observer);
        let (outputs, steps) = walk.run(self.threads.count())?;
        seconds.merge(&steps);
        let start = Instant::now();
        let outputs = self
            .threads
            .try_map(&outputs, |c| Ok::<_, Error>(scheme.write(c)))?;
        seconds.add("write", start);
        Ok(Outcome { outputs, seconds })
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn run(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error> {
        let (inputs, seed) = (request.inputs, request.seed.clone());
        let encodes = !request.program.plaintexts.is_empty();
        match &request.program.parameters {
            Parameters::Bfv(params) => {
                let keys = request.keys.narrow()?;
                let scheme = bfv::Bfv::new(params, keys, seed, &self.threads, encodes)?;
                let given = match inputs {
                    Inputs::Bytes(bytes) => Given::Bytes(bytes),
                    Inputs::Bfv(all) => Given::Ciphertexts(all),
                    _ => return Err(of_another_scheme()),
                };
                self.run_on(&scheme, &given, request, observer)
            }
            Parameters::BfvWide(params) => {
                let keys = request.keys.wide()?;
                let scheme = bfv::Bfv::new(params, keys, seed, &self.threads, encodes)?;
                let given = match inputs {
                    Inputs::Bytes(bytes) => Given::Bytes(bytes),
                    Inputs::BfvWide(all) => Given::Ciphertexts(all),
                    _ => return Err(of_another_scheme()),
                };
                self.run_on(&scheme, &given, request, observer)
            }
            Parameters::Ckks(params) => {
                let keys = request.keys.narrow()?;
                let scheme = ckks::Ckks::new(params, keys, seed, &self.threads);
                let given = match inputs {
                    Inputs::Bytes(bytes) => Given::Bytes(bytes),
                    Inputs::Ckks(all) => Given::Ciphertexts(all),
                    _ => return Err(of_another_scheme()),
                };
                self.run_on(&scheme, &given, request, observer)
            }
        }
    }
}
