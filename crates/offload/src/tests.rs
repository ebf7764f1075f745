// SPDX-License-Identifier: Apache-2.0
//! Workloads and instructions, as they are measured.

use device::{Driver, Modeled};
use isa::{BuildInfo, Host, Op, Reduction, State, check};

use polynomial::Form;

use crate::simulate::{assembly, default_moduli, measure_workload};
use crate::{Session, Workload};

const ALL: [Workload; 7] = [
    Workload::Polymul,
    Workload::Tensor,
    Workload::ZeroEncrypt(Form::Coefficients),
    Workload::ZeroEncrypt(Form::Values),
    Workload::Decrypt(Form::Coefficients),
    Workload::Decrypt(Form::Values),
    Workload::KeySwitch,
];

/// CoFHEE's shape, smaller: six slots and one shared table.
pub fn small(word_bits: u32, lanes: u32) -> BuildInfo {
    BuildInfo {
        word_bits,
        lanes,
        butterflies: 1,
        log2_n_max: 6,
        dual_port_slots: 3,
        single_port_slots: 3,
        twiddle_tables: 1,
        constants: 4,
        multiplier: 0,
        host: Host::Serial,
        rns: None,
        moves: 0,
        ..BuildInfo::small().unwrap()
    }
}

fn open(info: &BuildInfo) -> Session {
    let driver = Driver::open(Box::new(Modeled::open(info.clone()).unwrap())).unwrap();
    Session::new(driver).unwrap()
}

#[test]
fn every_workload_has_a_name_and_a_program_that_is_text() {
    let info = small(62, 1);
    let moduli = default_moduli(&[60], 64, info.n_max()).unwrap();
    for workload in ALL {
        let forms = [Form::Coefficients, Form::Values];
        let named = forms.map(|form| Workload::from_name(workload.name(), form));
        assert!(named.contains(&Some(workload)));
        let text = assembly(&info, workload, &moduli, 64).unwrap();
        let mut state = State::new(&info);
        state.moduli.fill(true);
        state.tables.fill(Some(6));
        let program = isa::assemble(&text).unwrap();
        check(&info, &state, &program)
            .unwrap_or_else(|error| panic!("{}: {error}", workload.name()));
    }
    assert_eq!(Workload::from_name("ntt", Form::Values), None);
}

/// With operands on the chip: transforms and products alone where six slots hold everything, one after another without
/// a gap; what has no slot is loaded as early as one is free.
#[test]
fn the_work_of_a_workload_is_its_transforms_and_products() {
    let info = small(62, 1);
    let moduli = default_moduli(&[60], 64, info.n_max()).unwrap();
    let mut session = open(&info);
    for (workload, transforms, products, loads, cycles) in [
        (Workload::Polymul, 3, 1, 0, 665),
        (Workload::Tensor, 7, 4, 0, 1612),
        (Workload::ZeroEncrypt(Form::Coefficients), 3, 2, 1, 1077),
        (Workload::ZeroEncrypt(Form::Values), 3, 2, 1, 1269),
        (Workload::Decrypt(Form::Coefficients), 2, 1, 0, 460),
        (Workload::Decrypt(Form::Values), 0, 1, 0, 76),
        (Workload::KeySwitch, 4, 4, 2, 1821),
    ] {
        let name = workload.name();
        let outcome = measure_workload(&mut session, workload, &moduli, 64).unwrap();
        let count = |is: &dyn Fn(Op) -> bool| outcome.program.iter().filter(|i| is(i.op)).count();
        let found = [
            count(&Op::is_transform),
            count(&|op| matches!(op, Op::Pmodmul | Op::Pmac)),
            count(&|op| op == Op::Load),
        ];
        assert_eq!(found, [transforms, products, loads], "{name}");
        assert_eq!(outcome.program.len(), found.iter().sum::<usize>(), "{name}");
        assert_eq!(outcome.cycles, cycles, "{name}");
    }
}

/// A ring of twice the degree is two of the build's and, between the halves' transforms, two tables; what is loaded
/// for a half is loaded before its work.
#[test]
fn the_work_in_halves_is_twice_that_of_a_half() {
    let info = BuildInfo {
        single_port_slots: 5,
        ..small(62, 1)
    };
    let mut session = open(&info);
    let mut cycles = |workload, n: usize| {
        let moduli = default_moduli(&[60], n, info.n_max()).unwrap();
        let outcome = measure_workload(&mut session, workload, &moduli, n).unwrap();
        assert!(outcome.correct);
        outcome.cycles
    };
    let table =
        model::Timing::new(&info).alone(&isa::assemble("load twiddle n=64 buf=0").unwrap()[0]);
    for workload in ALL {
        // The table of inverse transforms comes after forward ones.
        let tables = match workload {
            Workload::Decrypt(Form::Values) | Workload::ZeroEncrypt(Form::Values) => 0,
            _ => 2,
        };
        let (whole, half) = (cycles(workload, 128), cycles(workload, 64));
        let most = 2 * half + tables * (table + 4);
        let text = assembly(
            &info,
            workload,
            &default_moduli(&[60], 128, 64).unwrap(),
            128,
        );
        assert!(
            whole <= most,
            "{} {whole} {most}\n{}",
            workload.name(),
            text.unwrap()
        );
    }
}

