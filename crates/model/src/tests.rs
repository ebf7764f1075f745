// SPDX-License-Identifier: Apache-2.0
use isa::{BuildInfo, Host, PortMemory, Reduction, RnsUnit, State, assemble};
use zq::Modulus;

use crate::{Cause, Conversion, Memory, Timing, execute, lane::Lane, schedule, schedule_from};

/// A build of one lane and one butterfly, n up to 64.
pub(crate) fn build(word_bits: u32) -> BuildInfo {
    BuildInfo {
        word_bits,
        lanes: 1,
        butterflies: 1,
        log2_n_max: 6,
        dual_port_slots: 4,
        single_port_slots: 2,
        twiddle_tables: 1,
        constants: 2,
        multiplier: 0,
        host: Host::Axi4,
        rns: None,
        moves: 0,
        ..BuildInfo::small().unwrap()
    }
}

fn run(memory: &mut Memory, text: &str) {
    for instruction in assemble(text).unwrap() {
        execute(memory, &instruction).unwrap_or_else(|fault| panic!("{instruction}: {fault}"));
    }
}

/// Modulus 97, host buffers 0..4 with 5 i + buffer + 1 modulo 97.
fn loaded(info: BuildInfo) -> Memory {
    let mut memory = Memory::new(info);
    memory.moduli[0][0] = Some(Modulus::new(97).unwrap());
    memory.constants[0][1] = 7;
    for buffer in 0..4 {
        memory.host.insert(
            buffer,
            vec![
                (0..64)
                    .map(|i| (5 * i + u128::from(buffer) + 1) % 97)
                    .collect(),
            ],
        );
        run(
            &mut memory,
            &format!("load s{} n=16 buf={buffer}", buffer + 2),
        );
    }
    memory
}

#[test]
fn pointwise_instructions_do_what_the_manual_says() {
    let mut memory = loaded(build(14));
    run(
        &mut memory,
        "pmodadd s0, s2, s3 n=16\npmac s1, s4, s5, s2 n=16\nstore s0 n=16 buf=0\nstore s1 n=16 buf=1",
    );
    run(
        &mut memory,
        "pmodsub s0, s2, s3 n=16\npmodsqr s1, s4 n=16\nstore s0 n=16 buf=2\nstore s1 n=16 buf=3",
    );
    let (x, y) = (|i: u128| (5 * i + 1) % 97, |i: u128| (5 * i + 2) % 97);
    let (z, w) = (|i: u128| (5 * i + 3) % 97, |i: u128| (5 * i + 4) % 97);
    for i in 0..16u128 {
        let at = |buffer: u32| memory.host[&buffer][0][i as usize];
        assert_eq!(at(0), (x(i) + y(i)) % 97);
        assert_eq!(at(1), (z(i) * w(i) + x(i)) % 97);
        assert_eq!(at(2), (x(i) + 97 - y(i)) % 97);
        assert_eq!(at(3), z(i) * z(i) % 97);
    }
    run(
        &mut memory,
        "cmodmul s0, s2 n=16 const=1\nmemcpyr s1, s2 n=16",
    );
    assert_eq!(memory.slots[0].as_ref().unwrap()[0][3], 16 * 7 % 97);
    assert_eq!(memory.slots[1].as_ref().unwrap()[0][1], x(8));
}

#[test]
fn unreduced_products_split_at_the_word() {
    for (bits, a, b) in [
        (14u32, 12_000u128, 16_383),
        (64, u128::from(u64::MAX), 3),
        (128, u128::MAX, u128::MAX),
    ] {
        let mut memory = loaded(build(bits));
        memory.slots[2].as_mut().unwrap()[0][0] = a;
        memory.slots[3].as_mut().unwrap()[0][0] = b;
        run(&mut memory, "pmul s0, s1, s2, s3 n=16");
        let got = [0, 1].map(|slot| memory.slots[slot].as_ref().unwrap()[0][0]);
        let expected = if bits == 128 {
            [1, u128::MAX - 1]
        } else {
            [(a * b) % (1 << bits), (a * b) >> bits]
        };
        assert_eq!(got, expected, "{bits} bits");
    }
}

#[test]
fn montgomery_products_lack_the_factor_that_tables_carry() {
    let info = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 5,
        ..build(14)
    };
    let lane = Lane::new(&info, Modulus::new(97).unwrap());
    assert_eq!(lane.factor(), (1u128 << 15) % 97);
    for (a, b) in [(1, 1), (96, 96), (50, 3)] {
        assert_eq!(lane.mul(a, b * lane.factor() % 97), a * b % 97);
    }
}

