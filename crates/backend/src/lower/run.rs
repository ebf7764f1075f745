// SPDX-License-Identifier: Apache-2.0
//! A run in polynomial operations, whatever computes them.

use super::execute::Around;
use super::widened::Widened;
use super::{Lower, lower};
use crate::cpu::inputs::{self, Given};
use crate::cpu::plaintexts::Plaintexts;
use crate::cpu::plan::Plan;
use crate::cpu::{bfv, ckks};
use crate::{Error, Inputs, Observer, Outcome, Request, Seconds};
use ::polynomial::{Graph, Host, Memory};
use program::Parameters;
use rlwe::{KeyId, Threads};
use std::time::Instant;
use zq::Word;

/// What lowering needs to know of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Limbs that are worked on together.
    pub lanes: usize,
    /// Bits of the widest primes, if a wide prime costs no more than a narrow one.
    pub wide_bits: Option<u32>,
    /// Whether bases are converted where the products are.
    pub converts: bool,
    /// Whether residues of one prime are spread over others, and values permuted, where the products are.
    pub moves: bool,
}

impl Shape {
    /// Limb by limb, as they are.
    pub const PLAIN: Self = Self {
        lanes: 1,
        wide_bits: None,
        converts: false,
        moves: false,
    };
}

/// What computes polynomial operations.
pub trait Engine {
    /// What programs over rings of degree `n` are lowered for.
    fn shape(&self, n: usize) -> Shape;

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
    let encodes = !request.program.plaintexts.is_empty();
    match &request.program.parameters {
        Parameters::Bfv(params) => {
            let keys = request.keys.narrow()?;
            let scheme = bfv::Bfv::new(params, keys, seed, threads, encodes)?;
            let given = match inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::Bfv(all) => Given::Ciphertexts(all),
                _ => return other(),
            };
            // A device with words for two primes or more takes one wide prime for them.
            let shape = engine.shape(params.n());
            let widest = params.rlwe().qp().moduli().iter().map(|q| q.bits()).max();
            if shape
                .wide_bits
                .is_some_and(|bits| bits >= 2 * widest.unwrap_or(64))
            {
                let scheme = Widened::new(scheme)?;
                return run_scheme(engine, &scheme, (&given, shape), threads, request, observer);
            }
            let shape = Shape {
                wide_bits: None,
                ..shape
            };
            run_scheme(engine, &scheme, (&given, shape), threads, request, observer)
        }
        Parameters::BfvWide(params) => {
            let keys = request.keys.wide()?;
            let scheme = bfv::Bfv::new(params, keys, seed, threads, encodes)?;
            let given = match inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::BfvWide(all) => Given::Ciphertexts(all),
                _ => return other(),
            };
            run_scheme(
                engine,
                &scheme,
                (&given, engine.shape(params.n())),
                threads,
                request,
                observer,
            )
        }
        Parameters::Ckks(params) => {
            let keys = request.keys.narrow()?;
            let scheme = ckks::Ckks::new(params, keys, seed, threads);
            let given = match inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::Ckks(all) => Given::Ciphertexts(all),
                _ => return other(),
            };
            let shape = Shape {
                wide_bits: None,
                ..engine.shape(params.n())
            };
            run_scheme(engine, &scheme, (&given, shape), threads, request, observer)
        }
    }
}

fn run_scheme<E: Engine, S: Lower>(
    engine: &E,
    scheme: &S,
    (given, shape): (&Given<'_, S::Ciphertext>, Shape),
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
    let scales: Vec<f64> = inputs
        .iter()
        .map(|i| facts(i).scale.unwrap_or(1.0))
        .collect();
    let lowered = lower(program, scheme, &scales, shape)?;
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
    let outputs = lowered
        .outputs
        .iter()
        .map(write)
        .collect::<Result<_, Error>>()?;
    seconds.add("write", start);
    Ok(Outcome { outputs, seconds })
}
