// SPDX-License-Identifier: Apache-2.0
//! One program on many sets of ciphertexts, shared out to cores: the bytes of single runs.

use super::clear;
use super::conversions::converts;
use super::coprocessor::{ALL, build};
use super::moves::{ending, moves};
use super::random::Maker;
use super::reference::Client;
use super::requests::{Asked, PLENTY, resources};
use super::{bfv_parameters, ckks_parameters};
use crate::{Backend, Build, Coprocessor, Request, Unobserved, measure};
use device::{Driver, Modeled};
use isa::{BuildInfo, Host, Reduction};
use offload::{CoreTime, Offer, Session};
use program::expression::Numbers;
use program::step::Operation;
use program::{Encryption, Parameters, Program};
use rlwe::SecurityPolicy;
use std::sync::Arc;

/// A device with all its cores behind AXI4.
fn engine(info: BuildInfo) -> Coprocessor {
    let info = BuildInfo {
        host: Host::Axi4,
        ..info
    };
    let session = |core| Session::new(Driver::open(Box::new(core)).unwrap()).unwrap();
    let cores = Modeled::open_cores(info).unwrap();
    let mut sessions: Vec<Session> = cores.into_iter().map(session).collect();
    let first = sessions.remove(0);
    Coprocessor::new("model:test", first, ALL.iter().map(|&name| name.to_owned()))
        .with_cores(sessions)
}

/// Cycles of a batch by its plans alone.
fn predicted(backend: &Coprocessor, program: &Program, runs: usize) -> u64 {
    let build = Build {
        info: &backend.session().info().clone(),
        offer: &Offer::new(ALL.iter().map(|&name| name.to_owned())),
    };
    build.predict(program, runs).unwrap().cycles
}

fn batch_is_single_runs(parameters: &Parameters, seed: u64, info: BuildInfo, runs: u64) {
    let (program, plain) = Maker::new(parameters.clone(), Encryption::Secret, seed).finish();
    // Clients of one seed have the same keys.
    let client = |run| Client::new(&program, &clear::inputs(&program, 100 * seed + run));
    let clients: Vec<Client> = (0..runs).map(client).collect();
    let lent: Vec<Vec<&[u8]>> = clients.iter().map(Client::lent).collect();
    let asked: Vec<Asked<'_>> = lent
        .iter()
        .map(|inputs| Asked::new(&program, &clients[0].keys, inputs, &plain))
        .collect();
    let requests: Vec<Request<'_>> = asked.iter().map(Asked::request).collect();
    let backend = engine(info);
    let run = backend.open(
        &Arc::new(program.clone()),
        &clients[0].keys,
        &resources(1, PLENTY),
    );
    let outcomes = run.unwrap().evaluate_batch(&requests, &Unobserved).unwrap();
    assert_eq!(
        predicted(&backend, &program, requests.len()),
        backend.take_shift().cycles,
        "seed {seed}"
    );
    assert_eq!(outcomes.len(), requests.len());
    for (run, (outcome, client)) in outcomes.iter().zip(&clients).enumerate() {
        let expected = client.reference(&program, &plain);
        assert!(
            outcome.outputs == expected,
            "run {run} of seed {seed}\n{program}"
        );
    }
}

#[test]
fn batches_give_the_bytes_of_single_runs() {
    let cores = |cores, info: BuildInfo| BuildInfo { cores, ..info };
    // More runs than cores, as many, fewer; one core.
    batch_is_single_runs(&bfv_parameters(), 1, cores(3, converts(62, 4, 10)), 5);
    batch_is_single_runs(&bfv_parameters(), 2, cores(2, converts(62, 3, 10)), 2);
    batch_is_single_runs(&ckks_parameters(), 3, cores(4, build(60, 2, 10)), 3);
    batch_is_single_runs(&ckks_parameters(), 4, cores(1, build(60, 3, 10)), 2);
}

