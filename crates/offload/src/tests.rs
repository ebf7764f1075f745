// SPDX-License-Identifier: Apache-2.0
//! Single operations and instructions, as they are measured.

use device::{Driver, Modeled};
use isa::{BuildInfo, Host, ISA_VERSION, Op, Reduction, State, check, implemented_mask};

use crate::{Form, Operation, OperationProgram, ProgramArgs, Session};

const ALL: [Operation; 7] = [
    Operation::Polymul,
    Operation::Tensor,
    Operation::ZeroEncrypt(Form::Coefficients),
    Operation::ZeroEncrypt(Form::Values),
    Operation::Decrypt(Form::Coefficients),
    Operation::Decrypt(Form::Values),
    Operation::KeySwitch,
];

const ARGS: ProgramArgs = ProgramArgs {
    log2_n: 6,
    mod_idx: 0,
    first: 0,
    tables: None,
};

/// CoFHEE's shape, smaller: six slots and one shared table.
pub fn small(word_bits: u32, lanes: u32) -> BuildInfo {
    BuildInfo {
        isa_version: ISA_VERSION,
        word_bits,
        lanes,
        butterflies: 1,
        log2_n_max: 6,
        dual_port_slots: 3,
        single_port_slots: 3,
        twiddle_tables: 1,
        moduli_slots: 2,
        constants: 4,
        reduction: Reduction::Barrett,
        montgomery_bits: 0,
        modulus_bits_min: 5,
        multiplier: 0,
        cores: 1,
        fifo_depth: 16,
        host: Host::Serial,
        wide_port: false,
        stream: false,
        pointwise_unit: false,
        controller: false,
        port_memory: isa::PortMemory::IDEAL,
        cyclic: true,
        rns: None,
        moves: 0,
        address_bits: 40,
        instructions: implemented_mask(),
    }
}

#[test]
fn every_program_passes_the_check_and_reads_what_it_loads() {
    for single_port_slots in [3, 5] {
        let info = BuildInfo {
            single_port_slots,
            ..small(62, 1)
        };
        for operation in ALL {
            let named = Operation::from_name(operation.name(), operation.output_form());
            assert_eq!(named, Some(operation));
            let made = OperationProgram::new(&info, operation, ARGS).unwrap();
            let mut state = State::new(&info);
            state.moduli.fill(true);
            state.tables.fill(Some(6));
            let program = made.instructions();
            check(&info, &state, &program)
                .unwrap_or_else(|error| panic!("{}: {error}", operation.name()));
            let loads = program.iter().filter(|i| i.op == Op::Load).count();
            assert_eq!(loads, operation.inputs().len(), "{}", operation.name());
            assert_eq!(isa::assemble(&made.assembly()).unwrap(), program);
        }
    }
}

#[test]
fn a_build_with_too_few_slots_is_refused() {
    let info = BuildInfo {
        single_port_slots: 1,
        ..small(62, 1)
    };
    let message = OperationProgram::new(&info, Operation::Tensor, ARGS)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "tensor needs 6 slots, three of them dual-port; the build has 4 and 3"
    );
}

#[test]
fn every_instruction_and_operation_simulates_correctly() {
    use crate::measure_instruction;
    use crate::simulate::{default_moduli, measure_operation};
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
        for operation in ALL {
            let name = operation.name();
            for n in [16, 64] {
                let outcome = measure_operation(&mut session, operation, &moduli, n).unwrap();
                assert!(outcome.correct, "{name} n = {n}");
            }
        }
        let wide = default_moduli(&[36, 37], 128, 64).unwrap();
        for spec in isa::TABLE.iter().filter(|spec| info.has(spec.op)) {
            let outcome = measure_instruction(&mut session, spec.op, &wide, 128).unwrap();
            assert!(outcome.correct, "{} in parts", spec.mnemonic);
            assert_eq!(outcome.cycles, outcome.predicted_cycles);
        }
        for operation in ALL {
            let name = operation.name();
            let outcome = measure_operation(&mut session, operation, &wide, 128).unwrap();
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
    use crate::simulate::default_moduli;
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
    use crate::simulate::default_moduli;
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
