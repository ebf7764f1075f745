// SPDX-License-Identifier: Apache-2.0
//! The one loop behind base conversion and scaling.
//!
//! For input residues `x_i` modulo `q_i` (product `Q`) and output moduli `p_j`:
//!
//! ```text
//! y_i   = [x_i f_i]_{q_i}
//! v     = floor((Σ_i y_i C_i + 2^(F-1)) / 2^F)     C_i = floor((2^F + floor(q_i/2)) / q_i),  F = 51 + min_i bits(q_i)
//! out_j = [own_j a_j + Σ_i y_i m_ij + v c_j]_{p_j}
//! ```
//!
//! With a mixed radix ([`crate::mixed_radix`]) the `y_i` are its digits and `v` is 1.
//!
//! `v` is the fixed-point value of `round(Σ y_i / q_i)`. Each `C_i` is at most 2^52 and wrong by at most 1/2, so the
//! sum is wrong by at most `Σ y_i / 2^(F+1) < Σ_i 2^(bits(q_i) - min bits) / 2^52`: `v` differs from exact rounding
//! only that close to a half, and then by one. The definition is in integers: every engine gets the same `v`.

use num_bigint::BigUint;
use zq::simd::{Level, level};
use zq::{Modulus, Shoup, Word};

use crate::mixed_radix::MixedRadix;
use crate::{RnsBasis, Scratch};

/// Coefficients handled at a time: `(L + 1) * BLOCK` words of scratch stay in the nearest caches.
pub(crate) const BLOCK: usize = 1024;
/// Coefficients accumulated side by side in double words.
const TILE: usize = 32;
/// Bits of `v` at the longest basis ([`crate::basis::MAX_LIMBS`]).
const QUOTIENT_BITS: u32 = 11;

/// What the rows `y_i` and `v` of a block are.
#[derive(Debug, Clone)]
enum Inputs<W: Word> {
    /// Products, and the quotient.
    Quotient {
        factors: Vec<Shoup<W>>,
        reciprocals: Vec<u64>,
        fraction_bits: u32,
    },
    /// Digits of a mixed radix, and 1.
    Digits(MixedRadix<W>),
}

#[derive(Debug, Clone)]
pub(crate) struct Kernel<W: Word> {
    from: Vec<Modulus<W>>,
    inputs: Inputs<W>,
    to: Vec<Modulus<W>>,
    /// `L + 1` words for each output: `m_0j … m_{L-1}j, c_j`.
    rows: Vec<W>,
    /// `a_j`, or empty.
    own: Vec<W>,
    /// Products that surely fit a double word together.
    lazy_terms: usize,
    /// Whether reducing every product in vectors beats exact sums of scalar products.
    reduces_products: bool,
    /// Whether the vector loops run.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    vectors: bool,
    /// Their constants for each output modulus, then for each input modulus.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    narrow: Vec<zq::simd::Modulus52>,
}

impl<W: Word> Kernel<W> {
    /// `rows` holds `L + 1` words for each modulus of `to`, `own` one word for each or none.
    #[inline(never)]
    pub fn new(
        from: &RnsBasis<W>,
        factors: Vec<Shoup<W>>,
        to: &[Modulus<W>],
        rows: Vec<W>,
        own: Vec<W>,
    ) -> Self {
        let narrowest = from.moduli().iter().map(Modulus::bits).min().unwrap_or(0);
        let fraction_bits = 51 + narrowest;
        let reciprocals = from.moduli().iter();
        let inputs = Inputs::Quotient {
            factors,
            reciprocals: reciprocals.map(|q| reciprocal(q, fraction_bits)).collect(),
            fraction_bits,
        };
        Self::of(from, inputs, to, rows, own)
    }

    /// The same of the digits of a mixed radix: `c_j` is a constant.
    #[inline(never)]
    pub fn of_digits(
        from: &RnsBasis<W>,
        radix: MixedRadix<W>,
        to: &[Modulus<W>],
        rows: Vec<W>,
        own: Vec<W>,
    ) -> Self {
        Self::of(from, Inputs::Digits(radix), to, rows, own)
    }

