// SPDX-License-Identifier: Apache-2.0
//! Evaluation of a plan, written once for ciphertexts and for their static estimates.

use super::{Basis, Node, Plan, plan::halves};
use crate::Error;
use std::collections::BTreeMap;

/// The operations a plan is made of. Operands of a binary operation have the same level and, for sums, the same scale.
pub(crate) trait Arithmetic {
    /// A ciphertext or what is known of one.
    type Value: Clone;
    /// Rescales left.
    fn level(&self, v: &Self::Value) -> usize;
    /// Scale.
    fn scale(&self, v: &Self::Value) -> f64;
    /// The prime that a rescale at `level` divides by.
    fn divisor(&self, level: usize) -> f64;
    /// The same value at a lower level.
    fn drop_to(&self, v: &Self::Value, level: usize) -> Result<Self::Value, Error>;
    /// Declares the scale, equal up to rounding of doubles.
    fn set_scale(&self, v: &mut Self::Value, scale: f64);
    /// Declares that every slot is at most `bound` in absolute value.
    fn limit(&self, v: &mut Self::Value, bound: f64);
    /// Sum.
    fn add(&self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Error>;
    /// Difference.
    fn sub(&self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Error>;
    /// Product, not relinearised, not rescaled.
    fn multiply(&self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, Error>;
    /// Product with itself, not relinearised, not rescaled.
    fn square(&self, v: &Self::Value) -> Result<Self::Value, Error>;
    /// Product with a real constant; the result has exactly the scale `scale`.
    fn multiply_constant(&self, v: &Self::Value, c: f64, scale: f64) -> Result<Self::Value, Error>;
    /// Sum with a real constant.
    fn add_constant(&self, v: &Self::Value, c: f64) -> Result<Self::Value, Error>;
    /// Real constants times values, and a constant, summed: all taken to `level`, of exactly the scale `scale`.
    fn combination(
        &self,
        first: (&Self::Value, f64),
        others: &[(&Self::Value, f64)],
        constant: f64,
        (level, scale): (usize, f64),
    ) -> Result<Self::Value, Error> {
        let term = |(v, c): (&Self::Value, f64)| {
            self.multiply_constant(&self.drop_to(v, level)?, c, scale)
        };
        let sum =
            (others.iter()).try_fold(term(first)?, |sum, other| self.add(&sum, &term(*other)?))?;
        match constant {
            0.0 => Ok(sum),
            _ => self.add_constant(&sum, constant),
        }
    }
    /// Twice a value less another one, or less 1: of the level and the scale of `v`.
    fn doubled(&self, v: &Self::Value, less: Option<&Self::Value>) -> Result<Self::Value, Error> {
        let twice = self.add(v, v)?;
        let Some(less) = less else {
            return self.add_constant(&twice, -1.0);
        };
        let less = self.drop_to(less, self.level(v))?;
        let less = self.multiply_constant(&less, 1.0, self.scale(v))?;
        self.sub(&twice, &less)
    }
    /// Relinearises if there is something to relinearise, then rescales once.
    fn reduce(&self, v: &Self::Value) -> Result<Self::Value, Error>;
}

/// Evaluates `plan` at `x`; the result has scale exactly `scale` and `plan.depth` levels less.
pub(crate) fn evaluate<A: Arithmetic>(
    a: &A,
    x: &A::Value,
    plan: &Plan,
    scale: f64,
) -> Result<A::Value, Error> {
    let level = a.level(x);
    let Some(out) = level.checked_sub(plan.depth) else {
        return Err(Error::LevelsExhausted {
            operation: "polynomial",
            needed: plan.depth,
            levels_left: level,
            log2_scale: a.scale(x).log2(),
            remedy: "use a longer modulus chain or a polynomial of lower degree",
        });
    };
    if let Some(c) = plan.root.as_constant() {
        return a.add_constant(&a.multiply_constant(x, 0.0, scale)?, c);
    }
    let elements = elements(a, x, plan)?;
    let wide = Walk {
        a,
        basis: plan.basis,
        elements: &elements,
    }
    .node(&plan.root, out + 1, scale * a.divisor(out + 1))?;
    let mut result = a.reduce(&wide)?;
    a.set_scale(&mut result, scale);
    Ok(result)
}

/// The basis elements the plan asks for, each at its own level and scale.
fn elements<A: Arithmetic>(
    a: &A,
    x: &A::Value,
    plan: &Plan,
) -> Result<BTreeMap<usize, A::Value>, Error> {
    let mut known = BTreeMap::from([(1, x.clone())]);
    for &i in &plan.elements {
        let (left, right) = halves(i);
        let level = a.level(&known[&left]).min(a.level(&known[&right]));
        let mut v = if left == right {
            a.square(&known[&left])?
        } else {
            a.multiply(
                &a.drop_to(&known[&left], level)?,
                &a.drop_to(&known[&right], level)?,
            )?
        };
        if plan.basis == Basis::Chebyshev {
            // T_(l+r) = 2 T_l T_r - T_(l-r)
            v = a.doubled(&v, (left != right).then(|| &known[&(left - right)]))?;
        }
        let mut element = a.reduce(&v)?;
        if plan.basis == Basis::Chebyshev {
            a.limit(&mut element, 1.0);
        }
        known.insert(i, element);
    }
    Ok(known)
}

struct Walk<'a, A: Arithmetic> {
    a: &'a A,
    basis: Basis,
    elements: &'a BTreeMap<usize, A::Value>,
}

impl<A: Arithmetic> Walk<'_, A> {
    /// The value of a node at `level` with `scale`, before it is relinearised and rescaled.
    fn node(&self, node: &Node, level: usize, scale: f64) -> Result<A::Value, Error> {
        match node {
            Node::Leaf(c) => self.leaf(c, level, scale),
            Node::Split {
                giant,
                quotient,
                remainder,
            } => {
                let giant = self.a.drop_to(&self.elements[giant], level)?;
                let product = self.product(quotient, &giant, level, scale)?;
                match remainder.as_constant() {
                    Some(0.0) => Ok(product),
                    Some(c) => self.a.add_constant(&product, c),
                    None => self.a.add(&product, &self.node(remainder, level, scale)?),
                }
            }
        }
    }

    fn product(
        &self,
        quotient: &Node,
        giant: &A::Value,
        level: usize,
        scale: f64,
    ) -> Result<A::Value, Error> {
        if let Some(c) = quotient.as_constant() {
            return self.a.multiply_constant(giant, c, scale);
        }
        // The quotient's scale is chosen so that the product has exactly the scale asked for.
        let narrow = scale / self.a.scale(giant);
        let wide = self.node(quotient, level + 1, narrow * self.a.divisor(level + 1))?;
        let mut factor = self.a.reduce(&wide)?;
        self.a.set_scale(&mut factor, narrow);
        // On [-1, 1] a Chebyshev sum is at most the sum of its coefficients' absolute values.
        if self.basis == Basis::Chebyshev {
            self.a.limit(&mut factor, quotient.absolute_sum());
        }
        let mut product = self.a.multiply(&factor, giant)?;
        self.a.set_scale(&mut product, scale);
        Ok(product)
    }

    fn leaf(&self, c: &[f64], level: usize, scale: f64) -> Result<A::Value, Error> {
        let terms = c.iter().enumerate().skip(1).filter(|(_, c)| **c != 0.0);
        let mut terms = terms.map(|(i, c)| (&self.elements[&i], *c));
        // A constant leaf is met at the root only, where it is handled; kept total all the same.
        let first = terms.next().unwrap_or((&self.elements[&1], 0.0));
        let (others, constant) = (terms.collect::<Vec<_>>(), c.first().copied());
        let constant = constant.unwrap_or(0.0);
        self.a.combination(first, &others, constant, (level, scale))
    }
}
