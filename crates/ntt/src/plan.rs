// SPDX-License-Identifier: Apache-2.0
//! A transform and its entry points.

use zq::simd::Level;
use zq::{Modulus, Word};

use crate::error::NttError;
use crate::portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::SimdPlan;
use crate::tables::Tables;

/// The transform of length `n` modulo one prime.
///
/// Transforms are in place, take and give reduced residues and are constant time in them.
#[derive(Debug, Clone)]
pub struct NttPlan<W: Word> {
    tables: Tables<W>,
    /// The vector form, for `u64` where the level and the length have one.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(crate) simd: Option<SimdPlan>,
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
    #[inline(never)]
    pub fn with_level(modulus: Modulus<W>, n: usize, level: Level) -> Result<Self, NttError> {
        assert!(
            level.is_supported(),
            "{} is not supported by this processor",
            level.name()
        );
        Ok(Self::of(Tables::new(modulus, n)?, level))
    }

    /// As [`NttPlan::new`] with ψ given, any primitive 2n-th root: the order of values differs.
    ///
    /// # Errors
    /// As [`NttPlan::new`], and [`NttError::NoRoot`].
    pub fn with_root(modulus: Modulus<W>, n: usize, psi: W) -> Result<Self, NttError> {
        let tables = Tables::with_root(modulus, n, psi)?;
        Ok(Self::of(tables, zq::simd::level()))
    }

    fn of(tables: Tables<W>, level: Level) -> Self {
        // Not used where there is no vector form.
        let _ = level;
        Self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            simd: (tables.scalar()).and_then(|scalar| SimdPlan::new(&scalar, level)),
            tables,
        }
    }

    /// The length.
    #[inline]
    pub fn n(&self) -> usize {
        1 << self.tables.log_n
    }

    /// `log2 n`.
    #[inline]
    pub fn log_n(&self) -> u32 {
        self.tables.log_n
    }

    /// The modulus.
    #[inline]
    pub fn modulus(&self) -> &Modulus<W> {
        &self.tables.modulus
    }

    /// ψ, the smallest primitive 2n-th root of unity unless another was given.
    #[inline]
    pub fn psi(&self) -> W {
        self.tables.forward.w[self.n() / 2]
    }

    /// Forward twiddles: entry `i` is `ψ^brv(i)`. Stage `m = 1, 2, 4, … n/2` uses entries `m..2m`.
    #[inline]
    pub fn psi_rev(&self) -> &[W] {
        &self.tables.forward.w
    }

    /// Inverse twiddles: entry `i` is `ψ^-brv(i)`.
    #[inline]
    pub fn psi_inv_rev(&self) -> &[W] {
        &self.tables.inverse.w
    }

    /// `n^-1`.
    #[inline]
    pub fn n_inv(&self) -> W {
        self.tables.n_inv.w
    }

    /// Coefficients in natural order to values in bit-reversed order, in place.
    ///
    /// # Panics
    /// If `a.len() != n`.
    #[inline(never)]
    pub fn forward(&self, a: &mut [W]) {
        assert_eq!(a.len(), self.n(), "slice length is not the transform's");
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let (Some(simd), Some(a)) = (&self.simd, W::as_u64s_mut(a)) {
            return simd.forward(a);
        }
        portable::forward(&self.tables, a);
    }

    /// The inverse of [`NttPlan::forward`], in place.
    ///
    /// # Panics
    /// If `a.len() != n`.
    #[inline(never)]
    pub fn inverse(&self, a: &mut [W]) {
        assert_eq!(a.len(), self.n(), "slice length is not the transform's");
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let (Some(simd), Some(a)) = (&self.simd, W::as_u64s_mut(a)) {
            return simd.inverse(a);
        }
        portable::inverse(&self.tables, a);
    }

    /// [`NttPlan::inverse`] of `from`, which stays as it is, into `out`.
    ///
    /// # Panics
    /// If a length is not `n`.
    #[inline(never)]
    pub fn inverse_from(&self, from: &[W], out: &mut [W]) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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
