// SPDX-License-Identifier: Apache-2.0
//! Parameter sets from Python's arguments.

use crate::errors::Kind;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rlwe::security::SecurityTable;
use rlwe::{ErrorDistribution, Limits, RlweParamsLiteral, SecretDistribution, SecurityPolicy};
use rns::RnsBasis;
use zq::Word;

/// The ring-LWE part of a context's arguments.
pub struct RingArguments<'a> {
    pub n: usize,
    pub moduli: &'a [u128],
    pub special: &'a [u128],
    pub dnum: Option<usize>,
    pub secret: &'a str,
    pub error: &'a str,
}

impl RingArguments<'_> {
    /// The word width asked for, or the narrowest that holds every modulus; `more` are moduli besides these.
    pub fn word_bits(&self, wanted: Option<u32>, more: &[u128]) -> PyResult<u32> {
        let all = || self.moduli.iter().chain(self.special).chain(more);
        let wide = all().find(|q| **q >> u64::MAX_MODULUS_BITS != 0);
        match (wanted.map(checked_width).transpose()?, wide) {
            (Some(u64::BITS), Some(q)) => {
                let limit = u64::MAX_MODULUS_BITS;
                Err(Kind::Parameter.error(format!(
                    "modulus {q} does not fit 64-bit words, whose moduli are below 2^{limit}"
                )))
            }
            (Some(bits), _) => Ok(bits),
            (None, Some(_)) => Ok(u128::BITS),
            (None, None) => Ok(u64::BITS),
        }
    }

    /// Fails for a modulus that needs 128-bit words, naming the scheme that has none.
    pub fn refuse_wide(&self, scheme: &str) -> PyResult<()> {
        let limit = u64::MAX_MODULUS_BITS;
        match self
            .moduli
            .iter()
            .chain(self.special)
            .find(|q| **q >> limit != 0)
        {
            None => Ok(()),
            Some(q) => {
                Err(Kind::Parameter
                    .error(format!("modulus {q}: {scheme} moduli are below 2^{limit}")))
            }
        }
    }

    /// The unchecked literal over words that hold every modulus.
    pub fn literal<W: Word>(&self) -> PyResult<RlweParamsLiteral<W>> {
        let words = |values: &[u128]| values.iter().map(|q| W::from_u128_lossy(*q)).collect();
        Ok(RlweParamsLiteral {
            n: self.n,
            q: words(self.moduli),
            p: words(self.special),
            dnum: self.dnum.unwrap_or(0),
            secret: secret_distribution(self.secret)?,
            error: error_distribution(self.error)?,
        })
    }
}

/// A word width the engine has.
pub fn checked_width(bits: u32) -> PyResult<u32> {
    match bits {
        u64::BITS | u128::BITS => Ok(bits),
        _ => Err(Kind::Parameter.error(format!("words of {bits} bits; the engine has 64 and 128"))),
    }
}

/// The arguments that make a context again: its bytes, the policy it was judged by, and no limits, since
/// unpickled bytes are trusted.
pub type Recipe<'py> = (Bound<'py, PyBytes>, u32, &'static str, bool, usize, u64);

/// The recipe of a set with these bytes that was judged by this policy.
pub fn recipe(bytes: Bound<'_, PyBytes>, policy: SecurityPolicy) -> Recipe<'_> {
    let (table, limits) = (policy.table.id(), Limits::NONE);
    let insecure = policy.allow_insecure;
    (
        bytes,
        policy.level,
        table,
        insecure,
        limits.degree,
        limits.memory,
    )
}

/// The primes of a basis, if there is one.
pub fn primes<W: Word>(basis: Option<&RnsBasis<W>>) -> Vec<u128> {
    let all = basis.map(|basis| basis.values()).unwrap_or_default();
    all.into_iter().map(|q| q.to_u128()).collect()
}

/// The table of that name.
pub fn table_named(id: &str) -> PyResult<SecurityTable> {
    SecurityTable::from_id(id).ok_or_else(|| {
        let ids: Vec<_> = SecurityTable::ALL.iter().map(|t| t.id()).collect();
        Kind::Parameter.error(format!(
            "no security table {id:?}; there are {}",
            ids.join(", ")
        ))
    })
}

/// The policy a set is judged by.
pub fn policy(level: u32, table: &str, allow_insecure: bool) -> PyResult<SecurityPolicy> {
    Ok(SecurityPolicy {
        table: table_named(table)?,
        level,
        allow_insecure,
    })
}

pub fn secret_distribution(text: &str) -> PyResult<SecretDistribution> {
    match text {
        "ternary" => Ok(SecretDistribution::Ternary),
        "binary" => Ok(SecretDistribution::Binary),
        _ => match text.strip_prefix("weight:").map(str::parse) {
            Some(Ok(weight)) => Ok(SecretDistribution::FixedWeight { weight }),
            _ => Ok(match noise(text, SECRETS)? {
                ErrorDistribution::Binomial { eta } => SecretDistribution::Binomial { eta },
                ErrorDistribution::Gaussian { sigma } => SecretDistribution::Gaussian { sigma },
            }),
        },
    }
}

/// The names that [`secret_distribution`] reads.
const SECRETS: &str = "ternary, binary, binomial:ETA, gaussian:SIGMA, weight:H";

/// The name that [`secret_distribution`] reads.
pub fn secret_name(secret: SecretDistribution) -> String {
    match secret {
        SecretDistribution::Ternary => "ternary".into(),
        SecretDistribution::Binary => "binary".into(),
        SecretDistribution::Binomial { eta } => error_name(ErrorDistribution::Binomial { eta }),
        SecretDistribution::Gaussian { sigma } => error_name(ErrorDistribution::Gaussian { sigma }),
        SecretDistribution::FixedWeight { weight } => format!("weight:{weight}"),
    }
}

/// The name that [`error_distribution`] reads.
pub fn error_name(error: ErrorDistribution) -> String {
    match error {
        ErrorDistribution::Binomial { eta } => format!("binomial:{eta}"),
        ErrorDistribution::Gaussian { sigma } => format!("gaussian:{sigma}"),
    }
}

pub fn error_distribution(text: &str) -> PyResult<ErrorDistribution> {
    noise(text, "binomial:ETA, gaussian:SIGMA")
}

/// `binomial:21` or `gaussian:3.2`.
fn noise(text: &str, allowed: &str) -> PyResult<ErrorDistribution> {
    let parsed = match text.split_once(':') {
        Some(("binomial", eta)) => eta
            .parse()
            .ok()
            .map(|eta| ErrorDistribution::Binomial { eta }),
        Some(("gaussian", sigma)) => sigma
            .parse()
            .ok()
            .map(|sigma| ErrorDistribution::Gaussian { sigma }),
        _ => None,
    };
    parsed.ok_or_else(|| {
        Kind::Parameter.error(format!("no distribution {text:?}; allowed: {allowed}"))
    })
}
