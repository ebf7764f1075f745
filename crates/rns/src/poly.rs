// SPDX-License-Identifier: Apache-2.0
//! Polynomials in residue form.

use core::fmt;
use core::marker::PhantomData;

use zeroize::Zeroize;
use zq::{AlignedVec, Word};

use crate::{Automorphism, Coeff, Domain, Eval, RnsBasis, RnsError};

/// A polynomial of `Z_Q[x]/(x^n + 1)` as `L` limbs of `n` residues, limb-major, 64-byte aligned, in domain `D`.
///
/// Arithmetic between polynomials of different bases panics. `Debug` shows the shape, never the residues.
#[derive(Clone)]
pub struct RnsPoly<W: Word, D: Domain> {
    basis: RnsBasis<W>,
    data: AlignedVec<W>,
    domain: PhantomData<D>,
}

impl<W: Word, D: Domain> RnsPoly<W, D> {
    /// The zero polynomial.
    pub fn zeros(basis: &RnsBasis<W>) -> Self {
        Self::from_data(basis, AlignedVec::zeros(basis.len() * basis.n()))
    }

    /// From residues, limb-major.
    ///
    /// # Errors
    /// [`RnsError::BadLength`], or [`RnsError::NotReduced`] naming the first word that is not a residue.
    #[inline(never)]
    pub fn from_limbs(basis: &RnsBasis<W>, limbs: &[W]) -> Result<Self, RnsError> {
        let wanted = basis.len() * basis.n();
        if limbs.len() != wanted {
            return Err(RnsError::BadLength {
                got: limbs.len(),
                wanted,
            });
        }
        for (i, (limb, m)) in limbs
            .chunks_exact(basis.n())
            .zip(basis.moduli())
            .enumerate()
        {
            if let Some(index) = limb.iter().position(|&x| x >= m.value()) {
                let (value, modulus) = (limb[index].to_u128(), m.value().to_u128());
                return Err(RnsError::NotReduced {
                    limb: i,
                    index,
                    value,
                    modulus,
                });
            }
        }
        Ok(Self::from_data(basis, AlignedVec::from_slice(limbs)))
    }

    /// From an array of `L n` words that the caller knows to be residues.
    ///
    /// # Panics
    /// If the length is wrong.
    pub fn from_data(basis: &RnsBasis<W>, data: AlignedVec<W>) -> Self {
        assert_eq!(
            data.len(),
            basis.len() * basis.n(),
            "wrong number of words for the basis"
        );
        debug_assert!(
            data.chunks_exact(basis.n())
                .zip(basis.moduli())
                .all(|(l, m)| m.all_reduced(l)),
            "words are not residues"
        );
        Self {
            basis: basis.clone(),
            data,
            domain: PhantomData,
        }
    }

    /// The basis.
    #[inline]
    pub fn basis(&self) -> &RnsBasis<W> {
        &self.basis
    }

    /// The ring degree.
    #[inline]
    pub fn n(&self) -> usize {
        self.basis.n()
    }

    /// Number of limbs.
    #[inline]
    pub fn limb_count(&self) -> usize {
        self.basis.len()
    }

    /// All residues, limb-major.
    #[inline]
    pub fn data(&self) -> &[W] {
        &self.data
    }

    /// All residues, limb-major. Writers keep them reduced.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [W] {
        &mut self.data
    }

    /// Limb `i`.
    #[inline]
    pub fn limb(&self, i: usize) -> &[W] {
        &self.data[i * self.n()..(i + 1) * self.n()]
    }

    /// Limb `i`. Writers keep it reduced.
    #[inline]
    pub fn limb_mut(&mut self, i: usize) -> &mut [W] {
        let n = self.n();
        &mut self.data[i * n..(i + 1) * n]
    }

    /// The limbs in order.
    pub fn limbs(&self) -> impl ExactSizeIterator<Item = &[W]> + '_ {
        self.data.chunks_exact(self.n())
    }

    /// The limbs in order. Writers keep them reduced.
    pub fn limbs_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [W]> + '_ {
        let n = self.n();
        self.data.chunks_exact_mut(n)
    }

    /// Runs `f(i, limb of self, limb of other)`.
    fn zip_limbs(&mut self, other: &Self, mut f: impl FnMut(usize, &mut [W], &[W])) {
        assert_eq!(self.basis, other.basis, "polynomials of different bases");
        let n = self.n();
        let pairs = self
            .data
            .chunks_exact_mut(n)
            .zip(other.data.chunks_exact(n));
        pairs.enumerate().for_each(|(i, (a, b))| f(i, a, b));
    }

    /// `self += other`.
    #[inline(never)]
    pub fn add_assign(&mut self, other: &Self) {
        let basis = self.basis.clone();
        self.zip_limbs(other, |i, a, b| basis.modulus(i).add_assign(a, b));
    }

    /// `self -= other`.
    #[inline(never)]
    pub fn sub_assign(&mut self, other: &Self) {
        let basis = self.basis.clone();
        self.zip_limbs(other, |i, a, b| basis.modulus(i).sub_assign(a, b));
    }

    /// `self = other - self`.
    #[inline(never)]
    pub fn sub_from_assign(&mut self, other: &Self) {
        let basis = self.basis.clone();
        self.zip_limbs(other, |i, a, b| basis.modulus(i).sub_from_assign(a, b));
    }

    /// `self = -self`.
    #[inline(never)]
    pub fn neg_assign(&mut self) {
        let basis = self.basis.clone();
        self.limbs_mut()
            .zip(basis.moduli())
            .for_each(|(a, m)| m.neg_assign(a));
    }

    /// The sum.
    #[inline(never)]
    pub fn add(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.add_assign(other);
        out
    }

    /// The difference.
    #[inline(never)]
    pub fn sub(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.sub_assign(other);
        out
    }

    /// The negation.
    #[inline(never)]
    pub fn neg(&self) -> Self {
        let mut out = self.clone();
        out.neg_assign();
        out
    }

    /// Multiplies by a signed integer.
    #[inline(never)]
    pub fn scalar_mul_assign(&mut self, s: i64) {
        let basis = self.basis.clone();
        let limbs = self.limbs_mut().zip(basis.moduli());
        limbs.for_each(|(a, m)| m.scalar_mul_assign(a, m.reduce_i64(s)));
    }

    /// `x -> x^g`.
    ///
    /// # Panics
    /// If the automorphism is of another degree.
    pub fn automorphism(&self, auto: &Automorphism) -> Self {
        let mut out = Self::zeros(&self.basis);
        self.automorphism_into(auto, &mut out);
        out
    }

    /// `x -> x^g` into `out`, of the same basis.
    #[inline(never)]
    pub fn automorphism_into(&self, auto: &Automorphism, out: &mut Self) {
        let basis = self.basis.clone();
        out.zip_limbs(self, |i, o, a| D::permute(auto, basis.modulus(i), a, o));
    }

    /// Forgets all limbs but the first `len` (no division: the value modulo a smaller product).
    pub fn truncated(mut self, len: usize) -> Result<Self, RnsError> {
        self.basis = self.basis.prefix(len)?;
        self.data.truncate(len * self.basis.n());
        Ok(self)
    }

    fn into_domain<E: Domain>(self) -> RnsPoly<W, E> {
        RnsPoly {
            basis: self.basis,
            data: self.data,
            domain: PhantomData,
        }
    }
}

