// SPDX-License-Identifier: Apache-2.0
//! The values of plaintext expressions, over the reals or modulo t.

use crate::Error;
use crate::expression::{Expression, Numbers, PlainOp};
use crate::shape::{self, MatMul};

/// By how much reals may exceed a bound: what rounding can change.
const ROUNDING: f64 = 1e-9;

/// The ring an expression is evaluated in. Operations never fail; reals may overflow to infinity, which no bound holds.
pub trait Ring {
    /// An element.
    type Element: Copy + PartialEq;
    /// 0.
    const ZERO: Self::Element;
    /// 1.
    const ONE: Self::Element;
    /// The elements of a program's constants.
    fn numbers(&self, values: &Numbers) -> Vec<Self::Element>;
    /// a + b.
    fn add(&self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// a · b.
    fn multiply(&self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// −a.
    fn negate(&self, a: Self::Element) -> Self::Element;
    /// `a` if |a| ≤ `bound` does not hold, of reals up to rounding; what is not a number exceeds every bound.
    fn beyond(a: Self::Element, bound: f64) -> Option<f64>;
}

/// Doubles.
pub struct Reals;

impl Ring for Reals {
    type Element = f64;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn numbers(&self, values: &Numbers) -> Vec<f64> {
        match values {
            Numbers::Reals(values) => values.clone(),
            Numbers::Integers(values) => values.iter().map(|&v| v as f64).collect(),
        }
    }
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }
    fn multiply(&self, a: f64, b: f64) -> f64 {
        a * b
    }
    fn negate(&self, a: f64) -> f64 {
        -a
    }
    fn beyond(a: f64, bound: f64) -> Option<f64> {
        let held = a.abs() <= bound * (1.0 + ROUNDING);
        (!held).then_some(a)
    }
}

/// Integers modulo t, kept from −t/2 to t/2; t ≤ 2^62.
pub struct IntegersModulo(pub u64);

impl IntegersModulo {
    /// The representative of `value` in −t/2 ≤ r ≤ t/2 (the positive one of a tie).
    pub fn centre(&self, value: i128) -> i64 {
        let t = i128::from(self.0);
        let reduced = value.rem_euclid(t);
        // Below t ≤ 2^62 in magnitude either way.
        (if reduced > t / 2 {
            reduced - t
        } else {
            reduced
        }) as i64
    }
}

impl Ring for IntegersModulo {
    type Element = i64;
    const ZERO: i64 = 0;
    const ONE: i64 = 1;

