// SPDX-License-Identifier: Apache-2.0
//! Tensor expressions from plain arguments to the values of plaintexts, evaluated when the program runs. In CKKS they
//! are real, in BFV integers modulo t: every operation is one of rings, so reducing is exact.

use crate::index_map::IndexMap;
use crate::shape::{self, MatMul};

/// Real numbers (CKKS), or integers modulo t from −t/2 to t/2 (BFV).
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Finite.
    Reals(Vec<f64>),
    /// Centred.
    Integers(Vec<i64>),
}

impl Numbers {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Reals(values) => values.len(),
            Self::Integers(values) => values.len(),
        }
    }

    /// Whether it has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are at least two and all are the same, bit for bit: then one is written.
    pub fn repeats(&self) -> bool {
        match self {
            Self::Reals(v) => v.len() > 1 && v.windows(2).all(|w| w[0].to_bits() == w[1].to_bits()),
            Self::Integers(v) => v.len() > 1 && v.windows(2).all(|w| w[0] == w[1]),
        }
    }
}

/// One operation on earlier expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainOp {
    /// The plain argument of that number.
    Argument(u32),
    /// Fixed values, row-major; a single one fills the shape.
    Constant(Numbers),
    /// a + b, broadcast.
    Add(u32, u32),
    /// a − b, broadcast.
    Subtract(u32, u32),
    /// a · b, broadcast.
    Multiply(u32, u32),
    /// −a.
    Negate(u32),
    /// aᵏ, k ≥ 0.
    Power(u32, u32),
    /// Σ cᵢ aⁱ, constant coefficient first.
    Polynomial(u32, Numbers),
    /// a @ b.
    MatMul(u32, u32),
    /// The sum along one axis, or of all elements.
    Sum(u32, Option<u8>),
    /// Elements of several tensors, flattened and joined end to end, in the places the map names.
    Gather(Vec<u32>, IndexMap),
    /// a, of which the author promises |value| ≤ bound for every element; in BFV of centred residues.
    Within(u32, f64),
}

impl PlainOp {
    /// Its name in messages and listings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Argument(_) => "argument",
            Self::Constant(_) => "constant",
            Self::Add(..) => "add",
            Self::Subtract(..) => "subtract",
            Self::Multiply(..) => "multiply",
            Self::Negate(_) => "negate",
            Self::Power(..) => "power",
            Self::Polynomial(..) => "polynomial",
            Self::MatMul(..) => "matmul",
            Self::Sum(..) => "sum",
            Self::Gather(..) => "gather",
            Self::Within(..) => "within",
        }
    }

    /// The earlier expressions it uses.
    pub fn operands(&self) -> Vec<u32> {
        match self {
            Self::Argument(_) | Self::Constant(_) => vec![],
            Self::Negate(a)
            | Self::Power(a, _)
            | Self::Polynomial(a, _)
            | Self::Sum(a, _)
            | Self::Within(a, _) => vec![*a],
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Multiply(a, b) | Self::MatMul(a, b) => {
                vec![*a, *b]
            }
            Self::Gather(all, _) => all.clone(),
        }
    }
}

/// An operation and the shape of what it makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// The operation.
    pub operation: PlainOp,
    /// Shape of the value, at most [`shape::MAX_AXES`] axes.
    pub shape: Vec<u32>,
}

impl Expression {
    /// Checks shapes and operands against the plain arguments' shapes and the expressions before this one; returns how
    /// many elementary operations it takes.
    ///
    /// # Errors
    /// The reason, as text.
    pub fn check(&self, arguments: &[&[u32]], before: &[Self]) -> Result<u64, String> {
        let size = shape::elements(&self.shape)
            .filter(|_| self.shape.len() <= shape::MAX_AXES)
            .ok_or_else(|| format!("shape {:?} is too large", self.shape))?;
        if let Some(late) = self
            .operation
            .operands()
            .into_iter()
            .find(|&a| a as usize >= before.len())
        {
            return Err(format!(
                "operand {late} is not defined before it; there are {}",
                before.len()
            ));
        }
        let of = |number: u32| before[number as usize].shape.as_slice();
        let (expected, work) = self.expected(arguments, &of, size)?;
        match expected {
            Some(shape) if shape == self.shape => Ok(work.saturating_add(size as u64)),
            Some(shape) => Err(format!("its shape is {shape:?}, not {:?}", self.shape)),
            None => Err("its operands' shapes do not go together".into()),
        }
    }

    /// The shape that follows from the operands, and the work beyond touching each result once.
    fn expected<'a>(
        &self,
        arguments: &[&[u32]],
        of: &impl Fn(u32) -> &'a [u32],
        size: usize,
    ) -> Result<(Option<Vec<u32>>, u64), String> {
        let own = || Some(self.shape.clone());
        let count = |number: u32| shape::elements(of(number)).unwrap_or(0) as u64;
        Ok(match &self.operation {
            PlainOp::Argument(number) => match arguments.get(*number as usize) {
                Some(shape) => (Some(shape.to_vec()), 0),
                None => return Err(format!("there is no plain argument {number}")),
            },
            PlainOp::Constant(values) => {
                if values.repeats() || !(values.len() == size || (values.len() == 1 && size > 0)) {
                    return Err(format!("{} values for {size} elements", values.len()));
                }
                (own(), 0)
            }
            PlainOp::Add(a, b) | PlainOp::Subtract(a, b) | PlainOp::Multiply(a, b) => {
                (shape::broadcast(of(*a), of(*b)), 0)
            }
            PlainOp::Negate(a) => (Some(of(*a).to_vec()), 0),
            PlainOp::Within(a, bound) if *bound >= 0.0 => (Some(of(*a).to_vec()), 0),
            PlainOp::Within(_, bound) => return Err(format!("a promise of {bound}")),
            PlainOp::Power(a, k) => (Some(of(*a).to_vec()), 2 * count(*a) * log2_ceil(*k)),
            PlainOp::Polynomial(a, coefficients) if !coefficients.is_empty() => {
                let work = count(*a).saturating_mul(coefficients.len() as u64);
                (Some(of(*a).to_vec()), work)
            }
            PlainOp::Polynomial(..) => return Err("it has no coefficients".into()),
            PlainOp::MatMul(a, b) => match MatMul::new(of(*a), of(*b)) {
                Some(product) => (Some(product.shape.clone()), product.work()),
                None => (None, 0),
            },
            PlainOp::Sum(a, None) => {
                let _ = a;
                (Some(vec![]), count(*a))
            }
            PlainOp::Sum(a, Some(axis)) => (shape::without_axis(of(*a), *axis), count(*a)),
            PlainOp::Gather(all, map) => {
                let there: u64 = all.iter().map(|&a| count(a)).sum();
                if map.len() != size || map.elements() as u64 > there {
                    return Err(format!(
                        "its map takes {} positions from {} elements; the shape has {size}, the operands {there}",
                        map.len(),
                        map.elements()
                    ));
                }
                (own(), 0)
            }
        })
    }
}

fn log2_ceil(k: u32) -> u64 {
    u64::from(u32::BITS - k.leading_zeros())
}
