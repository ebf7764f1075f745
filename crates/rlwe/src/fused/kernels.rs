// SPDX-License-Identifier: Apache-2.0
//! Sums of products with one reduction, and the last step of a key switch.

use zq::{Modulus, Shoup, Word};

/// Coefficients summed side by side in double words.
const TILE: usize = 32;

/// `out_h[i] = Σ_d digits[d][σ(i)] · keys[h][d][i]` for both halves h; `sources` holds σ, or the identity if `None`.
///
/// # Panics
/// If lengths differ.
pub(super) fn dot_pair<W: Word>(
    modulus: &Modulus<W>,
    digits: &[&[W]],
    keys: [&[&[W]]; 2],
    sources: Option<&[u32]>,
    out: [&mut [W]; 2],
) {
    let n = out[0].len();
    let same = |rows: &[&[W]]| rows.len() == digits.len() && rows.iter().all(|r| r.len() == n);
    assert!(
        same(digits) && same(keys[0]) && same(keys[1]) && out[1].len() == n,
        "lengths differ"
    );
    assert!(sources.is_none_or(|s| s.len() == n), "permutation length");
    #[cfg(target_arch = "x86_64")]
    if let Some(q) = super::ifma::modulus_for(modulus, digits.len(), n) {
        let words = |rows: &[&[W]]| {
            rows.iter()
                .filter_map(|r| W::as_u64s(r).map(<[u64]>::as_ptr))
                .collect::<Vec<_>>()
        };
        let [first, second] = out;
        if let (Some(first), Some(second)) = (W::as_u64s_mut(first), W::as_u64s_mut(second)) {
            // SAFETY: `modulus_for` vouches for the processor; all rows have n words, a multiple of eight, and the
            // permutation of an automorphism maps aligned blocks of eight to aligned blocks.
            unsafe {
                super::ifma::dot_pair(
                    q,
                    &words(digits),
                    [&words(keys[0]), &words(keys[1])],
                    sources,
                    [first, second],
                )
            };
            return;
        }
        unreachable!("a modulus for the vector path has u64 words");
    }
    for (keys, out) in keys.into_iter().zip(out) {
        match sources {
            None => modulus.dot_into(out, digits, keys),
            Some(sources) => dot_permuted(modulus, digits, keys, sources, out),
        }
    }
}

fn dot_permuted<W: Word>(
    m: &Modulus<W>,
    digits: &[&[W]],
    keys: &[&[W]],
    sources: &[u32],
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
        let mut carried = 0;
        for (digit, key) in digits.iter().zip(keys) {
            if carried + 1 > lazy - usize::from(lazy > 1) {
                acc.iter_mut()
                    .for_each(|a| *a = m.reduce_u128(*a).to_u128());
                carried = 0;
            }
            carried += 1;
            for (k, acc) in acc[..out.len()].iter_mut().enumerate() {
                let x = digit[sources[start + k] as usize];
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

/// The operands of [`finish`].
#[derive(Clone, Copy)]
pub(super) struct Finish<'a, W: Word> {
    /// Sums of products, reduced.
    pub sum: &'a [W],
    /// What is subtracted before the product with the factor.
    pub correction: Option<(&'a [W], Shoup<W>)>,
    /// What is added last, read through the permutation.
    pub add: Option<&'a [W]>,
    /// The permutation, or the identity.
    pub sources: Option<&'a [u32]>,
}

/// `out[i] = (sum[i] - correction[i]) · factor + add[σ(i)]`.
///
/// # Panics
/// If lengths differ.
pub(super) fn finish<W: Word>(m: &Modulus<W>, f: Finish<'_, W>, out: &mut [W]) {
    let n = out.len();
    let fits = |x: Option<&[W]>| x.is_none_or(|x| x.len() == n);
    assert!(
        f.sum.len() == n && fits(f.correction.map(|c| c.0)) && fits(f.add),
        "lengths differ"
    );
    assert!(f.sources.is_none_or(|s| s.len() == n), "permutation length");
    #[cfg(target_arch = "x86_64")]
    if let (Some(q), Some((correction, factor))) = (super::ifma::modulus_for(m, 1, n), f.correction)
    {
        if let (Some(sum), Some(correction), Some(out)) = (
            W::as_u64s(f.sum),
            W::as_u64s(correction),
            W::as_u64s_mut(out),
        ) {
            let add = f.add.and_then(W::as_u64s);
            // SAFETY: as in `dot_pair`.
            unsafe {
                super::ifma::finish(q, sum, correction, factor.w.low_u64(), add, f.sources, out)
            };
            return;
        }
        unreachable!("a modulus for the vector path has u64 words");
    }
    match f.correction {
        Some((correction, factor)) => {
            out.copy_from_slice(f.sum);
            m.sub_shoup_mul_assign(out, correction, factor);
        }
        None => out.copy_from_slice(f.sum),
    }
    match (f.add, f.sources) {
        (Some(add), None) => m.add_assign(out, add),
        (Some(add), Some(sources)) => {
            out.iter_mut()
                .zip(sources)
                .for_each(|(o, s)| *o = m.add(*o, add[*s as usize]));
        }
        (None, _) => {}
    }
}
