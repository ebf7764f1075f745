// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations and co-processors against the walk step by step: the same bytes.

use super::random::Maker;
use super::reference::Client;
use super::requests::{Asked, ones};
use super::{bfv_of, bfv_parameters, bfv_wide_parameters, ckks_parameters, clear};
use crate::lower::{Engine, Shape};
use crate::{Coprocessor, Error, Observer, Unobserved};
use ::polynomial::{Graph, Host, Memory};
use device::{Driver, Modeled};
use isa::{BuildInfo, Reduction};
use offload::{Session, Usage};
use program::{Encryption, Parameters};
use std::sync::atomic::{AtomicUsize, Ordering};
use zq::Word;
use zq::primes::{Direction, ntt_primes};

pub const ALL: [&str; 6] = [
    "polymul",
    "tensor",
    "zero-encrypt",
    "delta-m-decrypt",
    "decrypt",
    "key-switch",
];

/// Six slots and one table, as CoFHEE has them.
pub fn build(word_bits: u32, lanes: u32, log2_n_max: u32) -> BuildInfo {
    BuildInfo {
        word_bits,
        lanes,
        butterflies: 1,
        log2_n_max,
        dual_port_slots: 3,
        single_port_slots: 3,
        twiddle_tables: 1,
        constants: 4,
        multiplier: 0,
        host: isa::Host::Serial,
        rns: None,
        moves: 0,
        ..BuildInfo::small().unwrap()
    }
}

pub fn engine(info: BuildInfo, operations: &[&str]) -> Coprocessor {
    let driver = Driver::open(Box::new(Modeled::open(info).unwrap())).unwrap();
    let operations = operations.iter().map(|&name| name.to_owned());
    Coprocessor::new("model:test", Session::new(driver).unwrap(), operations)
}

/// Computes polynomial operations one after another.
#[derive(Clone, Copy)]
pub struct Plain;

impl Engine for Plain {
    type Plan = ();

    fn name(&self) -> &str {
        "plain"
    }

    fn shape(&self, _: usize) -> Shape {
        Shape::PLAIN
    }

