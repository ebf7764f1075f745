// SPDX-License-Identifier: Apache-2.0
//! Plan of a polynomial's evaluation: powers to form and splits, made before any ciphertext is touched.

use super::{Basis, Polynomial, ceil_log2, divide};
use std::collections::{BTreeMap, BTreeSet};

/// One step of an evaluation, read from the root.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Linear combination of basis elements of degree below the baby step; index = degree.
    Leaf(Vec<f64>),
    /// `quotient · B_giant + remainder`.
    Split {
        /// Degree of the basis element multiplied with, a power of two.
        giant: usize,
        /// Factor of the giant step.
        quotient: Box<Node>,
        /// The addend.
        remainder: Box<Node>,
    },
}

/// Plan to evaluate a polynomial in ceil(log2(d+1)) levels with few ciphertext products.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Basis of all coefficients.
    pub basis: Basis,
    /// Top of the tree.
    pub root: Node,
    /// Basis elements to form (degree >= 2), ascending; element i is made of the elements [`halves`] of i.
    pub elements: Vec<usize>,
    /// Levels consumed.
    pub depth: usize,
    /// Ciphertext-ciphertext products, elements included.
    pub products: usize,
}

/// Degrees `(a, b)`, `a >= b`, `a + b = i`, whose product gives element `i >= 2` at depth ceil(log2 i).
pub(crate) fn halves(i: usize) -> (usize, usize) {
    let a = 1usize << (ceil_log2(i) - 1);
    (a, i - a)
}

impl Plan {
    /// The plan with the fewest ciphertext products over all baby steps 2, 4, 8, …
    pub fn new(polynomial: &Polynomial) -> Self {
        let depth = polynomial.depth();
        (1..=depth.max(1))
            .map(|log_baby| Self::with_baby_step(polynomial, depth, 1 << log_baby))
            .min_by_key(|plan| plan.products)
            .expect("at least one baby step")
    }

    fn with_baby_step(polynomial: &Polynomial, depth: usize, baby: usize) -> Self {
        let basis = polynomial.basis();
        let root = build(
            basis,
            polynomial.coefficients(),
            depth.saturating_sub(1),
            baby,
        );
        let mut elements = BTreeSet::new();
        let splits = collect(basis, &root, &mut elements);
        let elements: Vec<usize> = elements.into_iter().collect();
        Self {
            basis,
            root,
            products: splits + elements.len(),
            elements,
            depth,
        }
    }

    /// Counts of the homomorphic operations this plan performs, by the name of the operation.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let rescaled = self.root.rescales() + self.elements.len();
        BTreeMap::from([
            ("multiply", self.products),
            ("relinearize", self.products_with_rescale()),
            ("rescale", rescaled),
        ])
    }

    /// Products are added before they are relinearised, so that one key switch serves each rescale of a sum.
    fn products_with_rescale(&self) -> usize {
        self.elements.len() + self.root.relinearizations()
    }
}

impl Node {
    /// Degree-0 leaf?
    pub(crate) fn as_constant(&self) -> Option<f64> {
        match self {
            Node::Leaf(c) if c.iter().skip(1).all(|c| *c == 0.0) => {
                Some(c.first().copied().unwrap_or(0.0))
            }
            _ => None,
        }
    }

    /// Sum of the absolute values of all coefficients.
    pub(crate) fn absolute_sum(&self) -> f64 {
        match self {
            Node::Leaf(c) => c.iter().map(|c| c.abs()).sum(),
            Node::Split {
                quotient,
                remainder,
                ..
            } => quotient.absolute_sum() + remainder.absolute_sum(),
        }
    }

    /// Rescales when this node is the root or a quotient.
    fn rescales(&self) -> usize {
        usize::from(self.as_constant().is_none()) + self.inner(Node::rescales)
    }

    fn relinearizations(&self) -> usize {
        usize::from(self.has_product()) + self.inner(Node::relinearizations)
    }

    /// Sum of `f` over the quotients below, whose results are rescaled on their own.
    fn inner(&self, f: impl Fn(&Node) -> usize + Copy) -> usize {
        match self {
            Node::Leaf(_) => 0,
            Node::Split {
                quotient,
                remainder,
                ..
            } => {
                let own = if quotient.as_constant().is_some() {
                    0
                } else {
                    f(quotient)
                };
                own + remainder.inner(f)
            }
        }
    }

    /// Whether the unrescaled value contains a ciphertext product.
    pub(crate) fn has_product(&self) -> bool {
        match self {
            Node::Leaf(_) => false,
            Node::Split {
                quotient,
                remainder,
                ..
            } => quotient.as_constant().is_none() || remainder.has_product(),
        }
    }
}

