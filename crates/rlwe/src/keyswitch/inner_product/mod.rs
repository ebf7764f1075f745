// SPDX-License-Identifier: Apache-2.0
//! Sums of products with one reduction, and the last step of a key switch.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vectors;

use ntt::NttPlan;
use zq::{Modulus, Shoup, Word};

/// Coefficients summed side by side in double words.
const TILE: usize = 32;

/// The multiple of q below which the operands of `terms` products that are summed and of the division that follows may
/// be: that of lazy transforms where the kernels take them, else 1.
pub(super) fn operand_bound<W: Word>(plan: &NttPlan<W>, terms: usize) -> u64 {
    let bound = plan.lazy_bound();
    // The correction before the division counts as a term.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if vectors::modulus_for(plan.modulus(), bound, terms + 1, plan.n()).is_some() {
        return bound;
    }
    1
}

/// Most products of reduced residues in one sum of [`dot_pair`] that is divided or not.
pub(super) fn most_terms<W: Word>(modulus: &Modulus<W>) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(terms) = vectors::most_terms(modulus) {
        return terms;
    }
    usize::MAX
}

/// Source of one block of a permuted polynomial: also one block.
#[derive(Clone, Copy, Default)]
pub(super) struct Permuted<'a> {
    /// For each coefficient its source's index, or none for the identity.
    sources: Option<&'a [u32]>,
    /// Index of the source block's first coefficient.
    base: usize,
}

impl<'a> Permuted<'a> {
    /// Block number `block` of `len` coefficients.
    pub(super) fn block(sources: Option<&'a [u32]>, block: usize, len: usize) -> Self {
        let sources = sources.map(|s| &s[block * len..][..len]);
        let base = sources.map_or(0, |s| s[0] as usize / len * len);
        Self { sources, base }
    }

    fn fits(&self, len: usize) -> bool {
        self.sources.is_none_or(|s| s.len() == len)
    }

    /// `out[i] += words[σ(i)]·factor`.
    ///
    /// # Panics
    /// If lengths differ.
    fn add<W: Word>(&self, m: &Modulus<W>, add: Add<'_, W>, out: &mut [W]) {
        let Add { words, factor } = add;
        match (factor, self.sources) {
            (None, None) => m.add_assign(out, words),
            (Some(factor), None) => m.shoup_mul_add_assign(out, words, factor),
            (None, Some(_)) => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = m.add(*o, words[self.source(i)]);
                }
            }
            (Some(factor), Some(_)) => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = m.add(*o, m.mul_shoup(words[self.source(i)], factor));
                }
            }
        }
    }

    #[inline(always)]
    fn source(&self, i: usize) -> usize {
        self.sources.map_or(i, |s| s[i] as usize - self.base)
    }
}

/// Rows that are multiplied with each other and summed.
#[derive(Clone, Copy)]
pub(super) struct Products<'a, W: Word> {
    /// Below `bound` times the modulus, their low 52 bits if that is not 1 (see [`operand_bound`]); read through the
    /// permutation.
    pub digits: &'a [&'a [W]],
    pub bound: u64,
    /// Reduced, for either component.
    pub keys: [&'a [&'a [W]]; 2],
    pub permuted: Permuted<'a>,
    /// Whether the digits come from memory, so that lines ahead are worth a prefetch; not with a permutation.
    pub streamed: bool,
}

/// Post-processing of a sum: optional division, then optional addition of `words[σ(i)]·factor`.
#[derive(Clone, Copy)]
pub(super) struct PostProcessing<'a, W: Word> {
    pub divide: Option<Divide<'a, W>>,
    pub add: Option<Add<'a, W>>,
    /// Whether the result is added to what the output holds; not with a division.
    pub onto: bool,
}

/// Addend of a sum.
#[derive(Clone, Copy)]
pub(super) struct Add<'a, W: Word> {
    /// Read through the permutation.
    pub words: &'a [W],
    /// None for 1.
    pub factor: Option<Shoup<W>>,
}