    fn plan<W: Word>(&self, _: &[&Graph<W>]) -> Result<(), Error> {
        Ok(())
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
pub fn conforms(
    parameters: &Parameters,
    seeds: std::ops::Range<u64>,
    builds: &[BuildInfo],
) -> Vec<Usage> {
    let mut usages = vec![Usage::default(); builds.len()];
    for seed in seeds {
        let (program, plain) = Maker::new(parameters.clone(), Encryption::Secret, seed).finish();
        let client = Client::new(&program, &clear::inputs(&program, seed));
        let inputs = client.lent();
        let expected = client.reference(&program, &plain);
        let request = Asked::new(&program, &client.keys, &inputs, &plain);
        let outcome = request.of(&Plain, &Unobserved).unwrap();
        assert!(outcome.outputs == expected, "seed {seed}\n{program}");
        for (build, usage) in builds.iter().zip(&mut usages) {
            let backend = engine(build.clone(), &ALL);
            let outcome = request.of(&backend, &Unobserved).unwrap();
            assert!(
                outcome.outputs == expected,
                "seed {seed} on {build:?}\n{program}"
            );
            *usage = backend.take_usage();
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
        // Words for two primes: products and key switches are over wide primes.
        build(128, 1, 10),
        build(120, 1, 9),
    ];
    conforms(&bfv_parameters(), 0..4, &builds);
}

#[test]
fn random_wide_bfv_programs_give_the_same_bytes_on_every_build() {
    let builds = [build(128, 1, 8), build(128, 1, 7), build(62, 1, 8)];
    let usages = conforms(&bfv_wide_parameters(), 0..3, &builds);
    assert_eq!(
        usages[2].instructions, 0,
        "words too narrow: all on the host"
    );
}

/// Key switches over fewer, wider primes than the set's; linear transforms over the set's, as their plaintexts are.
#[test]
fn transforms_of_wide_bfv_keep_the_primes_of_their_plaintexts() {
    let set = Parameters::BfvWide(bfv_of(256, 66, 5));
    conforms(&set, 0..2, &[build(128, 1, 8)]);
}

/// The product of two inputs, relinearised; with `sums` additions of the result to itself, squared again.
pub fn squares(parameters: Parameters, sums: Option<usize>) -> program::Program {
    use program::step::{Operation, Step};
    let (mut program, _) = Maker::new(parameters, Encryption::Secret, 0).finish();
    let input = program.steps[0];
    program.steps.truncate(3);
    let step = |operation, size| Step {
        operation,
        size,
        ..input
    };
    program.steps.push(step(Operation::Multiply(0, 1), 3));
    program.steps.push(step(Operation::Relinearize(3), 2));
    if let Some(sums) = sums {
        for last in 4..4 + sums as u32 {
            program.steps.push(step(Operation::Add(last, last), 2));
        }
        let last = program.steps.len() as u32 - 1;
        program.steps.push(step(Operation::Square(last), 3));
        program
            .steps
            .push(step(Operation::Relinearize(last + 1), 2));
    }
    program.outputs = vec![program.steps.len() as u32 - 1];
    program
}

/// Usage of a build by a program, whose bytes are checked against those of the walk.
pub fn held_to_the_walk(program: &program::Program, info: &BuildInfo) -> Usage {
    held_where_taken(program, info, &ALL)
}

/// The same of a build that takes these operations.
pub fn held_where_taken(
    program: &program::Program,
    info: &BuildInfo,
    operations: &[&str],
) -> Usage {
    held_on(&engine(info.clone(), operations), program)
}

/// The same of an engine.
pub fn held_on(backend: &Coprocessor, program: &program::Program) -> Usage {
    let client = Client::new(program, &clear::inputs(program, 1));
    let inputs = client.lent();
    let plain = ones(program);
    let request = Asked::new(program, &client.keys, &inputs, &plain);
    let outcome = request.of(backend, &Unobserved).unwrap();
    assert!(
        outcome.outputs == client.reference(program, &plain),
        "{program}"
    );
    backend.take_usage()
}

/// Bytes of the same, one operation and one prime after another, each with its twiddle table and operands sent and its
/// results fetched: the tensor over Q·P, then the digits of one prime each, times their keys.
fn moved_one_by_one(params: &bfv::BfvParams<u64>, info: &BuildInfo) -> usize {
    let limbs = params.rlwe().data_primes();
    let joint = limbs + params.over_q_basis(limbs).unwrap().len();
    let tensor = joint * (1 + 4 + 3);
    let key_switch = params.rlwe().qp().len() * (1 + 3 * limbs + 2);
    (tensor + key_switch) * params.n() * info.word_bytes()
}

/// CoFHEE's build, at the degree of the test's parameters: seven memories, one of them for twiddles.
#[test]
fn a_product_moves_at_most_half_of_what_single_operations_move() {
    let info = build(128, 1, 10);
    // SEAL's default shape for n = 8192: four data primes and a special one.
    let mut q = ntt_primes::<u64>(43, 2048, 5, Direction::Down, &[]).unwrap();
    let p = q.split_off(4);
    let rlwe = rlwe::RlweParamsLiteral {
        n: 1024,
        q,
        p,
        ..Default::default()
    };
    let literal = bfv::BfvParamsLiteral {
        rlwe,
        plain_modulus: 12289,
        auxiliary: vec![],
    };
    let params = bfv::BfvParams::new(&literal, rlwe::SecurityPolicy::insecure()).unwrap();
    let apart = moved_one_by_one(&params, &info) as u64;
    let ours = held_to_the_walk(&squares(Parameters::Bfv(params), None), &info);
    let bytes = ours.send.bytes + ours.receive.bytes;
    assert!(2 * bytes <= apart, "{bytes} bytes, apart {apart}");
    assert!(ours.hidden_cycles > 0);
}

/// Sums of what is on the device move nothing.
#[test]
fn values_stay_on_the_device() {
    let build = build(62, 1, 10);
    let (one, many) = (
        held_to_the_walk(&squares(ckks_parameters(), Some(0)), &build),
        held_to_the_walk(&squares(ckks_parameters(), Some(6)), &build),
    );
    assert_eq!(one.send.polynomials, many.send.polynomials);
    assert_eq!(one.receive.polynomials, many.receive.polynomials);
    // Six sums of two parts over five primes.
    assert!(one.instructions + 6 * 2 * 5 <= many.instructions);
}

/// A square and its relinearisation in CKKS, with a client and its messages.
struct Square {
    program: program::Program,
    client: Client,
    plain: [program::expression::Numbers; 1],
}

impl Square {
    fn new() -> Self {
        let program = squares(ckks_parameters(), None);
        Self {
            client: Client::new(&program, &clear::inputs(&program, 1)),
            plain: ones(&program),
            program,
        }
    }

    fn request<'a>(&'a self, inputs: &'a [&'a [u8]]) -> Asked<'a> {
        Asked::new(&self.program, &self.client.keys, inputs, &self.plain)
    }
}

