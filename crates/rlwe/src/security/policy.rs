// SPDX-License-Identifier: Apache-2.0
//! Required security of a set, and its assessment.

use super::{Drawn, SecurityTable};
use crate::Error;

/// The security that a set has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityPolicy {
    /// The table to judge by.
    pub table: SecurityTable,
    /// The level to reach: 128, 192 or 256.
    pub level: u32,
    /// Accept less. The estimate stays readable in [`Security::estimated_bits`].
    pub allow_insecure: bool,
}

impl Default for SecurityPolicy {
    fn default() -> Self {
        Self {
            table: SecurityTable::default(),
            level: super::DEFAULT_LEVEL,
            allow_insecure: false,
        }
    }
}

impl SecurityPolicy {
    /// The default policy with the opt-in to insecure sets.
    pub fn insecure() -> Self {
        Self {
            allow_insecure: true,
            ..Self::default()
        }
    }
}

/// Assessment of a set's security.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Security {
    /// The policy the set was judged by.
    pub policy: SecurityPolicy,
    /// Size of the whole modulus, special primes included, in bits.
    pub log2_qp: f64,
    /// The highest of 128, 192, 256 that the table grants, if any.
    pub level: Option<u32>,
    /// The largest modulus of the policy's level for this degree, in bits, if any reaches it.
    pub max_log2_qp: Option<u32>,
    /// Estimated bits (see [`estimated_bits`](super::estimated_bits)).
    pub estimated_bits: f64,
    /// The table's name.
    pub source: &'static str,
}

impl Security {
    /// Assessment of a set, if it is as secure as the policy asks.
    ///
    /// # Errors
    /// [`Error::Insecure`] when it is not and the policy has no opt-in;
    /// [`Error::Parameter`] for a level without a table.
    pub fn judge(
        drawn: Drawn,
        n: usize,
        log2_qp: f64,
        policy: SecurityPolicy,
    ) -> Result<Self, Error> {
        let known = Self::of(drawn, n, log2_qp, policy)?;
        if known.level.is_some_and(|l| l >= policy.level) || policy.allow_insecure {
            return Ok(known);
        }
        let source = known.source;
        Err(Error::Insecure {
            n,
            log2_qp,
            estimate: known.estimated_bits,
            required: policy.level,
            max_log2_qp: known.max_log2_qp.unwrap_or(0),
            source_name: match drawn.covered(policy.table, n) {
                true => source.to_string(),
                false => format!("no table covers this secret and error; estimate from {source}"),
            },
        })
    }

    /// Assessment of a set of degree `n` and modulus size `log2_qp`; the policy's opt-in changes nothing.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a level without a table, and for a size that is no number.
    pub fn of(drawn: Drawn, n: usize, log2_qp: f64, policy: SecurityPolicy) -> Result<Self, Error> {
        super::check_size(log2_qp)?;
        let max = |level| drawn.max_log2_qp(policy.table, n, level);
        let mut level = None;
        for candidate in super::LEVELS {
            if max(candidate)?.is_some_and(|max| log2_qp <= f64::from(max)) {
                level = Some(candidate);
            }
        }
        Ok(Self {
            policy,
            log2_qp,
            level,
            max_log2_qp: max(policy.level)?,
            estimated_bits: drawn.estimated_bits(policy.table, n, log2_qp),
            source: drawn.source_name(policy.table, n, log2_qp),
        })
    }
}
