// SPDX-License-Identifier: Apache-2.0
//! Operations with plaintexts and constants.

use super::linear::LimbOp;
use super::{Evaluator, common_level, same_scale};
use crate::embedding::{Width, integers_to_residues};
use crate::{Ciphertext, Error, Plaintext};
use num_complex::Complex64;
use zq::Modulus;

impl Evaluator {
    /// Sum with an encoded vector.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`], [`Error::Rlwe`].
    pub fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext, Error> {
        self.combine_plain("add_plain", a, b, |q, x, y| q.add_assign(x, y))
    }

    /// Difference with an encoded vector.
    ///
    /// # Errors
    /// As [`Evaluator::add_plain`].
    pub fn sub_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext, Error> {
        self.combine_plain("sub_plain", a, b, |q, x, y| q.sub_assign(x, y))
    }

    fn combine_plain(
        &self,
        operation: &'static str,
        a: &Ciphertext,
        b: &Plaintext,
        op: LimbOp,
    ) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        self.check_plain(b.params)?;
        let level = common_level(a, b);
        same_scale(operation, a.scale, b.scale, level)?;
        let parts = self.made(&self.params.basis(level)?, a.size(), |(k, i), q, row| {
            row.copy_from_slice(a.parts[k].limb(i));
            if k == 0 {
                op(q, row, b.poly.limb(i));
            }
        });
        Ok(Ciphertext {
            slots: a.slots.max(b.slots),
            ..a.with_parts(parts)
        })
    }

    /// Product with an encoded vector; scales multiply.
    ///
    /// # Errors
    /// [`Error::Overflow`] when the product's scale does not fit the modulus, [`Error::Rlwe`].
    pub fn multiply_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        self.check_plain(b.params)?;
        let level = common_level(a, b);
        let scale = self.product_scale("multiply_plain", a.scale * b.scale, level)?;
        let parts = self.made(&self.params.basis(level)?, a.size(), |(k, i), q, row| {
            q.mul_into(row, a.parts[k].limb(i), b.poly.limb(i));
        });
        Ok(Ciphertext {
            scale,
            slots: a.slots.max(b.slots),
            ..a.with_parts(parts)
        })
    }

    /// Sum with a constant in every slot; no encoding.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::Overflow`], [`Error::Rlwe`].
    pub fn add_constant(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        let terms = self.constant("add_constant", c, a.scale, a.level())?;
        let half = self.params.n() / 2;
        let parts = self.made(a.parts[0].basis(), a.size(), |(k, i), q, row| {
            row.copy_from_slice(a.parts[k].limb(i));
            if k == 0 {
                let halves = row.chunks_exact_mut(half).zip(terms[i]);
                halves.for_each(|(half, term)| q.scalar_add_assign(half, term));
            }
        });
        Ok(a.with_parts(parts))
    }

    /// Product with a constant, no encoding. The constant's scale is the prime of the level, so that a rescale
    /// brings the scale back to exactly what it was.
    ///
    /// # Errors
    /// As [`Evaluator::multiply_constant_to_scale`].
    pub fn multiply_constant(&self, a: &Ciphertext, c: Complex64) -> Result<Ciphertext, Error> {
        self.multiply_constant_to_scale(a, c, a.scale * self.params.prime(a.level()) as f64)
    }

    /// Product with a constant to exactly the scale `scale`, at least that of `a`: the constant is rounded to a
    /// multiple of `a.scale() / scale`.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::Scale`], [`Error::Overflow`], [`Error::Rlwe`].
    pub fn multiply_constant_to_scale(
        &self,
        a: &Ciphertext,
        c: Complex64,
        scale: f64,
    ) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        if !(scale.is_finite() && scale >= a.scale) {
            return Err(Error::Scale {
                operation: "multiply_constant",
                scale: scale / a.scale,
            });
        }
        let scale = self.product_scale("multiply_constant", scale, a.level())?;
        let factors = self.constant("multiply_constant", c, scale / a.scale, a.level())?;
        let half = self.params.n() / 2;
        let parts = self.made(a.parts[0].basis(), a.size(), |(k, i), q, row| {
            let halves = row.chunks_exact_mut(half);
            let halves = halves.zip(a.parts[k].limb(i).chunks_exact(half));
            for ((out, x), factor) in halves.zip(factors[i]) {
                q.shoup_mul_into(out, x, q.shoup(factor));
            }
        });
        Ok(Ciphertext {
            scale,
            ..a.with_parts(parts)
        })
    }

    /// The sum of real constants times ciphertexts, and of a constant, at `level` and of exactly the scale `scale`: bit
    /// for bit what the single products and sums give, in one pass over each ciphertext.
    ///
    /// # Errors
    /// As [`Evaluator::multiply_constant_to_scale`] and [`Evaluator::add_constant`].
    pub(crate) fn combination(
        &self,
        first: (&Ciphertext, f64),
        others: &[(&Ciphertext, f64)],
        constant: f64,
        (level, scale): (usize, f64),
    ) -> Result<Ciphertext, Error> {
        let operation = "multiply_constant";
        let scale = self.product_scale(operation, scale, level)?;
        let (mut out, mut terms, mut count) = (first.0.with_parts(Vec::new()), Vec::new(), 0);
        for (ct, c) in std::iter::once(&first).chain(others) {
            self.check(&[*ct])?;
            let times = scale / ct.scale;
            if !(times.is_finite() && times >= 1.0) {
                let scale = times;
                return Err(Error::Scale { operation, scale });
            }
            out.key = out.key.join(ct.key, "add")?;
            out.slots = out.slots.max(ct.slots);
            count = count.max(ct.size());
            terms.push((ct, self.constant(operation, (*c).into(), times, level)?));
        }
        let own = self.constant("add_constant", constant.into(), scale, level)?;
        // Real constants have the same residue at all points.
        out.parts = self.made(&self.params.basis(level)?, count, |(k, i), q, row| {
            row.fill(0);
            for (ct, factors) in &terms {
                if let Some(part) = ct.parts.get(k) {
                    q.scalar_mul_add_assign(row, part.limb(i), factors[i][0]);
                }
            }
            if k == 0 {
                q.scalar_add_assign(row, own[i][0]);
            }
        });
        out.scale = scale;
        Ok(out)
    }

    /// Product with an integer; the scale stays.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for a ciphertext of another parameter set.
    pub fn multiply_integer(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext, Error> {
        self.check(&[a])?;
        let mut out = a.with_parts(a.parts.clone());
        out.parts.iter_mut().for_each(|p| p.scalar_mul_assign(k));
        Ok(out)
    }

    /// Brings a ciphertext to another scale and one level down: multiplies by 1 encoded at
    /// `scale · prime / a.scale()` and rescales. The remedy for operands whose scales drifted apart.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`], and as [`Evaluator::multiply_constant_to_scale`].
    pub fn set_scale_by_constant(&self, a: &Ciphertext, scale: f64) -> Result<Ciphertext, Error> {
        let wide = self.multiply_constant_to_scale(
            a,
            1.0.into(),
            scale * self.params.prime(a.level()) as f64,
        )?;
        let mut out = self.rescale(&wide)?;
        out.scale = scale;
        Ok(out)
    }

    /// Refuses a product whose scale alone reaches half the modulus.
    pub(super) fn product_scale(
        &self,
        operation: &'static str,
        scale: f64,
        level: usize,
    ) -> Result<f64, Error> {
        let (needed, available) = (scale.log2(), self.params.log2_modulus(level) - 1.0);
        if needed < available {
            return Ok(scale);
        }
        Err(Error::Overflow {
            operation,
            needed,
            log2_scale: needed,
            level,
            available,
        })
    }

    /// Values of `round(re s) + round(im s) X^(n/2)` for each modulus: at the first half of the evaluation points and
    /// at the second. `X^(n/2)` is ±ι there, ι = ψ^(n/2): the point's exponent is 2j+1 with j even in the first half.
    fn constant(
        &self,
        operation: &'static str,
        c: Complex64,
        scale: f64,
        level: usize,
    ) -> Result<Vec<[u64; 2]>, Error> {
        if !c.is_finite() {
            let value = if c.re.is_finite() { c.im } else { c.re };
            return Err(Error::NotFinite {
                what: "constant",
                index: 0,
                value,
            });
        }
        let parts = [
            (c.re * scale).round_ties_even(),
            (c.im * scale).round_ties_even(),
        ];
        let largest = parts[0].abs().max(parts[1].abs());
        let (needed, available) = (largest.log2(), self.params.log2_modulus(level) - 1.0);
        if needed >= available {
            return Err(Error::Overflow {
                operation,
                needed,
                log2_scale: scale.log2(),
                level,
                available,
            });
        }
        let basis = self.params.basis(level)?;
        let width = Width::of(largest);
        let value = |(q, plan): (&Modulus<u64>, &std::sync::Arc<ntt::NttPlan<u64>>)| {
            let mut residues = [0; 2];
            integers_to_residues(&parts, width, q, &mut residues);
            let imaginary = q.mul(residues[1], plan.psi_rev()[1]);
            [q.add(residues[0], imaginary), q.sub(residues[0], imaginary)]
        };
        Ok(basis
            .moduli()
            .iter()
            .zip(basis.plans())
            .map(value)
            .collect())
    }
}
