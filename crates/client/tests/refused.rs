// SPDX-License-Identifier: Apache-2.0
//! Parameters are judged before anything is made for them: what is refused at the largest degrees takes no memory.
#![cfg(target_os = "linux")]

use bfv::{BfvParams, BfvParamsLiteral};
use ckks::{CkksParams, CkksParamsLiteral};
use client::{Params, ParamsLiteral, Scheme};
use rlwe::wire::{Fingerprint, Tag, Writer};
use rlwe::{ErrorDistribution, Limits, RlweParams, RlweParamsLiteral, SecurityPolicy};
use zq::primes::{Direction, ntt_primes};

/// Largest memory of this process so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits: String = line.unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// 64 data primes and a special one: tables of half a gigabyte, and no security.
fn literal() -> RlweParamsLiteral<u64> {
    let n = 1 << 17;
    let mut q = ntt_primes::<u64>(60, 2 * n as u64, 65, Direction::Down, &[]).unwrap();
    let p = q.split_off(64);
    RlweParamsLiteral {
        n,
        q,
        p,
        ..Default::default()
    }
}

/// An object that no writer makes without its tables.
fn sealed(tag: Tag, rlwe: &RlweParamsLiteral<u64>, rest: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::new();
    rlwe.write(&mut out);
    rest(&mut out);
    out.seal(tag, Fingerprint::default())
}

#[test]
fn what_is_refused_takes_no_memory() {
    let (secure, any) = (SecurityPolicy::default(), SecurityPolicy::insecure());
    let good = literal();
    let mut composite = good.clone();
    // (2n + 1)^2, which is 1 modulo 2n.
    composite.p[0] = (2 * good.n as u64 + 1).pow(2);
    let mut twice = good.clone();
    twice.q[63] = twice.q[0];
    let narrow = RlweParamsLiteral {
        error: ErrorDistribution::Gaussian { sigma: 0.5 },
        ..good.clone()
    };
    let bfv = |rlwe: &RlweParamsLiteral<u64>, plain_modulus, auxiliary: &[u64]| BfvParamsLiteral {
        rlwe: rlwe.clone(),
        plain_modulus,
        auxiliary: auxiliary.to_vec(),
    };
    let ckks = |rlwe: &RlweParamsLiteral<u64>, scale| CkksParamsLiteral {
        rlwe: rlwe.clone(),
        scale,
    };
    let before = peak();
    let mut refusals = Vec::new();
    let mut note = |error: String| refusals.push(error);
    note(RlweParams::new(&good, secure).unwrap_err().to_string());
    for rlwe in [&composite, &twice, &narrow] {
        note(RlweParams::new(rlwe, any).unwrap_err().to_string());
        note(
            BfvParams::new(&bfv(rlwe, 65537, &[]), any)
                .unwrap_err()
                .to_string(),
        );
        note(
            CkksParams::new(&ckks(rlwe, 2.0_f64.powi(50)), any)
                .unwrap_err()
                .to_string(),
        );
    }
    for literal in [
        bfv(&good, 1, &[]),
        bfv(&good, good.q[0], &[]),
        bfv(&good, 65537, &good.p),
        bfv(
            &good,
            65537,
            &[&good.q[..], &good.p, &[good.p[0] + 2]].concat(),
        ),
        bfv(&good, 65537, &[&good.q[..], &good.p].concat()),
    ] {
        note(BfvParams::new(&literal, any).unwrap_err().to_string());
    }
    for scale in [1.0, f64::NAN, f64::INFINITY] {
        note(
            CkksParams::new(&ckks(&good, scale), any)
                .unwrap_err()
                .to_string(),
        );
    }
    // The same from bytes, whatever limits a reader has.
    let limits = &Limits::NONE;
    let bytes = sealed(Tag::RlweParams, &good, |_| {});
    note(
        RlweParams::<u64>::from_bytes_within(&bytes, secure, limits)
            .unwrap_err()
            .to_string(),
    );
    for (t, policy) in [(65537, secure), (0, any)] {
        let bytes = sealed(Tag::BfvParams, &good, |out| {
            out.u64(t);
            out.u32(0);
        });
        note(
            BfvParams::<u64>::from_bytes_within(&bytes, policy, limits)
                .unwrap_err()
                .to_string(),
        );
    }
    for (scale, policy) in [(2.0_f64.powi(50), secure), (-1.0, any)] {
        let bytes = sealed(Tag::CkksParams, &good, |out| out.f64(scale));
        note(
            CkksParams::from_bytes_within(&bytes, policy, limits)
                .unwrap_err()
                .to_string(),
        );
    }
    // The small client has no such degree.
    let of_client = ParamsLiteral {
        n: good.n,
        data: &good.q[..7],
        special: &good.p,
        dnum: 7,
        scheme: Scheme::Bfv { t: 65537 },
    };
    note(Params::insecure(&of_client).unwrap_err().to_string());
    note(Params::new(&of_client).unwrap_err().to_string());
    let grown = peak() - before;
    assert!(grown < 8 << 10, "{grown} KiB for {refusals:#?}");
    let about = |word: &str| refusals.iter().filter(|text| text.contains(word)).count();
    assert_eq!(about("insecure"), 4, "{refusals:#?}");
    assert_eq!(
        about("is not prime") + about("is not 1 mod"),
        4,
        "{refusals:#?}"
    );
    assert_eq!(about("stands twice"), 4, "{refusals:#?}");
    assert_eq!(about("sigma"), 3, "{refusals:#?}");
    assert_eq!(about("auxiliary primes"), 1, "{refusals:#?}");
    assert_eq!(about("scale"), 4, "{refusals:#?}");
}
