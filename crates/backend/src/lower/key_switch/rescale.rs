// SPDX-License-Identifier: Apache-2.0
//! Relinearisation and rescale with one division: P times the parts of a product are added to the inner product, the
//! sums are divided by P and the last data prime together.

use super::arrangement::DigitByDigit;
use super::decompose::Digits;
use super::gadget::SwitchingKey;
use super::half_by_half::HalfByHalf;
use super::mirrored::Mirrored;
use super::steps::KeySwitch;
use crate::Error;
use crate::lower::lowering::{Lower, Lowering};
use crate::lower::value::Part;
use ::polynomial::{Form, PolyOp};
use rns::RnsBasis;

/// A key switch whose sums can be added to before they are divided.
pub(super) trait RelinearizeRescale<S: Lower>: KeySwitch<S> {
    /// Σ digit·key + P·own for both halves of the relinearization key.
    fn inner_product_plus(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        own: &[Part; 2],
    ) -> Result<Self::Sums, Error>;

    /// The sums divided by their last primes.
    fn divide(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: Self::Sums,
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Vec<Part>, Error>;

    /// Three parts as two, over one data prime less.
    fn relinearize_rescale(
        &self,
        lowering: &mut Lowering<'_, S>,
        parts: &[Part],
    ) -> Result<Vec<Part>, Error> {
        let chain = lowering.scheme.chain();
        let digits = self.mod_up(lowering, &parts[2])?;
        let last = digits.limbs - 1;
        let mut dropped = chain.q.range(last..last + 1)?;
        if let Some(p) = &chain.p {
            dropped = dropped.concat(p)?;
        }
        let own = [0, 1].map(|part| lowering.in_form(&parts[part], Form::Values));
        let sums = self.inner_product_plus(lowering, &digits, &own)?;
        let divided = self.divide(lowering, sums, &dropped)?;
        let parts = divided.iter().map(|part| lowering.in_form(part, S::FORM));
        Ok(parts.collect())
    }
}

impl<S: Lower> RelinearizeRescale<S> for HalfByHalf {
    fn inner_product_plus(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        own: &[Part; 2],
    ) -> Result<[Part; 2], Error> {
        let sums = self.sums(lowering, digits, SwitchingKey::RELINEARIZATION);
        Ok([0, 1].map(|half| lowering.plus_lifted(&sums[half], &own[half])))
    }

    fn divide(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: [Part; 2],
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Vec<Part>, Error> {
        let divided = sums.iter().map(|sum| lowering.divided(sum, dropped));
        divided.collect()
    }
}

impl<S: Lower> RelinearizeRescale<S> for DigitByDigit {
    fn inner_product_plus(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        own: &[Part; 2],
    ) -> Result<[Part; 2], Error> {
        let key = SwitchingKey::RELINEARIZATION;
        let special = lowering.scheme.chain().p.filter(|_| lowering.moves);
        let Some(special) = special else {
            let sums = self.sums(lowering, digits, key, [None, None]);
            return Ok([0, 1].map(|half| lowering.plus_lifted(&sums[half], &own[half])));
        };
        let factors = lowering.special_factors(&own[0], &special);
        let lifted = own.each_ref().map(|own| {
            let moved = lowering.over_all(own, 1);
            Some(lowering.by_limb(PolyOp::Scale(factors.clone()), &[&moved]))
        });
        Ok(self.sums(lowering, digits, key, lifted))
    }

    fn divide(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: [Part; 2],
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Vec<Part>, Error> {
        HalfByHalf.divide(lowering, sums, dropped)
    }
}

impl<S: Lower> RelinearizeRescale<S> for Mirrored {
    fn inner_product_plus(
        &self,
        lowering: &mut Lowering<'_, S>,
        digits: &Digits,
        own: &[Part; 2],
    ) -> Result<Part, Error> {
        let special = lowering.special_basis()?;
        let factors = lowering.special_factors(&own[0], &special);
        let zeros = vec![0; factors.len()];
        let first = lowering.over_all(&own[0], 2);
        let only_first = PolyOp::Scale([&factors[..], &zeros].concat());
        let lifted = lowering.by_limb(only_first, &[&first]);
        let second = lowering.over_all(&own[1], 2);
        let only_second = PolyOp::ScaleAdd([zeros, factors].concat());
        let lifted = lowering.by_limb(only_second, &[&second, &lifted]);
        let key = SwitchingKey::RELINEARIZATION;
        self.sums(lowering, digits, key, Some(lifted))
    }

    fn divide(
        &self,
        lowering: &mut Lowering<'_, S>,
        sums: Part,
        dropped: &RnsBasis<S::Word>,
    ) -> Result<Vec<Part>, Error> {
        let divided = lowering.divided_by_last(&sums, 2, dropped)?;
        Ok(lowering.parted(&divided).to_vec())
    }
}

impl<S: Lower> Lowering<'_, S> {
    /// P modulo the primes of a part, then modulo the special primes, where it is 0.
    fn special_factors(&mut self, part: &Part, special: &RnsBasis<S::Word>) -> Vec<u128> {
        let data = self.graph.moduli_of(&part.limbs);
        let mut factors: Vec<u128> = data.iter().map(|&m| self.residue(m, special)).collect();
        factors.resize(data.len() + special.len(), 0);
        factors
    }

    /// A part over the data primes in the lanes of all primes, `copies` times side by side; modulo the special primes
    /// it is anything.
    fn over_all(&mut self, part: &Part, copies: usize) -> Part {
        let moduli = [self.graph.moduli_of(&part.limbs), self.special()].concat();
        // The last limb is in the section of the special primes' lanes, if any is.
        let end = part.limbs.len() - 1;
        let limb = |i: usize| vec![part.limbs[i.min(end)]];
        let each = (0..copies * moduli.len()).map(|i| limb(i % moduli.len()));
        let each = each.collect();
        Part {
            form: part.form,
            limbs: (self.graph).convert_each(each, &moduli.repeat(copies), self.task),
        }
    }

    /// A sum over Q·P plus P times a part over Q.
    fn plus_lifted(&mut self, sum: &Part, own: &Part) -> Part {
        let moduli = self.graph.moduli_of(&own.limbs);
        let special = self.scheme.chain().p;
        let factor = |&m: &u16| (special.as_ref()).map_or(1, |p| self.residue(m, p));
        let factors = moduli.iter().map(factor).collect();
        let scaled = self.by_limb(PolyOp::Scale(factors), &[own]);
        let mut added = self.by_limb(PolyOp::Add, &[sum, &scaled]);
        added.limbs.extend_from_slice(&sum.limbs[own.limbs.len()..]);
        added
    }

    /// The product of a basis modulo a prime of this number.
    fn residue(&self, modulus: u16, basis: &RnsBasis<S::Word>) -> u128 {
        use zq::Word as _;
        let q = self.graph.plans()[usize::from(modulus)].modulus();
        q.reduce_digits(&basis.product().to_u64_digits()).to_u128()
    }
}
