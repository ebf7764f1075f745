// SPDX-License-Identifier: Apache-2.0
//! Base conversions of key switching, one prime after another: what devices do by moves from lane to lane.
//! The residues are those of [`rns::BaseConverter::mixed_radix`].

use crate::lower::lowering::{Lower, Lowering};
use ::polynomial::{Limb, PolyOp};
use zq::{Modulus, Word};

impl<S: Lower> Lowering<'_, S> {
    /// The centred representatives of polynomials, coefficients over the same primes each, modulo the primes of `to`,
    /// which may repeat: for polynomial after polynomial the limbs of `to`.
    ///
    /// The last prime's residues are the first digit. Modulo every other prime it is taken off what is left of the
    /// polynomial, divided by the prime, which makes the next digit; and it is a term of the result.
    pub(super) fn centred(&mut self, polynomials: &[Vec<Limb>], to: &[u16]) -> Vec<Limb> {
        let from = self.graph.moduli_of(&polynomials[0]);
        let count = from.len();
        let mut digit: Vec<Limb> = polynomials.iter().map(|p| p[count - 1]).collect();
        let mut rest = heads(&polynomials.concat(), count, count - 1);
        if !rest.is_empty() {
            let over =
                (0..count - 1).map(|i| self.inverse_modulo(&from[i + 1..], from[i]).to_u128());
            let over = over.collect::<Vec<u128>>().repeat(digit.len());
            rest = self.graph.by_limb(PolyOp::Scale(over), &[&rest], self.task);
        }
        let mut sum: Option<Vec<Limb>> = None;
        for last in (0..count).rev() {
            let others = from[..last].iter().filter(|m| !to.contains(m));
            let targets: Vec<u16> = to.iter().chain(others).copied().collect();
            let each = digit.iter().map(|limb| vec![*limb]).collect();
            let every = targets.repeat(digit.len());
            let lifted = self.graph.convert_each(each, &every, self.task);
            let term = heads(&lifted, targets.len(), to.len());
            sum = Some(match sum {
                None if self.is_long(from[last], &targets) => self.weighted(&term, &[], to, None),
                None => term,
                Some(sum) => self.weighted(&term, &from[last + 1..], to, Some(&sum)),
            });
            if last == 0 {
                break;
            }
            let left = self.without_digit(&lifted, &targets, &from[..=last], &rest);
            digit = left.chunks(last).map(|of_one| of_one[last - 1]).collect();
            rest = heads(&left, last, last - 1);
        }
        sum.unwrap_or_default()
    }

    /// A digit times its weight, the product of the primes after its own, modulo the primes of `to`; plus a sum.
    fn weighted(
        &mut self,
        term: &[Limb],
        after: &[u16],
        to: &[u16],
        sum: Option<&[Limb]>,
    ) -> Vec<Limb> {
        let weight = |&m: &u16| self.product_modulo(after, m).to_u128();
        let weights: Vec<u128> = to.iter().map(weight).collect();
        let factors = weights.repeat(term.len() / to.len());
        match sum {
            None => (self.graph).by_limb(PolyOp::Scale(factors), &[term], self.task),
            Some(sum) => (self.graph).by_limb(PolyOp::ScaleAdd(factors), &[term, sum], self.task),
        }
    }

    /// What is left of polynomials over the primes of `from` but its last, whose digit was lifted to `targets`.
    fn without_digit(
        &mut self,
        lifted: &[Limb],
        targets: &[u16],
        from: &[u16],
        rest: &[Limb],
    ) -> Vec<Limb> {
        let last = from.len() - 1;
        let places: Vec<Option<usize>> = (from[..last].iter())
            .map(|m| targets.iter().position(|target| target == m))
            .collect();
        let polynomials = lifted.chunks(targets.len());
        let factors = (0..last).map(|i| {
            let inverse = self.inverse_modulo(&from[i + 1..], from[i]);
            self.modulus(from[i]).neg(inverse).to_u128()
        });
        let factors = factors.collect::<Vec<u128>>().repeat(polynomials.len());
        let taken: Vec<Limb> = polynomials
            .flat_map(|of_one| places.iter().flatten().map(|&place| of_one[place]))
            .collect();
        let operation = PolyOp::ScaleAdd(factors);
        self.graph.by_limb(operation, &[&taken, rest], self.task)
    }

    /// Whether moves give residues modulo a prime unreduced modulo one of others, so that a product has to follow.
    pub(super) fn is_long(&self, prime: u16, others: &[u16]) -> bool {
        let value = |number| self.modulus(number).value().to_u128();
        let reduced = |&other: &u16| offload::is_reduced_by_a_move(value(prime), value(other));
        self.moves && !others.iter().all(reduced)
    }

    fn modulus(&self, number: u16) -> &Modulus<S::Word> {
        self.graph.plans()[usize::from(number)].modulus()
    }

    /// The product of primes modulo another.
    fn product_modulo(&self, primes: &[u16], modulo: u16) -> S::Word {
        let m = self.modulus(modulo);
        let residues = primes.iter().map(|&q| m.reduce(self.modulus(q).value()));
        residues.fold(m.reduce(S::Word::ONE), |product, q| m.mul(product, q))
    }

    /// Its inverse.
    fn inverse_modulo(&self, primes: &[u16], modulo: u16) -> S::Word {
        let product = self.product_modulo(primes, modulo);
        let inverse = self.modulus(modulo).inv_vt(product);
        inverse.expect("primes of a set differ")
    }
}

/// The first `first` limbs of each run of `run`.
fn heads(limbs: &[Limb], run: usize, first: usize) -> Vec<Limb> {
    (limbs.chunks(run))
        .flat_map(|run| &run[..first])
        .copied()
        .collect()
}
