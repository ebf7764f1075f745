// SPDX-License-Identifier: Apache-2.0
//! Operand sources of passes.

use zq::simd::Lanes;

/// The operand source of a pass.
pub(crate) trait Input<V: Lanes>: Copy {
    /// The vector at word `i`, a reduced residue in every lane.
    unsafe fn load(&self, i: usize) -> V;
}

/// Residues as they stand in memory.
#[derive(Clone, Copy)]
pub(crate) struct Plain(pub *const u64);

impl<V: Lanes> Input<V> for Plain {
    #[inline(always)]
    unsafe fn load(&self, i: usize) -> V {
        // SAFETY: the caller enabled the features of V and gives an `i` from which on the input has a vector's words.
        unsafe { V::load(self.0.add(i)) }
    }
}

/// Residues of another prime: `shift` is added to those that are not below `threshold`.
#[derive(Clone, Copy)]
pub(crate) struct Lifted<V> {
    pub from: *const u64,
    pub threshold: V,
    pub shift: V,
}

impl<V: Lanes> Input<V> for Lifted<V> {
    #[inline(always)]
    unsafe fn load(&self, i: usize) -> V {
        // SAFETY: the caller enabled the features of V and gives an `i` with a vector's words; then registers only.
        unsafe {
            let x = V::load(self.from.add(i));
            x.add_unless_below(self.threshold, self.shift)
        }
    }
}
