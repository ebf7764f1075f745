// SPDX-License-Identifier: Apache-2.0
//! The parameter sets that objects are of.

use bfv::{BfvParams, BfvParamsLiteral};
use ckks::CkksParams;
use rlwe::{RlweParamsLiteral, SecurityPolicy};
use std::sync::OnceLock;
use zq::primes::{Direction, ntt_primes};

/// n = 16, two data primes and a special one, t = 97.
pub(crate) fn params() -> &'static BfvParams<u64> {
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
pub(crate) fn ckks() -> &'static CkksParams {
    static PARAMS: OnceLock<CkksParams> = OnceLock::new();
    PARAMS.get_or_init(|| {
        CkksParams::from_rlwe(params().rlwe().clone(), 32768.0).expect("valid parameters")
    })
}
