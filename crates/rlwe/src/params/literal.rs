// SPDX-License-Identifier: Apache-2.0
//! Unchecked input of a parameter set.

use crate::Error;
use crate::sampling::{ErrorDistribution, SecretDistribution};

/// Most data primes, and most special primes, a set may have.
pub const MAX_PRIMES: u32 = 64;

/// Unchecked input of [`RlweParams`](crate::RlweParams); any field may be wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct RlweParamsLiteral<W> {
    /// Ring degree, a power of two from 8 to 2^17.
    pub n: usize,
    /// Data primes, each 1 modulo 2n.
    pub q: Vec<W>,
    /// Special primes; none means key switching by RNS digits alone.
    pub p: Vec<W>,
    /// Digits of key switching, 1..=L; 0 stands for L, one prime per digit.
    pub dnum: usize,
    /// The secret's distribution.
    pub secret: SecretDistribution,
    /// The errors' distribution.
    pub error: ErrorDistribution,
}

impl<W> Default for RlweParamsLiteral<W> {
    fn default() -> Self {
        Self {
            n: 0,
            q: Vec::new(),
            p: Vec::new(),
            dnum: 0,
            secret: SecretDistribution::default(),
            error: ErrorDistribution::default(),
        }
    }
}

impl<W> RlweParamsLiteral<W> {
    /// Fails unless there are as many primes and digits as a set may have.
    pub(super) fn check_counts(&self) -> Result<(), Error> {
        let refuse = |what, got: usize, allowed: String| {
            Err(Error::Parameter {
                what,
                got: got.to_string(),
                allowed,
            })
        };
        let (l, k, max) = (self.q.len(), self.p.len(), MAX_PRIMES as usize);
        if l == 0 || l > max {
            return refuse("the number of data primes", l, format!("1..={max}"));
        }
        if k > max {
            return refuse("the number of special primes", k, format!("0..={max}"));
        }
        if self.dnum > l {
            return refuse("dnum", self.dnum, format!("1..={l}, or 0 for {l}"));
        }
        Ok(())
    }
}