    fn numbers(&self, values: &Numbers) -> Vec<i64> {
        match values {
            Numbers::Integers(values) => values.iter().map(|&v| self.centre(v.into())).collect(),
            Numbers::Reals(values) => values.iter().map(|&v| self.centre(v as i128)).collect(),
        }
    }
    fn add(&self, a: i64, b: i64) -> i64 {
        self.centre(i128::from(a) + i128::from(b))
    }
    fn multiply(&self, a: i64, b: i64) -> i64 {
        self.centre(i128::from(a) * i128::from(b))
    }
    fn negate(&self, a: i64) -> i64 {
        self.centre(-i128::from(a))
    }
    fn beyond(a: i64, bound: f64) -> Option<f64> {
        // Rounding to doubles keeps the order.
        (a.unsigned_abs() as f64 > bound).then_some(a as f64)
    }
}

/// The value of every expression, row-major, in order. `arguments` are the plain arguments in order;
/// shapes were checked.
///
/// # Errors
/// [`Error::Promise`] for a value that breaks one.
pub fn evaluate<R: Ring>(
    ring: &R,
    expressions: &[Expression],
    arguments: &[Vec<R::Element>],
) -> Result<Vec<Vec<R::Element>>, Error> {
    evaluate_where(ring, expressions, arguments, |_| true)
}

/// The same for the wanted expressions, which need no others; those are left empty.
pub(crate) fn evaluate_where<R: Ring>(
    ring: &R,
    expressions: &[Expression],
    arguments: &[Vec<R::Element>],
    wanted: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<R::Element>>, Error> {
    let mut values: Vec<Vec<R::Element>> = Vec::with_capacity(expressions.len());
    for (number, expression) in expressions.iter().enumerate() {
        let shape_of = |number: u32| expressions[number as usize].shape.as_slice();
        values.push(if wanted(number) {
            one(ring, expression, arguments, &values, &shape_of)
        } else {
            vec![]
        });
        if let PlainOp::Within(_, bound) = expression.operation
            && let Some(value) = values[number].iter().find_map(|&v| R::beyond(v, bound))
        {
            return Err(Error::Promise {
                number,
                bound,
                value,
            });
        }
    }
    Ok(values)
}

fn one<'a, R: Ring>(
    ring: &R,
    expression: &Expression,
    arguments: &[Vec<R::Element>],
    values: &[Vec<R::Element>],
    shape_of: &impl Fn(u32) -> &'a [u32],
) -> Vec<R::Element> {
    let of = |number: &u32| values[*number as usize].as_slice();
    let each =
        |a: &u32, f: &dyn Fn(R::Element) -> R::Element| of(a).iter().map(|&x| f(x)).collect();
    let pairs = |a: &u32, b: &u32, f: &dyn Fn(R::Element, R::Element) -> R::Element| {
        let (left, right) = (of(a), of(b));
        shape::broadcast_indices(shape_of(*a), &expression.shape)
            .zip(shape::broadcast_indices(shape_of(*b), &expression.shape))
            .map(|(i, j)| f(left[i], right[j]))
            .collect()
    };
    match &expression.operation {
        PlainOp::Argument(number) => arguments[*number as usize].clone(),
        PlainOp::Constant(numbers) => filled(ring.numbers(numbers), &expression.shape),
        PlainOp::Add(a, b) => pairs(a, b, &|x, y| ring.add(x, y)),
        PlainOp::Subtract(a, b) => pairs(a, b, &|x, y| ring.add(x, ring.negate(y))),
        PlainOp::Multiply(a, b) => pairs(a, b, &|x, y| ring.multiply(x, y)),
        PlainOp::Negate(a) => each(a, &|x| ring.negate(x)),
        PlainOp::Within(a, _) => of(a).to_vec(),
        PlainOp::Power(a, exponent) => each(a, &|x| power(ring, x, *exponent)),
        PlainOp::Polynomial(a, numbers) => {
            let coefficients = ring.numbers(numbers);
            each(a, &|x| horner(ring, &coefficients, x))
        }
        PlainOp::MatMul(a, b) => matmul(
            ring,
            (of(a), shape_of(*a)),
            (of(b), shape_of(*b)),
            &expression.shape,
        ),
        PlainOp::Sum(a, None) => vec![of(a).iter().fold(R::ZERO, |sum, &x| ring.add(sum, x))],
        PlainOp::Sum(a, Some(axis)) => sum(ring, of(a), shape_of(*a), usize::from(*axis)),
        PlainOp::Gather(all, map) => {
            let joined: Vec<R::Element> = all.iter().flat_map(of).copied().collect();
            let take = |element: Option<u32>| element.map_or(R::ZERO, |e| joined[e as usize]);
            map.iter().map(take).collect()
        }
    }
}

fn filled<E: Copy>(values: Vec<E>, shape: &[u32]) -> Vec<E> {
    let size = shape::elements(shape).unwrap_or(0);
    if values.len() == 1 {
        vec![values[0]; size]
    } else {
        values
    }
}

fn power<R: Ring>(ring: &R, base: R::Element, mut exponent: u32) -> R::Element {
    let (mut result, mut square) = (R::ONE, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = ring.multiply(result, square);
        }
        exponent >>= 1;
        if exponent > 0 {
            square = ring.multiply(square, square);
        }
    }
    result
}

fn horner<R: Ring>(ring: &R, coefficients: &[R::Element], x: R::Element) -> R::Element {
    coefficients
        .iter()
        .rev()
        .fold(R::ZERO, |sum, &c| ring.add(ring.multiply(sum, x), c))
}