    fn of(
        from: &RnsBasis<W>,
        inputs: Inputs<W>,
        to: &[Modulus<W>],
        rows: Vec<W>,
        own: Vec<W>,
    ) -> Self {
        let bits = |moduli: &[Modulus<W>]| moduli.iter().map(Modulus::bits).max().unwrap_or(0);
        let (from_bits, to_bits) = (bits(from.moduli()), bits(to));
        let width = from_bits.max(to_bits).max(QUOTIENT_BITS);
        let spare = (2 * W::BITS).saturating_sub(2 * width);
        let lazy_terms = 1 << spare.min(20);
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        let vectors = W::BITS == u64::BITS
            && to.iter().chain(from.moduli()).all(|p| p.bits() > 2)
            && crate::simd::available(width, from.len() + 2);
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        let narrow = to.iter().chain(from.moduli()).filter(|_| vectors);
        let from = from.moduli().to_vec();
        Self {
            from,
            inputs,
            to: to.to_vec(),
            rows,
            own,
            lazy_terms,
            reduces_products: level() >= Level::Avx512 && width > 50,
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            vectors,
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            narrow: narrow
                .map(|p| zq::simd::Modulus52::new(p.value().low_u64()))
                .collect(),
        }
    }

    pub fn inputs(&self) -> usize {
        self.from.len()
    }

    pub fn outputs(&self) -> usize {
        self.to.len()
    }

    pub fn to(&self) -> &[Modulus<W>] {
        &self.to
    }

    pub fn own(&self) -> &[W] {
        &self.own
    }

    /// All coefficients: `input` has `L n` words, `out` and `own` (if given) `n` for each output, from number `first`
    /// on.
    #[inline(never)]
    pub fn apply(
        &self,
        input: &[W],
        own: Option<&[W]>,
        (first, out): (usize, &mut [W]),
        centred: bool,
        scratch: &mut Scratch<W>,
    ) {
        let inputs = self.inputs();
        assert_eq!(input.len() % inputs, 0, "input is not whole limbs");
        let n = input.len() / inputs;
        let outputs = out.len() / n.max(1);
        assert!(
            out.len() == outputs * n && first + outputs <= self.outputs(),
            "output length"
        );
        assert!(
            own.is_none_or(|o| o.len() == out.len()),
            "kept residues length"
        );
        let y = scratch.take((inputs + 1) * BLOCK);
        for start in (0..n).step_by(BLOCK) {
            let len = BLOCK.min(n - start);
            self.prepare(input, (1, len), start, (y, centred));
            for j in 0..outputs {
                let range = j * n + start..j * n + start + len;
                let own = own.map(|o| (&o[range.clone()], self.own[first + j]));
                self.output(first + j, y, own, centred, &mut out[range]);
            }
        }
    }

    /// Writes the `y` rows of one block: `columns` coefficients from number `start` on of each of `runs` equal runs;
    /// and `v` behind them if the conversion is centred.
    fn prepare(
        &self,
        input: &[W],
        (runs, columns): (usize, usize),
        start: usize,
        (y, centred): (&mut [W], bool),
    ) {
        let (n, len) = (input.len() / self.inputs(), runs * columns);
        let runs = |i: usize| {
            let runs = input[i * n..][..n].chunks_exact(n / runs);
            runs.map(move |run| &run[start..][..columns])
        };
        match &self.inputs {
            Inputs::Digits(radix) => {
                assert!(centred, "digits are of the centred conversion");
                y[self.inputs() * BLOCK..][..len].fill(W::ONE);
                for i in (0..self.inputs()).rev() {
                    let (factor, row) = radix.step(i);
                    let (own, later) = y[i * BLOCK..].split_at_mut(BLOCK);
                    let all = runs(i).zip(own.chunks_exact_mut(columns)).enumerate();
                    for (run, (x, own)) in all {
                        let later = &later[run * columns..];
                        let p = (&self.from[i], self.outputs() + i);
                        self.sum(p, (later, row), Some((x, factor)), own);
                    }
                }
            }
            Inputs::Quotient {
                factors,
                reciprocals,
                fraction_bits,
            } => {
                for (i, (q, &factor)) in self.from.iter().zip(factors).enumerate() {
                    let own = y[i * BLOCK..][..len].chunks_exact_mut(columns);
                    runs(i)
                        .zip(own)
                        .for_each(|(x, y)| q.shoup_mul_into(y, x, factor));
                }
                if centred {
                    self.quotients((reciprocals, *fraction_bits), y, len);
                }
            }
        }
    }

