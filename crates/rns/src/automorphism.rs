// SPDX-License-Identifier: Apache-2.0
//! The ring automorphisms `x -> x^g`, `g` odd.

use ntt::{bit_reverse, eval_exponent};
use zq::{Modulus, Word};

use crate::RnsError;

/// `x -> x^g` for one degree, with its permutation of the evaluation points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automorphism {
    n: usize,
    g: usize,
    /// Output value `j` is input value `eval_source[j]`.
    eval_source: Vec<u32>,
}

impl Automorphism {
    /// Prepares `x -> x^g` for a power-of-two degree `n`; `g` odd, `1 <= g < 2n`.
    pub fn new(n: usize, g: usize) -> Result<Self, RnsError> {
        if !n.is_power_of_two() || g.is_multiple_of(2) || g >= 2 * n {
            return Err(RnsError::BadGaloisElement { g, n });
        }
        let log_n = n.trailing_zeros();
        // Value j of a(x^g) is a(ψ^(e_j g)); position of exponent e is brv((e-1)/2).
        let source = |j| {
            let exponent = (eval_exponent(j, log_n) * g) % (2 * n);
            bit_reverse(exponent / 2, log_n) as u32
        };
        Ok(Self {
            n,
            g,
            eval_source: (0..n).map(source).collect(),
        })
    }

    /// The degree.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The Galois element.
    pub fn g(&self) -> usize {
        self.g
    }

    /// Output value `j` is input value `eval_sources()[j]`.
    pub fn eval_sources(&self) -> &[u32] {
        &self.eval_source
    }

    /// One limb in evaluation form.
    ///
    /// # Panics
    /// If a length is not `n`.
    pub fn eval_into<W: Word>(&self, input: &[W], out: &mut [W]) {
        assert!(
            input.len() == self.n && out.len() == self.n,
            "limb length is not the degree"
        );
        #[cfg(target_arch = "x86_64")]
        if self.n >= 8
            && zq::simd::level() >= zq::simd::Level::Avx2
            && let (Some(input), Some(out)) = (W::as_u64s(input), W::as_u64s_mut(out))
        {
            // SAFETY: the level is checked, lengths are `n`, and `eval_source` permutes groups of four and of eight.
            return unsafe { crate::simd::permute_groups(input, &self.eval_source, out) };
        }
        for (o, &s) in out.iter_mut().zip(&self.eval_source) {
            *o = input[s as usize];
        }
    }

    /// One limb in coefficient form: coefficient `i` goes to `i g mod 2n`, negated if that is `n` or more.
    ///
    /// # Panics
    /// If a length is not `n`.
    pub fn coeff_into<W: Word>(&self, modulus: &Modulus<W>, input: &[W], out: &mut [W]) {
        assert!(
            input.len() == self.n && out.len() == self.n,
            "limb length is not the degree"
        );
        let mut target = 0;
        for &x in input {
            let wrapped = target >= self.n;
            out[target & (self.n - 1)] = if wrapped { modulus.neg(x) } else { x };
            target = (target + self.g) & (2 * self.n - 1);
        }
    }
}
