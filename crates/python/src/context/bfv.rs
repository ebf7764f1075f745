// SPDX-License-Identifier: Apache-2.0
//! BFV parameters, over words of 64 or 128 bits behind one class.

use crate::errors::OrRaise;
use crate::params_args::RingArguments;
use crate::scheme::context_class;
use crate::word_width::{WordWidth, each};
use crate::work::Work;
use ::bfv::{BfvParams, BfvParamsLiteral};
use pyo3::prelude::*;
use rlwe::{Limits, RlweParams, SecurityPolicy};
use zq::Word;

/// A set over either word width.
pub type Params = WordWidth<BfvParams<u64>, BfvParams<u128>>;

pub fn build<W: Word>(
    ring: &RingArguments<'_>,
    plain_modulus: u64,
    auxiliary: &[u128],
    policy: SecurityPolicy,
) -> PyResult<BfvParams<W>> {
    let auxiliary = auxiliary.iter().map(|m| W::from_u128_lossy(*m)).collect();
    let literal = BfvParamsLiteral {
        rlwe: ring.literal()?,
        plain_modulus,
        auxiliary,
    };
    BfvParams::new(&literal, policy).or_raise()
}

fn read(data: &[u8], policy: SecurityPolicy, limits: &Limits) -> PyResult<Params> {
    match rlwe::word_bits_of(data).or_raise()? {
        u128::BITS => BfvParams::from_bytes_within(data, policy, limits)
            .or_raise()
            .map(WordWidth::W128),
        _ => BfvParams::from_bytes_within(data, policy, limits)
            .or_raise()
            .map(WordWidth::W64),
    }
}

impl BfvContext {
    /// The ring-LWE parameters.
    pub fn rlwe(&self) -> WordWidth<RlweParams<u64>, RlweParams<u128>> {
        match &self.params {
            WordWidth::W64(params) => WordWidth::W64(params.rlwe().params().clone()),
            WordWidth::W128(params) => WordWidth::W128(params.rlwe().params().clone()),
        }
    }
}

context_class! {
    /// A checked, immutable BFV parameter set.
    BfvContext(Params) by each;
    new(plain_modulus: u64) options { auxiliary: Vec<u128> = (Vec::new()); word_bits: Option<u32> = (None); } {
        /// Data primes `moduli`, special primes `special`, plaintext modulus `plain_modulus` (2 to 2^60).
        ///
        /// `dnum`: digits of key switching (default: one prime each). `secret`: ternary, binary, binomial:ETA,
        /// gaussian:SIGMA or weight:H; `error`: binomial:ETA or gaussian:SIGMA. `auxiliary`: primes of the second
        /// basis of multiplication (default: chosen). `word_bits`: 64 or 128 (default: 64 if every modulus fits). A set
        /// below `security` bits by `table` is refused unless `allow_insecure`.
        |py, ring, policy| {
            let policy = policy()?;
            let wide = ring.word_bits(word_bits, &auxiliary)? == u128::BITS;
            py.work(|| match wide {
                true => build(ring, plain_modulus, &auxiliary, policy).map(WordWidth::W128),
                false => build(ring, plain_modulus, &auxiliary, policy).map(WordWidth::W64),
            })
        }
    }
    read |data, policy, limits| read(data, policy, limits);
    fingerprint {
        /// Identity of the set.
    }
    more {
        /// The plaintext modulus t.
        #[getter]
        fn plain_modulus(&self) -> u64 {
            each!(&self.params, params => params.plain_modulus())
        }

        /// Whether t has slots (a prime that is 1 mod 2n), so that vectors can be packed.
        #[getter]
        fn batching(&self) -> bool {
            each!(&self.params, params => params.batching().is_some())
        }

        /// Width of words: 64 or 128.
        #[getter]
        fn word_bits(&self) -> u32 {
            match self.params {
                WordWidth::W64(_) => u64::BITS,
                WordWidth::W128(_) => u128::BITS,
            }
        }
    }
}
