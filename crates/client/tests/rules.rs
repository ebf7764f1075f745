// SPDX-License-Identifier: Apache-2.0
//! The small client takes a parameter set exactly where the engine does, and both name it alike.

mod sets;

use bfv::{BfvParams, BfvParamsLiteral};
use ckks::{CkksParams, CkksParamsLiteral};
use client::{Client, Error, Params, ParamsLiteral, Scheme};
use rlwe::security::{SecretKind, SecurityTable, max_log2_qp};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use sets::{Case, cases};

const KEYS: [u8; 32] = [7; 32];

/// The secret key that the engine makes under a set, or the word for its refusal. A set that the engine corrects is no
/// set: its own literal and bytes have the corrected digits.
fn engine(case: &Case, policy: SecurityPolicy) -> Result<Vec<u8>, &'static str> {
    let rlwe = RlweParamsLiteral {
        n: case.n,
        q: case.data.clone(),
        p: case.special.clone(),
        dnum: case.dnum as usize,
        ..Default::default()
    };
    let refusal = |error: &rlwe::Error| match error {
        rlwe::Error::Insecure { .. } => "insecure",
        _ => "parameters",
    };
    let (key, found) = if case.t > 0 {
        let literal = BfvParamsLiteral {
            rlwe,
            plain_modulus: case.t,
            auxiliary: vec![],
        };
        let params = BfvParams::new(&literal, policy).map_err(|error| match error {
            bfv::Error::Rlwe(inner) => refusal(&inner),
            _ => "parameters",
        })?;
        let keys = KeyGenerator::new(&params, Seed::from_bytes(KEYS));
        (keys.secret_key(), params.rlwe().dnum())
    } else {
        let literal = CkksParamsLiteral {
            rlwe,
            scale: case.scale,
        };
        let params = CkksParams::new(&literal, policy).map_err(|error| match error {
            ckks::Error::Rlwe(inner) => refusal(&inner),
            _ => "parameters",
        })?;
        let keys = KeyGenerator::new(&params, Seed::from_bytes(KEYS));
        (keys.secret_key(), params.rlwe().dnum())
    };
    match found == case.dnum as usize {
        true => Ok(key.unwrap().to_bytes().to_vec()),
        false => Err("parameters"),
    }
}

/// The same by the small client.
fn small(case: &Case, allow_insecure: bool) -> Result<Vec<u8>, &'static str> {
    let scheme = match case.t {
        0 => Scheme::Ckks { scale: case.scale },
        t => Scheme::Bfv { t },
    };
    let make = match allow_insecure {
        true => Params::insecure,
        false => Params::new,
    };
    let literal = ParamsLiteral {
        n: case.n,
        data: &case.data,
        special: &case.special,
        dnum: case.dnum,
        scheme,
    };
    match make(&literal) {
        Ok(params) => Ok(Client::new(&params, &KEYS).to_bytes().to_vec()),
        Err(Error::Insecure) => Err("insecure"),
        Err(Error::Parameters(_)) => Err("parameters"),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_table_of_sets_holds_for_engine_and_client() {
    for case in cases() {
        let name = &case.name;
        for (key, who) in [
            (engine(&case, SecurityPolicy::default()), "engine"),
            (small(&case, false), "client"),
        ] {
            assert_eq!(key.err().unwrap_or("good"), case.verdict, "{who}: {name}");
        }
        let (theirs, ours) = (
            engine(&case, SecurityPolicy::insecure()),
            small(&case, true),
        );
        assert_eq!(ours, theirs, "with the opt-in: {name}");
        assert_eq!(ours.is_ok(), case.verdict != "parameters", "{name}");
    }
}

/// Draws from a pool of primes, composites and others, with repeats, and of digits and plaintext moduli.
#[test]
fn drawn_sets_are_taken_or_refused_alike() {
    const POOL: [u64; 9] = [
        8589852673,
        8589475841,
        1099511480321,
        1152921504606830593,
        4294475777,
        25518544897,
        4294967291,
        8589852675,
        68719230977,
    ];
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % bound
    };
    let (mut taken, mut refused) = (0, 0);
    for round in 0..400 {
        let mut primes = |most| {
            (0..below(most))
                .map(|_| POOL[below(POOL.len() - round % 5)])
                .collect()
        };
        let (data, special) = (primes(4), primes(3));
        let case = Case {
            name: String::new(),
            n: [16, 64, 1024][below(3)],
            dnum: below(5) as u32,
            data,
            special,
            t: [0, 1, 2, 65537, (1 << 31) - 1][below(5)],
            scale: [1.5, 2.0, 1e6, 1e10, 1e18][below(5)],
            verdict: String::new(),
        };
        let (theirs, ours) = (
            engine(&case, SecurityPolicy::insecure()),
            small(&case, true),
        );
        let about = (
            case.n,
            case.dnum,
            &case.data,
            &case.special,
            case.t,
            case.scale,
        );
        assert_eq!(ours, theirs, "{about:?}");
        *(if ours.is_ok() {
            &mut taken
        } else {
            &mut refused
        }) += 1;
    }
    assert!(taken > 20 && refused > 20, "{taken} {refused}");
}

#[test]
fn the_bits_of_security_are_the_engines() {
    for n in [16, 512, 1024, 2048, 4096, 8192] {
        let most = max_log2_qp(SecurityTable::default(), SecretKind::Ternary, n, 128).unwrap();
        // Two primes just around the bound, or one below any bound where there is none.
        let bits = most.unwrap_or(0) as usize;
        let made = |data: &[u64]| {
            Params::new(&ParamsLiteral {
                n,
                data,
                special: &[],
                dnum: data.len() as u32,
                scheme: Scheme::Bfv { t: 2 },
            })
        };
        let prime = |bits: usize| {
            zq::primes::ntt_primes::<u64>(
                bits as u32,
                2 * n as u64,
                1,
                zq::primes::Direction::Down,
                &[],
            )
            .unwrap()[0]
        };
        if bits < 66 {
            assert_eq!(made(&[prime(32)]).is_ok(), bits >= 32, "{n}");
            continue;
        }
        let filled = |total: usize| {
            let count = total.div_ceil(59);
            let lengths = (0..count).map(|i| total / count + usize::from(i < total % count));
            let mut taken: Vec<u64> = vec![];
            for length in lengths {
                let next = zq::primes::ntt_primes(
                    length as u32,
                    2 * n as u64,
                    1,
                    zq::primes::Direction::Down,
                    &taken,
                );
                taken.push(next.unwrap()[0]);
            }
            made(&taken)
        };
        assert!(filled(bits).is_ok(), "{n}");
        assert_eq!(filled(bits + 1).err(), Some(Error::Insecure), "{n}");
    }
}