    /// Writes the `y` rows and `v` of the centred conversion of such a block.
    #[inline(never)]
    pub fn prepare_centred(&self, input: &[W], shape: (usize, usize), start: usize, y: &mut [W]) {
        self.prepare(input, shape, start, (y, true));
    }

    /// One output limb of a prepared block.
    #[inline(never)]
    pub fn prepared_output(&self, j: usize, y: &[W], out: &mut [W]) {
        self.output(j, y, None, true, out);
    }

    /// Writes `v` after the `y` rows.
    fn quotients(&self, (reciprocals, fraction_bits): (&[u64], u32), y: &mut [W], len: usize) {
        let (rows, v) = y.split_at_mut(self.inputs() * BLOCK);
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.vectors && len.is_multiple_of(crate::simd::STEP) {
            let v = W::as_u64s_mut(&mut v[..len]);
            if let (Some(rows), Some(v)) = (W::as_u64s(rows), v) {
                // SAFETY: `vectors` says that the level has the loops and that residues are below 2^50.
                unsafe { crate::simd::quotients(rows, BLOCK, reciprocals, fraction_bits, v) };
                return;
            }
        }
        for (c, v) in v[..len].iter_mut().enumerate() {
            let (mut lo, mut hi) = wide_bit::<W>(fraction_bits - 1);
            for (row, &reciprocal) in rows.chunks_exact(BLOCK).zip(reciprocals) {
                let (p_lo, p_hi) = row[c].mul_wide(W::from_u64(reciprocal));
                lo = lo.wrapping_add(p_lo);
                hi = hi.wrapping_add(p_hi).wrapping_sub(lo.lt_mask(p_lo));
            }
            *v = wide_shr(lo, hi, fraction_bits);
        }
    }

    /// One block of output limb `j`.
    fn output(&self, j: usize, y: &[W], own: Option<(&[W], W)>, centred: bool, out: &mut [W]) {
        let terms = self.inputs() + usize::from(centred);
        let row = &self.rows[j * (self.inputs() + 1)..][..terms];
        self.sum((&self.to[j], j), (y, row), own, out);
    }

    /// `own a + Σ y_i row_i` modulo p, output or, behind them, input modulus of this number; rows are [`BLOCK`] apart,
    /// the last may be shorter.
    fn sum(
        &self,
        (p, number): (&Modulus<W>, usize),
        (y, row): (&[W], &[W]),
        own: Option<(&[W], W)>,
        out: &mut [W],
    ) {
        // One dispatch per block: u64 sums products unreduced, other words reduce every product.
        let narrow = (W::as_u64s(y), W::as_u64s(row), p.as_u64());
        if self.reduces_products {
            return sum_reduced(p, y, row, own, out);
        }
        let (Some(out), (Some(y), Some(row), Some(p))) = (W::as_u64s_mut(out), narrow) else {
            return sum_reduced(p, y, row, own, out);
        };
        let own = own.and_then(|(o, a)| Some((W::as_u64s(o)?, a.low_u64())));
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.vectors && out.len().is_multiple_of(crate::simd::STEP) {
            // SAFETY: `vectors` says that the level has the loops and that the sums fit; `y` has a row of BLOCK words
            // for each word of `row`, at least as long as `out`, and `own` is as long as that.
            return unsafe { crate::simd::output(self.narrow[number], y, BLOCK, row, own, out) };
        }
        sum_u64(&p, y, row, own, self.lazy_terms, out);
    }
}

/// Products accumulate unreduced in `u128`; after `lazy_terms` of them the sum is reduced to the size of one.
fn sum_u64(
    p: &Modulus<u64>,
    y: &[u64],
    row: &[u64],
    own: Option<(&[u64], u64)>,
    lazy_terms: usize,
    out: &mut [u64],
) {
    for (t, out) in out.chunks_mut(TILE).enumerate() {
        let mut acc = [0u128; TILE];
        let mut terms = 0;
        let mut add = |x: &[u64], factor: u64, acc: &mut [u128; TILE]| {
            if terms == lazy_terms {
                acc.iter_mut().for_each(|a| *a = p.reduce_u128(*a) as u128);
                terms = 1;
            }
            terms += 1;
            acc.iter_mut()
                .zip(x)
                .for_each(|(a, &x)| *a += x as u128 * factor as u128);
        };
        if let Some((own, factor)) = own {
            add(&own[t * TILE..][..out.len()], factor, &mut acc);
        }
        for (y, &factor) in y.chunks(BLOCK).zip(row) {
            add(&y[t * TILE..][..out.len()], factor, &mut acc);
        }
        out.iter_mut()
            .zip(acc)
            .for_each(|(o, a)| *o = p.reduce_u128(a));
    }
}

