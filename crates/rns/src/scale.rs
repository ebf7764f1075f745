// SPDX-License-Identifier: Apache-2.0
//! Scaling and rounding: `round(t x / D)` where `D` is the product of the dropped moduli.

use zq::{Modulus, Shoup, Word};

use crate::kernel::Kernel;
use crate::mixed_radix::MixedRadix;
use crate::{Coeff, RnsBasis, RnsError, RnsPoly, Scratch};

/// `round(t x / D)` for `x` over `D·K`, its result over the kept moduli `K`.
///
/// `round(t x / D) = (t x - [t x]_D) / D` with the centred remainder, so modulo a kept `k_j`
///
/// ```text
/// y_i = [x_i t (D/d_i)^-1]_{d_i},  v = round(Σ y_i / d_i)  (fixed point, docs/arithmetic.md)
/// out_j = [x_j t D^-1 - Σ y_i d_i^-1 + v]_{k_j}
/// ```
///
/// Uses: BFV multiplication (drop Q, keep P, numerator t; or drop P, keep Q), modulus switching and CKKS rescaling
/// (drop the last limb, numerator 1), division by special primes,
/// and BFV decryption (drop Q, keep the plaintext modulus t).
#[derive(Debug, Clone)]
pub struct ScaleRounder<W: Word> {
    kernel: Kernel<W>,
    own: Vec<Shoup<W>>,
    keep: Option<RnsBasis<W>>,
    drop_len: usize,
}

impl<W: Word> ScaleRounder<W> {
    /// `round(numerator x / D)` from `drop ∪ keep` to `keep`.
    ///
    /// # Errors
    /// [`RnsError::NotCoprime`] if a modulus is in both bases, [`zq::ZqError::WidthsTooFarApart`] of the dropped ones.
    #[inline(never)]
    pub fn new(drop: &RnsBasis<W>, keep: &RnsBasis<W>, numerator: u64) -> Result<Self, RnsError> {
        zq::check_quotient(drop.moduli())?;
        let mut s = Self::build(drop, keep.moduli(), numerator)?;
        s.keep = Some(keep.clone());
        Ok(s)
    }

    /// `round(numerator x / D) mod p` from `drop` alone. `p` must divide the numerator, so that the residue of `x`
    /// modulo `p` does not matter: with numerator `t = p` this is BFV decryption's last step.
    ///
    /// # Errors
    /// [`RnsError::MissingResidues`], [`RnsError::NotCoprime`] if `p` shares a factor with a dropped modulus, or
    /// [`zq::ZqError::WidthsTooFarApart`].
    #[inline(never)]
    pub fn to_modulus(drop: &RnsBasis<W>, p: Modulus<W>, numerator: u64) -> Result<Self, RnsError> {
        zq::check_quotient(drop.moduli())?;
        if p.reduce_u64(numerator) != W::ZERO {
            return Err(RnsError::MissingResidues {
                numerator,
                modulus: p.value().to_u128(),
            });
        }
        Self::build(drop, &[p], numerator)
    }

    /// `round(x / D)` from `drop ∪ keep` to `keep`, divided by one prime of `drop` after another, the last one first:
    /// [`BaseConverter::mixed_radix`](crate::BaseConverter::mixed_radix) gives the remainder.
    ///
    /// # Errors
    /// [`RnsError::NotCoprime`] if a modulus is in both bases.
    #[inline(never)]
    pub fn mixed_radix(drop: &RnsBasis<W>, keep: &RnsBasis<W>) -> Result<Self, RnsError> {
        let made = Self::build(drop, keep.moduli(), 1)?;
        let radix = MixedRadix::new(drop);
        let own = made.kernel.own().to_vec();
        let row = |(k, &over): (&Modulus<W>, &W)| {
            let negated = k.neg(over);
            let k = *k;
            radix
                .row(&k)
                .map(move |w| k.mul(w, negated))
                .collect::<Vec<W>>()
        };
        let rows = keep.moduli().iter().zip(&own).flat_map(row).collect();
        Ok(Self {
            kernel: Kernel::of_digits(drop, radix, keep.moduli(), rows, own),
            keep: Some(keep.clone()),
            ..made
        })
    }

