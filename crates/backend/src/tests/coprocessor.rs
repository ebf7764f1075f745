// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations and co-processors against the walk step by step: the same bytes.

use super::random::Maker;
use super::reference::Client;
use super::{bfv_parameters, bfv_wide_parameters, ckks_parameters, clear};
use crate::lower::{Engine, run};
use crate::{Backend, Coprocessor, Error, Inputs, Observer, Request, Unobserved};
use ::polynomial::{Graph, Host, Memory};
use device::{Driver, Modeled};
use isa::{BuildInfo, ISA_VERSION, Reduction, implemented_mask};
use offload::{Stream, Usage};
use program::{Encryption, Parameters};
use rlwe::{Seed, Threads};
use std::sync::{Arc, Mutex};
use zq::Word;

const ALL: [&str; 5] = [
    "polymul",
    "tensor",
    "zero-encrypt",
    "delta-m-decrypt",
    "key-switch",
];

/// Six slots and one table, as CoFHEE has them.
pub fn build(word_bits: u32, lanes: u32, log2_n_max: u32) -> BuildInfo {
    BuildInfo {
        isa_version: ISA_VERSION,
        word_bits,
        lanes,
        butterflies: 1,
        log2_n_max,
        dual_port_slots: 3,
        single_port_slots: 3,
        twiddle_tables: 1,
        moduli_slots: 2,
        constants: 4,
        reduction: Reduction::Barrett,
        montgomery_bits: 0,
        modulus_bits_min: 5,
        multiplier: 0,
        fifo_depth: 16,
        host: isa::Host::Serial,
        cyclic: true,
        instructions: implemented_mask(),
    }
}

pub fn stream(info: BuildInfo, operations: &[&str]) -> Arc<Mutex<Stream>> {
    let driver = Driver::open(Box::new(Modeled::open(info).unwrap())).unwrap();
    let operations = operations.iter().map(|&name| name.to_owned());
    Arc::new(Mutex::new(Stream::new(driver, operations)))
}

/// Computes polynomial operations one after another.
struct Plain;

impl Engine for Plain {
    fn lanes(&self) -> usize {
        1
    }

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        _: &H,
        _: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        Ok(Memory::whole(graph))
    }
}

/// A random program of 20 operations on every engine given.
fn conforms(parameters: &Parameters, seeds: std::ops::Range<u64>, builds: &[BuildInfo]) -> Vec<Usage> {
    let mut usages = vec![Usage::default(); builds.len()];
    for seed in seeds {
        let (program, plain) = Maker::new(parameters.clone(), Encryption::Secret, seed).finish();
        let client = Client::new(&program, &clear::inputs(&program, seed));
        let inputs: Vec<&[u8]> = client.inputs.iter().map(Vec::as_slice).collect();
        let expected = client.reference(&program, &plain);
        let request = Request {
            program: &program,
            keys: &client.keys,
            inputs: Inputs::Bytes(&inputs),
            plain: &plain,
            seed: Seed::from_text("zeros"),
        };
        let outcome = run(&Plain, &Threads::ONE, &request, &Unobserved).unwrap();
        assert!(outcome.outputs == expected, "seed {seed}\n{program}");
        for (build, usage) in builds.iter().zip(&mut usages) {
            let stream = stream(build.clone(), &ALL);
            let backend = Coprocessor::new("model:test", stream.clone(), Threads::ONE);
            let outcome = backend.run(&request, &Unobserved).unwrap();
            assert!(outcome.outputs == expected, "seed {seed} on {build:?}\n{program}");
            *usage = stream.lock().unwrap().take_usage();
        }
    }
    usages
}

#[test]
fn random_ckks_programs_give_the_same_bytes_on_every_build() {
    let builds = [
        build(62, 1, 10),
        build(62, 3, 10),
        BuildInfo {
            single_port_slots: 6,
            twiddle_tables: 2,
            ..build(62, 2, 9)
        },
        BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 11,
            moduli_slots: 1,
            ..build(62, 2, 10)
        },
    ];
    for usage in conforms(&ckks_parameters(), 0..4, &builds) {
        assert!(usage.compute_cycles > 0 && usage.hidden_cycles <= usage.transfer_cycles);
    }
}

#[test]
fn random_bfv_programs_give_the_same_bytes_on_every_build() {
    let builds = [
        build(62, 1, 10),
        build(62, 3, 9),
        BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 11,
            ..build(62, 2, 10)
        },
        // The auxiliary primes fit, the data primes do not.
        build(50, 1, 10),
    ];
    conforms(&bfv_parameters(), 0..4, &builds);
}

#[test]
fn random_wide_bfv_programs_give_the_same_bytes_on_every_build() {
    let builds = [build(128, 1, 8), build(128, 1, 7), build(62, 1, 8)];
    let usages = conforms(&bfv_wide_parameters(), 0..3, &builds);
    assert_eq!(usages[2].instructions, 0, "words too narrow: all on the host");
}
