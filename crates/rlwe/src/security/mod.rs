// SPDX-License-Identifier: Apache-2.0
//! How secure a set is: tables of largest moduli (`spec/params/security.toml`) and an estimate between their points.

mod figures;
mod fixed_weight;
mod policy;
mod table;

use figures::{ESTIMATES, FIXED_WEIGHT, TABLES};
use fixed_weight::Rows;
pub use policy::{Security, SecurityPolicy};
pub use table::SecretKind;
use table::Table;

use crate::Error;
use crate::sampling::{ErrorDistribution, SecretDistribution};

/// A published table of largest moduli.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SecurityTable {
    /// 2024 guidelines, ePrint 2024/463, classical attacks (the default).
    #[default]
    Guidelines2024,
    /// The script of the 2024 guidelines, quantum attacks.
    Guidelines2024Quantum,
    /// HE standard of 2018, classical attacks.
    Standard2018,
    /// HE standard of 2018, quantum attacks.
    Standard2018Quantum,
}

impl SecurityTable {
    /// Every table.
    pub const ALL: [Self; 4] = [
        Self::Guidelines2024,
        Self::Guidelines2024Quantum,
        Self::Standard2018,
        Self::Standard2018Quantum,
    ];

    /// The table's name in `spec/params/security.toml` and in user interfaces.
    pub fn id(self) -> &'static str {
        match self {
            Self::Guidelines2024 => "2024-classical",
            Self::Guidelines2024Quantum => "2024-quantum",
            Self::Standard2018 => "2018-classical",
            Self::Standard2018Quantum => "2018-quantum",
        }
    }

    /// Whether its figures are of quantum attacks.
    pub fn is_quantum(self) -> bool {
        matches!(
            self,
            Self::Guidelines2024Quantum | Self::Standard2018Quantum
        )
    }

    /// The table of that [`SecurityTable::id`].
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.id() == id)
    }
}

impl SecretDistribution {
    /// The rows of the tables of uniform secrets that apply, if any does.
    pub fn kind(&self) -> Option<SecretKind> {
        let variance = match *self {
            Self::Ternary => return Some(SecretKind::Ternary),
            Self::Binary | Self::FixedWeight { .. } => return None,
            Self::Binomial { eta } => f64::from(eta) / 2.0,
            Self::Gaussian { sigma } => sigma * sigma,
        };
        (variance.sqrt() >= MIN_TABLE_SIGMA).then_some(SecretKind::Gaussian)
    }
}

/// The level that is required of a set unless it opts in to less.
pub const DEFAULT_LEVEL: u32 = 128;
/// The levels there are tables for.
pub const LEVELS: [u32; 3] = [128, 192, 256];
/// The narrowest error the tables speak about.
pub const MIN_TABLE_SIGMA: f64 = 3.19;

/// The rows for secrets of fixed weight: of classical attacks, so that the tables of quantum attacks have none.
fn fixed_weight_rows(which: SecurityTable) -> Option<&'static Rows> {
    (!which.is_quantum()).then_some(&FIXED_WEIGHT)
}

/// The rows for this kind of secret, else the ternary ones, which are the stricter.
fn table(table: SecurityTable, secret: SecretKind) -> &'static Table {
    let find = |kind| {
        TABLES
            .iter()
            .find(|t| t.id == table.id() && t.secret == kind)
    };
    find(secret)
        .or_else(|| find(SecretKind::Ternary))
        .expect("each table has ternary rows")
}

/// Source of the figures of this table and secret.
pub fn source_name(which: SecurityTable, secret: SecretKind) -> &'static str {
    table(which, secret).name
}

/// The largest log2(QP), special primes included, that reaches `level` bits at degree `n`; `None` if none does.
///
/// # Errors
/// [`Error::Parameter`] for a level other than 128, 192 or 256.
pub fn max_log2_qp(
    which: SecurityTable,
    secret: SecretKind,
    n: usize,
    level: u32,
) -> Result<Option<u32>, Error> {
    let column = LEVELS
        .iter()
        .position(|l| *l == level)
        .ok_or_else(|| Error::Parameter {
            what: "security level",
            got: level.to_string(),
            allowed: "128, 192, 256".into(),
        })?;
    let row = table(which, secret)
        .rows
        .iter()
        .find(|r| r[0] as usize == n);
    Ok(row.map(|r| r[1 + column]).filter(|max| *max > 0))
}

/// Distributions of a set's keys and ciphertexts: the weakest decides its security.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// The secret's distribution.
    pub secret: SecretDistribution,
    /// The errors' distribution.
    pub error: ErrorDistribution,
}

impl Drawn {
    /// The rows that hold: the secret's own, and the ternary ones for the u of public-key encryption, which is ternary
    /// whatever the secret (a server's encryptions of zero draw it too).
    fn kinds(&self) -> impl Iterator<Item = SecretKind> {
        [SecretKind::Ternary].into_iter().chain(self.secret.kind())
    }

    /// Whether the tables speak about these distributions at degree `n`.
    pub fn covered(&self, which: SecurityTable, n: usize) -> bool {
        let secret = match self.secret {
            SecretDistribution::FixedWeight { weight } => fixed_weight_rows(which)
                .and_then(|rows| rows.max_log2_qp(weight, n))
                .is_some(),
            _ => self.secret.kind().is_some(),
        };
        secret && self.error_deviation() >= MIN_TABLE_SIGMA
    }

    fn error_deviation(&self) -> f64 {
        self.error.variance().sqrt()
    }

