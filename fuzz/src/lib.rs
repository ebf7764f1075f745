// SPDX-License-Identifier: Apache-2.0
//! What the targets share: small parameter sets and the property every decoder must have.
//!
//! A decoder must not panic, and whatever it accepts must encode to the same bytes. The fuzzer cannot guess checksums, so
//! each input is also tried with length, fingerprint and checksum repaired.

use bfv::{BfvParams, BfvParamsLiteral};
use ckks::CkksParams;
use rlwe::wire::{Fingerprint, Tag, mutate};
use rlwe::{RlweParamsLiteral, SecurityPolicy};
use std::sync::OnceLock;
use zq::primes::{Direction, ntt_primes};

/// n = 16, two data primes and a special one, t = 97.
pub fn params() -> &'static BfvParams<u64> {
    static PARAMS: OnceLock<BfvParams<u64>> = OnceLock::new();
    PARAMS.get_or_init(|| {
        let mut q = ntt_primes::<u64>(20, 32, 3, Direction::Down, &[]).expect("such primes exist");
        let p = q.split_off(2);
        let rlwe = RlweParamsLiteral {
            n: 16,
            q,
            p,
            ..Default::default()
        };
        let literal = BfvParamsLiteral {
            rlwe,
            plain_modulus: 97,
            auxiliary: vec![],
        };
        BfvParams::new(&literal, SecurityPolicy::insecure()).expect("valid parameters")
    })
}

/// The same ring for CKKS, scale 2^15.
pub fn ckks_params() -> &'static CkksParams {
    static PARAMS: OnceLock<CkksParams> = OnceLock::new();
    PARAMS.get_or_init(|| {
        CkksParams::from_rlwe(params().rlwe().clone(), 32768.0).expect("valid parameters")
    })
}

/// Tries `data` as it is, and as an object of this tag and set with a right envelope.
pub fn check<E>(
    data: &[u8],
    tag: Tag,
    owner: Fingerprint,
    recode: impl Fn(&[u8]) -> Result<Vec<u8>, E>,
) {
    let same = |bytes: &[u8]| {
        if let Ok(again) = recode(bytes) {
            assert_eq!(again, bytes, "two byte strings for one object");
        }
    };
    same(data);
    let mut repaired = rlwe::wire::seal(tag, owner, data);
    mutate::repair(&mut repaired);
    same(&repaired);
}