    fn build(drop: &RnsBasis<W>, keep: &[Modulus<W>], numerator: u64) -> Result<Self, RnsError> {
        let factor = |(i, d): (usize, &Modulus<W>)| {
            d.shoup(d.mul(d.reduce_u64(numerator), drop.q_hat_inv(i).w))
        };
        let factors = drop.moduli().iter().enumerate().map(factor).collect();
        let (mut rows, mut own) = (Vec::new(), Vec::new());
        for k in keep {
            let mut product_inv = k.reduce(W::ONE);
            for d in drop.moduli() {
                let (value, modulus) = (d.value().to_u128(), k.value().to_u128());
                let inverse = k.inv_vt(k.reduce(d.value()));
                let inverse = inverse.map_err(|_| RnsError::NotCoprime { value, modulus })?;
                rows.push(k.neg(inverse));
                product_inv = k.mul(product_inv, inverse);
            }
            rows.push(k.reduce(W::ONE));
            own.push(k.mul(k.reduce_u64(numerator), product_inv));
        }
        let shoup = keep.iter().zip(&own).map(|(k, &a)| k.shoup(a)).collect();
        let kernel = Kernel::new(drop, factors, keep, rows, own);
        Ok(Self {
            kernel,
            own: shoup,
            keep: None,
            drop_len: drop.len(),
        })
    }

    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) fn kernel(&self) -> &Kernel<W> {
        &self.kernel
    }

    /// Dropped limbs.
    pub fn dropped(&self) -> usize {
        self.drop_len
    }

    /// Kept limbs.
    pub fn kept(&self) -> usize {
        self.kernel.outputs()
    }

    /// The kept basis; none if the result is modulo a plain modulus.
    pub fn keep(&self) -> Option<&RnsBasis<W>> {
        self.keep.as_ref()
    }

    /// Scales: `dropped` and `kept` are the limbs of `x` in coefficient form, `out` has the kept limbs.
    ///
    /// # Panics
    /// If the lengths do not fit.
    #[inline(never)]
    pub fn scale_into(&self, dropped: &[W], kept: &[W], out: &mut [W], scratch: &mut Scratch<W>) {
        let limbs = dropped.len() / self.dropped() * self.kept();
        assert_eq!(out.len(), limbs, "output length");
        self.scale_some_into(dropped, kept, (0, out), scratch);
    }

    /// As [`ScaleRounder::scale_into`], to some of the kept limbs: `out`, and `kept`, begin with number `first`.
    ///
    /// # Panics
    /// If the lengths do not fit.
    #[inline(never)]
    pub fn scale_some_into(
        &self,
        dropped: &[W],
        kept: &[W],
        (first, out): (usize, &mut [W]),
        scratch: &mut Scratch<W>,
    ) {
        let own = Some(kept);
        self.kernel.apply(dropped, own, (first, out), true, scratch);
    }

    /// Scales to a modulus that divides the numerator: the residues of `x` modulo it are not needed.
    ///
    /// # Panics
    /// If the lengths do not fit, or a kept modulus does not divide the numerator.
    #[inline(never)]
    pub fn scale_dropped_into(&self, dropped: &[W], out: &mut [W], scratch: &mut Scratch<W>) {
        let free = self.kernel.own().iter().all(|&a| a == W::ZERO);
        assert!(free, "the result depends on the kept residues");
        self.kernel.apply(dropped, None, (0, out), true, scratch);
    }

    /// Scales `kept`, limbs in evaluation form, in place; `dropped` are limbs in coefficient form. Needs one transform
    /// for each kept limb. `work` has the size of `kept`, its content does not matter.
    ///
    /// # Panics
    /// If the lengths do not fit or the kept moduli are not a basis.
    #[inline(never)]
    pub fn scale_eval_assign(
        &self,
        dropped: &[W],
        kept: &mut [W],
        work: &mut [W],
        scratch: &mut Scratch<W>,
    ) {
        let keep = self
            .keep
            .as_ref()
            .expect("scaling in evaluation form needs a kept basis");
        assert_eq!(kept.len(), work.len(), "work length");
        self.kernel
            .apply(dropped, None, (0, &mut *work), true, scratch);
        let n = keep.n();
        let limbs = kept.chunks_exact_mut(n).zip(work.chunks_exact_mut(n));
        for ((x, correction), (plan, &a)) in limbs.zip(keep.plans().iter().zip(&self.own)) {
            plan.forward(correction);
            plan.modulus().shoup_mul_assign(x, a);
            plan.modulus().add_assign(x, correction);
        }
    }

    /// Scales a polynomial whose dropped limbs are its last.
    ///
    /// # Panics
    /// If `x` does not have `kept + dropped` limbs or the kept moduli are not a basis.
    #[inline(never)]
    pub fn scale_tail(&self, x: &RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        let (kept, dropped) = self.split(x, self.kept());
        self.scale_parts(dropped, kept)
    }

    /// Scales a polynomial whose dropped limbs are its first.
    ///
    /// # Panics
    /// As [`ScaleRounder::scale_tail`].
    #[inline(never)]
    pub fn scale_head(&self, x: &RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        let (dropped, kept) = self.split(x, self.dropped());
        self.scale_parts(dropped, kept)
    }

    fn split<'a>(&self, x: &'a RnsPoly<W, Coeff>, head: usize) -> (&'a [W], &'a [W]) {
        assert_eq!(
            x.limb_count(),
            self.kept() + self.dropped(),
            "scaler made for other moduli"
        );
        x.data().split_at(head * x.n())
    }

    fn scale_parts(&self, dropped: &[W], kept: &[W]) -> RnsPoly<W, Coeff> {
        let keep = self
            .keep
            .as_ref()
            .expect("a polynomial result needs a kept basis");
        let mut out = RnsPoly::zeros(keep);
        self.scale_into(dropped, kept, out.data_mut(), &mut Scratch::new());
        out
    }
}
