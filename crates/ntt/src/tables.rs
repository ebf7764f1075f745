// SPDX-License-Identifier: Apache-2.0
//! The tables of one transform: twiddle factors with what multiplies by them fast.

use zq::{AlignedVec, Modulus, Shoup, Word};

use crate::error::NttError;
use crate::root::{bit_reverse, cofactor, primitive_root};

/// Smallest supported `log2 n`.
pub const MIN_LOG_N: u32 = 3;
/// Largest supported `log2 n`.
pub const MAX_LOG_N: u32 = 17;

/// Fails unless there are transforms of length `n`.
fn check_length(n: usize) -> Result<(), NttError> {
    let (min, max) = (1 << MIN_LOG_N, 1 << MAX_LOG_N);
    if n.is_power_of_two() && (min..=max).contains(&n) {
        return Ok(());
    }
    Err(NttError::BadLength { n, min, max })
}

/// Fails where [`NttPlan::new`](crate::NttPlan::new) does, without making its tables.
///
/// # Errors
/// As [`NttPlan::new`](crate::NttPlan::new).
pub fn check<W: Word>(modulus: &Modulus<W>, n: usize) -> Result<(), NttError> {
    check_length(n)?;
    cofactor(modulus, 2 * n as u64).map(|_| ())
}

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

    /// The twiddles of the stage with `blocks` blocks.
    #[inline(always)]
    pub fn range(&self, blocks: usize) -> impl Iterator<Item = Shoup<W>> + '_ {
        let range = blocks..2 * blocks;
        let quotients = &self.quotient[range.clone()];
        self.w[range]
            .iter()
            .zip(quotients)
            .map(|(&w, &quotient)| Shoup { w, quotient })
    }
}

/// The factors of a plan as `u64`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) struct ScalarTables<'a> {
    pub q: u64,
    pub forward: &'a [u64],
    pub inverse: &'a [u64],
    /// `n^-1` and `n^-1` times the last inverse twiddle.
    pub scale: [u64; 2],
}

/// Tables of a transform of length 2^log_n modulo one prime.
#[derive(Debug, Clone)]
pub(crate) struct Tables<W: Word> {
    pub modulus: Modulus<W>,
    pub log_n: u32,
    pub forward: Twiddles<W>,
    pub inverse: Twiddles<W>,
    /// `n^-1`, and `n^-1` times the last inverse twiddle: the last inverse stage scales.
    pub n_inv: Shoup<W>,
    pub n_inv_last: Shoup<W>,
}

impl<W: Word> Tables<W> {
    /// Tables for length `n` modulo a prime that is 1 modulo `2n`.
    pub fn new(modulus: Modulus<W>, n: usize) -> Result<Self, NttError> {
        check_length(n)?;
        Ok(Self::of(
            modulus,
            n,
            primitive_root(&modulus, 2 * n as u64)?,
        ))
    }

    /// The same with a primitive 2n-th root that is given.
    pub fn with_root(modulus: Modulus<W>, n: usize, psi: W) -> Result<Self, NttError> {
        check(&modulus, n)?;
        let q = modulus.value();
        // An n-th power of -1 makes the order 2n: it divides 2n, a power of two, and is not n or less.
        if psi >= q || modulus.pow(psi, W::from_u64(n as u64)) != q.wrapping_sub(W::ONE) {
            return Err(NttError::NoRoot {
                root: psi.to_u128(),
                modulus: q.to_u128(),
                order: 2 * n as u64,
            });
        }
        Ok(Self::of(modulus, n, psi))
    }

    fn of(modulus: Modulus<W>, n: usize, psi: W) -> Self {
        let log_n = n.trailing_zeros();
        // ψ^(2n) = 1, so ψ^-1 = ψ^(2n-1); n^-1 = -(q-1)/n as n divides q-1.
        let psi_inv = modulus.pow(psi, W::from_u64(2 * n as u64 - 1));
        let n_inv = modulus.neg(modulus.value().wrapping_sub(W::ONE) >> log_n);
        let forward = Twiddles::powers(&modulus, psi, log_n);
        let inverse = Twiddles::powers(&modulus, psi_inv, log_n);
        let n_inv_last = modulus.shoup(modulus.mul(n_inv, inverse.w[1]));
        Self {
            n_inv: modulus.shoup(n_inv),
            modulus,
            log_n,
            forward,
            inverse,
            n_inv_last,
        }
    }

    /// The scalar tables that vector tables are built from, for `u64`.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub fn scalar(&self) -> Option<ScalarTables<'_>> {
        Some(ScalarTables {
            q: self.modulus.value().low_u64(),
            forward: W::as_u64s(&self.forward.w)?,
            inverse: W::as_u64s(&self.inverse.w)?,
            scale: [self.n_inv.w.low_u64(), self.n_inv_last.w.low_u64()],
        })
    }
}
