// SPDX-License-Identifier: Apache-2.0
//! A run in polynomial operations, whatever computes them.

use super::execute::Around;
use super::{Lower, lower};
use crate::cpu::inputs::{self, Given};
use crate::cpu::plaintexts::Plaintexts;
use crate::cpu::plan::Plan;
use crate::cpu::scheme::Scheme as _;
use crate::cpu::{bfv, ckks};
use crate::{Error, Inputs, Observer, Outcome, Request, Seconds};
use ::polynomial::{Graph, Host, Memory};
use program::Parameters;
use rlwe::{KeyId, Threads};
use std::time::Instant;
use zq::Word;

/// What computes polynomial operations.
pub trait Engine {
    /// Limbs that are worked on together.
    fn lanes(&self) -> usize;

    /// Computes a program of them; its outputs are in the memory.
    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error>;
}

/// Runs a program of either scheme on an engine.
pub fn run<E: Engine>(
    engine: &E,
    threads: &Threads,
    request: &Request<'_>,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let (inputs, seed) = (request.inputs, request.seed.clone());
    let other = || Err(crate::cpu::of_another_scheme());
    match &request.program.parameters {
        Parameters::Bfv(params) => {
            let keys = request.keys.narrow()?;
            let scheme = bfv::Bfv::new(params, keys, seed, threads, None)?;
            let given = match inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::Bfv(all) => Given::Ciphertexts(all),
                _ => return other(),
            };
            run_scheme(engine, &scheme, &given, threads, request, observer)
        }
        Parameters::BfvWide(params) => {
            let keys = request.keys.wide()?;
            let scheme = bfv::Bfv::new(params, keys, seed, threads, None)?;
            let given = match inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::BfvWide(all) => Given::Ciphertexts(all),
                _ => return other(),
            };
            run_scheme(engine, &scheme, &given, threads, request, observer)
        }
        Parameters::Ckks(params) => {
            let keys = request.keys.narrow()?;
            let scheme = ckks::Ckks::new(params, keys, seed, threads);
            let given = match inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::Ckks(all) => Given::Ciphertexts(all),
                _ => return other(),
            };
            run_scheme(engine, &scheme, &given, threads, request, observer)
        }
    }
}

fn run_scheme<E: Engine, S: Lower>(
    engine: &E,
    scheme: &S,
    given: &Given<'_, S::Ciphertext>,
    threads: &Threads,
    request: &Request<'_>,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let program = request.program;
    let owner = request.keys.check(program)?;
    let mut seconds = Seconds::default();
    let start = Instant::now();
    let inputs = inputs::read(scheme, given, threads)?;
    inputs::check(scheme, program, &inputs, owner)?;
    seconds.add("read", start);
    let plaintexts = Plaintexts::new(program, scheme, request.plain, threads)?;
    let start = Instant::now();
    let facts = |input| scheme.facts(input);
    let scales: Vec<f64> = inputs.iter().map(|i| facts(i).scale.unwrap_or(1.0)).collect();
    let lowered = lower(program, scheme, &scales, engine.lanes())?;
    seconds.add("lower", start);
    let first = inputs.first().map(|input| facts(input).key);
    let around = Around {
        program,
        plan: &Plan::new(program),
        scheme,
        plaintexts: &plaintexts,
        inputs: &inputs,
        lowered: &lowered,
        key: owner.or(first).unwrap_or(KeyId::NONE),
    };
    let start = Instant::now();
    let mut memory = engine.compute(&lowered.graph, &around, observer)?;
    seconds.add("compute", start);
    let start = Instant::now();
    let mut take = |limb| Ok(memory.take(limb, &around)?.to_vec());
    let write = |output| around.write(output, &mut take);
    let outputs = lowered.outputs.iter().map(write).collect::<Result<_, Error>>()?;
    seconds.add("write", start);
    Ok(Outcome { outputs, seconds })
}