#[test]
fn a_buffer_beyond_the_addresses_stops_the_program() {
    let mut memory = loaded(BuildInfo {
        address_bits: 32,
        ..build(14)
    });
    let bytes = memory.info.buffer_bytes() as u64;
    memory.info.log2_n_max = 15;
    let larger = memory.info.buffer_bytes() as u64;
    let first = (1 << 32) / larger;
    assert!(larger > bytes);
    for (number, cause) in [(first - 1, Cause::Bus), (first, Cause::Address)] {
        for text in ["load s2 n=16", "store s2 n=16"] {
            let instruction = assemble(&format!("{text} buf={number}")).unwrap()[0];
            let fault = execute(&mut memory, &instruction).unwrap_err();
            assert_eq!(fault.cause, cause, "{text} buf={number}");
        }
    }
}

#[test]
fn faults_are_those_of_the_error_register() {
    let mut memory = loaded(build(14));
    let cases = [
        ("ntt s2, s3 n=128", Cause::Degree),
        ("lift s2, s3 n=16", Cause::Opcode),
        ("memcpy s2, s9 n=16", Cause::Slot),
        ("pmodadd s2, s3, s0 n=16", Cause::Unwritten),
        ("pmodadd s2, s3, s4 n=16 mod=1", Cause::Index),
        ("ntt s2, s3 n=16", Cause::Index),
        ("load s2 n=16 buf=9", Cause::Bus),
        ("store s2 n=16 buf=1048575", Cause::Bus),
    ];
    for (text, cause) in cases {
        let instruction = assemble(text).unwrap()[0];
        assert_eq!(
            execute(&mut memory, &instruction).unwrap_err().cause,
            cause,
            "{text}"
        );
    }
}

/// A build of two lanes with a base-conversion unit: conversion 0 a lift, 1 a scaling, both of one prime of lane 1.
fn converting() -> Memory {
    let unit = RnsUnit {
        rate: 2,
        conversions: 2,
        entries: 16,
    };
    let mut memory = Memory::new(BuildInfo {
        lanes: 2,
        rns: Some(unit),
        moves: 4,
        ..build(14)
    });
    let [q, p, r] = [97u128, 193, 257].map(|m| Modulus::new(m).unwrap());
    memory.conversions[0] = Some(Conversion::lift(1, &[q], &[p, r]).unwrap());
    memory.conversions[1] = Some(Conversion::scale(1, &[q], &[p, r], 1).unwrap());
    memory.host.insert(0, vec![vec![0; 64]; 2]);
    memory
}

#[test]
fn conversions_read_the_lanes_of_their_primes() {
    let mut memory = converting();
    let residues = |m: u128| (0..64).map(|i| i * 3 % m).collect::<Vec<u128>>();
    memory.host.insert(1, vec![vec![1; 64], residues(97)]);
    memory.host.insert(2, vec![residues(193), residues(257)]);
    run(
        &mut memory,
        "load s2 n=64 buf=1\nload s3 n=64 buf=2\nlift s4, s2 n=64\nscale s5, s2, s3 n=64 const=1\nlift s2, s2 n=64",
    );
    let slot = |slot: usize| memory.slots[slot].clone().unwrap();
    for (lane, m) in [193u128, 257].into_iter().enumerate() {
        for i in 0..64u128 {
            // 3 i, centred modulo 97; the quotient by 97 rounded.
            let (x, at) = (3 * i % 97, i as usize);
            let centred = if x > 48 { m + x - 97 } else { x };
            assert_eq!(slot(4)[lane][at], centred);
            assert_eq!(slot(5)[lane][at], (3 * i + 48) / 97);
        }
    }
    assert_eq!(slot(2), slot(4));
    let wrong = [
        "lift s2, s2 n=64 const=1",
        "scale s2, s3, s4 n=64",
        "lift s2, s2 n=64 const=9",
    ];
    for text in wrong {
        let instruction = assemble(text).unwrap()[0];
        let fault = execute(&mut memory, &instruction).unwrap_err();
        assert_eq!(fault.cause, Cause::Index, "{text}");
    }
}

#[test]
fn automorphisms_and_digits_are_those_of_the_production_arithmetic() {
    let mut memory = converting();
    let draw = |m: u128| (0..64u128).map(|i| i * i * 5 % m).collect::<Vec<_>>();
    memory.host.insert(1, vec![draw(193), draw(257)]);
    for g in [1, 5, 25, 127] {
        memory.automorphisms[2] = Some(g);
        run(&mut memory, "load s2 n=64 buf=1\nauto s3, s2 n=64 const=2");
        let map = rns::Automorphism::new(64, g.into()).unwrap();
        let (from, to) = (&memory.slots[2], &memory.slots[3]);
        for (from, to) in from.iter().flatten().zip(to.iter().flatten()) {
            let mut wanted = vec![0; 64];
            map.eval_into(&from[..64], &mut wanted);
            assert_eq!(to[..64], wanted, "g = {g}");
        }
    }
    for text in [
        "auto s2, s3 n=64 const=0",
        "auto s2, s3 n=64 const=9",
        "decomp s2, s3 n=64",
    ] {
        let instruction = assemble(text).unwrap()[0];
        let fault = execute(&mut memory, &instruction).unwrap_err();
        assert_eq!(fault.cause, Cause::Index, "{text}");
    }
}

