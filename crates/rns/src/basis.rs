// SPDX-License-Identifier: Apache-2.0
//! A set of pairwise coprime NTT-friendly primes with what CRT and the transforms need.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use ntt::NttPlan;
use num_bigint::BigUint;
use zq::{Modulus, Shoup, Word};

use crate::RnsError;

/// Longest basis: lazy sums of products are sized for it.
pub(crate) const MAX_LIMBS: usize = 1024;

struct Inner<W: Word> {
    n: usize,
    moduli: Vec<Modulus<W>>,
    plans: Vec<Arc<NttPlan<W>>>,
    product: BigUint,
    half_product: BigUint,
    q_hat: Vec<BigUint>,
    q_hat_inv: Vec<Shoup<W>>,
}

/// The basis of a ring `Z_Q[x]/(x^n + 1)`: degree, moduli, transforms, CRT constants. Clones share one allocation.
#[derive(Clone)]
pub struct RnsBasis<W: Word>(Arc<Inner<W>>);

impl<W: Word> RnsBasis<W> {
    /// A basis of distinct primes that are 1 modulo `2n`.
    ///
    /// # Errors
    /// Empty or repeated moduli, and whatever [`Modulus::new`] and [`NttPlan::new`] refuse.
    #[inline(never)]
    pub fn new(n: usize, moduli: &[W]) -> Result<Self, RnsError> {
        Self::check(n, moduli)?;
        let plan = |&q| Ok(Arc::new(NttPlan::new(Modulus::new(q)?, n)?));
        Self::from_plans(moduli.iter().map(plan).collect::<Result<_, RnsError>>()?)
    }

    /// Fails where [`RnsBasis::new`] does, without making the moduli's tables.
    ///
    /// # Errors
    /// As [`RnsBasis::new`].
    #[inline(never)]
    pub fn check(n: usize, moduli: &[W]) -> Result<(), RnsError> {
        for &q in moduli {
            ntt::check(&Modulus::new(q)?, n)?;
        }
        check_distinct(moduli)
    }

    /// A basis from existing transforms, all of one length.
    #[inline(never)]
    pub fn from_plans(plans: Vec<Arc<NttPlan<W>>>) -> Result<Self, RnsError> {
        let moduli: Vec<W> = plans.iter().map(|p| p.modulus().value()).collect();
        check_distinct(&moduli)?;
        let n = plans[0].n();
        if let Some(other) = plans.iter().find(|p| p.n() != n) {
            return Err(RnsError::DegreeMismatch {
                left: n,
                right: other.n(),
            });
        }
        Ok(Self(Arc::new(Inner::new(n, plans)?)))
    }

    /// The ring degree `n`.
    #[inline]
    pub fn n(&self) -> usize {
        self.0.n
    }

    /// Number of moduli `L`.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // A basis is never empty.
    pub fn len(&self) -> usize {
        self.0.moduli.len()
    }

    /// The moduli in order.
    #[inline]
    pub fn moduli(&self) -> &[Modulus<W>] {
        &self.0.moduli
    }

    /// Modulus `i`.
    #[inline]
    pub fn modulus(&self, i: usize) -> &Modulus<W> {
        &self.0.moduli[i]
    }

    /// The moduli as plain words.
    pub fn values(&self) -> Vec<W> {
        self.0.moduli.iter().map(Modulus::value).collect()
    }

    /// The transforms in order.
    #[inline]
    pub fn plans(&self) -> &[Arc<NttPlan<W>>] {
        &self.0.plans
    }

    /// Transform `i`.
    #[inline]
    pub fn plan(&self, i: usize) -> &NttPlan<W> {
        &self.0.plans[i]
    }

    /// `Q`, the product of the moduli.
    #[inline]
    pub fn product(&self) -> &BigUint {
        &self.0.product
    }

    /// `floor(Q / 2)`.
    #[inline]
    pub fn half_product(&self) -> &BigUint {
        &self.0.half_product
    }

    /// `Q / q_i`.
    #[inline]
    pub fn q_hat(&self, i: usize) -> &BigUint {
        &self.0.q_hat[i]
    }

    /// `(Q / q_i)^-1 mod q_i`.
    #[inline]
    pub fn q_hat_inv(&self, i: usize) -> Shoup<W> {
        self.0.q_hat_inv[i]
    }

    /// The first `len` moduli.
    #[inline(never)]
    pub fn prefix(&self, len: usize) -> Result<Self, RnsError> {
        self.range(0..len)
    }

    /// All but the last `count` moduli.
    pub fn drop_last(&self, count: usize) -> Result<Self, RnsError> {
        self.range(0..self.len().saturating_sub(count))
    }

    /// A run of the moduli, sharing their transforms.
    #[inline(never)]
    pub fn range(&self, range: Range<usize>) -> Result<Self, RnsError> {
        if range.start >= range.end || range.end > self.len() {
            return Err(RnsError::BadRange {
                start: range.start,
                end: range.end,
                len: self.len(),
            });
        }
        if range.len() == self.len() {
            return Ok(self.clone());
        }
        Self::from_plans(self.0.plans[range].to_vec())
    }

    /// These moduli, then the other's, sharing their transforms.
    #[inline(never)]
    pub fn concat(&self, other: &Self) -> Result<Self, RnsError> {
        if self.n() != other.n() {
            return Err(RnsError::DegreeMismatch {
                left: self.n(),
                right: other.n(),
            });
        }
        Self::from_plans(self.0.plans.iter().chain(&other.0.plans).cloned().collect())
    }
}

/// Fails unless the moduli are some, few enough, and none is there twice.
fn check_distinct<W: Word>(moduli: &[W]) -> Result<(), RnsError> {
    if moduli.is_empty() {
        return Err(RnsError::EmptyBasis);
    }
    if moduli.len() > MAX_LIMBS {
        return Err(RnsError::TooManyModuli {
            len: moduli.len(),
            max: MAX_LIMBS,
        });
    }
    let repeated = (1..moduli.len()).find(|&i| moduli[..i].contains(&moduli[i]));
    match repeated {
        None => Ok(()),
        Some(i) => Err(RnsError::RepeatedModulus {
            modulus: moduli[i].to_u128(),
        }),
    }
}

impl<W: Word> Inner<W> {
    #[inline(never)]
    fn new(n: usize, plans: Vec<Arc<NttPlan<W>>>) -> Result<Self, RnsError> {
        let moduli: Vec<_> = plans.iter().map(|p| *p.modulus()).collect();
        let product: BigUint = moduli
            .iter()
            .map(|m| BigUint::from(m.value().to_u128()))
            .product();
        let q_hat: Vec<_> = moduli
            .iter()
            .map(|m| &product / m.value().to_u128())
            .collect();
        let q_hat_inv = moduli
            .iter()
            .zip(&q_hat)
            .map(|(m, h)| Ok(m.shoup(m.inv_vt(m.reduce_digits(&h.to_u64_digits()))?)))
            .collect::<Result<_, RnsError>>()?;
        let half_product = &product >> 1u32;
        Ok(Self {
            n,
            moduli,
            plans,
            product,
            half_product,
            q_hat,
            q_hat_inv,
        })
    }
}

impl<W: Word> PartialEq for RnsBasis<W> {
    #[inline(never)]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.n() == other.n() && self.moduli() == other.moduli())
    }
}

impl<W: Word> Eq for RnsBasis<W> {}

impl<W: Word> fmt::Debug for RnsBasis<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RnsBasis")
            .field("n", &self.n())
            .field("moduli", &self.values())
            .finish()
    }
}
