// SPDX-License-Identifier: Apache-2.0
//! The tables of one transform and its entry points.

use zq::simd::Level;
use zq::{AlignedVec, Modulus, Shoup, Word};

use crate::{NttError, bit_reverse, portable, primitive_root};

/// Smallest supported `log2 n`.
pub const MIN_LOG_N: u32 = 3;
/// Largest supported `log2 n`.
pub const MAX_LOG_N: u32 = 17;

/// Twiddle factors with their Shoup quotients, as two arrays.
#[derive(Debug, Clone)]
pub(crate) struct Twiddles<W: Word> {
    pub w: AlignedVec<W>,
    pub quotient: AlignedVec<W>,
}

impl<W: Word> Twiddles<W> {
    /// `table[i] = root^brv(i)`.
    fn powers(m: &Modulus<W>, root: W, log_n: u32) -> Self {
        let n = 1usize << log_n;
        let (mut w, mut quotient) = (AlignedVec::zeros(n), AlignedVec::zeros(n));
        let step = m.shoup(root);
        let mut power = W::ONE;
        for e in 0..n {
            let s = m.shoup(power);
            let i = bit_reverse(e, log_n);
            (w[i], quotient[i]) = (s.w, s.quotient);
            power = m.mul_shoup(power, step);
        }
        Self { w, quotient }
    }
}

/// The factors of a plan as `u64`.
#[cfg(target_arch = "x86_64")]
pub(crate) struct ScalarTables<'a> {
    pub q: u64,
    pub forward: &'a [u64],
    pub inverse: &'a [u64],
    /// `n^-1` and `n^-1` times the last inverse twiddle.
    pub scale: [u64; 2],
}

/// The transform of length `n` modulo one prime.
///
/// Transforms are in place, take and give reduced residues and are constant time in them.
#[derive(Debug, Clone)]
pub struct NttPlan<W: Word> {
    pub(crate) modulus: Modulus<W>,
    pub(crate) log_n: u32,
    pub(crate) forward: Twiddles<W>,
    pub(crate) inverse: Twiddles<W>,
    /// `n^-1`, and `n^-1` times the last inverse twiddle: the last inverse stage scales.
    pub(crate) n_inv: Shoup<W>,
    pub(crate) n_inv_last: Shoup<W>,
    /// The vector form, for `u64` where the level and the length have one.
    #[cfg(target_arch = "x86_64")]
    pub(crate) simd: Option<crate::simd::SimdPlan>,
}

impl<W: Word> NttPlan<W> {
    /// Tables for length `n` (a power of two from 8 to 2^17) modulo a prime that is 1 modulo `2n`.
    pub fn new(modulus: Modulus<W>, n: usize) -> Result<Self, NttError> {
        Self::with_level(modulus, n, zq::simd::level())
    }

    /// As [`NttPlan::new`] for a given vector instruction set; every level gives the same residues.
    ///
    /// # Panics
    /// If the processor does not support the level.
    pub fn with_level(modulus: Modulus<W>, n: usize, level: Level) -> Result<Self, NttError> {
        assert!(
            level.is_supported(),
            "{} is not supported by this processor",
            level.name()
        );
        let (min, max) = (1 << MIN_LOG_N, 1 << MAX_LOG_N);
        if !n.is_power_of_two() || n < min || n > max {
            return Err(NttError::BadLength { n, min, max });
        }
        let log_n = n.trailing_zeros();
        let psi = primitive_root(&modulus, 2 * n as u64)?;
        // ψ^(2n) = 1, so ψ^-1 = ψ^(2n-1); n^-1 = -(q-1)/n as n divides q-1.
        let psi_inv = modulus.pow(psi, W::from_u64(2 * n as u64 - 1));
        let n_inv = modulus.neg(modulus.value().wrapping_sub(W::ONE) >> log_n);
        let forward = Twiddles::powers(&modulus, psi, log_n);
        let inverse = Twiddles::powers(&modulus, psi_inv, log_n);
        let n_inv_last = modulus.shoup(modulus.mul(n_inv, inverse.w[1]));
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut plan = Self {
            modulus,
            log_n,
            forward,
            inverse,
            n_inv: modulus.shoup(n_inv),
            n_inv_last,
            #[cfg(target_arch = "x86_64")]
            simd: None,
        };
        #[cfg(target_arch = "x86_64")]
        if let Some(tables) = plan.scalar_tables() {
            plan.simd = crate::simd::SimdPlan::new(&tables, level);
        }
        Ok(plan)
    }

    /// What vector tables are made from, for `u64`.
    #[cfg(target_arch = "x86_64")]
    fn scalar_tables(&self) -> Option<ScalarTables<'_>> {
        Some(ScalarTables {
            q: self.modulus.value().low_u64(),
            forward: W::as_u64s(&self.forward.w)?,
            inverse: W::as_u64s(&self.inverse.w)?,
            scale: [self.n_inv.w.low_u64(), self.n_inv_last.w.low_u64()],
        })
    }

    /// The length.
    #[inline]
    pub fn n(&self) -> usize {
        1 << self.log_n
    }

    /// `log2 n`.
    #[inline]
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// The modulus.
    #[inline]
    pub fn modulus(&self) -> &Modulus<W> {
        &self.modulus
    }

    /// ψ, the smallest primitive 2n-th root of unity.
    #[inline]
    pub fn psi(&self) -> W {
        self.forward.w[self.n() / 2]
    }

    /// Forward twiddles: entry `i` is `ψ^brv(i)`. Stage `m = 1, 2, 4, … n/2` uses entries `m..2m`.
    #[inline]
    pub fn psi_rev(&self) -> &[W] {
        &self.forward.w
    }

    /// Inverse twiddles: entry `i` is `ψ^-brv(i)`.
    #[inline]
    pub fn psi_inv_rev(&self) -> &[W] {
        &self.inverse.w
    }

    /// `n^-1`.
    #[inline]
    pub fn n_inv(&self) -> W {
        self.n_inv.w
    }

    /// Coefficients in natural order to values in bit-reversed order, in place.
    ///
    /// # Panics
    /// If `a.len() != n`.
    pub fn forward(&self, a: &mut [W]) {
        assert_eq!(a.len(), self.n(), "slice length is not the transform's");
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(a)) = (&self.simd, W::as_u64s_mut(a)) {
            return simd.forward(a);
        }
        portable::forward(self, a);
    }

    /// The inverse of [`NttPlan::forward`], in place.
    ///
    /// # Panics
    /// If `a.len() != n`.
    pub fn inverse(&self, a: &mut [W]) {
        assert_eq!(a.len(), self.n(), "slice length is not the transform's");
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(a)) = (&self.simd, W::as_u64s_mut(a)) {
            return simd.inverse(a);
        }
        portable::inverse(self, a);
    }

    /// [`NttPlan::inverse`] of `from`, which stays as it is, into `out`.
    ///
    /// # Panics
    /// If a length is not `n`.
    pub fn inverse_from(&self, from: &[W], out: &mut [W]) {
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(from), Some(out)) =
            (&self.simd, W::as_u64s(from), W::as_u64s_mut(out))
        {
            return simd.inverse_from(from, out);
        }
        assert_eq!(from.len(), self.n(), "slice length is not the transform's");
        out.copy_from_slice(from);
        self.inverse(out);
    }
}