/// Every product is reduced: `u128`, and wide moduli of `u64` where the slice kernels have vectors.
fn sum_reduced<W: Word>(p: &Modulus<W>, y: &[W], row: &[W], own: Option<(&[W], W)>, out: &mut [W]) {
    match own {
        Some((own, factor)) => p.shoup_mul_into(out, own, p.shoup(factor)),
        None => out.fill(W::ZERO),
    }
    for (y, &factor) in y.chunks(BLOCK).zip(row) {
        p.shoup_mul_add_words_assign(out, &y[..out.len()], p.shoup(factor));
    }
}

/// `floor((2^F + floor(q/2)) / q)`.
fn reciprocal<W: Word>(q: &Modulus<W>, fraction_bits: u32) -> u64 {
    let q = q.value().to_u128();
    let c = ((BigUint::from(1u32) << fraction_bits) + (q >> 1)) / q;
    c.iter_u64_digits().next().unwrap_or(0)
}

/// `2^bit` as a double word.
#[inline(always)]
fn wide_bit<W: Word>(bit: u32) -> (W, W) {
    if bit < W::BITS {
        (W::ONE << bit, W::ZERO)
    } else {
        (W::ZERO, W::ONE << (bit - W::BITS))
    }
}

/// The low word of a double word shifted right.
#[inline(always)]
fn wide_shr<W: Word>(lo: W, hi: W, bits: u32) -> W {
    if bits >= W::BITS {
        hi >> (bits - W::BITS)
    } else {
        (lo >> bits) | ((hi << 1) << (W::BITS - 1 - bits))
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::tests::{basis, poly};
    use crate::{BaseConverter, ScaleRounder};

    fn run(k: &Kernel<u64>, x: &[u64], own: Option<&[u64]>, centred: bool) -> Vec<u64> {
        let mut out = vec![0; k.outputs() * 64];
        k.apply(x, own, (0, &mut out), centred, &mut Scratch::new());
        out
    }

    /// Equal words on random coefficients and at the seam, where `v` is decided by its last bits.
    #[test]
    fn vector_loops_equal_the_portable_ones() {
        for bits in [
            &[30, 31, 32][..],
            &[46; 6],
            &[50; 3],
            &[49; 7],
            &[20, 50, 36],
        ] {
            let q = basis::<u64>(64, bits, &[]);
            let p = basis::<u64>(64, &[50, 45, 30], &q.values());
            let both = q.concat(&p).unwrap();
            let x = poly(&both, 77);
            let (dropped, kept) = x.data().split_at(q.len() * 64);
            let scaler = ScaleRounder::new(&q, &p, (1 << 40) + 7).unwrap();
            let converter = BaseConverter::new(&q, &p).unwrap();
            let by_digits = [
                ScaleRounder::mixed_radix(&q, &p).unwrap().kernel().clone(),
                BaseConverter::mixed_radix(&q, &p).kernel().clone(),
            ];
            for (kernel, own) in [
                (scaler.kernel(), Some(kept)),
                (converter.kernel(), None),
                (&by_digits[0], Some(kept)),
                (&by_digits[1], None),
            ] {
                let is_fast = matches!(kernel.inputs, Inputs::Quotient { .. });
                let mut portable = kernel.clone();
                assert_eq!(portable.vectors, level() > Level::Portable);
                portable.vectors = false;
                let seam = poly(&q, 5);
                for (input, centred) in [(dropped, true), (seam.data(), true), (dropped, false)] {
                    if !centred && !is_fast {
                        continue;
                    }
                    let want = run(&portable, input, own, centred);
                    assert_eq!(run(kernel, input, own, centred), want, "{bits:?} {centred}");
                }
            }
        }
    }
}