impl<W: Word> RnsPoly<W, Coeff> {
    /// From signed small coefficients, `n` of them.
    #[inline(never)]
    pub fn from_i64(basis: &RnsBasis<W>, coefficients: &[i64]) -> Result<Self, RnsError> {
        if coefficients.len() != basis.n() {
            return Err(RnsError::BadLength {
                got: coefficients.len(),
                wanted: basis.n(),
            });
        }
        let mut out = Self::zeros(basis);
        let limbs = out.limbs_mut().zip(basis.moduli());
        limbs.for_each(|(o, m)| m.reduce_i64_into(o, coefficients));
        Ok(out)
    }

    /// To evaluation form, in place.
    #[inline(never)]
    pub fn to_eval(mut self) -> RnsPoly<W, Eval> {
        let basis = self.basis.clone();
        self.limbs_mut()
            .zip(basis.plans())
            .for_each(|(a, p)| p.forward(a));
        self.into_domain()
    }
}

impl<W: Word> RnsPoly<W, Eval> {
    /// To coefficient form, in place.
    #[inline(never)]
    pub fn to_coeff(mut self) -> RnsPoly<W, Coeff> {
        let basis = self.basis.clone();
        self.limbs_mut()
            .zip(basis.plans())
            .for_each(|(a, p)| p.inverse(a));
        self.into_domain()
    }

    /// The coefficients, `self` staying as it is.
    #[inline(never)]
    pub fn coefficients(&self) -> RnsPoly<W, Coeff> {
        let n = self.n();
        let mut out = AlignedVec::for_overwrite(self.data().len());
        let limbs = out.chunks_exact_mut(n).zip(self.limbs());
        for ((out, limb), plan) in limbs.zip(self.basis.plans()) {
            plan.inverse_from(limb, out);
        }
        RnsPoly::from_data(&self.basis, out)
    }

    /// `self *= other`.
    #[inline(never)]
    pub fn mul_assign(&mut self, other: &Self) {
        let basis = self.basis.clone();
        self.zip_limbs(other, |i, a, b| basis.modulus(i).mul_assign(a, b));
    }

    /// The product.
    #[inline(never)]
    pub fn mul(&self, other: &Self) -> Self {
        let mut out = Self::zeros(&self.basis);
        out.mul_add_into(self, other, |m, o, a, b| m.mul_into(o, a, b));
        out
    }

    /// `self += a * b`.
    #[inline(never)]
    pub fn mul_add_assign(&mut self, a: &Self, b: &Self) {
        self.mul_add_into(a, b, |m, o, a, b| m.mul_add_assign(o, a, b));
    }

    fn mul_add_into(
        &mut self,
        a: &Self,
        b: &Self,
        f: impl Fn(&zq::Modulus<W>, &mut [W], &[W], &[W]),
    ) {
        assert!(
            self.basis == a.basis && a.basis == b.basis,
            "polynomials of different bases"
        );
        let basis = self.basis.clone();
        let operands = a.limbs().zip(b.limbs()).zip(basis.moduli());
        self.limbs_mut()
            .zip(operands)
            .for_each(|(o, ((a, b), m))| f(m, o, a, b));
    }
}

impl<W: Word, D: Domain> PartialEq for RnsPoly<W, D> {
    fn eq(&self, other: &Self) -> bool {
        self.basis == other.basis && self.data == other.data
    }
}

impl<W: Word, D: Domain> Eq for RnsPoly<W, D> {}

impl<W: Word, D: Domain> fmt::Debug for RnsPoly<W, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "RnsPoly<{}>(n = {}, {} limbs)",
            D::NAME,
            self.n(),
            self.limb_count()
        )
    }
}

impl<W: Word, D: Domain> Zeroize for RnsPoly<W, D> {
    fn zeroize(&mut self) {
        self.data.zeroize();
    }
}
