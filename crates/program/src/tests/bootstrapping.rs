// SPDX-License-Identifier: Apache-2.0
//! Refreshes: bytes, and what a reader refuses.

use super::*;
use crate::{Bootstrapping, Error};
use ckks::bootstrap::BootstrapLiteral;
use rlwe::wire::{Reader, Writer};
use zq::primes::{Direction, ntt_primes};

const N: usize = 64;

/// 50-bit primes: two levels of each transform, two of the application, eight of the reduction.
fn set() -> CkksParams {
    let primes = ntt_primes::<u64>(50, 2 * N as u64, 19, Direction::Down, &[]).unwrap();
    let (q, p) = primes.split_at(15);
    let rlwe = RlweParamsLiteral {
        n: N,
        q: q.to_vec(),
        p: p.to_vec(),
        dnum: 4,
        ..Default::default()
    };
    let scale = 2.0_f64.powi(40);
    CkksParams::new(
        &CkksParamsLiteral { rlwe, scale },
        SecurityPolicy::insecure(),
    )
    .unwrap()
}

fn literal() -> BootstrapLiteral {
    BootstrapLiteral {
        bound: 1.25,
        slots_to_coeffs: 2,
        coeffs_to_slots: 2,
        log2_failure: -140.0,
        ..BootstrapLiteral::default()
    }
}

/// The input, refreshed `count` times.
fn refreshing(literal: &BootstrapLiteral, count: u32) -> Program {
    let set = set();
    let bootstrapping = Bootstrapping::new(&set, literal, SecurityPolicy::insecure()).unwrap();
    let fresh = bootstrapping.params().output_level() as u32;
    let mut program = sample(Parameters::Ckks(set));
    program.arguments.truncate(1);
    let slots = program.parameters.slots();
    program.arguments[0].secrecy = crate::Secrecy::Encrypted(IndexMap::identity(slots).unwrap());
    program.arguments[0].shape = vec![slots as u32];
    program.arguments[0].range = crate::Range::Reals {
        low: -1.0,
        high: 1.0,
    };
    let input = program.steps[0];
    program.steps = vec![input];
    for number in 0..count {
        program.steps.push(Step {
            operation: Operation::Bootstrap(number),
            level: fresh,
            ..input
        });
    }
    program.expressions.clear();
    program.plaintexts.clear();
    program.transforms.clear();
    program.bootstrapping = Some(bootstrapping);
    program.outputs = vec![count];
    program.result_shape = vec![slots as u32];
    program.result = IndexMap::identity(slots).unwrap();
    program.reading = crate::Reading::default();
    program.guarantee.tolerance = 1.0;
    program.guarantee.strength = crate::Strength::Certain;
    program.guarantee.publish = false;
    program.guarantee.failure_bits = 128;
    program.guarantee.bits = program.bound(crate::Assume::All, None).unwrap().bits;
    program
}

fn read(program: &Program) -> Result<Program, Error> {
    Program::from_bytes(
        &program.to_bytes(),
        SecurityPolicy::insecure(),
        &Limits::default(),
    )
}

#[test]
fn a_program_that_refreshes_survives_bytes() {
    let program = refreshing(&literal(), 3);
    assert_eq!(read(&program).unwrap(), program);
    assert!(program.required_keys().bootstrapping);
    assert!(
        program
            .to_string()
            .contains("refreshes values up to 1.25e0")
    );
    // Each adds its error, and the reader adds them up.
    let one = refreshing(&literal(), 1).guarantee.bits;
    assert!(program.guarantee.bits > one + 1.0);
    let cost = program.cost();
    assert!(cost.work > 2 * refreshing(&literal(), 1).cost().work);
    // Its only keys are those of refreshes, which are counted to the byte.
    let own = program.bootstrapping.as_ref().unwrap();
    assert_eq!(cost.keys, own.params().key_memory()[1] as u64);
}

#[test]
fn more_than_a_refresh_keeps_is_refused() {
    let refused = |edit: &dyn Fn(&mut Program)| {
        let mut program = refreshing(&literal(), 2);
        edit(&mut program);
        read(&program).unwrap_err().to_string()
    };
    assert!(refused(&|p| p.guarantee.bits -= 1.0).contains("promises more"));
    assert!(refused(&|p| p.steps[2].level += 1).contains("level"));
    assert!(refused(&|p| p.steps[1].level = 1).contains("level"));
    assert!(refused(&|p| p.bootstrapping = None).contains("no bootstrapping"));
    let wide = |p: &mut Program| {
        p.arguments[0].range = crate::Range::Reals {
            low: -1.5,
            high: 1.5,
        };
    };
    assert!(refused(&wide).contains("the bound of the bootstrapping"));
    let often = |p: &mut Program| p.guarantee.failure_bits = 1024;
    assert!(!refused(&often).is_empty());
}

