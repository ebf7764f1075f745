// SPDX-License-Identifier: Apache-2.0
use isa::{BuildInfo, Host, ISA_VERSION, Reduction, assemble, implemented_mask};
use zq::Modulus;

use crate::{Cause, Memory, execute, lane::Lane};

/// A build of one lane and one butterfly, n up to 64.
pub(crate) fn build(word_bits: u32) -> BuildInfo {
    BuildInfo {
        isa_version: ISA_VERSION,
        word_bits,
        lanes: 1,
        butterflies: 1,
        log2_n_max: 6,
        dual_port_slots: 4,
        single_port_slots: 2,
        twiddle_tables: 1,
        moduli_slots: 2,
        constants: 2,
        reduction: Reduction::Barrett,
        montgomery_bits: 0,
        modulus_bits_min: 5,
        multiplier: 0,
        fifo_depth: 16,
        host: Host::Axi4,
        cyclic: true,
        instructions: implemented_mask(),
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
fn faults_are_those_of_the_error_register() {
    let mut memory = loaded(build(14));
    let cases = [
        ("ntt s2, s3 n=128", Cause::Degree),
        ("lift s2, s3 n=16", Cause::Opcode),
        ("memcpy s2, s9 n=16", Cause::BadSlot),
        ("pmodadd s2, s3, s0 n=16", Cause::NeverWritten),
        ("pmodadd s2, s3, s4 n=16 mod=1", Cause::BadIndex),
        ("ntt s2, s3 n=16", Cause::BadIndex),
        ("load s2 n=16 buf=9", Cause::Bus),
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