#[test]
fn outputs_that_have_nothing_in_common_are_computed_on_all_cores() {
    use Operation::{Add, Multiply, Relinearize, Rotate};
    // Three parts: two rotations of one input, which share its digits; a rotation of another; a product.
    let steps = [
        (Rotate(0, 1), 2, 0),
        (Rotate(0, 2), 2, 0),
        (Add(3, 4), 2, 0),
        (Rotate(1, 1), 2, 0),
        (Multiply(1, 2), 3, 0),
        (Relinearize(7), 2, 0),
    ];
    let mut program = ending(&steps);
    program.outputs = vec![8, 5, 6, 3];
    let client = Client::new(&program, &clear::inputs(&program, 1));
    let inputs = client.lent();
    let (_, plain) = Maker::new(program.parameters.clone(), Encryption::Secret, 0).finish();
    let expected = client.reference(&program, &plain);
    let took = |cores: u32| {
        let backend = engine(BuildInfo {
            cores,
            ..moves(46, 4, 10)
        });
        let request = Asked::new(&program, &client.keys, &inputs, &plain);
        let outcome = request.of(&backend, &Unobserved).unwrap();
        assert!(outcome.outputs == expected, "{cores} cores");
        let shift = backend.take_shift();
        assert_eq!(
            predicted(&backend, &program, 1),
            shift.cycles,
            "{cores} cores"
        );
        assert_eq!(backend.take_usage().offloaded["key-switch"], 4);
        (shift.cores.len(), shift.cycles)
    };
    let [one, two, four] = [1, 2, 4].map(took);
    assert_eq!((one.0, two.0, four.0), (1, 2, 3));
    assert!(four.1 < two.1 && two.1 < one.1, "{one:?} {two:?} {four:?}");
}

#[test]
fn a_batch_has_the_same_plain_arguments() {
    let (program, plain) = Maker::new(bfv_parameters(), Encryption::Secret, 1).finish();
    let client = Client::new(&program, &clear::inputs(&program, 1));
    let inputs = client.lent();
    let mut other = plain.clone();
    let Numbers::Integers(numbers) = &mut other[0] else {
        panic!("BFV has integers")
    };
    numbers[0] += 1;
    let asked = [&plain, &other].map(|plain| Asked::new(&program, &client.keys, &inputs, plain));
    let requests = asked.each_ref().map(|one| one.request());
    let backend = engine(BuildInfo {
        cores: 2,
        ..build(60, 2, 10)
    });
    let run = backend.open(
        &Arc::new(program.clone()),
        &client.keys,
        &resources(1, PLENTY),
    );
    let run = run.unwrap();
    let error = run.evaluate_batch(&requests, &Unobserved).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("run 1 of the batch has other plain arguments"),
        "{error}"
    );
    assert_eq!(run.evaluate_batch(&[], &Unobserved).unwrap().len(), 0);
}

#[test]
fn cores_share_keys_and_account_for_every_cycle() {
    let info = BuildInfo {
        cores: 3,
        wide_port: true,
        reduction: Reduction::Montgomery,
        montgomery_bits: 9,
        modulus_bits_min: 30,
        ..converts(30, 3, 8)
    };
    let insecure = SecurityPolicy::insecure();
    let three = measure::multiply(&engine(info.clone()), (30, 256), None, insecure, 6).unwrap();
    assert!(three.correct);
    assert_eq!(three.usage.host_operations, 0);
    let shift = &three.shift;
    assert_eq!(
        (shift.cores.len(), shift.cycles),
        (3, shift.predicted_cycles)
    );
    for time in &shift.cores {
        let CoreTime {
            compute,
            conversion,
            memory,
            idle,
        } = *time;
        assert_eq!(compute + conversion + memory + idle, shift.cycles);
        assert!(compute > 0 && conversion > 0);
    }
    // Keys and tables are fetched for several cores at a time.
    assert!(shift.port_transfers < shift.transfers, "{shift:?}");
    assert!(shift.port_cycles <= shift.cycles, "{shift:?}");
    let one = measure::multiply(
        &engine(BuildInfo { cores: 1, ..info }),
        (30, 256),
        None,
        insecure,
        7,
    );
    let one = one.unwrap();
    assert!(one.correct);
    assert!(3 * shift.cycles < 2 * one.shift.cycles, "{shift:?}");
    assert_eq!(one.shift.port_transfers, one.shift.transfers);
}