/// `out_h[i] = Σ_d digits[d][σ(i)] · keys[h][d][i]` for both components h, finished.
///
/// # Panics
/// If lengths differ.
pub(super) fn dot_pair<W: Word>(
    modulus: &Modulus<W>,
    products: Products<'_, W>,
    finish: [PostProcessing<'_, W>; 2],
    out: [&mut [W]; 2],
) {
    let n = out[0].len();
    assert!(
        products.fit(n) && out[1].len() == n && finish.iter().all(|f| f.fits(n)),
        "lengths differ"
    );
    assert!(
        finish.iter().all(|f| f.divide.is_none() || !f.onto),
        "a quotient is not added to what is there"
    );
    let bounds = finish.iter().map(PostProcessing::bound);
    let most = bounds.fold(products.bound, u64::max);
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(q) = vectors::modulus_for(modulus, most, products.digits.len() + 1, n) {
        return dot_pair_of_vectors((q, most), products, finish, out);
    }
    assert!(most == 1, "lazy operands have a kernel");
    let Products {
        digits,
        keys,
        permuted,
        ..
    } = products;
    for ((keys, finish), out) in keys.into_iter().zip(finish).zip(out) {
        match (permuted.sources, finish.onto) {
            (None, false) => modulus.dot_into(out, digits, keys),
            (None, true) => digits
                .iter()
                .zip(keys)
                .for_each(|(digit, key)| modulus.mul_add_assign(out, digit, key)),
            (Some(_), _) => dot_permuted(modulus, digits, keys, permuted, finish.onto, out),
        }
        if let Some(divide) = finish.divide {
            divide.run(modulus, out);
        }
        if let Some(add) = finish.add {
            permuted.add(modulus, add, out);
        }
    }
}

/// [`dot_pair`] by the vector kernels, which take the modulus, the bounds and the lengths ([`vectors::modulus_for`]).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn dot_pair_of_vectors<W: Word>(
    (q, bound): (u64, u64),
    products: Products<'_, W>,
    finish: [PostProcessing<'_, W>; 2],
    [first, second]: [&mut [W]; 2],
) {
    let (Some(digits), Some(a), Some(b), Some(first), Some(second)) = (
        W::as_u64_rows(products.digits),
        W::as_u64_rows(products.keys[0]),
        W::as_u64_rows(products.keys[1]),
        W::as_u64s_mut(first),
        W::as_u64s_mut(second),
    ) else {
        unreachable!("a modulus for the vector path has u64 words");
    };
    // SAFETY: `modulus_for` vouches for the processor; all rows have n words, a multiple of a block, and the
    // permutation of an automorphism maps aligned blocks of four, and of eight, to such blocks.
    unsafe {
        vectors::dot_pair(vectors::Call {
            q,
            digits,
            keys: [a, b],
            sources: (products.permuted.sources, products.permuted.base),
            streamed: products.streamed,
            reduced: bound == 1,
            finish: finish.map(PostProcessing::words),
            out: [first, second],
        })
    };
}

impl<W: Word> Products<'_, W> {
    /// Whether all rows have `n` words, and there is a row of each key for every digit.
    fn fit(&self, n: usize) -> bool {
        let count = self.digits.len();
        let same = |rows: &[&[W]]| rows.len() == count && rows.iter().all(|row| row.len() == n);
        same(self.digits) && self.keys.into_iter().all(same) && self.permuted.fits(n)
    }
}

impl<'a, W: Word> PostProcessing<'a, W> {
    fn bound(&self) -> u64 {
        self.divide.map_or(1, |divide| divide.bound)
    }

    fn fits(&self, n: usize) -> bool {
        let mut rows = self
            .divide
            .map(|d| d.correction)
            .into_iter()
            .chain(self.add.map(|add| add.words));
        rows.all(|row| row.len() == n)
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn words(self) -> vectors::PostProcessing<'a> {
        let division = self.divide.and_then(|divide| {
            let correction = W::as_u64s(divide.correction)?;
            Some((correction, divide.factor.w.low_u64()))
        });
        let add = self.add.and_then(|add| {
            let factor = add.factor.map(|factor| factor.w.low_u64());
            Some((W::as_u64s(add.words)?, factor))
        });
        let onto = self.onto;
        vectors::PostProcessing {
            division,
            add,
            onto,
        }
    }
}

fn dot_permuted<W: Word>(
    m: &Modulus<W>,
    digits: &[&[W]],
    keys: &[&[W]],
    permuted: Permuted<'_>,
    onto: bool,
    out: &mut [W],
) {
    // u64: products below 2^(2·bits) are summed in u128, `lazy` of them at a time. Wider words reduce every product.
    let lazy = if W::BITS == 64 {
        1usize << (128 - 2 * m.bits()).min(16)
    } else {
        1
    };
    for (t, out) in out.chunks_mut(TILE).enumerate() {
        let start = t * TILE;
        let mut acc = [0u128; TILE];
        if onto {
            acc.iter_mut()
                .zip(&*out)
                .for_each(|(a, o)| *a = o.to_u128());
        }
        // The output is less than a product.
        let mut carried = usize::from(onto);
        for (digit, key) in digits.iter().zip(keys) {
            if carried + 1 > lazy - usize::from(lazy > 1) {
                acc.iter_mut()
                    .for_each(|a| *a = m.reduce_u128(*a).to_u128());
                carried = 0;
            }
            carried += 1;
            for (k, acc) in acc[..out.len()].iter_mut().enumerate() {
                let x = digit[permuted.source(start + k)];
                let y = key[start + k];
                *acc = if W::BITS == 64 {
                    *acc + x.to_u128() * y.to_u128()
                } else {
                    m.mul_add(W::from_u128_lossy(*acc), x, y).to_u128()
                };
            }
        }
        out.iter_mut()
            .zip(acc)
            .for_each(|(o, a)| *o = m.reduce_u128(a));
    }
}

/// The operands of a division.
#[derive(Clone, Copy)]
pub(super) struct Divide<'a, W: Word> {
    /// Subtracted first; below `bound` times the modulus as in [`Products`].
    pub correction: &'a [W],
    pub bound: u64,
    /// The divisor's inverse.
    pub factor: Shoup<W>,
}

impl<W: Word> Divide<'_, W> {
    /// `out[i] = (out[i] - correction[i]) · factor`; `out` is reduced before and after.
    ///
    /// # Panics
    /// If lengths differ.
    pub(super) fn run(self, m: &Modulus<W>, out: &mut [W]) {
        let n = out.len();
        assert_eq!(self.correction.len(), n, "lengths differ");
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(q) = vectors::modulus_for(m, self.bound, 1, n) {
            if let (Some(correction), Some(out)) =
                (W::as_u64s(self.correction), W::as_u64s_mut(out))
            {
                let factor = self.factor.w.low_u64();
                // SAFETY: `modulus_for` vouches for the processor and for whole blocks; both rows have n words.
                unsafe { vectors::divide((q, self.bound), correction, factor, out) };
                return;
            }
            unreachable!("a modulus for the vector path has u64 words");
        }
        assert!(self.bound == 1, "lazy operands have a kernel");
        m.sub_shoup_mul_assign(out, self.correction, self.factor);
    }
}
