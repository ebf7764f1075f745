// SPDX-License-Identifier: Apache-2.0
//! A program on values in the clear: its expected results, without noise, keys or levels.

use crate::Error;
use crate::evaluate::{IntegersModulo, Reals, Ring};
use crate::expression::Numbers;
use crate::program::Program;
use crate::step::{Operation, Plaintext};
use crate::transform::Transform;

impl Program {
    /// The slots of every output for the slots of every input: reals in CKKS, centred residues modulo t in BFV;
    /// coefficients where the set has no slots.
    /// `arguments` are the plain ones in order.
    ///
    /// # Errors
    /// [`Error::Values`], [`Error::Promise`] for arguments that the program was not made for.
    pub fn clear(&self, inputs: &[Numbers], arguments: &[Numbers]) -> Result<Vec<Numbers>, Error> {
        let slots = self.parameters.slots();
        if inputs.len() != self.input_count() || inputs.iter().any(|row| row.len() != slots) {
            let (got, needed) = (inputs.len(), self.input_count());
            return Err(self.refused(format!("{got} rows; {needed} of {slots} slots are needed")));
        }
        let values = self.evaluate(arguments)?;
        let plaintexts: Vec<Numbers> = (0..self.plaintexts.len())
            .map(|number| self.slots(&values, number as u32))
            .collect::<Result<_, _>>()?;
        Ok(match self.parameters.plain_modulus() {
            None => walk(&Reals, self, inputs, &plaintexts)
                .into_iter()
                .map(Numbers::Reals)
                .collect(),
            Some(t) => walk(&IntegersModulo(t), self, inputs, &plaintexts)
                .into_iter()
                .map(Numbers::Integers)
                .collect(),
        })
    }
}

fn walk<R: Ring>(
    ring: &R,
    program: &Program,
    inputs: &[Numbers],
    plaintexts: &[Numbers],
) -> Vec<Vec<R::Element>> {
    let plaintexts: Vec<Vec<R::Element>> = plaintexts.iter().map(|p| ring.numbers(p)).collect();
    let mut fresh = inputs.iter().map(|row| ring.numbers(row));
    let mut values: Vec<Vec<R::Element>> = Vec::with_capacity(program.steps.len());
    let product = |a: &[R::Element], b: &[R::Element]| match program.parameters.has_slots() {
        true => pairs(a, b, |x, y| ring.multiply(x, y)),
        false => negacyclic(ring, a, b),
    };
    for step in &program.steps {
        let of = |a: u32| values[a as usize].as_slice();
        let plain = |p: Plaintext| plaintexts[p.number as usize].as_slice();
        let value = match step.operation {
            Operation::Input => fresh.next().unwrap_or_default(),
            Operation::EncryptZero => vec![R::ZERO; program.parameters.slots()],
            Operation::Add(a, b) => pairs(of(a), of(b), |x, y| ring.add(x, y)),
            Operation::Sub(a, b) => pairs(of(a), of(b), |x, y| ring.add(x, ring.negate(y))),
            Operation::Multiply(a, b) => product(of(a), of(b)),
            Operation::AddPlain(a, p) => pairs(of(a), plain(p), |x, y| ring.add(x, y)),
            Operation::SubPlain(a, p) => pairs(of(a), plain(p), |x, y| ring.add(x, ring.negate(y))),
            Operation::MultiplyPlain(a, p) => product(of(a), plain(p)),
            Operation::Square(a) => product(of(a), of(a)),
            Operation::Negate(a) => of(a).iter().map(|&x| ring.negate(x)).collect(),
            Operation::Rotate(a, by) => rotated(of(a), program.parameters.row_width(), by),
            Operation::SwapRows(a) => swapped(of(a)),
            Operation::Relinearize(a)
            | Operation::Rescale(a)
            | Operation::ModDrop(a)
            | Operation::Within(a, _)
            | Operation::RelinearizeRescale(a)
            | Operation::Bootstrap(a) => of(a).to_vec(),
            Operation::LinearTransform(a, number) => {
                let transform = &program.transforms[number as usize];
                let row_width = program.parameters.row_width();
                transformed(ring, transform, row_width, of(a), &plaintexts)
            }
        };
        values.push(value);
    }
    program
        .outputs
        .iter()
        .map(|&output| values[output as usize].clone())
        .collect()
}

fn pairs<E: Copy>(a: &[E], b: &[E], f: impl Fn(E, E) -> E) -> Vec<E> {
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect()
}

/// The product modulo X^n + 1, coefficient by coefficient: n² products, less those with zeros.
fn negacyclic<R: Ring>(ring: &R, a: &[R::Element], b: &[R::Element]) -> Vec<R::Element> {
    let n = a.len();
    let mut product = vec![R::ZERO; n];
    let held = |p: &'_ [R::Element]| -> Vec<(usize, R::Element)> {
        let terms = p.iter().copied().enumerate();
        terms.filter(|&(_, c)| c != R::ZERO).collect()
    };
    let (a, b) = (held(a), held(b));
    for &(i, x) in &a {
        for &(j, y) in &b {
            let term = ring.multiply(x, y);
            // X^n = −1.
            let term = if i + j < n { term } else { ring.negate(term) };
            product[(i + j) % n] = ring.add(product[(i + j) % n], term);
        }
    }
    product
}

/// The slots of every row moved left by `by` places.
fn rotated<E: Copy>(values: &[E], row_width: usize, by: i32) -> Vec<E> {
    let mut turned = values.to_vec();
    let places = i64::from(by).rem_euclid(row_width as i64);
    for row in turned.chunks_mut(row_width) {
        row.rotate_left(places as usize);
    }
    turned
}

/// The sum of rotations and plaintexts that a transform is.
fn transformed<R: Ring>(
    ring: &R,
    transform: &Transform,
    row_width: usize,
    a: &[R::Element],
    plaintexts: &[Vec<R::Element>],
) -> Vec<R::Element> {
    let mut total = vec![R::ZERO; a.len()];
    for giant in &transform.giants {
        let mut inner = vec![R::ZERO; a.len()];
        for term in &giant.terms {
            let turned = rotated(a, row_width, term.rotation);
            let term = match term.plaintext {
                Some(p) => pairs(&turned, &plaintexts[p as usize], |x, y| ring.multiply(x, y)),
                None => turned,
            };
            inner = pairs(&inner, &term, |x, y| ring.add(x, y));
        }
        let turned = rotated(&inner, row_width, giant.rotation);
        total = pairs(&total, &turned, |x, y| ring.add(x, y));
    }
    total
}

/// The two rows swapped.
fn swapped<E: Copy>(values: &[E]) -> Vec<E> {
    let (first, second) = values.split_at(values.len() / 2);
    [second, first].concat()
}
