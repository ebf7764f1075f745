// SPDX-License-Identifier: Apache-2.0
//! Results of one program as arguments of another, without decryption: what is known of them.

use std::fmt::{self, Display, Formatter};

/// Noise with more factors is beyond any modulus.
const MAX_FACTORS: u32 = 2048;

/// What the program that made a ciphertext promises of its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Received {
    /// CKKS.
    Reals {
        /// log2 of the largest error of a slot: the guarantee of the program that made it.
        log2_error: f64,
        /// No slot exceeds it in magnitude, with all promises of the author's.
        magnitude: f64,
        /// Nor this, error included, without promises that leave out slots; at least the other.
        everywhere: f64,
    },
    /// BFV: log2 of the variance of a coefficient of the noise, and how many powers of the secret it holds.
    Integers {
        /// log2 of the variance.
        log2_variance: f64,
        /// Powers of the secret.
        factors: u32,
    },
}

/// A ciphertext of another program's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handed {
    /// Its number among that program's outputs.
    pub output: u32,
    /// Data primes minus 1.
    pub level: u32,
    /// Scale; 1 in BFV.
    pub scale: f64,
    /// Its noise.
    pub noise: Received,
}

/// The program whose result an encrypted argument is.
#[derive(Clone, Debug, PartialEq)]
pub struct Producer {
    /// Its name.
    pub name: String,
    /// The hash of its sections that labels of its results carry.
    pub identity: [u8; 16],
    /// The ciphertexts of the argument, in the order of its packing, by rising output.
    pub ciphertexts: Vec<Handed>,
}

impl Producer {
    /// Checks an argument of `count` ciphertexts, under a set of `primes` primes of one scheme (BFV if `exact`).
    pub(crate) fn check(&self, count: usize, primes: usize, exact: bool) -> Result<(), String> {
        if self.ciphertexts.len() != count {
            let own = self.ciphertexts.len();
            return Err(format!(
                "its packing has {count} ciphertexts, {own} are handed over"
            ));
        }
        if !self.ciphertexts.is_sorted_by(|a, b| a.output < b.output) {
            return Err("outputs of its program do not rise".into());
        }
        for own in &self.ciphertexts {
            let scale = own.scale.is_finite() && own.scale > 0.0;
            if own.level as usize >= primes || !scale {
                return Err(format!(
                    "level {} and scale {} are none of its set",
                    own.level, own.scale
                ));
            }
            let known = match own.noise {
                Received::Reals {
                    log2_error,
                    magnitude,
                    everywhere,
                } => {
                    let range = 0.0 <= magnitude && magnitude <= everywhere;
                    !exact && log2_error.is_finite() && range && everywhere.is_finite()
                }
                Received::Integers {
                    log2_variance,
                    factors,
                } => exact && log2_variance.is_finite() && factors <= MAX_FACTORS,
            };
            if !known {
                return Err(format!(
                    "{:?} is no noise of {}",
                    own.noise,
                    if exact { "bfv" } else { "ckks" }
                ));
            }
        }
        Ok(())
    }
}

impl Display for Producer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "result of {} ", self.name)?;
        self.identity
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        for own in &self.ciphertexts {
            write!(
                f,
                " [{} level {} scale 2^{:.4}",
                own.output,
                own.level,
                own.scale.log2()
            )?;
            match own.noise {
                Received::Reals {
                    log2_error,
                    magnitude,
                    everywhere,
                } => write!(
                    f,
                    " error 2^{log2_error:.4} at most {magnitude:e} everywhere {everywhere:e}]"
                )?,
                Received::Integers {
                    log2_variance,
                    factors,
                } => {
                    write!(f, " variance 2^{log2_variance:.4} factors {factors}]")?;
                }
            }
        }
        Ok(())
    }
}
