// SPDX-License-Identifier: Apache-2.0
//! Programs on builds that spread residues and permute values beside the butterflies:
//! the same bytes, and what the host is left.

use super::clear;
use super::coprocessor::{ALL, build, conforms, engine, held_on, held_to_the_walk};
use super::random::Maker;
use super::reference::Client;
use super::requests::{Asked, ones};
use super::{bfv_parameters, ckks_parameters};
use crate::Unobserved;
use ckks::{CkksParams, CkksParamsLiteral};
use isa::{BuildInfo, Reduction};
use program::step::{Operation, Step};
use program::{Encryption, Parameters, Program};
use rlwe::{RlweParamsLiteral, SecurityPolicy};

/// A build with the unit and eight slots.
pub fn moves(word_bits: u32, lanes: u32, log2_n_max: u32) -> BuildInfo {
    BuildInfo {
        butterflies: 2,
        dual_port_slots: 8,
        single_port_slots: 0,
        twiddle_tables: 2,
        constants: 16,
        moves: 16,
        ..build(word_bits, lanes, log2_n_max)
    }
}

/// `count` data primes of one size and a special one.
pub fn set(n: usize, bits: u32, count: usize, special: u32) -> Parameters {
    with_digits((n, bits, count), (special, 1), 0)
}

/// Data primes of one size, special ones of another, `dnum` digits of key switching.
fn with_digits(
    (n, bits, count): (usize, u32, usize),
    (special, specials): (u32, usize),
    dnum: usize,
) -> Parameters {
    let (q, p) = ckks::prime_chain(n, bits, bits, count - 1, special, specials).unwrap();
    let rlwe = RlweParamsLiteral {
        n,
        q,
        p,
        dnum,
        ..Default::default()
    };
    let scale = f64::from(bits - 5).exp2();
    let literal = CkksParamsLiteral { rlwe, scale };
    Parameters::Ckks(CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap())
}

/// All in one section twice over, once, and in several; few slots of one port and two entries; both reductions.
#[test]
fn random_ckks_programs_give_the_same_bytes_where_residues_move() {
    let few = BuildInfo {
        moves: 4,
        ..build(62, 8, 10)
    };
    let montgomery = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 11,
        ..moves(46, 8, 10)
    };
    let builds = [
        moves(46, 8, 10),
        montgomery,
        moves(46, 4, 10),
        moves(46, 3, 10),
        // One prime does not fit.
        moves(45, 8, 10),
        moves(62, 1, 10),
        few,
        // Twice the build's degree: nothing moves there.
        moves(62, 8, 9),
    ];
    conforms(&set(1024, 45, 3, 45), 0..4, &builds);
    // Primes of several sizes: some digits need a reduction.
    conforms(&ckks_parameters(), 0..2, &[moves(62, 5, 10)]);
    let all = [8, 4, 3, 1].map(|lanes| moves(62, lanes, 10));
    conforms(&set(1024, 40, 2, 50), 0..2, &all);
    conforms(&set(1024, 45, 3, 43), 0..2, &all);
    conforms(
        &bfv_parameters(),
        0..2,
        &[moves(62, 8, 10), moves(62, 4, 10)],
    );
}

/// With as many moves and constants as a build may hold.
fn roomy(lanes: u32) -> BuildInfo {
    BuildInfo {
        moves: 32,
        constants: 32,
        ..moves(46, lanes, 10)
    }
}