#[test]
fn failures_add_up_to_what_is_stated() {
    // |I| ≤ 15 for a weight of 32 fails with 2^-132 or so at this degree: a few refreshes may, many may not.
    let rare = BootstrapLiteral {
        log2_failure: -130.0,
        ..literal()
    };
    let program = refreshing(&rare, 1);
    let each = program
        .bootstrapping
        .as_ref()
        .unwrap()
        .params()
        .log2_failure()
        .unwrap();
    assert!(each.is_finite() && each < -130.0);
    read(&program).unwrap();
    let mut bold = program.clone();
    bold.guarantee.failure_bits = (-each) as u32;
    let told = bold.check_guarantee().unwrap_err().to_string();
    assert!(told.contains("refreshes fail with probability"), "{told}");
}

#[test]
fn insecure_and_failing_sets_are_refused_when_read() {
    let program = refreshing(&literal(), 1);
    let judged = Program::from_bytes(
        &program.to_bytes(),
        SecurityPolicy::default(),
        &Limits::default(),
    );
    assert!(judged.is_err());
    let heavy = BootstrapLiteral {
        weight: 60,
        ..literal()
    };
    let refused = Bootstrapping::new(&set(), &heavy, SecurityPolicy::insecure());
    assert!(refused.unwrap_err().to_string().contains("bootstrapping: "));
}

#[test]
fn a_second_pass_survives_bytes_and_takes_a_level() {
    let once = refreshing(&literal(), 1);
    for key_bytes in [
        None,
        once.bootstrapping
            .as_ref()
            .map(|own| own.params().key_bytes()),
    ] {
        let twice = BootstrapLiteral {
            passes: 2,
            key_bytes,
            ..literal()
        };
        let twice = refreshing(&twice, 1);
        assert_eq!(read(&twice).unwrap(), twice);
        assert!(twice.to_string().contains(", 2 passes"));
        let of = |program: &Program| program.bootstrapping.clone().unwrap();
        let levels = [&once, &twice].map(|program| of(program).params().output_level());
        assert_eq!(levels[0], levels[1] + 1);
        let added = [&once, &twice].map(|program| of(program).refresh(128).unwrap().added);
        assert!(added[1] < added[0] / 64.0, "{added:?}");
        let mut out = Writer::new();
        of(&twice).write(&mut out);
        let mut written = out.as_bytes().to_vec();
        for passes in [0, 1, 3, 255] {
            *written.last_mut().unwrap() = passes;
            let read = Bootstrapping::read(&mut Reader::new(&written))
                .and_then(|own| Bootstrapping::new(&set(), &own, SecurityPolicy::insecure()));
            assert!(read.unwrap_err().to_string().contains("number of passes"));
        }
    }
}

#[test]
fn a_limit_on_the_bytes_of_keys_survives_bytes() {
    let whole = refreshing(&literal(), 1);
    let of = |program: &Program| program.bootstrapping.clone().unwrap().params().clone();
    let least = of(&whole).least_key_bytes();
    assert!(least < of(&whole).key_bytes());
    let limited = |key_bytes| BootstrapLiteral {
        key_bytes: Some(key_bytes),
        ..literal()
    };
    let few = refreshing(&limited(least), 1);
    assert_eq!(of(&few).key_bytes(), least);
    assert_eq!(read(&few).unwrap(), few);
    assert_eq!(of(&read(&few).unwrap()).key_bytes(), least);
    assert_ne!(few.hash(), whole.hash());
    let told = format!("keys of at most {least} bytes");
    assert!(few.to_string().contains(&told) && !whole.to_string().contains("keys of at most"));
    // What no keys fit is refused with what would do, and so is half a limit at the end of a file.
    let refused = Bootstrapping::new(&set(), &limited(least - 1), SecurityPolicy::insecure());
    let told = refused.unwrap_err().to_string();
    assert!(told.contains(&format!("{least} bytes or more")), "{told}");
    let cut = |bytes: usize| {
        let mut out = Writer::new();
        few.bootstrapping.as_ref().unwrap().write(&mut out);
        let written = out.as_bytes();
        Bootstrapping::read(&mut Reader::new(&written[..written.len() - bytes]))
    };
    assert_eq!(cut(0).unwrap().key_bytes, Some(least));
    assert_eq!(cut(8).unwrap().key_bytes, None);
    assert!((1..8).all(|bytes| cut(bytes).is_err()));
}