#[test]
fn a_build_with_too_few_slots_and_a_device_that_hangs_are_errors() {
    let square = Square::new();
    let inputs = square.client.lent();
    let request = square.request(&inputs);
    let few = BuildInfo {
        dual_port_slots: 2,
        single_port_slots: 1,
        ..build(62, 1, 10)
    };
    let refused = request.of(&engine(few, &ALL), &Unobserved);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "model:test: a program needs 5 slots or more, three of them dual-port; the build has 3 and 2"
    );
    let backend = engine(build(62, 1, 10), &ALL);
    let stall = |on| {
        backend
            .session()
            .driver()
            .inject(device::Injection::Stall(on))
            .unwrap()
    };
    stall(true);
    let hung = request.of(&backend, &Unobserved).unwrap_err().to_string();
    assert!(
        hung.starts_with("model:test: instruction 0 (load "),
        "{hung}"
    );
    stall(false);
    // The device was reset; what it held is sent again.
    let outcome = request.of(&backend, &Unobserved).unwrap();
    let expected = square.client.reference(&square.program, &square.plain);
    assert_eq!(outcome.outputs, expected);
}

/// Wants a run to stop after its first submission.
struct Impatient;

impl Observer for Impatient {
    fn progress(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_cancelled_run_ends() {
    let square = Square::new();
    let inputs = square.client.lent();
    let request = square.request(&inputs);
    let backend = engine(build(62, 1, 10), &ALL);
    assert_eq!(
        request.of(&backend, &Impatient).unwrap_err(),
        Error::Cancelled
    );
}

/// Wants a run to stop the so-manieth time it is asked.
struct Late {
    at: usize,
    asked: AtomicUsize,
    told: AtomicUsize,
}

impl Observer for Late {
    fn progress(&self, _: usize, _: usize) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.at
    }
}

/// A submission is left in its midst; the device is reset, and the next run gives the same bytes.
#[test]
fn a_run_is_cancelled_within_a_submission() {
    let square = Square::new();
    let inputs = square.client.lent();
    let request = square.request(&inputs);
    let backend = engine(build(62, 1, 10), &ALL);
    let late = |at| Late {
        at,
        asked: AtomicUsize::new(0),
        told: AtomicUsize::new(0),
    };
    let whole = late(usize::MAX);
    let outcome = request.of(&backend, &whole).unwrap();
    let (asked, told) = (whole.asked.into_inner(), whole.told.into_inner());
    assert!(asked > 10 * told, "{asked} questions, {told} submissions");
    for at in [1, 5, asked / 2] {
        let observer = late(at);
        assert_eq!(
            request.of(&backend, &observer).unwrap_err(),
            Error::Cancelled
        );
        assert_eq!(observer.asked.into_inner(), at + 1);
        assert!(at > 5 || observer.told.into_inner() == 0);
        let again = request.of(&backend, &Unobserved).unwrap();
        assert!(again.outputs == outcome.outputs, "after {at} questions");
    }
}
