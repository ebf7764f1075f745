// SPDX-License-Identifier: Apache-2.0
//! Key switching step by step, each over whole polynomials: the reference for the other paths, bit for bit.

use super::level::KeySwitchLevel;
use crate::Error;
use crate::keys::KeySwitchKey;
use rns::{Automorphism, Coeff, Eval, RnsPoly, Scratch};
use zeroize::Zeroizing;
use zq::{AlignedVec, Word};

impl<W: Word> KeySwitchLevel<W> {
    /// Rounds x/P: from Q·P to Q. Without special primes x itself. What is divided is wiped.
    ///
    /// # Panics
    /// If `x` is not over this level's Q·P.
    #[inline(never)]
    pub fn mod_down(&self, x: RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        assert!(x.basis() == self.qp(), "mod_down: wrong basis");
        let Some(down) = &self.down else { return x };
        let x = Zeroizing::new(x);
        let (kept, special) = x.data().split_at(self.q().len() * x.n());
        let mut out = AlignedVec::for_overwrite(kept.len());
        down.scale_into(special, kept, &mut out, &mut Scratch::new());
        RnsPoly::from_data(self.q(), out)
    }

    /// [`KeySwitchLevel::mod_down`] in evaluation form: only the special limbs are transformed back.
    ///
    /// # Panics
    /// If `x` is not over this level's Q·P.
    #[inline(never)]
    pub fn mod_down_eval(&self, x: RnsPoly<W, Eval>) -> RnsPoly<W, Eval> {
        assert!(x.basis() == self.qp(), "mod_down_eval: wrong basis");
        let Some(down) = &self.down else { return x };
        let (n, split) = (x.n(), self.q().len() * x.n());
        let mut x = Zeroizing::new(x);
        for (limb, plan) in x.data_mut()[split..]
            .chunks_exact_mut(n)
            .zip(&self.qp().plans()[self.q().len()..])
        {
            plan.inverse(limb);
        }
        let mut work = Zeroizing::new(AlignedVec::for_overwrite(split));
        let (kept, special) = x.data_mut().split_at_mut(split);
        down.scale_eval_assign(special, kept, &mut work, &mut Scratch::new());
        RnsPoly::from_data(self.q(), AlignedVec::from_slice(kept))
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
    /// # Panics
    /// If `c` is not over the level's data basis.
    #[inline(never)]
    pub fn new(level: &KeySwitchLevel<W>, c: &RnsPoly<W, Coeff>) -> Self {
        let digits = level.decompose(c).into_iter().map(RnsPoly::to_eval);
        Self {
            limbs: c.limb_count(),
            digits: digits.collect(),
        }
    }

    /// The digits of the image under x -> x^g.
    #[must_use]
    #[inline(never)]
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
    #[inline(never)]
    pub fn inner_product(&self, key: &KeySwitchKey<W>) -> Result<[RnsPoly<W, Eval>; 2], Error> {
        inner_product(&self.digits, key, self.limbs)
    }

    /// The digits.
    pub fn digits(&self) -> &[RnsPoly<W, Eval>] {
        &self.digits
    }
}

/// Σ digit_d·key_d in evaluation form; the digits are over the first `limbs` data primes and the special ones.
#[inline(never)]
fn inner_product<W: Word>(
    digits: &[RnsPoly<W, Eval>],
    key: &KeySwitchKey<W>,
    limbs: usize,
) -> Result<[RnsPoly<W, Eval>; 2], Error> {
    key.check_covers(limbs, digits.len())?;
    if key.uniform().is_none() {
        return Err(Error::Parameter {
            what: "a switching key",
            got: "one without its uniform half".into(),
            allowed: "one that keeps it: KeySwitchKey::set_uniform".into(),
        });
    }
    let basis = digits[0].basis();
    let component = |part: usize| {
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
    Ok([component(0), component(1)])
}
