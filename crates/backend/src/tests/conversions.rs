// SPDX-License-Identifier: Apache-2.0
//! Builds that convert bases: whole multiplications on the device, the same bytes, and what falls back to the host.

use super::coprocessor::{ALL, build, conforms, engine, squares};
use super::random::Maker;
use super::{bfv_parameters, ckks_parameters};
use crate::measure;
use bfv::{BfvParams, BfvParamsLiteral};
use isa::{BuildInfo, Reduction, RnsUnit};
use offload::Usage;
use program::step::{Operation, Step};
use program::{Encryption, Parameters, Program};
use rlwe::{RlweParamsLiteral, SecurityPolicy};
use zq::primes::{Direction, ntt_primes};

const UNIT: RnsUnit = RnsUnit {
    rate: 2,
    conversions: 16,
    entries: 64,
};

/// A build with the unit and eight slots, as HEAWS has them.
pub fn converts(word_bits: u32, lanes: u32, log2_n_max: u32) -> BuildInfo {
    BuildInfo {
        butterflies: 2,
        dual_port_slots: 8,
        single_port_slots: 0,
        twiddle_tables: 2,
        rns: Some(UNIT),
        ..build(word_bits, lanes, log2_n_max)
    }
}

/// HEAWS's shape: no special primes, `count` data primes and one more in the second basis.
fn without_special_primes(n: usize, bits: u32, count: usize, plain_modulus: u64) -> Parameters {
    let order = 2 * n as u64;
    let mut auxiliary =
        ntt_primes::<u64>(bits, order, 2 * count + 1, Direction::Down, &[]).unwrap();
    let q = auxiliary.split_off(count + 1);
    let rlwe = RlweParamsLiteral {
        n,
        q,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus,
        auxiliary,
    };
    Parameters::Bfv(BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap())
}

#[test]
fn random_bfv_programs_give_the_same_bytes_where_bases_are_converted() {
    let builds = [
        converts(62, 4, 10),
        converts(62, 3, 10),
        converts(62, 2, 10),
        converts(62, 1, 10),
        // Few slots, most of them of a single port; one table; two conversions at a time.
        BuildInfo {
            rns: Some(RnsUnit {
                rate: 1,
                conversions: 2,
                entries: 16,
            }),
            ..build(62, 4, 10)
        },
        BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 11,
            ..converts(62, 4, 10)
        },
        // Twice the build's degree: no coefficients to convert there.
        converts(62, 4, 9),
        // The second basis fits, the data primes do not.
        converts(50, 4, 10),
    ];
    let usages = conforms(&bfv_parameters(), 0..3, &builds);
    assert!(usages[..6].iter().all(|usage| usage.conversions > 0));
    assert!(usages[6..].iter().all(|usage| usage.conversions == 0));
}

#[test]
fn random_programs_without_special_primes_give_the_same_bytes() {
    let parameters = without_special_primes(1024, 40, 3, super::PLAIN_MODULUS);
    let montgomery = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 11,
        modulus_bits_min: 40,
        ..converts(40, 4, 10)
    };
    conforms(&parameters, 0..4, &[montgomery, converts(40, 3, 10)]);
}

#[test]
fn random_ckks_programs_give_the_same_bytes_where_bases_are_converted() {
    let builds = [converts(62, 5, 10), converts(62, 2, 10)];
    let usages = conforms(&ckks_parameters(), 0..3, &builds);
    assert!(usages.iter().all(|usage| usage.conversions > 0));
}