/// Digits beside what base conversion makes of the same prime, both ends and the seam of the rounding included.
#[test]
fn digits_are_lifts_of_one_prime() {
    let pairs = [
        (97u128, 193u128),
        (193, 97),
        (257, 257),
        (1073479681, 1073184769),
        ((1 << 60) - (1 << 18) + 1, (1 << 60) - (1 << 14) - 1),
        (18446744073709551557, 9223372036854775837),
    ];
    for (q, p) in pairs {
        let [q, p] = [q, p].map(|m| Modulus::new(m).unwrap());
        let digit = crate::Digit::new(&[(1, q, p), (0, q, q)]).unwrap();
        let lift = Conversion::lift(1, &[q], &[p, q]).unwrap();
        let half = q.value() / 2;
        let near = (half.saturating_sub(400)..(half + 400).min(q.value())).collect::<Vec<_>>();
        let ends = [0, 1, q.value() - 1];
        let x: Vec<u128> = near.into_iter().chain(ends).collect();
        let source = vec![x.clone(), x];
        let zeros = vec![vec![0; source[0].len()]; 2];
        let made = digit.apply(&source, 64);
        assert_eq!(
            made[0],
            lift.apply(&source, &zeros)[0],
            "{} to {}",
            q.value(),
            p.value()
        );
        assert_eq!(made[1], source[0], "an own residue stays");
    }
    let [q, p] = [389u128, 193].map(|m| Modulus::new(m).unwrap());
    let message = crate::Digit::new(&[(0, q, p)]).unwrap_err().to_string();
    assert!(message.contains("389 must be below 2 * 193"), "{message}");
}

/// Digits of a prime much longer than the lane's, within words that just hold it: congruent to the lift.
#[test]
fn digits_of_longer_primes_are_lifts_once_they_are_reduced() {
    let pairs = [
        (389u128, 193u128, 9u32),
        (65537, 97, 17),
        ((1 << 60) - (1 << 18) + 1, 1073479681, 60),
        (18446744073709551557, 97, 64),
        (97, 65537, 17),
    ];
    for (q, p, bits) in pairs {
        let [q, p] = [q, p].map(|m| Modulus::new(m).unwrap());
        let digit = crate::Digit::unreduced(&[(0, q, p)]).unwrap();
        let lift = Conversion::lift(0, &[q], &[p]).unwrap();
        let half = q.value() / 2;
        let near = half.saturating_sub(400)..(half + 400).min(q.value());
        let x: Vec<u128> = near.chain([0, 1, q.value() - 1]).collect();
        let (source, zeros) = (vec![x.clone()], vec![vec![0; x.len()]]);
        let made = &digit.apply(&source, bits)[0];
        assert!(made.iter().all(|word| word >> bits == 0));
        let reduced: Vec<u128> = made.iter().map(|&word| p.reduce(word)).collect();
        let (q, p) = (q.value(), p.value());
        assert_eq!(reduced, lift.apply(&source, &zeros)[0], "{q} to {p}");
    }
    let [q, p] = [(1u128 << 65) - 49, 97].map(|m| Modulus::new(m).unwrap());
    assert!(crate::Digit::unreduced(&[(0, q, p)]).is_err());
}

#[test]
fn a_product_with_a_constant_adds_what_it_is_given() {
    let mut memory = converting();
    let q = Modulus::new(193u128).unwrap();
    for (lane, constant) in [(0, 7), (1, 11)] {
        memory.moduli[0][lane] = Some(q);
        memory.constants[lane][1] = constant;
    }
    memory.host.insert(1, vec![(0..64).collect(); 2]);
    run(
        &mut memory,
        "load s2 n=64 buf=1\ncmodmul s3, s2 n=64 const=1\ncmodmul s4, s2, s3 n=64 const=1",
    );
    for (lane, constant) in [(0, 7u128), (1, 11)] {
        let sums = memory.slots[4].as_ref().unwrap()[lane][..64].to_vec();
        let wanted: Vec<u128> = (0..64).map(|x| 2 * constant * x % 193).collect();
        assert_eq!(sums, wanted);
    }
}

