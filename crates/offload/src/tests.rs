// SPDX-License-Identifier: Apache-2.0
use device::{Driver, Modeled};
use isa::{BuildInfo, Draw, Host, ISA_VERSION, Op, Reduction, State, check, implemented_mask};
use rlwe::{CpuEngine, PolyEngine};
use rns::{Coeff, Eval, RnsBasis, RnsPoly};
use zq::Word;
use zq::primes::{Direction, ntt_primes};

use crate::{CoEngine, Form, Frame, Operation, Plan, Session};

const ALL: [&str; 5] = [
    "polymul",
    "tensor",
    "zero-encrypt",
    "delta-m-decrypt",
    "key-switch",
];

/// CoFHEE's shape, smaller: six slots and one shared table.
fn small(word_bits: u32, lanes: u32) -> BuildInfo {
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
        fifo_depth: 16,
        host: Host::Serial,
        cyclic: true,
        rns: None,
        instructions: implemented_mask(),
    }
}

fn engine(info: BuildInfo) -> CoEngine {
    let driver = Driver::open(Box::new(Modeled::open(info).unwrap())).unwrap();
    CoEngine::new(
        "model:small",
        Session::new(driver).unwrap(),
        ALL.map(str::to_owned),
    )
}

fn basis<W: Word>(n: usize, bits: &[u32]) -> RnsBasis<W> {
    let mut primes: Vec<W> = Vec::new();
    for &width in bits {
        primes.extend(ntt_primes::<W>(width, 2 * n as u64, 1, Direction::Down, &primes).unwrap());
    }
    RnsBasis::new(n, &primes).unwrap()
}

fn random<W: Word>(basis: &RnsBasis<W>, draw: &mut Draw) -> RnsPoly<W, Coeff> {
    let mut poly = RnsPoly::zeros(basis);
    for (i, limb) in poly.limbs_mut().enumerate() {
        let q = basis.modulus(i);
        let word = |draw: &mut Draw| u128::from(draw.bits()) << 64 | u128::from(draw.bits());
        limb.iter_mut().for_each(|x| *x = q.reduce_u128(word(draw)));
    }
    poly
}

/// Every operation of the engine trait against the processor's, on one basis.
fn agrees<W: Word>(info: BuildInfo, n: usize, bits: &[u32]) -> crate::Usage {
    let (engine, basis) = (engine(info), basis::<W>(n, bits));
    let mut draw = Draw::new(n as u64);
    let mut next = || random(&basis, &mut draw);
    let eval = |poly: RnsPoly<W, Coeff>| -> RnsPoly<W, Eval> { poly.to_eval() };

    let (pk, u, e) = ([eval(next()), eval(next())], next(), [next(), next()]);
    let ours = engine
        .encrypt_zero([&pk[0], &pk[1]], u.clone(), e.clone())
        .unwrap();
    assert_eq!(
        ours,
        CpuEngine.encrypt_zero([&pk[0], &pk[1]], u, e).unwrap(),
        "zero encryption"
    );

    let (ct, s) = ([next(), next(), next()], eval(next()));
    for size in [2, 3] {
        let ours = engine.phase(&ct[..size], &s).unwrap();
        assert_eq!(
            ours,
            CpuEngine.phase(&ct[..size], &s).unwrap(),
            "phase of {size} parts"
        );
    }
    let other = [next(), next()];
    assert_eq!(
        engine.tensor(&ct[..2], &other).unwrap(),
        CpuEngine.tensor(&ct[..2], &other).unwrap(),
        "tensor"
    );
    let usage = engine.take_usage();
    assert_eq!(engine.usage(), crate::Usage::default());
    usage
}

#[test]
fn the_engine_gives_the_processor_s_residues() {
    let usage = agrees::<u64>(small(62, 1), 32, &[30, 40, 61]);
    assert_eq!(usage.offloaded["delta-m-decrypt"], 2);
    assert!(
        usage.on_host.is_empty()
            && usage.compute_cycles > 0
            && usage.send.bytes > usage.receive.bytes
    );
    agrees::<u128>(small(128, 1), 64, &[109, 128]);
    agrees::<u64>(small(40, 3), 16, &[36, 36, 37]);
    agrees::<u64>(small(40, 3), 16, &[36, 37]);
}

#[test]
fn builds_with_montgomery_reduction_agree_too() {
    let info = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 7,
        ..small(40, 2)
    };
    agrees::<u64>(info.clone(), 64, &[36, 36, 37]);
    agrees::<u64>(info, 128, &[36, 37]);
}

#[test]
fn a_ring_of_twice_the_degree_is_done_in_halves() {
    let whole = agrees::<u128>(small(128, 1), 64, &[109]);
    let halves = agrees::<u128>(small(128, 1), 128, &[109]);
    assert!(
        halves.send.bytes > 2 * whole.send.bytes,
        "the extra transfers are counted"
    );
    assert!(halves.on_host.is_empty());
}

#[test]
fn what_the_build_cannot_take_stays_on_the_processor() {
    let too_long = agrees::<u64>(small(62, 1), 256, &[40]);
    assert!(too_long.offloaded.is_empty() && too_long.on_host["tensor"] == 1);
    let too_wide = agrees::<u64>(small(32, 1), 32, &[40]);
    assert!(too_wide.offloaded.is_empty() && too_wide.compute_cycles == 0);
}