/// A node whose value before rescaling consumes at most `budget` levels; possible while `c.len() <= 2^(budget+1)`.
fn build(basis: Basis, c: &[f64], budget: usize, baby: usize) -> Node {
    let len = c.iter().rposition(|c| *c != 0.0).map_or(1, |last| last + 1);
    let c = &c[..len];
    // Element i exists at depth ceil(log2 i), so a leaf of degree d needs ceil(log2 d) levels.
    if len <= baby && (len == 1 || ceil_log2(len - 1) <= budget) {
        return Node::Leaf(c.to_vec());
    }
    let giant = 1usize << (usize::BITS - 1 - (len - 1).leading_zeros());
    let (quotient, remainder) = divide(basis, c, giant);
    Node::Split {
        giant,
        quotient: Box::new(build(basis, &quotient, budget.saturating_sub(1), baby)),
        remainder: Box::new(build(basis, &remainder, budget, baby)),
    }
}

/// Gathers the elements a node needs, with what they are made of; returns the products of the node itself.
fn collect(basis: Basis, node: &Node, elements: &mut BTreeSet<usize>) -> usize {
    match node {
        Node::Leaf(c) => {
            for (i, _) in c.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                need(basis, i, elements);
            }
            0
        }
        Node::Split {
            giant,
            quotient,
            remainder,
        } => {
            need(basis, *giant, elements);
            let below = collect(basis, quotient, elements) + collect(basis, remainder, elements);
            below + usize::from(quotient.as_constant().is_none())
        }
    }
}

fn need(basis: Basis, i: usize, elements: &mut BTreeSet<usize>) {
    if i < 2 || !elements.insert(i) {
        return;
    }
    let (a, b) = halves(i);
    need(basis, a, elements);
    need(basis, b, elements);
    if basis == Basis::Chebyshev {
        need(basis, a - b, elements);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels used by the value of a node before its rescale.
    fn used(node: &Node) -> usize {
        match node {
            Node::Leaf(c) => c
                .iter()
                .rposition(|c| *c != 0.0)
                .map_or(0, |i| ceil_log2(i.max(1))),
            Node::Split {
                giant,
                quotient,
                remainder,
            } => {
                let quotient = if quotient.as_constant().is_some() {
                    0
                } else {
                    used(quotient) + 1
                };
                quotient.max(ceil_log2(*giant)).max(used(remainder))
            }
        }
    }

    fn value(basis: Basis, node: &Node, x: f64) -> f64 {
        match node {
            Node::Leaf(c) => Polynomial::new(basis, c).unwrap().eval(x),
            Node::Split {
                giant,
                quotient,
                remainder,
            } => {
                let mut unit = vec![0.0; giant + 1];
                unit[*giant] = 1.0;
                let giant = Polynomial::new(basis, &unit).unwrap().eval(x);
                value(basis, quotient, x) * giant + value(basis, remainder, x)
            }
        }
    }

    #[test]
    fn every_degree_fits_its_levels_and_keeps_its_value() {
        for basis in [Basis::Monomial, Basis::Chebyshev] {
            for degree in 1..=70 {
                let c: Vec<f64> = (0..=degree)
                    .map(|k| ((k * k) as f64 * 0.37).cos())
                    .collect();
                let polynomial = Polynomial::new(basis, &c).unwrap();
                let plan = Plan::new(&polynomial);
                assert!(used(&plan.root) < polynomial.depth(), "degree {degree}");
                for x in [-0.8, 0.1, 0.7] {
                    let (got, want) = (value(basis, &plan.root, x), polynomial.eval(x));
                    assert!(
                        (got - want).abs() < 1e-9,
                        "degree {degree} at {x}: {got} {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn products_stay_near_twice_the_square_root() {
        for degree in [3, 7, 15, 31, 63, 127, 255] {
            let plan =
                Plan::new(&Polynomial::new(Basis::Chebyshev, &vec![1.0; degree + 1]).unwrap());
            let bound = 2.0 * ((degree + 1) as f64 * 2.0).sqrt() + plan.depth as f64;
            assert!(
                (plan.products as f64) <= bound,
                "degree {degree}: {} products",
                plan.products
            );
        }
    }

    #[test]
    fn odd_polynomials_skip_what_they_do_not_need() {
        let plan =
            Plan::new(&Polynomial::new(Basis::Monomial, &[0.5, 0.197, 0.0, -0.004]).unwrap());
        assert_eq!((plan.depth, plan.products), (2, 2));
        assert_eq!(plan.elements, vec![2]);
    }
}
