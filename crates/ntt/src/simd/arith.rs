// SPDX-License-Identifier: Apache-2.0
//! The trait of butterfly arithmetics, and the parts that all implementations share.

use zq::simd::{Lanes, MAX_LANES};

/// A twiddle factor and its quotient, one pair in each lane.
#[derive(Clone, Copy)]
pub(crate) struct Factor<V> {
    pub w: V,
    pub quotient: V,
}

/// Butterflies modulo one prime on values in a representation of its own.
///
/// Stages are numbered from the start of a pass: forward 0.. across vectors and on within them in the last pass;
/// inverse 0.. within vectors in the first pass, and from `LOG_LANES` across vectors in every pass. Each implementation
/// proves that its values stay in range under that numbering.
///
/// # Safety
/// Methods use the instructions of `V`: see [`Lanes`].
pub(crate) trait Arith: Copy {
    type V: Lanes;

    /// The table entry of a factor: its two words as [`Factor`] wants them.
    fn twiddle(q: u64, w: u64) -> [u64; 2];
    /// The same for the last inverse stage ([`Arith::inverse_last`]).
    fn last_twiddle(q: u64, w: u64) -> [u64; 2] {
        Self::twiddle(q, w)
    }
    /// Forward values stay in range through two passes before the last without a reduction: then the stages of the
    /// first pass and of those of odd number are numbered from 2 on.
    const RESTS: bool = false;
    /// Whether stages go one after another through memory, those that are a multiple of three numbered 0, others 1;
    /// after every third inverse stage results are settled as those of a pass of one. For registers of four lanes.
    const STAGEWISE: bool = false;
    /// The constants for a modulus.
    unsafe fn new(q: u64) -> Self;
    /// A reduced residue to the representation.
    unsafe fn enter(&self, v: Self::V) -> Self::V;
    /// The same before an inverse transform.
    #[inline(always)]
    unsafe fn enter_inverse(&self, v: Self::V) -> Self::V {
        // SAFETY: the contract of this trait.
        unsafe { self.enter(v) }
    }
    /// `(x + w y, x - w y)`.
    unsafe fn forward(
        &self,
        stage: usize,
        x: Self::V,
        y: Self::V,
        f: Factor<Self::V>,
    ) -> (Self::V, Self::V);
    /// A forward result to a reduced residue.
    unsafe fn leave(&self, v: Self::V) -> Self::V;
    /// Forward results as they are have low 52 bits below this multiple of q, congruent to the residue; 1 where they
    /// have to be reduced to be of use.
    const LAZY_BOUND: u64 = 1;
    /// `(x + y, (x - y) w)`.
    unsafe fn inverse(
        &self,
        stage: usize,
        x: Self::V,
        y: Self::V,
        f: Factor<Self::V>,
    ) -> (Self::V, Self::V);
    /// After the in-register stages of the first inverse pass; as it is, where values stay in range without.
    #[inline(always)]
    unsafe fn between(&self, v: Self::V) -> Self::V {
        v
    }
    /// Result `r` of an inverse pass over `radix` operands to what the next pass accepts; as it is, where that is all.
    #[inline(always)]
    unsafe fn settle(&self, _r: usize, _radix: usize, v: Self::V) -> Self::V {
        v
    }
    /// The last stage: `((x + y) n^-1, (x - y) w n^-1)` as reduced residues; `last` holds `w n^-1`.
    unsafe fn inverse_last(
        &self,
        stage: usize,
        x: Self::V,
        y: Self::V,
        n_inv: Factor<Self::V>,
        last: Factor<Self::V>,
    ) -> (Self::V, Self::V);
}

/// In debug builds, asserts a proved bound on every lane.
#[inline(always)]
pub(crate) unsafe fn check_lanes<V: Lanes>(v: V, holds: impl Fn(u64) -> bool, bound: &str) {
    if cfg!(debug_assertions) {
        let mut lanes = [0u64; MAX_LANES];
        // SAFETY: no register has more than eight lanes.
        unsafe { v.store(lanes.as_mut_ptr()) };
        assert_all(&lanes[..V::LANES], holds, bound);
    }
}

/// A call, since the assertion would otherwise be compiled into every butterfly of every pass.
#[inline(never)]
fn assert_all(values: &[u64], holds: impl Fn(u64) -> bool, bound: &str) {
    assert!(values.iter().all(|&x| holds(x)), "a value is not {bound}");
}
