// SPDX-License-Identifier: Apache-2.0
//! Base conversions of key switching, one prime after another: what devices do by moves from lane to lane.
//! The residues are those of [`rns::BaseConverter::mixed_radix`].

use super::{Lower, Lowering};
use ::polynomial::{Limb, Operation as Op};
use zq::Word;

impl<S: Lower> Lowering<'_, S> {
    /// The centred representatives of polynomials, coefficients over the same primes each, modulo all primes of `to`,
    /// so many times each: for polynomial after polynomial, copy after copy, the limbs of `to`.
    ///
    /// The last prime's residues are the first digit. Modulo every other prime it is taken off what is left of the
    /// polynomial, divided by the prime, which makes the next digit; and it is a term of the result.
    pub(super) fn centred(
        &mut self,
        polynomials: &[Vec<Limb>],
        (to, copies): (&[u16], usize),
        task: u32,
    ) -> Vec<Limb> {
        let from = self.graph.moduli_of(&polynomials[0]);
        let (count, all) = (from.len(), to.repeat(copies));
        let mut digit: Vec<Limb> = polynomials.iter().map(|p| p[count - 1]).collect();
        let mut rest: Vec<Limb> = polynomials
            .iter()
            .flat_map(|p| &p[..count - 1])
            .copied()
            .collect();
        if !rest.is_empty() {
            let over = (0..count - 1).map(|i| self.quotient_of(&from, (i, i), false));
            let over: Vec<u128> = over.collect();
            rest = self
                .graph
                .by_limb(Op::Scale(over.repeat(digit.len())), &[&rest], task);
        }
        let mut sum: Option<Vec<Limb>> = None;
        for last in (0..count).rev() {
            let others = from[..last].iter().filter(|m| !to.contains(m));
            let targets: Vec<u16> = all.iter().chain(others).copied().collect();
            let each = digit.iter().map(|limb| vec![*limb]).collect();
            let lifted = self
                .graph
                .convert_each(each, &targets.repeat(digit.len()), task);
            let term: Vec<Limb> = (lifted.chunks(targets.len()))
                .flat_map(|of_one| &of_one[..all.len()])
                .copied()
                .collect();
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let weights: Vec<u128> =
                        all.iter().map(|&m| self.weight(&from, last, m)).collect();
                    let factors = weights.repeat(digit.len());
                    self.graph
                        .by_limb(Op::ScaleAdd(factors), &[&term, &sum], task)
                }
            });
            if last == 0 {
                break;
            }
            let places: Vec<Option<usize>> = (from[..last].iter())
                .map(|m| targets.iter().position(|target| target == m))
                .collect();
            let taken: Vec<Limb> = (lifted.chunks(targets.len()))
                .flat_map(|of_one| places.iter().flatten().map(|&place| of_one[place]))
                .collect();
            let factors = (0..last).map(|i| self.quotient_of(&from, (i, last), true));
            let factors = factors.collect::<Vec<u128>>().repeat(digit.len());
            let left = self
                .graph
                .by_limb(Op::ScaleAdd(factors), &[&taken, &rest], task);
            digit = left.chunks(last).map(|of_one| of_one[last - 1]).collect();
            rest = (left.chunks(last))
                .flat_map(|of_one| &of_one[..last - 1])
                .copied()
                .collect();
        }
        sum.unwrap_or_default()
    }

    /// The product of the primes after number `digit`, modulo another prime.
    fn weight(&self, from: &[u16], digit: usize, modulo: u16) -> u128 {
        let modulus = |m: u16| self.graph.plans()[usize::from(m)].modulus();
        let m = modulus(modulo);
        let later = from[digit + 1..]
            .iter()
            .map(|&q| m.reduce(modulus(q).value()));
        later
            .fold(m.reduce(S::Word::ONE), |product, q| m.mul(product, q))
            .to_u128()
    }

    /// The inverse of the product of the primes after number i up to number l, modulo prime i; of all of them for
    /// l = i; negated or not.
    fn quotient_of(&self, from: &[u16], (i, l): (usize, usize), negated: bool) -> u128 {
        let end = if l == i { from.len() } else { l + 1 };
        let q = self.graph.plans()[usize::from(from[i])].modulus();
        let product = S::Word::from_u128_lossy(self.weight(&from[..end], i, from[i]));
        let inverse = q.inv_vt(product).expect("primes of a set differ");
        if negated { q.neg(inverse) } else { inverse }.to_u128()
    }
}