#[test]
fn three_units_work_at_a_time() {
    let memory = converting();
    let mut state = State::new(&memory.info);
    state.conversions = memory
        .conversions
        .iter()
        .map(|c| c.as_ref().map(Conversion::shape))
        .collect();
    let timeline = |text: &str| schedule_from(&memory.info, &state, &assemble(text).unwrap());
    let apart = timeline("lift s2, s3 n=64\npmodadd s4, s4, s4 n=64\nmemcpy s5, s0 n=64\nsync");
    let starts: Vec<u64> = apart.events.iter().map(|event| event.start).collect();
    assert_eq!(starts[..3], [0, 1, 2]);
    let last = apart.events[..3]
        .iter()
        .map(|event| event.end)
        .max()
        .unwrap();
    assert_eq!(starts[3], last + 1);
    // 2 cycles a group of 2 coefficients.
    let lift = timeline("lift s2, s3 n=64").counters;
    assert_eq!((lift.busy_rns, lift.cycles > 64), (lift.cycles, true));
    for text in [
        "pmodadd s4, s3, s4 n=64",
        "memcpy s5, s2 n=64",
        "lift s4, s5 n=64",
    ] {
        let after = timeline(&format!("lift s2, s3 n=64\n{text}"));
        assert_eq!(after.events[1].start, lift.cycles + 1, "{text}");
    }
    for text in ["pmodadd s3, s4, s4 n=64", "memcpy s3, s4 n=64"] {
        let before = timeline(&format!("{text}\nlift s2, s3 n=64"));
        assert_eq!(before.events[1].start, before.events[0].end + 1, "{text}");
    }
}

/// Cycles of a LOAD and a STORE of n = 64 on a build of three lanes, two butterflies and words of 4 bytes.
fn transfers(wide_port: bool, port_memory: PortMemory) -> [u64; 2] {
    let info = BuildInfo {
        lanes: 3,
        butterflies: 2,
        wide_port,
        port_memory,
        ..build(32)
    };
    ["load s2 n=64 buf=0", "store s2 n=64 buf=0"]
        .map(|text| schedule(&info, &assemble(text).unwrap()).counters.cycles)
}

#[test]
fn transfers_take_what_port_and_memory_need() {
    let ideal = PortMemory::IDEAL;
    let (words, rows) = (3 * 32, 32);
    assert_eq!(transfers(false, ideal), [words + 24, words + 15]);
    assert_eq!(transfers(true, ideal), [rows + 24, rows + 15]);
    // Words of 8 bytes, rows of 24 in beats of 32: at 20 bytes a cycle rows alone wait, 1.6 cycles each.
    let slow = PortMemory {
        bytes_per_kilocycle: 20_000,
        ..ideal
    };
    assert_eq!(transfers(false, slow), transfers(false, ideal));
    assert_eq!(transfers(true, slow), [51 + 24, 51 + 15]);
    let far = PortMemory {
        read_latency: 120,
        write_latency: 58,
        ..ideal
    };
    assert_eq!(transfers(true, far), [rows + 124, rows + 65]);
}

#[test]
fn pointwise_instructions_run_beside_transforms_where_they_have_a_unit() {
    let text = "ntt s4, s2 n=64\npmodadd s5, s3, s3 n=64\nntt s6, s5 n=64";
    let program = assemble(text).unwrap();
    let one = build(30);
    let two = BuildInfo {
        pointwise_unit: true,
        ..one.clone()
    };
    let [without, with] = [one, two].map(|info| schedule(&info, &program));
    // The sum starts behind the transform, or beside it and ends before.
    assert!(without.events[1].start > without.events[0].start + 100);
    let [first, sum, second] = [0, 1, 2].map(|at| with.events[at]);
    assert_eq!(
        (sum.unit, sum.start),
        (isa::Unit::Pointwise, first.start + 1)
    );
    assert!(sum.end < first.end && second.start < first.end);
    assert_eq!(with.counters.busy_pointwise, sum.end - sum.start);
    assert!(with.counters.cycles < without.counters.cycles);
}

/// The scoreboard, which knows every instruction in flight, agrees with the rule for one.
#[test]
fn another_unit_gets_a_slot_when_the_holder_releases_it() {
    let info = build(14);
    for (holder, sources, results) in [
        ("ntt s3, s2 n=64", [2, 2], [3, 0, 1]),
        ("intt s3, s2, s4 n=64", [2, 2], [3, 4, 1]),
        ("pmodadd s3, s2, s4 n=64", [2, 4], [3, 3, 3]),
        ("pmac s3, s2, s4, s5 n=64", [4, 5], [3, 3, 3]),
    ] {
        let start_beside = |slot: u8| {
            let program = assemble(&format!("{holder}\nstore s{slot} n=64 buf=0")).unwrap();
            let events = schedule(&info, &program).events;
            let held = Timing::new(&info).holds(&program[0], events[0].start, events[0].end);
            (events[1].start, held)
        };
        for slot in sources {
            let (start, held) = start_beside(slot);
            assert_eq!(start, held.sources, "{holder}, slot {slot}");
        }
        for slot in results {
            let (start, held) = start_beside(slot);
            assert_eq!(start, held.results, "{holder}, slot {slot}");
        }
    }
}
