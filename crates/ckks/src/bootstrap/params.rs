// SPDX-License-Identifier: Apache-2.0
//! What a bootstrapping is made of, checked: which levels each part takes, at which scales, and what it promises.

use super::modular::ModularReduction;
use super::outline::Outline;
use super::steps::Steps;
use super::{BootstrapLiteral, SCALE_ROOM};
use crate::{CkksParams, Error};
use rlwe::noise::log2_overflow;
use rlwe::{RlweContext, RlweParams, RlweParamsLiteral, SecretDistribution, SecurityPolicy};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

/// A checked bootstrapping of a CKKS set.
#[derive(Clone, Debug)]
pub struct BootstrapParams {
    outline: Outline,
    main: CkksParams,
    sparse: RlweContext<u64>,
    /// Of both transforms.
    pub(super) steps: Arc<[Vec<Steps>; 2]>,
}

impl BootstrapParams {
    /// Checks a literal against the set it is for.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] for values out of range, chains too short, and reductions that err too much;
    /// [`rlwe::Error::Insecure`] when the sparse secret's set is below the policy's level without its opt-in.
    pub fn new(
        main: &CkksParams,
        literal: &BootstrapLiteral,
        policy: SecurityPolicy,
    ) -> Result<Self, Error> {
        literal.check(main)?;
        let sparse = sparse_set(main, literal.weight, policy)?;
        let mut made = Self {
            outline: Outline::of(main, sparse.params(), literal)?,
            main: main.clone(),
            sparse,
            steps: Arc::default(),
        };
        let (needed, given) = (made.levels(), main.max_level());
        if given < needed {
            return Err(Error::Bootstrap {
                what: "the number of levels of the chain",
                got: given.to_string(),
                allowed: format!(
                    "{needed} or more: {} before the modulus is raised, {}, {} and {} after it",
                    literal.slots_to_coeffs,
                    literal.coeffs_to_slots,
                    made.reduction().depth(),
                    literal.passes - 1
                ),
            });
        }
        made.steps = Arc::new(made.chosen_steps()?);
        Ok(made)
    }

    /// The same, where each of the noises in a refresh exceeds what is reckoned with probability 2^-bits; 2^-128 unless
    /// asked.
    #[must_use]
    pub fn with_failure_bits(self, bits: u32) -> Self {
        Self {
            outline: self.outline.with_failure_bits(bits),
            ..self
        }
    }

    pub(super) fn outline(&self) -> &Outline {
        &self.outline
    }

    /// The set it is for.
    pub fn main(&self) -> &CkksParams {
        &self.main
    }

    /// The set of the sparse secret.
    pub fn sparse(&self) -> &RlweContext<u64> {
        &self.sparse
    }

    /// The reduction modulo q[0].
    pub fn reduction(&self) -> &ModularReduction {
        &self.outline.reduction
    }

    /// The literal these parameters came from.
    pub fn literal(&self) -> &BootstrapLiteral {
        &self.outline.literal
    }

    /// Levels that a refresh itself takes, of which the lowest are those of [`BootstrapParams::input_level`].
    pub fn levels(&self) -> usize {
        self.outline.levels()
    }

    /// The level a ciphertext has to have at least.
    pub fn input_level(&self) -> usize {
        self.outline.input_level()
    }

    /// The level of the result.
    pub fn output_level(&self) -> usize {
        self.outline.output_level()
    }

    /// Whether ciphertexts of a scale are refreshed: one that differs from the set's by a factor of 2^±[`SCALE_ROOM`]
    /// at most. Messages then count as larger by that factor.
    pub fn scale_is_near(&self, scale: f64) -> bool {
        (scale / self.main.scale()).log2().abs() <= SCALE_ROOM
    }

    /// log2 of a bound on the probability that a refresh fails: that a coefficient wraps further than the reduction
    /// covers. −∞ where none can.
    ///
    /// # Errors
    /// Those of [`log2_overflow`].
    pub fn log2_failure(&self) -> Result<f64, Error> {
        let secret = self.sparse.secret();
        Ok(log2_overflow(
            self.main.n(),
            secret,
            self.reduction().overflow(),
            self.reduction().ratio(),
        )?)
    }

    /// Bound on the error that the reduction adds to a slot, without the ciphertexts' noise: of every message within
    /// its bound, not on average. (Complex messages: of either part.)
    pub fn approximation_error(&self) -> f64 {
        self.reduction().error() / self.reduction().ratio() * self.literal().bound
    }
}

/// q[0], a special prime of its size and a secret of that weight.
fn sparse_set(
    main: &CkksParams,
    weight: u32,
    policy: SecurityPolicy,
) -> Result<RlweContext<u64>, Error> {
    let set = main.rlwe();
    let q = set.q().values()[0];
    let order = 2 * main.n() as u64;
    let p = ntt_primes::<u64>(set.q().modulus(0).bits(), order, 1, Direction::Down, &[q])
        .map_err(|e| Error::Rns(e.into()))?;
    let literal = RlweParamsLiteral {
        n: main.n(),
        q: vec![q],
        p,
        dnum: 1,
        secret: SecretDistribution::FixedWeight { weight },
        error: set.error(),
    };
    Ok(RlweContext::new(RlweParams::new(&literal, policy)?))
}
