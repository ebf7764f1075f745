// SPDX-License-Identifier: Apache-2.0
//! The distributions secrets and errors are drawn from.

use super::{CdtTable, MAX_ETA, Xof};
use crate::Error;

/// Distribution of a secret key's coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SecretDistribution {
    /// Uniform in {−1, 0, 1}.
    #[default]
    Ternary,
    /// Uniform in {0, 1}. No security table covers it: it always needs the opt-in.
    Binary,
    /// Centred binomial, variance η/2.
    Binomial {
        /// η, 1..=[`MAX_ETA`].
        eta: u32,
    },
    /// Discrete Gaussian.
    Gaussian {
        /// Standard deviation, 3.2..=102.
        sigma: f64,
    },
    /// Exactly this many coefficients are 1 or −1, the rest 0; places and signs uniform.
    FixedWeight {
        /// Coefficients that are not 0, 1..=n.
        weight: u32,
    },
}

/// Distribution of error coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ErrorDistribution {
    /// Centred binomial, variance η/2.
    Binomial {
        /// η, 1..=[`MAX_ETA`].
        eta: u32,
    },
    /// Discrete Gaussian.
    Gaussian {
        /// Standard deviation, 3.2..=102.
        sigma: f64,
    },
}

/// The default error: η = 21, σ = 3.24.
pub const DEFAULT_ETA: u32 = 21;

impl Default for ErrorDistribution {
    fn default() -> Self {
        Self::Binomial { eta: DEFAULT_ETA }
    }
}

impl ErrorDistribution {
    /// Variance of a coefficient.
    pub fn variance(&self) -> f64 {
        match *self {
            Self::Binomial { eta } => f64::from(eta) / 2.0,
            Self::Gaussian { sigma } => sigma * sigma,
        }
    }
}

impl SecretDistribution {
    /// Second moment E[s²] of a coefficient in a ring of degree `n`.
    pub fn second_moment(&self, n: usize) -> f64 {
        match *self {
            Self::FixedWeight { weight } => f64::from(weight) / n as f64,
            Self::Ternary => 2.0 / 3.0,
            Self::Binary => 0.5,
            Self::Binomial { eta } => f64::from(eta) / 2.0,
            Self::Gaussian { sigma } => sigma * sigma,
        }
    }

    /// Standard deviation of a coefficient in a ring of degree `n`.
    pub fn deviation(&self, n: usize) -> f64 {
        match self {
            Self::Binary => 0.5,
            _ => self.second_moment(n).sqrt(),
        }
    }

    /// Fails unless secrets of degree `n` can be so distributed.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a weight of 0 or above n.
    pub fn check_degree(&self, n: usize) -> Result<(), Error> {
        match *self {
            Self::FixedWeight { weight } if weight == 0 || weight as usize > n => {
                Err(Error::Parameter {
                    what: "the weight of the secret",
                    got: weight.to_string(),
                    allowed: format!("1..={n}, the degree of the ring"),
                })
            }
            _ => Ok(()),
        }
    }
}

/// A checked distribution, its tables made.
#[derive(Clone, Debug)]
pub enum Sampler {
    /// Uniform in {−1, 0, 1}.
    Ternary,
    /// Uniform in {0, 1}.
    Binary,
    /// Centred binomial of this η.
    Binomial(u32),
    /// Discrete Gaussian by its table.
    Gaussian(CdtTable),
    /// Exactly this number of coefficients 1 or −1.
    FixedWeight(u32),
}

impl Sampler {
    /// Prepares a secret distribution.
    ///
    /// # Errors
    /// [`Error::Parameter`] when η or σ is out of range.
    pub fn of_secret(distribution: &SecretDistribution) -> Result<Self, Error> {
        match *distribution {
            SecretDistribution::Ternary => Ok(Self::Ternary),
            SecretDistribution::Binary => Ok(Self::Binary),
            SecretDistribution::Binomial { eta } => Self::binomial(eta),
            SecretDistribution::Gaussian { sigma } => Ok(Self::Gaussian(CdtTable::new(sigma)?)),
            SecretDistribution::FixedWeight { weight } => Ok(Self::FixedWeight(weight)),
        }
    }

    /// Prepares an error distribution.
    ///
    /// # Errors
    /// [`Error::Parameter`] when η or σ is out of range.
    pub fn of_error(distribution: &ErrorDistribution) -> Result<Self, Error> {
        match *distribution {
            ErrorDistribution::Binomial { eta } => Self::binomial(eta),
            ErrorDistribution::Gaussian { sigma } => Ok(Self::Gaussian(CdtTable::new(sigma)?)),
        }
    }

    fn binomial(eta: u32) -> Result<Self, Error> {
        if (1..=MAX_ETA).contains(&eta) {
            return Ok(Self::Binomial(eta));
        }
        Err(Error::Parameter {
            what: "eta",
            got: eta.to_string(),
            allowed: format!("1..={MAX_ETA}"),
        })
    }

    /// Fills `out` from the stream, in constant time.
    ///
    /// # Panics
    /// If `out` is shorter than a fixed weight ([`SecretDistribution::check_degree`]).
    pub fn fill(&self, stream: &mut Xof, out: &mut [i64]) {
        match self {
            Self::Ternary => super::ternary(stream, out),
            Self::Binary => super::binary(stream, out),
            Self::Binomial(eta) => super::binomial(stream, *eta, out),
            Self::Gaussian(table) => table.fill(stream, out),
            Self::FixedWeight(weight) => super::fixed_weight(stream, *weight as usize, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn samples_have_the_stated_second_moment() {
        let secrets = [
            SecretDistribution::Ternary,
            SecretDistribution::Binary,
            SecretDistribution::Binomial { eta: 21 },
            SecretDistribution::Gaussian { sigma: 10.0 },
            SecretDistribution::FixedWeight { weight: 700 },
        ];
        for d in secrets {
            let mut out = vec![0; 40_000];
            Sampler::of_secret(&d)
                .unwrap()
                .fill(&mut Seed::from_text("d").stream("t", 0), &mut out);
            let moment = out.iter().map(|v| (v * v) as f64).sum::<f64>() / out.len() as f64;
            assert!(
                (moment / d.second_moment(out.len()) - 1.0).abs() < 0.03,
                "{d:?}: {moment}"
            );
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        for eta in [0, MAX_ETA + 1] {
            assert!(Sampler::of_error(&ErrorDistribution::Binomial { eta }).is_err());
        }
        assert!(Sampler::of_secret(&SecretDistribution::Gaussian { sigma: 1.0 }).is_err());
        for (weight, good) in [(0, false), (1, true), (64, true), (65, false)] {
            let d = SecretDistribution::FixedWeight { weight };
            assert_eq!(d.check_degree(64).is_ok(), good, "{weight}");
        }
    }
}
