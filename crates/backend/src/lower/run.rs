// SPDX-License-Identifier: Apache-2.0
//! A run in polynomial operations, whatever computes them.

use super::execute::Around;
use super::lowered::{Lowered, lower};
use super::lowering::Lower;
use super::shape::{Shape, wide_shape};
use super::widened::Widened;
use crate::scheme::inputs::{self, Given};
use crate::scheme::plaintexts::Plaintexts;
use crate::scheme::plan::Plan;
use crate::scheme::value::Value;
use crate::scheme::{bfv, ckks};
use crate::{Error, Inputs, Observer, Outcome, Request, Seconds};
use ::polynomial::{Graph, Host, Limb, Memory};
use program::Parameters;
use rlwe::{KeyId, Threads};
use std::collections::HashMap;
use std::time::Instant;
use zq::Word;

/// An engine for polynomial operations.
pub trait Engine {
    /// The lowering target for rings of degree `n`.
    fn shape(&self, n: usize) -> Shape;

    /// Programs that it computes at the same time.
    fn cores(&self) -> usize {
        1
    }

    /// Computes a program of them; its outputs are in the memory.
    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error>;

    /// Computes several programs, at the same time if it can.
    fn compute_all<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        jobs: &[(&'g Graph<W>, &H)],
        observer: &dyn Observer,
    ) -> Result<Vec<Memory<'g, W>>, Error> {
        let one = |(graph, host): &(&'g Graph<W>, &H)| self.compute(graph, *host, observer);
        jobs.iter().map(one).collect()
    }
}

/// Runs a program of either scheme on an engine; outputs that have nothing in common are computed at the same time, as
/// far as the engine can.
pub fn run<E: Engine>(
    engine: &E,
    threads: &Threads,
    request: &Request<'_>,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let seed = request.seed.clone();
    let encodes = !request.program.plaintexts.is_empty();
    macro_rules! given {
        ($kind:ident) => {
            match request.inputs {
                Inputs::Bytes(bytes) => Given::Bytes(bytes),
                Inputs::$kind(ciphertexts) => Given::Ciphertexts(ciphertexts),
                _ => return Err(crate::scheme::inputs::of_another_scheme()),
            }
        };
    }
    match &request.program.parameters {
        Parameters::Bfv(params) => {
            let scheme = bfv::Bfv::new(params, request.keys.narrow()?, seed, threads, encodes)?;
            let given = given!(Bfv);
            match wide_shape(params, engine.shape(params.n())) {
                Ok(shape) => {
                    let scheme = Widened::new(scheme)?;
                    run_scheme(engine, &scheme, &given, shape, threads, request, observer)
                }
                Err(shape) => {
                    run_scheme(engine, &scheme, &given, shape, threads, request, observer)
                }
            }
        }
        Parameters::BfvWide(params) => {
            let scheme = bfv::Bfv::new(params, request.keys.wide()?, seed, threads, encodes)?;
            let (given, shape) = (given!(BfvWide), engine.shape(params.n()));
            run_scheme(engine, &scheme, &given, shape, threads, request, observer)
        }
        Parameters::Ckks(params) => {
            let scheme = ckks::Ckks::new(params, request.keys.narrow()?, seed, threads);
            let (given, shape) = (given!(Ckks), engine.shape(params.n()).narrow());
            run_scheme(engine, &scheme, &given, shape, threads, request, observer)
        }
    }
}

/// A request whose polynomial program is made.
struct Prepared<'a, S: Lower> {
    plan: Plan,
    plaintexts: Plaintexts<'a, S>,
    inputs: Vec<Value<'a, S::Ciphertext>>,
    lowered: Lowered<S::Word>,
    key: KeyId,
    seconds: Seconds,
}

fn prepare<'a, S: Lower>(
    scheme: &'a S,
    given: &Given<'a, S::Ciphertext>,
    shape: Shape,
    threads: &'a Threads,
    request: &'a Request<'_>,
) -> Result<Prepared<'a, S>, Error> {
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
    Ok(Prepared {
        plan: Plan::new(program),
        plaintexts,
        inputs,
        lowered,
        key: owner.or(first).unwrap_or(KeyId::NONE),
        seconds,
    })
}

fn run_scheme<E: Engine, S: Lower>(
    engine: &E,
    scheme: &S,
    given: &Given<'_, S::Ciphertext>,
    shape: Shape,
    threads: &Threads,
    request: &Request<'_>,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let one = prepare(scheme, given, shape, threads, request)?;
    let around = Around {
        program: request.program,
        plan: &one.plan,
        scheme,
        plaintexts: &one.plaintexts,
        inputs: &one.inputs,
        lowered: &one.lowered,
        key: one.key,
    };
    let mut seconds = one.seconds.clone();
    let start = Instant::now();
    let parts = one.lowered.parts(engine.cores());
    let jobs: Vec<_> = parts.iter().map(|part| (&**part, &around)).collect();
    let mut memories = engine.compute_all(&jobs, observer)?;
    seconds.add("compute", start);
    let start = Instant::now();
    let owners: HashMap<Limb, usize> = (parts.iter().enumerate())
        .flat_map(|(core, part)| part.outputs().iter().map(move |&limb| (limb, core)))
        .collect();
    let mut take = |limb| Ok(memories[owners[&limb]].take(limb, &around)?.to_vec());
    let write = |output| around.write(output, &mut take);
    let outputs = one.lowered.outputs.iter().map(write);
    let outputs = outputs.collect::<Result<_, Error>>()?;
    seconds.add("write", start);
    Ok(Outcome { outputs, seconds })
}