/// The host gives the factor with what it gives, before a transform too.
#[test]
fn montgomery_factors_cost_no_instruction() {
    let barrett = small(40, 2);
    let montgomery = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 7,
        ..barrett.clone()
    };
    let moduli = default_moduli(&[36, 37], 64, 64).unwrap();
    for workload in ALL {
        let [one, other] = [&barrett, &montgomery].map(|info| {
            let outcome = measure_workload(&mut open(info), workload, &moduli, 64).unwrap();
            assert!(outcome.correct, "{}", workload.name());
            outcome.program.iter().map(|i| i.op).collect::<Vec<_>>()
        });
        assert_eq!(one, other, "{}", workload.name());
    }
}

#[test]
fn every_instruction_and_operation_simulates_correctly() {
    use crate::measure_instruction;
    for info in [
        small(40, 2),
        BuildInfo {
            reduction: Reduction::Montgomery,
            montgomery_bits: 7,
            ..small(40, 2)
        },
    ] {
        let moduli = default_moduli(&[36, 37], 64, info.n_max()).unwrap();
        let driver = Driver::open(Box::new(Modeled::open(info.clone()).unwrap())).unwrap();
        let mut session = Session::new(driver).unwrap();
        for spec in isa::TABLE.iter().filter(|spec| info.has(spec.op)) {
            for n in [8, 64] {
                let outcome = measure_instruction(&mut session, spec.op, &moduli, n).unwrap();
                assert!(outcome.correct, "{} n = {n}", spec.mnemonic);
                assert_eq!(outcome.cycles, outcome.predicted_cycles);
            }
        }
        for workload in ALL {
            let name = workload.name();
            for n in [16, 64] {
                let outcome = measure_workload(&mut session, workload, &moduli, n).unwrap();
                assert!(outcome.correct, "{name} n = {n}");
            }
        }
        let wide = default_moduli(&[36, 37], 128, 64).unwrap();
        for spec in isa::TABLE.iter().filter(|spec| info.has(spec.op)) {
            let outcome = measure_instruction(&mut session, spec.op, &wide, 128).unwrap();
            assert!(outcome.correct, "{} in parts", spec.mnemonic);
            assert_eq!(outcome.cycles, outcome.predicted_cycles);
        }
        for workload in ALL {
            let name = workload.name();
            let outcome = measure_workload(&mut session, workload, &wide, 128).unwrap();
            assert!(outcome.correct, "{name} in halves");
            assert_eq!(outcome.cycles, outcome.predicted_cycles, "{name} in halves");
        }
        let message = measure_instruction(&mut session, Op::Lift, &moduli, 64)
            .unwrap_err()
            .to_string();
        assert_eq!(message, "instruction 0: lift is not in this build");
        let message = measure_instruction(&mut session, Op::Ntt, &moduli, 256)
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "n = 256 is beyond the build, which has n = 8..64 (powers of two)"
        );
    }
}

#[test]
fn moves_simulate_correctly_and_to_the_cycle() {
    use crate::measure_instruction;
    let info = BuildInfo {
        moves: 4,
        ..small(40, 2)
    };
    let driver = Driver::open(Box::new(Modeled::open(info.clone()).unwrap())).unwrap();
    let mut session = Session::new(driver).unwrap();
    for n in [8, 64, 128] {
        let moduli = default_moduli(&[36, 37], n, info.n_max()).unwrap();
        for op in [Op::Auto, Op::Decomp] {
            let outcome = measure_instruction(&mut session, op, &moduli, n);
            if (op, n) == (Op::Auto, 128) {
                let message = outcome.unwrap_err().to_string();
                assert!(
                    message.starts_with("n = 128 is beyond the build"),
                    "{message}"
                );
                continue;
            }
            let outcome = outcome.unwrap();
            assert!(outcome.correct, "{} n = {n}", op.spec().mnemonic);
            assert_eq!(outcome.cycles, outcome.predicted_cycles);
            assert!(n > 64 || outcome.cycles == n as u64 + 6);
        }
    }
}

#[test]
fn base_conversions_simulate_correctly_and_to_the_cycle() {
    use crate::{Conversions, measure_conversion};
    let unit = isa::RnsUnit {
        rate: 2,
        conversions: 4,
        entries: 16,
    };
    for lanes in [1, 2, 4] {
        let info = BuildInfo {
            rns: Some(unit),
            ..small(40, lanes)
        };
        let bits: Vec<u32> = (36..36 + lanes).collect();
        let moduli = default_moduli(&bits, 64, info.n_max()).unwrap();
        let driver = Driver::open(Box::new(Modeled::open(info).unwrap())).unwrap();
        let mut session = Session::new(driver).unwrap();
        for name in ["lift", "scale", "scale-lift", "decomp"] {
            let what = Conversions::from_name(name).unwrap();
            for n in [8, 64] {
                let outcome = measure_conversion(&mut session, what, &moduli, n).unwrap();
                assert!(outcome.correct, "{name}, {lanes} lanes, n = {n}");
                assert_eq!(outcome.cycles, outcome.predicted_cycles);
            }
        }
        let what = Conversions::Lift;
        let message = measure_conversion(&mut session, what, &moduli, 128).unwrap_err();
        assert_eq!(
            message.to_string(),
            "n = 128 is beyond the build, which has n = 8..64"
        );
    }
    assert_eq!(Conversions::from_name("ntt"), None);
}