/// A program whose last step is sent back.
fn ending(mut program: Program, steps: &[(Operation, u8, u32)]) -> Program {
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

/// Usage of a build by a program, whose bytes are checked against those of the walk.
fn checked(program: &Program, info: &BuildInfo) -> Usage {
    super::coprocessor::held_to_the_walk(program, info)
}

#[test]
fn whole_products_leave_nothing_to_the_host() {
    use Operation::{Add, ModDrop, Multiply, Relinearize, Square, Sub};
    let sets = [
        without_special_primes(1024, 40, 3, super::PLAIN_MODULUS),
        bfv_parameters(),
    ];
    for parameters in sets {
        let drawn = || {
            Maker::new(parameters.clone(), Encryption::Secret, 0)
                .finish()
                .0
        };
        let programs: [&[(Operation, u8, u32)]; 6] = [
            &[(Multiply(0, 1), 3, 0), (Relinearize(3), 2, 0)],
            &[
                (Square(2), 3, 0),
                (Relinearize(3), 2, 0),
                (Square(4), 3, 0),
                (Relinearize(5), 2, 0),
            ],
            // Products of unequal sizes.
            &[(Multiply(0, 1), 3, 0), (Multiply(3, 2), 4, 0)],
            &[
                (Multiply(0, 1), 3, 0),
                (Square(2), 3, 0),
                (Sub(3, 4), 3, 0),
                (Relinearize(5), 2, 0),
            ],
            // At a lower level, and back from three parts that were used before.
            &[
                (ModDrop(1), 2, 1),
                (ModDrop(2), 2, 1),
                (Multiply(3, 4), 3, 1),
                (Relinearize(5), 2, 1),
            ],
            &[
                (Multiply(0, 1), 3, 0),
                (Relinearize(3), 2, 0),
                (Multiply(0, 4), 3, 0),
                (Add(3, 5), 3, 0),
            ],
        ];
        for steps in programs {
            let program = ending(drawn(), steps);
            for info in [converts(62, 4, 10), converts(62, 5, 10)] {
                let usage = checked(&program, &info);
                assert_eq!(
                    usage.host_operations, 0,
                    "{steps:?} on {} lanes",
                    info.lanes
                );
                assert!(usage.conversion_cycles > 0 && usage.cycles == usage.predicted_cycles);
            }
        }
    }
}

/// Operands, keys and tables come once, the result goes once.
#[test]
fn a_product_is_one_submission_and_moves_nothing_twice() {
    let parameters = without_special_primes(1024, 40, 3, super::PLAIN_MODULUS);
    let program = squares(parameters, None);
    let usage = checked(&program, &converts(62, 4, 10));
    assert_eq!(usage.submissions, 1);
    // Two tables, two operands of two parts, three digits' keys of two halves.
    let least = 2 + 4 + 6;
    assert!(usage.send.polynomials >= least && usage.receive.polynomials >= 2);
    let spilled = usage.receive.polynomials - 2;
    assert!(usage.send.polynomials <= least + 2 + spilled, "{usage:?}");
    // Of each operand a conversion to P, of the second one back, three roundings, three digits.
    assert_eq!(usage.conversions, 3 + 1 + 3);
    assert_eq!(usage.host_operations, 0);
}

#[test]
fn rotations_leave_permutations_and_a_sum_to_the_host() {
    let drawn = Maker::new(bfv_parameters(), Encryption::Secret, 0)
        .finish()
        .0;
    let program = ending(drawn, &[(Operation::Rotate(0, 1), 2, 0)]);
    let info = converts(62, 4, 10);
    let usage = checked(&program, &info);
    // Two halves of three digits' keys, two parts of the result, and the sum with the first part, which crosses anyway.
    assert_eq!(usage.host_operations, 6 + 2 + 1);
}

#[test]
fn without_the_unit_or_fitting_primes_the_host_converts() {
    let program = squares(bfv_parameters(), None);
    let with = checked(&program, &converts(62, 4, 10));
    let narrow = checked(&program, &converts(54, 4, 10));
    let small = RnsUnit {
        entries: 16,
        ..UNIT
    };
    let few_lanes = BuildInfo {
        rns: Some(small),
        ..converts(62, 2, 10)
    };
    let few = checked(&program, &few_lanes);
    let none = BuildInfo {
        rns: None,
        ..converts(62, 4, 10)
    };
    let none = checked(&program, &none);
    assert_eq!(
        (with.host_operations, none.conversions, narrow.conversions),
        (0, 0, 0)
    );
    assert!(none.host_operations > 0 && narrow.host_operations > 0 && few.host_operations > 0);
    // Digits of one prime fit two lanes, the second basis does not.
    assert!(few.conversions > 0);
}

#[test]
fn a_measured_product_is_the_evaluators() {
    let insecure = SecurityPolicy::insecure();
    for lanes in 2..=4 {
        let info = BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 9,
            modulus_bits_min: 30,
            ..converts(30, lanes, 8)
        };
        let measured =
            measure::multiply(&engine(info, &ALL), (30, 256), None, insecure, 1).unwrap();
        assert!(measured.correct, "{lanes} lanes");
        assert_eq!(measured.usage.host_operations, 0);
        assert_eq!(measured.data_primes.len() + 1, measured.auxiliary.len());
    }
}

