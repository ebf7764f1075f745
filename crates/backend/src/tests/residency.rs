// SPDX-License-Identifier: Apache-2.0
//! What a run keeps between requests is made once: plans, keys, plaintexts.

use super::clear;
use super::conformance::changed;
use super::random::Maker;
use super::reference::Client;
use super::requests::{Asked, PLENTY, resources};
use super::{bfv_parameters, bfv_wide_parameters, ckks_parameters};
use crate::lower::{Engine, Shape};
use crate::scheme::plaintexts::{Evaluated, Plaintexts};
use crate::scheme::with_scheme;
use crate::{Backend, Error, Observer, Unobserved};
use ::polynomial::{Graph, Host, Memory, Origin, PolyOp, Room};
use program::expression::Numbers;
use program::{Encryption, Parameters, Program};
use rlwe::Threads;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use zq::Word;

/// Notes what it is given, and leaves the work to the host.
#[derive(Clone, Default)]
struct Witness {
    plans: Arc<AtomicUsize>,
    runs: Arc<Mutex<Vec<Given>>>,
}

/// The sources of a run: origin and the addresses of the limbs, by number.
#[derive(Default)]
struct Given {
    sources: HashMap<u32, (Origin, Vec<usize>)>,
    /// The limbs, so that no address is used again.
    held: Vec<Box<dyn Any + Send>>,
}

impl Engine for Witness {
    type Plan = ();

    fn name(&self) -> &str {
        "witness"
    }

    fn shape(&self, _: usize) -> Shape {
        Shape::PLAIN
    }

    fn plan<W: Word>(&self, _: &[&Graph<W>]) -> Result<(), Error> {
        self.plans.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        _: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        let (mut given, mut memory) = (Given::default(), Memory::whole(graph));
        for bundle in graph.bundles() {
            let first = bundle.limbs().next();
            let origin = first.and_then(|limb| graph.origin(limb));
            if let (PolyOp::Source(number, _), Some(origin)) = (&bundle.operation, origin) {
                let limbs = host.source(*number)?;
                for (limb, words) in bundle.limbs().zip(&limbs) {
                    memory.put(limb, words.to_vec());
                }
                let addresses = limbs.iter().map(|limb| Arc::as_ptr(limb) as usize);
                given.sources.insert(*number, (origin, addresses.collect()));
                given.held.push(Box::new(limbs));
            }
        }
        self.runs.lock().unwrap().push(given);
        Ok(memory)
    }
}

impl Witness {
    /// Sources of an origin, and those of them whose limbs are the same in two runs.
    fn kept(&self, origin: Origin, runs: [usize; 2]) -> [usize; 2] {
        let all = self.runs.lock().unwrap();
        let [one, other] = runs.map(|run| &all[run].sources);
        let own = one.iter().filter(|(_, source)| source.0 == origin);
        let same = own
            .clone()
            .filter(|&(number, source)| &other[number] == source);
        [own.count(), same.count()]
    }
}

/// The first random program with a key and a plain argument that counts, and its client.
fn drawn(parameters: &Parameters) -> (Program, Vec<Numbers>, Client) {
    let made = (0..).map(|seed| {
        let (program, plain) = Maker::new(parameters.clone(), Encryption::Secret, seed).finish();
        let client = Client::new(&program, &clear::inputs(&program, seed));
        (program, plain, client)
    });
    let counts = |(program, plain, client): &(Program, Vec<Numbers>, Client)| {
        let needs = program.required_keys();
        let keyed = needs.relinearization.is_some() || needs.galois.is_some();
        keyed && client.reference(program, plain) != client.reference(program, &changed(plain))
    };
    made.into_iter().find(counts).unwrap()
}

/// Requests on a witness: three with the same plain arguments, then two with others.
fn witnessed(parameters: &Parameters, memory: usize) -> Witness {
    let (program, plain, client) = drawn(parameters);
    let (other, inputs, witness) = (changed(&plain), client.lent(), Witness::default());
    let program = Arc::new(program);
    let run = witness.open(&program, &client.keys, &resources(1, memory));
    let run = run.unwrap();
    for plain in [&plain, &plain, &plain, &other, &other] {
        let asked = Asked::new(&program, &client.keys, &inputs, plain);
        let outcome = run.evaluate(&asked.request(), &Unobserved).unwrap();
        assert!(outcome.outputs == client.reference(&program, plain));
    }
    witness
}

#[test]
fn plans_keys_and_plaintexts_are_made_once_for_all_requests() {
    for set in [bfv_parameters(), ckks_parameters(), bfv_wide_parameters()] {
        let witness = witnessed(&set, PLENTY);
        assert_eq!(witness.plans.load(Ordering::Relaxed), 1);
        for (runs, is_same) in [
            ([0, 1], true),
            ([0, 2], true),
            ([2, 3], false),
            ([3, 4], true),
        ] {
            let [keys, kept] = witness.kept(Origin::Key, runs);
            assert!(
                keys > 0 && kept == keys,
                "{kept} of {keys} keys in {runs:?}"
            );
            let [plaintexts, kept] = witness.kept(Origin::Plaintext, runs);
            let expected = if is_same { plaintexts } else { 0 };
            assert!(
                plaintexts > 0 && kept == expected,
                "{kept} of {plaintexts} in {runs:?}"
            );
            let [ciphertexts, kept] = witness.kept(Origin::Ciphertext, runs);
            assert!(
                ciphertexts > 0 && kept == 0,
                "{kept} of {ciphertexts} in {runs:?}"
            );
        }
    }
}

#[test]
fn a_run_without_memory_keeps_no_keys_and_no_plaintexts() {
    let witness = witnessed(&bfv_parameters(), 0);
    for origin in [Origin::Key, Origin::Plaintext] {
        let [all, kept] = witness.kept(origin, [0, 1]);
        assert!(all > 0 && kept == 0);
    }
}

/// The encodings of a program's plaintexts, for two requests one after the other.
fn encoded_twice(parameters: &Parameters, memory: usize) -> Result<Vec<[usize; 2]>, Error> {
    let (program, plain, client) = drawn(parameters);
    with_scheme!((program, &client.keys, &Threads::ONE), scheme => {
        let evaluated = Evaluated::new(&program, &plain, &Threads::ONE, &Room::new(memory))?;
        let evaluated = Arc::new(evaluated);
        let request = || Plaintexts::new(&program, &scheme, Arc::clone(&evaluated), &Threads::ONE);
        let requests = [request(), request()];
        let steps = program.steps.iter();
        let mut all = Vec::new();
        for step in steps.filter(|step| step.operation.plaintext().is_some()) {
            let of = |request: &Plaintexts<'_, _>| request.of_step(step).map(Option::unwrap);
            let both = [of(&requests[0])?, of(&requests[1])?];
            all.push(both.each_ref().map(|one| Arc::as_ptr(one) as usize));
        }
        Ok(all)
    })
}

#[test]
fn the_processor_s_plaintexts_are_encoded_once_for_all_requests() {
    for set in [bfv_parameters(), ckks_parameters(), bfv_wide_parameters()] {
        let kept = encoded_twice(&set, PLENTY).unwrap();
        assert!(!kept.is_empty() && kept.iter().all(|[a, b]| a == b));
        let made = encoded_twice(&set, 0).unwrap();
        assert!(made.iter().all(|[a, b]| a != b));
    }
}
