// SPDX-License-Identifier: Apache-2.0
//! Key switching: decompose into digits, multiply with the key, divide by the special modulus.
//!
//! A key from s' to s over Q·P holds, for each digit D_d (a run of data primes), an encryption of g_d·s' with
//! g_d ≡ P modulo the primes of D_d and 0 modulo all others (P = 1 without special primes, which is HEAWS's
//! (q/q_i)·[(q/q_i)^-1]_{q_i}). With c_d the centred residue of c modulo D_d, Σ c_d·g_d ≡ P·c (mod Q), so
//! (Σ c_d·key_d)/P encrypts c·s'. The digits being centred, decomposition commutes with automorphisms exactly.

use crate::division::Division;
use crate::fused::SwitchScratch;
use crate::keys::KeySwitchKey;
use crate::{Error, Pool, RlweParams, Threads};
use rns::{Automorphism, BaseConverter, Coeff, Eval, RnsBasis, RnsPoly, ScaleRounder, Scratch};
use std::ops::Range;
use std::sync::Arc;
use zeroize::Zeroizing;
use zq::{AlignedVec, Word};

/// Constants for ciphertexts over the first `l` data primes.
pub struct KeySwitchLevel<W: Word> {
    q: RnsBasis<W>,
    qp: RnsBasis<W>,
    pub(crate) digits: Vec<DigitLift<W>>,
    down: Option<ScaleRounder<W>>,
    /// Division by P, the product of the special primes.
    pub(crate) special: Division<W>,
    /// Division by P and the last data prime, where that is not the only one.
    pub(crate) rescale: Option<Division<W>>,
    /// No division: what is added to sums over Q·P.
    pub(crate) undivided: Division<W>,
    log2_special: f64,
    /// Work space, shared by all levels.
    pub(crate) scratch: Arc<Pool<SwitchScratch<W>>>,
}

/// From the residues of one digit to all other primes of Q·P.
pub(crate) struct DigitLift<W: Word> {
    /// The digit's limbs.
    pub(crate) own: Range<usize>,
    /// To the limbs before the digit, those after it and the special ones; `None` when there is no other limb.
    pub(crate) converter: Option<BaseConverter<W>>,
}

impl<W: Word> KeySwitchLevel<W> {
    pub(crate) fn new(params: &RlweParams<W>, limbs: usize) -> Result<Self, Error> {
        let q = params.q().prefix(limbs)?;
        let qp = match params.p() {
            Some(p) => q.concat(p)?,
            None => q.clone(),
        };
        let digits = (0..limbs)
            .step_by(params.digit_len())
            .map(|start| DigitLift::new(&q, &qp, start..limbs.min(start + params.digit_len())))
            .collect::<Result<_, _>>()?;
        let down = params
            .p()
            .map(|p| ScaleRounder::new(p, &q, 1))
            .transpose()?;
        let log2_special = params.p().map_or(0.0, crate::params::log2_product);
        Ok(Self {
            special: Division::by_special(&qp, limbs)?,
            rescale: (limbs > 1)
                .then(|| Division::by_special_and_last(&qp, limbs))
                .transpose()?,
            undivided: Division::none(&qp, limbs),
            q,
            qp,
            digits,
            down,
            log2_special,
            scratch: Arc::clone(params.switch_scratch()),
        })
    }

    /// The data basis at this level.
    pub fn q(&self) -> &RnsBasis<W> {
        &self.q
    }

    /// The data basis, then the special basis.
    pub fn qp(&self) -> &RnsBasis<W> {
        &self.qp
    }

    /// From Q·P to Q, if there are special primes.
    pub(crate) fn down(&self) -> Option<&ScaleRounder<W>> {
        self.down.as_ref()
    }

    /// Number of digits.
    pub fn digit_count(&self) -> usize {
        self.digits.len()
    }

    /// Sizes of the digits in bits.
    pub fn log2_digits(&self) -> Vec<f64> {
        let bits = |i: usize| (self.q.modulus(i).value().to_u128() as f64).log2();
        self.digits
            .iter()
            .map(|d| d.own.clone().map(bits).sum())
            .collect()
    }

    /// Size of the special modulus in bits; 0 without one.
    pub fn log2_special(&self) -> f64 {
        self.log2_special
    }

    /// The digits of `c`, each a centred representative over Q·P.
    ///
    /// # Panics
    /// If `c` is not over this level's data basis.
    pub fn decompose(&self, c: &RnsPoly<W, Coeff>) -> Vec<RnsPoly<W, Coeff>> {
        assert!(c.basis() == &self.q, "decompose: wrong basis");
        let mut scratch = Scratch::new();
        self.digits
            .iter()
            .map(|d| d.lift(c, &self.qp, &mut scratch))
            .collect()
    }

    /// Rounds x/P: from Q·P to Q. Without special primes x itself. What is divided is wiped.
    ///
    /// # Panics
    /// If `x` is not over this level's Q·P.
    pub fn mod_down(&self, x: RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        assert!(x.basis() == &self.qp, "mod_down: wrong basis");
        let Some(down) = &self.down else { return x };
        let x = Zeroizing::new(x);
        let (kept, special) = x.data().split_at(self.q.len() * x.n());
        let mut out = AlignedVec::for_overwrite(kept.len());
        down.scale_into(special, kept, &mut out, &mut Scratch::new());
        RnsPoly::from_data(&self.q, out)
    }