#[test]
fn more_primes_than_lanes_take_turns() {
    let insecure = SecurityPolicy::insecure();
    let with = |info: BuildInfo, primes| {
        let engine = engine(info, &ALL);
        measure::multiply(&engine, (30, 256), Some(primes), insecure, 1).unwrap()
    };
    for primes in [2, 5] {
        let info = converts(30, 3, 8);
        let fits = primes < 3;
        let measured = with(info.clone(), primes);
        assert!(measured.correct, "{primes} primes");
        assert_eq!(measured.data_primes.len(), primes);
        assert_eq!(measured.auxiliary.len(), primes + 1);
        assert_eq!(measured.usage.host_operations == 0, fits);
        assert!(measured.usage.compute_cycles > 0);
        // Without the unit the host converts.
        let none = with(BuildInfo { rns: None, ..info }, primes);
        assert!(none.correct && none.usage.host_operations > 0);
        assert_eq!(none.usage.conversions, 0);
    }
}

/// Preset `heaws`: six data primes, seven further ones.
#[test]
fn the_published_shape_takes_twenty_transforms_and_twenty_products() {
    let info = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 13,
        modulus_bits_min: 30,
        multiplier: 1,
        cores: 1,
        fifo_depth: 64,
        host: isa::Host::Axi4,
        cyclic: false,
        rns: Some(RnsUnit { rate: 4, ..UNIT }),
        ..converts(30, 7, 12)
    };
    let backend = engine(info.clone(), &ALL);
    let measured = measure::multiply(&backend, (30, 4096), None, SecurityPolicy::insecure(), 1);
    let measured = measured.unwrap();
    let usage = &measured.usage;
    // The same program where a beat moves a word of every lane: transfers last as long as those of one lane.
    let wide = BuildInfo { lanes: 1, ..info };
    let state = backend.session().driver().state().clone();
    let wide = model::schedule_from(&wide, &state, &measured.program).counters;
    assert!(wide.cycles <= 345_000, "{wide:?}");
    assert!(measured.correct);
    assert_eq!((usage.submissions, usage.host_operations), (1, 0));
    let computing = |i: &&isa::Instruction| i.op.spec().unit == isa::Unit::Compute;
    let compute: Vec<_> = measured.program.iter().filter(computing).collect();
    let transforms = compute.iter().filter(|i| i.op.is_transform()).count();
    assert_eq!((transforms, compute.len() - transforms), (20, 20));
    assert!(usage.compute_cycles < 295_000, "{usage:?}");
    assert_eq!(usage.cycles, usage.predicted_cycles);
}

#[test]
fn a_product_that_a_build_cannot_take_is_refused() {
    let refused = |info: BuildInfo, bits, n, policy| -> String {
        match measure::multiply(&engine(info, &ALL), (bits, n), None, policy, 1) {
            Ok(_) => panic!("not refused"),
            Err(error) => error.to_string(),
        }
    };
    let insecure = SecurityPolicy::insecure();
    let info = converts(30, 4, 8);
    let none = BuildInfo {
        rns: None,
        ..info.clone()
    };
    assert_eq!(
        refused(none, 30, 256, insecure),
        "base conversion is not in this build; with a number of primes the host converts"
    );
    assert_eq!(
        refused(converts(30, 1, 8), 30, 256, insecure),
        "a multiplication needs two lanes or more, the build has 1"
    );
    assert_eq!(
        refused(info.clone(), 31, 256, insecure),
        "primes of 31 bits do not fit the build, which takes 5 to 30"
    );
    assert_eq!(
        refused(info.clone(), 30, 512, insecure),
        "n = 512 is beyond the build, which has n = 8..256"
    );
    let weak = refused(info, 30, 256, SecurityPolicy::default());
    assert!(weak.contains("bits"), "{weak}");
}
