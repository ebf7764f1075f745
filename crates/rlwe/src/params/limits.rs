// SPDX-License-Identifier: Apache-2.0
//! Limits of untrusted parameters: a thousand bytes can ask for half a gigabyte of tables.

use super::RlweParamsLiteral;
use crate::Error;
use zq::Word;

/// Bounds on a parameter set that is read from bytes, checked before its tables are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest ring degree.
    pub degree: usize,
    /// Most bytes of the primes' tables.
    pub memory: u64,
}

impl Limits {
    /// No bounds, for bytes that are as trusted as the program itself.
    pub const NONE: Self = Self {
        degree: usize::MAX,
        memory: u64::MAX,
    };

    /// Bytes of a transform's tables for each coefficient: two arrays of factors with their quotients, for `u64` in two
    /// orders, for `u128` in one of twice the width.
    const TABLE_BYTES: u64 = 64;

    /// Bytes of the tables of `primes` primes at degree `n`.
    pub fn table_bytes(n: usize, primes: usize) -> u64 {
        Self::TABLE_BYTES
            .saturating_mul(n as u64)
            .saturating_mul(primes as u64)
    }

    /// Checks a literal with `more` primes besides its own.
    ///
    /// # Errors
    /// [`Error::Limit`].
    pub fn check<W: Word>(&self, literal: &RlweParamsLiteral<W>, more: usize) -> Result<(), Error> {
        let primes = literal.q.len() + literal.p.len() + more;
        let memory = Self::table_bytes(literal.n, primes);
        at_most("degree", literal.n as u64, self.degree as u64, "max_degree")?;
        at_most("bytes of tables:", memory, self.memory, "max_memory")
    }
}

impl Default for Limits {
    /// Kept by every set this program chooses: the 128-bit limit at degree 2^16 in primes of 30 bits takes 240 MiB.
    fn default() -> Self {
        Self {
            degree: 1 << 16,
            memory: 1 << 28,
        }
    }
}

fn at_most(what: &'static str, got: u64, limit: u64, option: &'static str) -> Result<(), Error> {
    if got <= limit {
        return Ok(());
    }
    Err(Error::Limit {
        what,
        got,
        limit,
        option,
    })
}