    /// [`KeySwitchLevel::mod_down`] in evaluation form: only the special limbs are transformed back.
    ///
    /// # Panics
    /// If `x` is not over this level's Q·P.
    pub fn mod_down_eval(&self, x: RnsPoly<W, Eval>) -> RnsPoly<W, Eval> {
        assert!(x.basis() == &self.qp, "mod_down_eval: wrong basis");
        let Some(down) = &self.down else { return x };
        let (n, split) = (x.n(), self.q.len() * x.n());
        let mut x = Zeroizing::new(x);
        for (limb, plan) in x.data_mut()[split..]
            .chunks_exact_mut(n)
            .zip(&self.qp.plans()[self.q.len()..])
        {
            plan.inverse(limb);
        }
        let mut work = Zeroizing::new(AlignedVec::for_overwrite(split));
        let (kept, special) = x.data_mut().split_at_mut(split);
        down.scale_eval_assign(special, kept, &mut work, &mut Scratch::new());
        RnsPoly::from_data(&self.q, AlignedVec::from_slice(kept))
    }
}

impl<W: Word> DigitLift<W> {
    fn new(q: &RnsBasis<W>, qp: &RnsBasis<W>, own: Range<usize>) -> Result<Self, Error> {
        let others = qp
            .plans()
            .iter()
            .enumerate()
            .filter(|(i, _)| !own.contains(i));
        let others: Vec<_> = others.map(|(_, plan)| plan.clone()).collect();
        if others.is_empty() {
            return Ok(Self {
                own,
                converter: None,
            });
        }
        let from = q.range(own.clone())?;
        Ok(Self {
            own,
            converter: Some(BaseConverter::new(&from, &RnsBasis::from_plans(others)?)),
        })
    }

    fn lift(
        &self,
        c: &RnsPoly<W, Coeff>,
        qp: &RnsBasis<W>,
        scratch: &mut Scratch<W>,
    ) -> RnsPoly<W, Coeff> {
        let (start, end) = (self.own.start * c.n(), self.own.end * c.n());
        let digit = &c.data()[start..end];
        let mut data = AlignedVec::for_overwrite(qp.len() * c.n());
        if let Some(converter) = &self.converter {
            // The converted limbs are adjacent; put them behind the digit, then move those that belong before it.
            let len = digit.len();
            converter.convert_into(digit, &mut data[len..], scratch);
            data.copy_within(len..len + start, 0);
        }
        data[start..end].copy_from_slice(digit);
        RnsPoly::from_data(qp, data)
    }
}

/// The digits of a polynomial in evaluation form, to be used with several keys (hoisting).
pub struct HoistedDigits<W: Word> {
    limbs: usize,
    digits: Vec<RnsPoly<W, Eval>>,
}

impl<W: Word> HoistedDigits<W> {
    /// Decomposes and transforms once.
    ///
    /// # Errors
    /// [`Error::Shape`] when `c` is not over a prefix of the data basis.
    pub fn new(params: &RlweParams<W>, c: &RnsPoly<W, Coeff>) -> Result<Self, Error> {
        let level = params.level(c.limb_count())?;
        let digits = level
            .decompose(c)
            .into_iter()
            .map(RnsPoly::to_eval)
            .collect();
        Ok(Self {
            limbs: c.limb_count(),
            digits,
        })
    }

    /// The digits of the image under x -> x^g.
    #[must_use]
    pub fn automorphism(&self, auto: &Automorphism) -> Self {
        Self {
            limbs: self.limbs,
            digits: self.digits.iter().map(|d| d.automorphism(auto)).collect(),
        }
    }

    /// Σ digit_d·key_d over Q·P, in evaluation form, not yet divided by P.
    ///
    /// # Errors
    /// [`Error::Shape`] when the key is for a lower level.
    pub fn inner_product(&self, key: &KeySwitchKey<W>) -> Result<[RnsPoly<W, Eval>; 2], Error> {
        inner_product(&self.digits, key, self.limbs)
    }

    /// The digits.
    pub fn digits(&self) -> &[RnsPoly<W, Eval>] {
        &self.digits
    }
}

/// Σ digit_d·key_d in evaluation form; the digits are over the first `limbs` data primes and the special ones.
pub(crate) fn inner_product<W: Word>(
    digits: &[RnsPoly<W, Eval>],
    key: &KeySwitchKey<W>,
    limbs: usize,
) -> Result<[RnsPoly<W, Eval>; 2], Error> {
    key.check_covers(limbs, digits.len())?;
    let basis = digits[0].basis();
    let half = |part: usize| {
        let mut acc = RnsPoly::zeros(basis);
        for (d, digit) in digits.iter().enumerate() {
            let key_limbs = key.limbs_at(d, part, limbs);
            for (((a, x), k), m) in acc
                .limbs_mut()
                .zip(digit.limbs())
                .zip(key_limbs)
                .zip(basis.moduli())
            {
                m.mul_add_assign(a, x, k);
            }
        }
        acc
    };
    Ok([half(0), half(1)])
}

/// Switches `c` (coefficient form) to the key's target: returns (k0, k1) with k0 + k1·s ≈ c·s'.
///
/// # Errors
/// [`Error::Shape`] for levels that do not fit.
pub fn key_switch<W: Word>(
    params: &RlweParams<W>,
    c: &RnsPoly<W, Coeff>,
    key: &KeySwitchKey<W>,
    threads: &Threads,
) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
    params.level(c.limb_count())?.switch_coeff(c, key, threads)
}