/// A few key switches: the sums run over digits, the key is longer than the digits' basis.
#[test]
fn key_switching_gives_the_processor_s_residues() {
    use rlwe::{KeyGenerator, RlweParams, RlweParamsLiteral, SecurityPolicy, Seed};
    let n = 32;
    let primes: Vec<u64> = basis::<u64>(n, &[40, 41, 42, 43]).values().to_vec();
    let literal = RlweParamsLiteral {
        n,
        q: primes[..3].to_vec(),
        p: primes[3..].to_vec(),
        dnum: 3,
        ..Default::default()
    };
    let params = RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let keys = KeyGenerator::new(&params, Seed::from_text("engine"));
    let secret = keys.secret_key().unwrap();
    let key = keys.relin_key(&secret, 3).unwrap();
    let level = params.level(2).unwrap();
    let digits = level.decompose(&random(level.q(), &mut Draw::new(9)));
    for info in [
        small(62, 1),
        small(62, 3),
        BuildInfo {
            single_port_slots: 5,
            ..small(62, 2)
        },
    ] {
        let engine = engine(info);
        let ours = engine.key_switch_inner(&digits, key.key()).unwrap();
        assert_eq!(
            ours,
            CpuEngine.key_switch_inner(&digits, key.key()).unwrap()
        );
        assert_eq!(engine.usage().offloaded["key-switch"], 1);
    }
}

#[test]
fn every_plan_passes_the_check_and_reads_what_it_loads() {
    for single_port_slots in [3, 5] {
        let info = BuildInfo {
            single_port_slots,
            ..small(62, 1)
        };
        let all = [
            Operation::Decrypt3,
            Operation::KeySwitch(1),
            Operation::KeySwitch(4),
        ];
        for operation in ALL
            .iter()
            .filter_map(|name| Operation::from_name(name))
            .chain(all)
        {
            let plan = Plan::new(
                &info,
                operation,
                Frame {
                    log2_n: 6,
                    mod_idx: 0,
                    first: 0,
                    tables: None,
                },
            )
            .unwrap();
            let mut state = State::new(&info);
            state.moduli.fill(true);
            state.tables.fill(Some(6));
            let program = plan.program();
            check(&info, &state, &program)
                .unwrap_or_else(|error| panic!("{}: {error}", operation.name()));
            let loads = program.iter().filter(|i| i.op == Op::Load).count();
            assert_eq!(loads, operation.inputs().len(), "{}", operation.name());
            assert_eq!(isa::assemble(&plan.assembly()).unwrap(), program);
        }
    }
}

#[test]
fn a_build_with_too_few_slots_is_refused() {
    let info = BuildInfo {
        single_port_slots: 1,
        ..small(62, 1)
    };
    let frame = Frame {
        log2_n: 6,
        mod_idx: 0,
        first: 0,
        tables: None,
    };
    let message = Plan::new(&info, Operation::Tensor, frame)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "tensor needs 6 slots, three of them dual-port; the build has 4 and 3"
    );
    assert_eq!(
        Operation::KeySwitch(3)
            .inputs()
            .iter()
            .filter(|form| **form == Form::Values)
            .count(),
        6
    );
}

#[test]
fn every_instruction_and_operation_simulates_correctly() {
    use crate::simulate::{default_moduli, instruction, operation};
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
                let outcome = instruction(&mut session, spec.op, &moduli, n).unwrap();
                assert!(outcome.correct, "{} n = {n}", spec.mnemonic);
                assert_eq!(outcome.cycles, outcome.predicted_cycles);
            }
        }
        for name in ALL {
            for n in [16, 64] {
                let outcome = operation(
                    &mut session,
                    Operation::from_name(name).unwrap(),
                    &moduli,
                    n,
                )
                .unwrap();
                assert!(outcome.correct, "{name} n = {n}");
            }
        }
        let wide = default_moduli(&[36, 37], 128, 64).unwrap();
        for spec in isa::TABLE.iter().filter(|spec| info.has(spec.op)) {
            let outcome = instruction(&mut session, spec.op, &wide, 128).unwrap();
            assert!(outcome.correct, "{} in parts", spec.mnemonic);
            assert_eq!(outcome.cycles, outcome.predicted_cycles);
        }
        let outcome = operation(&mut session, Operation::Tensor, &wide, 128).unwrap();
        assert!(outcome.correct && outcome.cycles == outcome.predicted_cycles);
        let message = instruction(&mut session, Op::Lift, &moduli, 64)
            .unwrap_err()
            .to_string();
        assert_eq!(message, "instruction 0: lift is not in this build");
        let message = instruction(&mut session, Op::Ntt, &moduli, 256)
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "n = 256 is beyond the build, which has n = 8..64 (powers of two)"
        );
    }
}

#[test]
fn base_conversions_simulate_correctly_and_to_the_cycle() {
    use crate::simulate::{Conversions, conversion, default_moduli};
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
                let outcome = conversion(&mut session, what, &moduli, n).unwrap();
                assert!(outcome.correct, "{name}, {lanes} lanes, n = {n}");
                assert_eq!(outcome.cycles, outcome.predicted_cycles);
            }
        }
        let what = Conversions::Lift;
        let message = conversion(&mut session, what, &moduli, 128).unwrap_err();
        assert_eq!(
            message.to_string(),
            "n = 128 is beyond the build, which has n = 8..64"
        );
    }
    assert_eq!(Conversions::from_name("ntt"), None);
}