/// Digits of several primes, several special primes, the last digit shorter; also where one prime more is dropped.
#[test]
fn digits_of_several_primes_are_made_by_moves() {
    use Operation::{Multiply, Relinearize, RelinearizeRescale, Rotate};
    let steps: [&[(Operation, u8, u32)]; 3] = [
        &[(Rotate(0, 1), 2, 0)],
        &[(Multiply(0, 1), 3, 0), (Relinearize(3), 2, 0)],
        &[
            (Multiply(0, 1), 3, 0),
            (RelinearizeRescale(3), 2, 1),
            (Rotate(4, 3), 2, 1),
        ],
    ];
    for (count, specials, dnum) in [(4, 2, 2), (3, 2, 2), (3, 3, 1), (5, 2, 3), (3, 1, 3)] {
        let set = with_digits((1024, 45, count), (45, specials), dnum);
        let all = (count + specials) as u32;
        let montgomery = BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 11,
            ..roomy(2 * all)
        };
        let builds = [roomy(all), roomy(all.div_ceil(2)), montgomery];
        for info in builds {
            for steps in steps {
                let program = on_set(set.clone(), steps);
                let usage = held_to_the_walk(&program, &info);
                let lanes = info.lanes;
                let what = format!("{steps:?}: {count} + {specials} in {dnum} on {lanes} lanes");
                assert_eq!((usage.host_operations, usage.submissions), (0, 1), "{what}");
                assert_eq!(usage.cycles, usage.predicted_cycles, "{what}");
            }
        }
        let narrow = [moves(46, 2, 10), moves(46, all, 10)];
        conforms(&set, 0..2, &narrow);
    }
}

/// Sums are values before they are divided: there they are permuted, and the other part by way of its values.
#[test]
fn a_bfv_rotation_leaves_nothing_to_the_host() {
    let program = on_set(bfv_parameters(), &[(Operation::Rotate(0, 1), 2, 0)]);
    let usage = held_to_the_walk(&program, &moves(62, 8, 10));
    assert_eq!((usage.host_operations, usage.submissions), (0, 1));
}

/// A program of the steps given, on two inputs and a plaintext.
pub fn ending(steps: &[(Operation, u8, u32)]) -> Program {
    on_set(set(1024, 45, 3, 45), steps)
}

fn on_set(set: Parameters, steps: &[(Operation, u8, u32)]) -> Program {
    let (mut program, _) = Maker::new(set, Encryption::Secret, 0).finish();
    let input = program.steps[0];
    program.steps.truncate(3);
    for &(operation, size, below) in steps {
        program.steps.push(Step {
            operation,
            size,
            level: input.level - below,
            ..input
        });
    }
    program.outputs = vec![program.steps.len() as u32 - 1];
    program
}

/// Special primes longer than data primes and the other way round, one and several, digits too; both reductions.
#[test]
fn residues_of_longer_primes_are_reduced_on_the_device() {
    use Operation::{Multiply, Relinearize, RelinearizeRescale, Rescale, Rotate};
    let steps: [&[(Operation, u8, u32)]; 3] = [
        &[(Rotate(0, 1), 2, 0), (Rotate(3, 2), 2, 0)],
        &[
            (Multiply(0, 1), 3, 0),
            (Relinearize(3), 2, 0),
            (Rescale(4), 2, 1),
        ],
        &[(Multiply(0, 1), 3, 0), (RelinearizeRescale(3), 2, 1)],
    ];
    for ((bits, count), (special, specials), dnum) in [
        ((40, 3), (60, 1), 0),
        ((45, 3), (43, 1), 0),
        ((36, 4), (60, 2), 2),
        ((44, 3), (46, 2), 2),
    ] {
        let set = with_digits((1024, bits, count), (special, specials), dnum);
        let all = (count + specials) as u32;
        let wide = |lanes| BuildInfo {
            moves: 32,
            constants: 32,
            ..moves(60, lanes, 10)
        };
        let montgomery = BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 11,
            ..wide(2 * all)
        };
        let apart = BuildInfo {
            moduli_slots: 2,
            ..wide(all)
        };
        let builds = [
            wide(2 * all),
            wide(all),
            wide(all.div_ceil(2)),
            montgomery,
            apart,
        ];
        for info in builds {
            for steps in steps {
                let usage = held_to_the_walk(&on_set(set.clone(), steps), &info);
                let lanes = info.lanes;
                let what =
                    format!("{steps:?}: {count} x {bits} + {specials} x {special}, {lanes} lanes");
                assert_eq!((usage.host_operations, usage.submissions), (0, 1), "{what}");
                assert_eq!(usage.cycles, usage.predicted_cycles, "{what}");
            }
        }
    }
}