fn sum<R: Ring>(ring: &R, values: &[R::Element], shape: &[u32], axis: usize) -> Vec<R::Element> {
    let (length, inner) = (
        shape[axis] as usize,
        shape::elements(&shape[axis + 1..]).unwrap_or(0),
    );
    let outer = shape::elements(&shape[..axis]).unwrap_or(0);
    let term = |o: usize, i: usize, at: usize| values[(o * length + at) * inner + i];
    (0..outer * inner)
        .map(|k| (0..length).fold(R::ZERO, |s, at| ring.add(s, term(k / inner, k % inner, at))))
        .collect()
}

/// Row-major values and their shape.
type Tensor<'a, E> = (&'a [E], &'a [u32]);

fn matmul<R: Ring>(
    ring: &R,
    (a, a_shape): Tensor<'_, R::Element>,
    (b, b_shape): Tensor<'_, R::Element>,
    shape: &[u32],
) -> Vec<R::Element> {
    let Some(MatMul { batch, dims, .. }) = MatMul::new(a_shape, b_shape) else {
        return vec![];
    };
    let [rows, inner, columns] = dims.map(|d| d as usize);
    let outer = |shape: &[u32]| shape[..shape.len().saturating_sub(2)].to_vec();
    let (a_outer, b_outer) = (outer(a_shape), outer(b_shape));
    let mut out = Vec::with_capacity(shape::elements(shape).unwrap_or(0));
    for (i, j) in
        shape::broadcast_indices(&a_outer, &batch).zip(shape::broadcast_indices(&b_outer, &batch))
    {
        let (left, right) = (&a[i * rows * inner..], &b[j * inner * columns..]);
        for cell in 0..rows * columns {
            let (row, column) = (cell / columns, cell % columns);
            let term = |k: usize| ring.multiply(left[row * inner + k], right[k * columns + column]);
            out.push((0..inner).fold(R::ZERO, |s, k| ring.add(s, term(k))));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_map::IndexMap;

    fn expression(operation: PlainOp, shape: &[u32]) -> Expression {
        Expression {
            operation,
            shape: shape.to_vec(),
        }
    }

    /// Checks, evaluates and returns the last expression's value.
    fn last(expressions: &[Expression], arguments: &[(&[u32], &[i64])], t: u64) -> Vec<i64> {
        let shapes: Vec<&[u32]> = arguments.iter().map(|(shape, _)| *shape).collect();
        for (number, expression) in expressions.iter().enumerate() {
            expression.check(&shapes, &expressions[..number]).unwrap();
        }
        let values: Vec<Vec<i64>> = arguments.iter().map(|(_, v)| v.to_vec()).collect();
        evaluate(&IntegersModulo(t), expressions, &values)
            .unwrap()
            .pop()
            .unwrap()
    }

    #[test]
    fn every_operation_on_small_integers() {
        use PlainOp::{
            Add, Argument, Constant, Gather, MatMul, Multiply, Negate, Polynomial, Power, Subtract,
            Sum, Within,
        };
        let arguments: [(&[u32], &[i64]); 2] =
            [(&[2, 3], &[1, 2, 3, 4, 5, 6]), (&[3], &[10, 20, 30])];
        let inputs = || {
            vec![
                expression(Argument(0), &[2, 3]),
                expression(Argument(1), &[3]),
            ]
        };
        let run = |operation: PlainOp, shape: &[u32]| {
            last(
                &[inputs(), vec![expression(operation, shape)]].concat(),
                &arguments,
                1 << 40,
            )
        };
        assert_eq!(run(Add(0, 1), &[2, 3]), [11, 22, 33, 14, 25, 36]);
        assert_eq!(run(Subtract(1, 0), &[2, 3]), [9, 18, 27, 6, 15, 24]);
        assert_eq!(run(Multiply(0, 1), &[2, 3]), [10, 40, 90, 40, 100, 180]);
        assert_eq!(run(Negate(1), &[3]), [-10, -20, -30]);
        assert_eq!(run(Within(1, 30.0), &[3]), [10, 20, 30]);
        assert_eq!(run(Power(0, 3), &[2, 3]), [1, 8, 27, 64, 125, 216]);
        assert_eq!(run(Power(0, 0), &[2, 3]), [1; 6]);
        let coefficients = Numbers::Integers(vec![5, 0, -1]);
        assert_eq!(
            run(Polynomial(0, coefficients), &[2, 3]),
            [4, 1, -4, -11, -20, -31]
        );
        assert_eq!(run(MatMul(0, 1), &[2]), [140, 320]);
        assert_eq!(run(Sum(0, None), &[]), [21]);
        assert_eq!(run(Sum(0, Some(0)), &[3]), [5, 7, 9]);
        assert_eq!(run(Sum(0, Some(1)), &[2]), [6, 15]);
        let map = IndexMap::new([Some(8), None, Some(0)]).unwrap();
        assert_eq!(run(Gather(vec![0, 1], map), &[3]), [30, 0, 1]);
        assert_eq!(run(Constant(Numbers::Integers(vec![7])), &[2, 2]), [7; 4]);
    }

    #[test]
    fn batches_of_matrices_broadcast() {
        let arguments: [(&[u32], &[i64]); 2] =
            [(&[2, 1, 2], &[1, 2, 3, 4]), (&[2, 2], &[1, 0, 0, 2])];
        let expressions = [
            expression(PlainOp::Argument(0), &[2, 1, 2]),
            expression(PlainOp::Argument(1), &[2, 2]),
            expression(PlainOp::MatMul(0, 1), &[2, 1, 2]),
        ];
        assert_eq!(last(&expressions, &arguments, 1 << 40), [1, 4, 3, 8]);
    }

    #[test]
    fn a_broken_promise_is_reported_with_a_value_that_breaks_it() {
        let expressions = |bound| {
            [
                expression(PlainOp::Argument(0), &[3]),
                expression(PlainOp::Within(0, bound), &[3]),
            ]
        };
        let text = |result: Result<Vec<f64>, Error>| result.unwrap_err().to_string();
        let reals = |bound, values: [f64; 3]| {
            evaluate(&Reals, &expressions(bound), &[values.to_vec()]).map(|v| v[1].clone())
        };
        // Reals have room for rounding, and nothing bounds NaN.
        assert_eq!(
            reals(2.0, [-2.0, 2.0 + 1e-10, 0.0]).unwrap(),
            [-2.0, 2.0 + 1e-10, 0.0]
        );
        assert_eq!(
            text(reals(2.0, [1.0, -2.5, 9.0])),
            "plaintext expression 1 (within): the promise |value| <= 2 is false, a value is -2.5"
        );
        assert!(text(reals(f64::INFINITY, [0.0, f64::NAN, 0.0])).contains("a value is NaN"));
        let integers = |bound, values: [i64; 3]| {
            let ring = IntegersModulo(97);
            evaluate(&ring, &expressions(bound), &[values.to_vec()]).map(|_| vec![])
        };
        assert!(integers(3.0, [3, -3, 0]).is_ok());
        assert!(text(integers(3.0, [3, -4, 0])).contains("<= 3 is false, a value is -4"));
    }

    #[test]
    fn integers_are_exact_modulo_t_where_doubles_and_words_are_not() {
        let t = (1 << 61) + 1;
        let big = (1_i64 << 60) - 1;
        let expressions = [
            expression(PlainOp::Argument(0), &[]),
            expression(PlainOp::Power(0, 5), &[]),
        ];
        let mut exact = 1_i128;
        (0..5).for_each(|_| exact = (exact * i128::from(big)).rem_euclid(t as i128));
        let centred = if exact > t as i128 / 2 {
            exact - t as i128
        } else {
            exact
        };
        assert_eq!(last(&expressions, &[(&[], &[big])], t), [centred as i64]);
    }
}
