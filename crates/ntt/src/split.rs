// SPDX-License-Identifier: Apache-2.0
//! A forward transform in two steps, for work that goes on with one part of the results while it is in the caches.
//!
//! The outer stages read a polynomial and leave [`NttPlan::parts`] parts, runs of neighbouring results. Each part is finished by
//! itself, in any order. Residues may be of another prime and are lifted as they are read; results may be left open.

use zq::Word;

use crate::NttPlan;

/// Words between two parts: an odd number of cache lines.
const PADDING: usize = 24;

/// What is added to residues of another modulus as they are read, so that they represent the same centred integer:
/// `x` if `x < threshold`, else `x + shift` in wrapping arithmetic. Words are below 2^63 (of 64 bits), results reduced residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift<W: Word> {
    /// Smallest word that is shifted.
    pub threshold: W,
    /// What is added.
    pub shift: W,
}

/// How [`NttPlan::forward_part`] leaves its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Reduced residues.
    Reduced,
    /// The low 52 bits are below [`NttPlan::open_bound`] times q and congruent to the residue; the bits above mean nothing.
    Open,
}

impl<W: Word> NttPlan<W> {
    /// The vector form, where it has outer stages.
    #[cfg(target_arch = "x86_64")]
    fn split(&self) -> Option<&crate::simd::SimdPlan> {
        self.simd.as_ref().filter(|simd| simd.parts() > 1)
    }

    /// Parts that the outer stages leave: 1, 2, 4 or 8, at least 64 results each unless it is 1.
    #[inline]
    pub fn parts(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = self.split() {
            return simd.parts();
        }
        1
    }

    /// Open results are below this multiple of q, at most 2^52; 1 where there are none and they are reduced.
    #[inline]
    pub fn open_bound(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = self.split() {
            return simd.open_bound();
        }
        1
    }

    /// Words from the start of one part to that of the next in what [`NttPlan::forward_outer`] leaves: more than a part where there
    /// are several. Operands and results of the outer stages stand a power of two apart, in one set of the first cache level,
    /// and more of them than it has ways, unless the parts are moved.
    #[inline]
    pub fn part_stride(&self) -> usize {
        match self.parts() {
            1 => self.n(),
            parts => self.n() / parts + PADDING,
        }
    }

    /// Words that [`NttPlan::forward_outer`] leaves.
    #[inline]
    pub fn outer_len(&self) -> usize {
        self.parts() * self.part_stride()
    }

    /// The outer stages of the transform of `from`, lifted, into parts that stand [`NttPlan::part_stride`] words apart in `out`.
    ///
    /// # Panics
    /// If `from` is not of length `n` or `out` not of length [`NttPlan::outer_len`].
    pub fn forward_outer(&self, from: &[W], lift: Option<Shift<W>>, out: &mut [W]) {
        assert!(
            from.len() == self.n() && out.len() == self.outer_len(),
            "slice length is not the transform's"
        );
        self.outer_stages(from, lift, (out, self.part_stride(), 0));
    }

    /// The outer stages of some columns. `from` holds as many neighbouring coefficients for each part, those from number `start` on
    /// of the first, the second, … run of n / parts coefficients; the results go to the same places of the parts, which stand
    /// [`NttPlan::part_stride`] words apart in `out`.
    ///
    /// # Panics
    /// If `from` is not of whole columns within the parts, a multiple of 128 / parts where there are several parts, or `out` not of
    /// length [`NttPlan::outer_len`].
    pub fn forward_outer_columns(&self, from: &[W], start: usize, out: &mut [W]) {
        let columns = from.len() / self.parts();
        assert!(
            columns * self.parts() == from.len()
                && start + columns <= self.n() / self.parts()
                && out.len() == self.outer_len(),
            "columns are not the transform's"
        );
        self.outer_stages(from, None, (out, self.part_stride(), start));
    }

    /// The transform of `from`, lifted, to `out`: reduced residues.
    ///
    /// # Panics
    /// If `from` or `out` is not of length `n`.
    pub fn forward_from(&self, from: &[W], lift: Option<Shift<W>>, out: &mut [W]) {
        assert!(
            from.len() == self.n() && out.len() == self.n(),
            "slice length is not the transform's"
        );
        let len = self.n() / self.parts();
        self.outer_stages(from, lift, (out, len, 0));
        for (part, words) in out.chunks_exact_mut(len).enumerate() {
            self.forward_part(part, words, Form::Reduced, [&[], &[]]);
        }
    }

    /// The outer stages, or the lift alone where there are none, from word `start` on of parts that stand `apart` words apart.
    fn outer_stages(
        &self,
        from: &[W],
        lift: Option<Shift<W>>,
        (out, apart, start): (&mut [W], usize, usize),
    ) {
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(from), Some(out)) =
            (self.split(), W::as_u64s(from), W::as_u64s_mut(out))
        {
            let lift = lift.map(|l| [l.threshold.low_u64(), l.shift.low_u64()]);
            return simd.forward_outer(from, lift, &mut out[start..], apart);
        }
        debug_assert_eq!(apart, self.n(), "one part");
        let out = &mut out[start..start + from.len()];
        match lift {
            None => out.copy_from_slice(from),
            Some(Shift { threshold, shift }) => {
                for (o, &x) in out.iter_mut().zip(from) {
                    *o = x.wrapping_add(shift & W::opaque(!x.lt_mask(threshold)));
                }
            }
        }
    }

    /// The remaining stages of part `part`, in place. The words of `ahead`, each row as long as the part, are what is wanted next:
    /// they are asked for from memory meanwhile.
    ///
    /// # Panics
    /// If `part` is not below [`NttPlan::parts`] or `a` is not a part.
    pub fn forward_part(&self, part: usize, a: &mut [W], form: Form, ahead: [&[W]; 2]) {
        let parts = self.parts();
        assert!(
            part < parts && a.len() * parts == self.n(),
            "slice length is not a part's"
        );
        #[cfg(target_arch = "x86_64")]
        if let (Some(simd), Some(a)) = (self.split(), W::as_u64s_mut(a)) {
            let rows = ahead.map(|row| row.as_ptr().cast::<u64>());
            let used = ahead.iter().take_while(|row| !row.is_empty()).count();
            return simd.forward_part(part, a, form == Form::Open, &rows[..used]);
        }
        self.forward(a);
    }
}
