// SPDX-License-Identifier: Apache-2.0
//! Unchecked input of a parameter set.

use crate::Error;
use crate::sampling::{ErrorDistribution, Sampler, SecretDistribution};
use crate::security::{Drawn, Security, SecurityPolicy};
use rns::RnsBasis;
use zq::Word;

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

/// What a literal that keeps every rule comes to, besides the tables of its primes.
pub(super) struct Judged {
    pub secret_sampler: Sampler,
    pub error_sampler: Sampler,
    pub security: Security,
}

impl<W: Word> RlweParamsLiteral<W> {
    /// Fails where [`RlweParams::new`](crate::RlweParams::new) does, without making a table: a set of degree 2^17 that
    /// is refused takes no memory.
    ///
    /// # Errors
    /// As [`RlweParams::new`](crate::RlweParams::new).
    #[inline(never)]
    pub fn check_ring(&self, policy: SecurityPolicy) -> Result<(), Error> {
        self.judge(policy).map(|_| ())
    }

    pub(super) fn judge(&self, policy: SecurityPolicy) -> Result<Judged, Error> {
        self.check_counts()?;
        RnsBasis::check(self.n, &self.primes())?;
        self.secret.check_degree(self.n)?;
        let drawn = Drawn {
            secret: self.secret,
            error: self.error,
        };
        Ok(Judged {
            secret_sampler: Sampler::of_secret(&self.secret)?,
            error_sampler: Sampler::of_error(&self.error)?,
            security: Security::judge(drawn, self.n, log2_product(&self.primes()), policy)?,
        })
    }

    /// The data primes, then the special ones.
    pub(super) fn primes(&self) -> Vec<W> {
        [&self.q[..], &self.p].concat()
    }

    /// Digits that `dnum` comes to: ⌈L/a⌉ of a = ⌈L/dnum⌉ primes, where no more than L are asked for.
    pub(super) fn digits(&self) -> usize {
        let l = self.q.len();
        let most = if self.dnum == 0 { l } else { self.dnum };
        l.div_ceil(l.div_ceil(most.max(1)).max(1))
    }

    /// Fails unless there are as many primes and digits as a set may have.
    fn check_counts(&self) -> Result<(), Error> {
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

/// log2 of the product of primes.
pub(crate) fn log2_product<W: Word>(primes: &[W]) -> f64 {
    primes.iter().map(|q| (q.to_u128() as f64).log2()).sum()
}