#[test]
fn key_switches_leave_nothing_to_the_host() {
    use Operation::{Add, ModDrop, Multiply, Relinearize, RelinearizeRescale, Rescale, Rotate};
    let programs: [&[(Operation, u8, u32)]; 6] = [
        &[(Multiply(0, 1), 3, 0), (RelinearizeRescale(3), 2, 1)],
        &[(Rotate(0, 1), 2, 0)],
        &[(Multiply(0, 1), 3, 0), (Relinearize(3), 2, 0)],
        &[
            (Multiply(0, 1), 3, 0),
            (Relinearize(3), 2, 0),
            (Rescale(4), 2, 1),
            (Rotate(5, 3), 2, 1),
        ],
        &[
            (Rotate(0, 1), 2, 0),
            (Rotate(0, 2), 2, 0),
            (Add(3, 4), 2, 0),
            (Rotate(5, 4), 2, 0),
        ],
        &[(ModDrop(0), 2, 2), (Rotate(3, 1), 2, 2)],
    ];
    for steps in programs {
        let program = ending(steps);
        for info in [moves(46, 8, 10), moves(46, 4, 10), moves(46, 2, 10)] {
            let usage = held_to_the_walk(&program, &info);
            let what = format!("{steps:?} on {} lanes", info.lanes);
            assert_eq!((usage.host_operations, usage.submissions), (0, 1), "{what}");
            assert_eq!(usage.cycles, usage.predicted_cycles, "{what}");
        }
    }
}

/// Where the host is to do nothing: the same bytes, also of sums that it would do as cheaply; or what is lacking.
#[test]
fn a_device_alone_refuses_what_it_would_leave_to_the_host() {
    use Operation::{Add, Multiply, Rotate};
    let program = ending(&[(Add(0, 1), 2, 0), (Rotate(3, 1), 2, 0), (Add(4, 0), 2, 0)]);
    let client = Client::new(&program, &clear::inputs(&program, 1));
    let (inputs, plain) = (client.lent(), ones(&program));
    let request = Asked::new(&program, &client.keys, &inputs, &plain);
    let alone = |info, operations: &[&str]| {
        let device = engine(info, operations).alone(true);
        let outcome = request.of(&device, &Unobserved);
        (outcome, device.take_usage().host_operations)
    };
    let (outcome, left) = alone(moves(46, 4, 10), &ALL);
    assert_eq!(outcome.unwrap().outputs, client.reference(&program, &plain));
    assert_eq!(left, 0);
    // What no output depends on may lack anything.
    let unused = ending(&[(Multiply(0, 1), 3, 0), (Rotate(0, 1), 2, 0)]);
    let usage = held_on(
        &engine(moves(46, 4, 10), &["key-switch"]).alone(true),
        &unused,
    );
    assert_eq!(usage.host_operations, 0);
    let lacking = [
        (
            build(46, 4, 10),
            &ALL[..],
            "automorphisms (the build has no instruction",
        ),
        (
            build(46, 4, 10),
            &ALL,
            "base conversions (the build has no unit",
        ),
        (moves(46, 4, 8), &ALL, "n = 1024 is no degree of the build"),
        (
            moves(44, 4, 10),
            &ALL,
            "a prime of 45 bits does not suit the build",
        ),
        (
            moves(46, 4, 10),
            &["tensor"],
            "the preset's operations lack key-switch",
        ),
    ];
    for (info, operations, what) in lacking {
        let told = alone(info, operations).0.unwrap_err().to_string();
        assert!(told.contains(what), "{told}");
    }
}