    /// Bits that the modulus counts as larger, because secret or error are narrower than the tables' narrowest. The
    /// primal attack depends on Q/(σ_s·σ_e) (which is what parts the ternary rows from the Gaussian ones), so a bit
    /// less of either is worth a bit of modulus. An estimate: attacks on sparse or binary secrets may do better.
    fn narrowness(&self, n: usize) -> f64 {
        let missing = |least: f64, deviation: f64| (least / deviation).log2().max(0.0);
        let ternary = SecretDistribution::Ternary.deviation(n);
        missing(ternary, self.secret.deviation(n))
            + missing(MIN_TABLE_SIGMA, self.error_deviation())
    }

    /// The largest log2(QP) that reaches `level` bits at degree `n`; `None` if none does or no table covers what is
    /// drawn.
    ///
    /// # Errors
    /// As [`max_log2_qp`].
    pub fn max_log2_qp(
        &self,
        which: SecurityTable,
        n: usize,
        level: u32,
    ) -> Result<Option<u32>, Error> {
        let limits: Option<Vec<u32>> = self
            .kinds()
            .map(|kind| max_log2_qp(which, kind, n, level))
            .collect::<Result<_, _>>()?;
        let Some(mut limits) = limits.filter(|_| self.covered(which, n)) else {
            return Ok(None);
        };
        if let SecretDistribution::FixedWeight { weight } = self.secret {
            let Some(max) = fixed_weight_rows(which).and_then(|rows| rows.max_log2_qp(weight, n))
            else {
                return Ok(None);
            };
            if level != DEFAULT_LEVEL {
                return Ok(None);
            }
            limits.push(max);
        }
        Ok(limits.into_iter().min())
    }

    /// Estimated bits, as [`estimated_bits`].
    pub fn estimated_bits(&self, which: SecurityTable, n: usize, log2_qp: f64) -> f64 {
        let bits = |kind| estimated_bits(which, kind, n, log2_qp + self.narrowness(n));
        let dense = self.kinds().map(bits).fold(f64::INFINITY, f64::min);
        match self.secret {
            SecretDistribution::FixedWeight { weight } => {
                dense.min(FIXED_WEIGHT.estimated_bits(weight, n, log2_qp))
            }
            _ => dense,
        }
    }

    /// Source of the figures: the rows with the least estimate.
    pub fn source_name(&self, which: SecurityTable, n: usize, log2_qp: f64) -> &'static str {
        if let SecretDistribution::FixedWeight { weight } = self.secret
            && fixed_weight_rows(which)
                .and_then(|rows| rows.max_log2_qp(weight, n))
                .is_some()
        {
            return FIXED_WEIGHT.name;
        }
        let bits = |kind: &SecretKind| estimated_bits(which, *kind, n, log2_qp);
        let weakest = self.kinds().min_by(|a, b| bits(a).total_cmp(&bits(b)));
        source_name(which, weakest.unwrap_or(SecretKind::Ternary))
    }
}

/// Fails unless `log2_qp` is the size of a modulus in bits.
///
/// # Errors
/// [`Error::Parameter`].
pub fn check_size(log2_qp: f64) -> Result<(), Error> {
    if log2_qp.is_finite() && log2_qp >= 0.0 {
        return Ok(());
    }
    Err(Error::Parameter {
        what: "log2_qp, the size of a modulus in bits,",
        got: log2_qp.to_string(),
        allowed: "finite and not negative".into(),
    })
}

/// Estimated bits of security at degree `n` and modulus size `log2_qp`: an estimate, not a proof.
///
/// Linear between the points known for this n (the table's three, and for ternary secrets under the classical tables
/// the precomputed ones); beyond them proportional to 1/log2(QP). 0 when nothing is known about n, and for a size that
/// [`check_size`] refuses.
pub fn estimated_bits(which: SecurityTable, secret: SecretKind, n: usize, log2_qp: f64) -> f64 {
    let points = known_points(which, secret, n);
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return 0.0;
    };
    if check_size(log2_qp).is_err() {
        return 0.0;
    }
    if log2_qp <= first.0 {
        return first.1 * first.0 / log2_qp.max(1.0);
    }
    if log2_qp >= last.0 {
        return last.1 * last.0 / log2_qp;
    }
    let i = points.partition_point(|p| p.0 <= log2_qp);
    let ((x0, y0), (x1, y1)) = (points[i - 1], points[i]);
    y0 + (y1 - y0) * (log2_qp - x0) / (x1 - x0)
}

/// (log2 QP, bits) for one n, the modulus rising and the bits falling.
fn known_points(which: SecurityTable, secret: SecretKind, n: usize) -> Vec<(f64, f64)> {
    let rows = table(which, secret)
        .rows
        .iter()
        .filter(|r| r[0] as usize == n);
    let mut points: Vec<(f64, f64)> = rows
        .flat_map(|r| LEVELS.iter().zip(&r[1..]))
        .filter(|(_, max)| **max > 0)
        .map(|(level, max)| (f64::from(*max), f64::from(*level)))
        .collect();
    if secret == SecretKind::Ternary && !which.is_quantum() {
        let extra = ESTIMATES.iter().filter(|p| p[0] as usize == n);
        points.extend(extra.map(|p| (f64::from(p[1]), f64::from(p[2]))));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // Where sources disagree the lower figure holds: drop points above a smaller modulus's figure, and repeats.
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for p in points {
        if kept.last().is_none_or(|k| p.0 > k.0 && p.1 <= k.1) {
            kept.push(p);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
