// SPDX-License-Identifier: Apache-2.0
//! Time that this processor takes for operations on polynomials, by the code that does the host's part of a program.

use std::collections::BTreeMap;
use std::time::Instant;

use polynomial::{Form, Graph, Host, Limb, Memory, PolyOp, Words};
use rns::{RnsBasis, RnsError};
use zq::Word;

use crate::OffloadError;
use crate::stream::{kind, terms};

/// Measurements of each operation, of which the shortest counts.
const TRIES: usize = 7;

/// Appends an operation over a basis's primes: the program, the first limb of each prime, a second, the primes.
type Appended<W> = fn(&mut Graph<W>, &[Limb], &[Limb], &[u16]) -> Vec<Limb>;

/// Nanoseconds of one thread for a term of each kind of operation ([`crate::HostWork`]) over rings of degree n modulo
/// some primes, two or more. A whole step is priced as a transform.
///
/// # Errors
/// No such ring, or only one prime.
pub fn host_prices<W: Word>(
    n: usize,
    moduli: &[W],
) -> Result<BTreeMap<&'static str, f64>, OffloadError> {
    priced(n, moduli).map_err(|error| OffloadError::Shape {
        what: error.to_string(),
    })
}

fn priced<W: Word>(n: usize, moduli: &[W]) -> Result<BTreeMap<&'static str, f64>, RnsError> {
    let basis = RnsBasis::new(n, moduli)?;
    basis.range(1..2)?;
    let kinds: [(Form, Appended<W>); 5] = [
        (Form::Coefficients, |graph, a, _, _| graph.ntt(a, 0)),
        (Form::Values, |graph, a, b, _| {
            graph.by_limb(PolyOp::Add, &[a, b], 0)
        }),
        (Form::Values, |graph, a, b, _| {
            graph.by_limb(PolyOp::Mul, &[a, b], 0)
        }),
        (Form::Values, |graph, a, _, _| {
            let (element, form) = (3, Form::Values);
            graph.by_limb(PolyOp::Permute { element, form }, &[a], 0)
        }),
        (Form::Coefficients, |graph, a, _, moduli| {
            let half = a.len() / 2;
            graph.convert(&a[..half], &moduli[half..], 0)
        }),
    ];
    let mut found = BTreeMap::new();
    for (form, append) in kinds {
        let (kind, price) = measured(&basis, form, append)?;
        found.insert(kind, price);
    }
    found.insert("whole steps", found["transforms"]);
    Ok(found)
}

/// The kind of an operation and the nanoseconds of one of its terms.
fn measured<W: Word>(
    basis: &RnsBasis<W>,
    form: Form,
    append: Appended<W>,
) -> Result<(&'static str, f64), RnsError> {
    let mut graph = Graph::new(basis.n());
    graph.task("sum", 0);
    let moduli = graph.basis(basis);
    let [a, b] = [0, 1].map(|number| graph.source((number, form), &moduli, 0));
    let made = append(&mut graph, &a, &b, &moduli);
    graph.output(&made);
    let bundle = graph.bundle_of(made[0]);
    let mut least = f64::INFINITY;
    for _ in 0..TRIES {
        let mut memory = Memory::whole(&graph);
        for (&limb, number) in a.iter().chain(&b).zip(1_u64..) {
            memory.put(limb, words(basis, number));
        }
        let start = Instant::now();
        for &limb in &made {
            memory.take(limb, &Given)?;
        }
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok((
        kind(&bundle.operation),
        1e9 * least / terms(&graph, bundle) as f64,
    ))
}

/// Residues that are alike for all primes: below the least of 15 bits or more.
fn words<W: Word>(basis: &RnsBasis<W>, seed: u64) -> Vec<W> {
    let word = |i: u64| W::from_u128_lossy(u128::from((i * 2_654_435_761 + seed) % 0x3fff));
    (0..basis.n() as u64).map(word).collect()
}

/// All sources were put, and there is no step.
struct Given;

impl<W: Word> Host<W> for Given {
    type Error = RnsError;

    fn source(&self, _: u32) -> Result<Vec<Words<W>>, RnsError> {
        unreachable!("sources are put")
    }

    fn step(&self, _: u32, _: &[Vec<Words<W>>]) -> Result<Vec<Vec<W>>, RnsError> {
        unreachable!("there is no step")
    }
}

#[cfg(test)]
mod tests {
    use zq::primes::{Direction, ntt_primes};

    use super::*;

    #[test]
    fn every_kind_has_a_price_and_a_single_prime_is_refused() {
        let moduli: Vec<u64> = ntt_primes(50, 2048, 3, Direction::Down, &[]).unwrap();
        let prices = host_prices(1024, &moduli).unwrap();
        let kinds = [
            "automorphisms",
            "base conversions",
            "products",
            "sums",
            "transforms",
            "whole steps",
        ];
        assert!(prices.keys().copied().eq(kinds));
        assert!(
            prices
                .values()
                .all(|price| price.is_finite() && *price > 0.0)
        );
        assert!(host_prices(1024, &moduli[..1]).is_err());
    }
}
