// SPDX-License-Identifier: Apache-2.0
//! Key switching and divisions in polynomial operations.

use super::halves::Halves;
use super::lowering::{Lower, Lowering};
use super::value::{Part, Source, Value};
use crate::Error;
use ::polynomial::{Form, Limb, Operation as Op};
use rns::{CentredLift, RnsBasis};
use zq::{Modulus, Word};

/// Digits of a polynomial over the data primes, then the special primes; or over wide primes.
pub(super) struct Digits {
    pub(super) parts: Vec<Part>,
    /// Data primes of the polynomial.
    pub(super) limbs: usize,
    /// How many wide primes, or 0.
    wide: usize,
    /// Whether each is duplicated in further lanes.
    mirrored: bool,
}

impl<S: Lower> Lowering<'_, S> {
    pub(super) fn special(&mut self) -> Vec<u16> {
        match self.scheme.chain().p {
            Some(p) => self.graph.basis(&p),
            None => Vec::new(),
        }
    }

    /// The digits of a part, each a centred representative over all primes.
    pub(super) fn digits(&mut self, part: &Part) -> Result<Digits, Error> {
        self.digits_on(1, part)
    }

    /// The same, each so many times side by side.
    fn digits_on(&mut self, sides: usize, part: &Part) -> Result<Digits, Error> {
        let own = match self.digit_major {
            false => self.in_form(part, Form::Coefficients).limbs,
            true => self.one_by_one(part),
        };
        let limbs = own.len();
        let mut all = self.moduli(limbs)?;
        all.extend(self.special());
        let step = self.scheme.chain().digit_len;
        let wide = self.wide_for_digits(&all, limbs, step)?;
        let digits = (0..limbs).step_by(step).map(|start| {
            let range = start..limbs.min(start + step);
            if let Some(wide) = &wide {
                let moduli = self.graph.basis(wide);
                let limbs = self.centred(&[own[range].to_vec()], (&moduli, 1));
                return self.digit(limbs);
            }
            let others: Vec<u16> = [&all[..range.start], &all[range.end..]].concat();
            if others.is_empty() {
                return self.digit(own[range].to_vec());
            }
            let polynomial = [own[range.clone()].to_vec()];
            let remade = range.len() > 1 && self.converts
                || self.moves && (range.len() > 1 || self.is_long(all[range.start], &others));
            if remade {
                // Its own residues are made anew, where the others are.
                let made = self.centred(&polynomial, (&all, sides));
                return self.digit(made);
            }
            let made = self.centred(&polynomial, (&others, sides));
            let side = |others: &[Limb]| {
                let mut digit = others.to_vec();
                digit.splice(range.start..range.start, own[range.clone()].iter().copied());
                digit
            };
            let digit = made.chunks(others.len()).flat_map(side).collect();
            self.digit(digit)
        });
        Ok(Digits {
            parts: digits.collect(),
            limbs,
            wide: wide.map_or(0, |basis| basis.len()),
            mirrored: sides > 1,
        })
    }

    /// The limbs of a part as coefficients, each transformed by itself.
    fn one_by_one(&mut self, part: &Part) -> Vec<Limb> {
        let each = part.limbs.iter().flat_map(|limb| {
            let form = part.form;
            let limbs = vec![*limb];
            self.in_form(&Part { form, limbs }, Form::Coefficients)
                .limbs
        });
        each.collect()
    }

    fn digit(&mut self, limbs: Vec<Limb>) -> Part {
        let form = Form::Coefficients;
        let digit = Part { form, limbs };
        match self.converts || self.moves {
            true => digit,
            false => self.in_form(&digit, Form::Values),
        }
    }

    /// Wide primes that hold a sum of products of digits and keys, if that pays.
    fn wide_for_digits(
        &mut self,
        all: &[u16],
        limbs: usize,
        step: usize,
    ) -> Result<Option<RnsBasis<S::Word>>, Error> {
        // A key's coefficient is at most QP/2, a digit's at most half the product of its primes.
        let bits = |moduli: &[u16]| -> u64 {
            let of = |m: &u16| u64::from(self.graph.plans()[usize::from(*m)].modulus().bits());
            moduli.iter().map(of).sum()
        };
        let digit = all[..limbs].chunks(step).map(bits).max().unwrap_or(0);
        let terms = limbs.div_ceil(step).next_power_of_two().ilog2() + self.graph.n().ilog2();
        let needed = digit + bits(all) + u64::from(terms);
        self.wide_basis(needed, all.len())
    }

    /// Σ digit·key for both halves of an automorphism's or the relinearization key, permuted by x -> x^`inverse`; plus
    /// values that are given. Digit by digit where bases are converted beside products: each is converted and
    /// transformed just before it is used. Else half by half, each digit transformed when it was made.
    pub(super) fn inner_product(
        &mut self,
        digits: &Digits,
        (element, inverse): (Option<u64>, u64),
        mut sums: [Option<Part>; 2],
    ) -> [Part; 2] {
        let count = digits.parts.len();
        for at in 0..2 * count {
            let (number, half) = match self.converts || self.moves {
                true => (at / 2, at % 2),
                false => (at % count, at / count),
            };
            let digit = self.in_form(&digits.parts[number], Form::Values);
            let key = self.key(digits, (element, inverse), (number, half));
            sums[half] = Some(self.product_plus(&digit, &key, sums[half].take()));
        }
        sums.map(|sum| sum.unwrap_or_else(|| digits.parts[0].clone()))
    }

    /// a·b, plus a sum if there is one.
    pub(super) fn product_plus(&mut self, a: &Part, b: &Part, sum: Option<Part>) -> Part {
        match sum {
            None => self.by_limb(Op::Mul, &[a, b]),
            Some(sum) => self.by_limb(Op::MulAdd, &[a, b, &sum]),
        }
    }

    /// Half of a digit of a key, permuted by x -> x^`inverse`:
    /// by the host where permutations would cost the device time.
    pub(super) fn key(
        &mut self,
        digits: &Digits,
        (element, inverse): (Option<u64>, u64),
        (number, half): (usize, usize),
    ) -> Part {
        let source = Source::Key {
            element,
            permuted: if self.moves { inverse } else { 1 },
            digit: number,
            half,
            limbs: digits.limbs,
            wide: digits.wide,
        };
        let sides = if digits.mirrored { 2 } else { 1 };
        let limbs = &digits.parts[number].limbs;
        let moduli = self.graph.moduli_of(&limbs[..limbs.len() / sides]);
        let given = Part {
            form: Form::Values,
            limbs: self.source_over(source, &moduli),
        };
        if self.moves {
            return given;
        }
        self.permuted(&given, inverse)
    }

    /// Sums over wide primes as those over the primes of the set.
    fn narrowed(&mut self, sums: [Part; 2], digits: &Digits) -> Result<[Part; 2], Error> {
        if digits.wide == 0 {
            return Ok(sums);
        }
        let mut all = self.moduli(digits.limbs)?;
        all.extend(self.special());
        Ok(sums.map(|sum| {
            let whole = self.in_form(&sum, Form::Coefficients).limbs;
            Part {
                form: Form::Coefficients,
                limbs: self.graph.convert(&whole, &all, self.task),
            }
        }))
    }

    /// The image under x -> x^`element`; by values, where moves permute those.
    pub(super) fn permuted(&mut self, part: &Part, element: u64) -> Part {
        if element == 1 {
            return part.clone();
        }
        let form = if self.moves { Form::Values } else { part.form };
        let operand = self.in_form(part, form);
        let permuted = self.by_limb(Op::Permute { element, form }, &[&operand]);
        self.in_form(&permuted, part.form)
    }

    /// Divided by the special primes, in the scheme's form.
    pub(super) fn mod_down(&mut self, sum: &Part) -> Result<Part, Error> {
        let special = self.special().len();
        let sum = self.in_form(sum, S::FORM);
        let kept = sum.limbs.len() - special;
        match self.scheme.chain().p {
            None => Ok(sum),
            Some(p) => self.divided(&sum, kept, (&p, 1)),
        }
    }

    /// round(t x / D) of a part whose limbs from `kept` on are over the dropped basis D.
    pub(super) fn divided(
        &mut self,
        part: &Part,
        kept: usize,
        (dropped, numerator): (&RnsBasis<S::Word>, u64),
    ) -> Result<Part, Error> {
        if numerator == 1 && (self.moves || dropped.len() > 1) {
            return self.divided_by_last(part, 1, dropped);
        }
        let tail = Part {
            form: part.form,
            limbs: part.limbs[kept..].to_vec(),
        };
        let tail = self.in_form(&tail, Form::Coefficients).limbs;
        let moduli = self.graph.moduli_of(&part.limbs[..kept]);
        let correction = Part {
            form: Form::Coefficients,
            limbs: self.graph.round(&tail, &moduli, numerator, self.task),
        };
        let correction = self.in_form(&correction, part.form);
        let factors = moduli.iter().map(|&m| {
            let q = self.graph.plans()[usize::from(m)].modulus();
            quotient(q, numerator, dropped).map(Word::to_u128)
        });
        let factors = factors.collect::<Result<_, Error>>()?;
        let scaled = self.by_limb(Op::Scale(factors), &[&part.prefix(kept)]);
        Ok(self.by_limb(Op::Add, &[&scaled, &correction]))
    }

    /// All parts divided by the last prime.
    pub(super) fn drop_last(&mut self, value: &Value) -> Result<Vec<Part>, Error> {
        let limbs = value.parts[0].limbs.len();
        let last = self.scheme.chain().q.range(limbs - 1..limbs)?;
        let divided = |part: &Part| self.divided(part, limbs - 1, (&last, 1));
        value.parts.iter().map(divided).collect()
    }

    pub(super) fn relinearize(&mut self, a: &Value) -> Result<Value, Error> {
        let own = [&a.parts[0], &a.parts[1]];
        let digits = self.digits_on(self.halves.sides(), &a.parts[2])?;
        let parts = match self.halves {
            Halves::Mirrored => self.both_relinearized(&digits, own)?,
            Halves::SpecialTogether(_) => {
                let sums = self.sums_apart(&digits, (None, 1), 1);
                self.switched_apart(&sums, own.map(Some))?
            }
            Halves::InTurn | Halves::DividedTogether => self.relinearized(&digits, own)?,
        };
        Ok(Value {
            parts,
            scale: a.scale,
            input: None,
        })
    }

    /// Products of digits and the relinearization key, divided, plus the parts they belong to.
    fn relinearized(&mut self, digits: &Digits, own: [&Part; 2]) -> Result<Vec<Part>, Error> {
        if let [Some(first), Some(second)] = own.map(|part| self.unfinished(part)) {
            let given = [Some(first.0), Some(second.0)];
            let sums = self.inner_product(digits, (None, 1), given);
            let rests = [&first.1, &second.1];
            let parts = sums.iter().zip(rests).map(|(sum, rest)| {
                let sum = self.in_form(sum, S::FORM);
                self.by_limb(Op::Add, &[&sum, rest])
            });
            return Ok(parts.collect());
        }
        let sums = self.inner_product(digits, (None, 1), [None, None]);
        let sums = self.narrowed(sums, digits)?;
        self.switched(sums, &own.map(Some))
    }

    /// The two operands of a part that is an inverse transform of values plus an addend: sums of products with keys can
    /// be added to the values, so that one transform serves both. With special primes they are divided first.
    fn unfinished(&self, part: &Part) -> Option<(Part, Part)> {
        let is_whole = |limbs: &[Limb]| {
            let bundle = self.graph.bundle_of(limbs[0]);
            bundle.limbs().eq(limbs.iter().copied()).then_some(bundle)
        };
        let sum = is_whole(&part.limbs).filter(|sum| sum.operation == Op::Add)?;
        let transform = is_whole(&sum.operands[0]).filter(|made| made.operation == Op::Intt)?;
        let of = |form, limbs: &Vec<Limb>| Part {
            form,
            limbs: limbs.clone(),
        };
        let coefficients = Form::Coefficients;
        (self.converts && S::FORM == coefficients && self.scheme.chain().p.is_none()).then(|| {
            let values = of(Form::Values, &transform.operands[0]);
            (values, of(coefficients, &sum.operands[1]))
        })
    }

    /// Back to two parts and divided by the last prime: one division by both it and the special primes.
    pub(super) fn relinearize_rescale(&mut self, a: &Value) -> Result<Value, Error> {
        let chain = self.scheme.chain();
        let digits = self.digits_on(self.halves.sides(), &a.parts[2])?;
        let last = digits.limbs - 1;
        let mut dropped = chain.q.range(last..last + 1)?;
        if let Some(p) = &chain.p {
            dropped = dropped.concat(p)?;
        }
        let own = [&a.parts[0], &a.parts[1]].map(|own| self.in_form(own, Form::Values));
        let moved = chain.p.as_ref().filter(|_| self.moves);
        let given = moved.map(|p| self.addends([&own[0], &own[1]], p));
        let divided = match given.as_deref() {
            Some([both]) => {
                let sum = self.both_sums(&digits, (None, 1), Some(both.clone()))?;
                let divided = self.divided_by_last(&sum, 2, &dropped)?;
                self.parted(&divided).to_vec()
            }
            given => {
                let first = |k: usize| given.map(|parts| parts[k].clone());
                let mut sums = self.inner_product(&digits, (None, 1), [first(0), first(1)]);
                if given.is_none() {
                    sums = [0, 1].map(|k| self.plus_lifted(&sums[k], &a.parts[k]));
                }
                let divided = sums
                    .iter()
                    .map(|sum| self.divided(sum, last, (&dropped, 1)));
                divided.collect::<Result<Vec<Part>, Error>>()?
            }
        };
        let parts = divided.iter().map(|part| self.in_form(part, S::FORM));
        Ok(Value {
            parts: parts.collect(),
            scale: a.scale / self.last_prime(a),
            input: None,
        })
    }

    /// A sum over Q·P plus P times a part over Q.
    fn plus_lifted(&mut self, sum: &Part, own: &Part) -> Part {
        let own = self.in_form(own, sum.form);
        let moduli = self.graph.moduli_of(&own.limbs);
        let special = self.scheme.chain().p;
        let factor = |&m: &u16| (special.as_ref()).map_or(1, |p| self.residue(m, p));
        let factors = moduli.iter().map(factor).collect();
        let scaled = self.by_limb(Op::Scale(factors), &[&own]);
        let mut added = self.by_limb(Op::Add, &[sum, &scaled]);
        added.limbs.extend_from_slice(&sum.limbs[own.limbs.len()..]);
        added
    }

    /// The product of a basis modulo a prime of this number.
    pub(super) fn residue(&self, modulus: u16, basis: &RnsBasis<S::Word>) -> u128 {
        let q = self.graph.plans()[usize::from(modulus)].modulus();
        q.reduce_digits(&basis.product().to_u64_digits()).to_u128()
    }

    /// The image under x -> x^`element`.
    pub(super) fn rotate(&mut self, a: &Value, element: u64) -> Result<Value, Error> {
        if element == 1 {
            let input = a.input.filter(|_| S::FORM == Form::Coefficients);
            return Ok(Value { input, ..a.clone() });
        }
        let inverse = inverse_element(element, self.graph.n() as u64);
        let key = (Some(element), inverse);
        let [before, after] = self.around_division(element);
        let digits = self.digits_on(self.halves.sides(), &a.parts[1])?;
        let parts = match self.halves {
            Halves::Mirrored => self.both_rotated(&digits, (element, inverse), &a.parts[0])?,
            Halves::SpecialTogether(_) => {
                let sums = self.sums_apart(&digits, key, before);
                let own = self.permuted(&a.parts[0], before);
                let parts = self.switched_apart(&sums, [Some(&own), None])?;
                self.all_permuted(&parts, after)
            }
            Halves::InTurn | Halves::DividedTogether => {
                let sums = self.inner_product(&digits, key, [None, None]);
                let sums = self.narrowed(sums, &digits)?;
                let sums = sums.map(|sum| self.permuted(&sum, before));
                let own = self.permuted(&a.parts[0], before);
                let parts = self.switched(sums, &[Some(&own), None])?;
                self.all_permuted(&parts, after)
            }
        };
        Ok(Value {
            parts,
            scale: a.scale,
            input: None,
        })
    }

    fn all_permuted(&mut self, parts: &[Part], element: u64) -> Vec<Part> {
        let permuted = |part| self.permuted(part, element);
        parts.iter().map(permuted).collect()
    }

    /// The automorphisms before and after the division by the special primes, one of them the identity. After it there
    /// are fewer limbs. But moves permute values, and where representatives are not odd functions of the residues the
    /// remainder is that of the permuted sum.
    pub(super) fn around_division(&self, element: u64) -> [u64; 2] {
        let special = self.scheme.chain().p;
        let is_odd = |p: &RnsBasis<S::Word>| p.moduli().iter().all(CentredLift::is_odd);
        let by_values = self.moves && S::FORM == Form::Coefficients;
        match by_values || !special.as_ref().is_none_or(is_odd) {
            true => [element, 1],
            false => [1, element],
        }
    }

    /// The sums divided by the special primes, plus an addend.
    fn switched(&mut self, sums: [Part; 2], plus: &[Option<&Part>; 2]) -> Result<Vec<Part>, Error> {
        let chain = self.scheme.chain();
        if let Some(p) = chain
            .p
            .filter(|_| self.halves == Halves::DividedTogether && S::FORM == Form::Values)
        {
            // The remainder of one half goes from lane to lane while that of the other is transformed. In several
            // sections it would take slots from the keys of the next switch.
            let both = sums.iter().zip(plus).map(|(sum, plus)| {
                let plus = plus.map(|plus| self.in_form(plus, S::FORM));
                self.division(sum, (1, &p), plus.as_ref())
            });
            let both = both.collect::<Result<Vec<_>, _>>()?;
            let quotients = both.into_iter().map(|one| self.quotient(one));
            return Ok(quotients.collect());
        }
        let mut parts = Vec::with_capacity(2);
        for (sum, plus) in sums.iter().zip(plus) {
            let divided = self.mod_down(sum)?;
            parts.push(match plus {
                None => divided,
                Some(plus) => {
                    let plus = self.in_form(plus, S::FORM);
                    self.by_limb(Op::Add, &[&divided, &plus])
                }
            });
        }
        Ok(parts)
    }

    /// Each limb times its factor.
    pub(super) fn scaled(&mut self, limbs: &[Limb], factors: Vec<u128>) -> Vec<Limb> {
        self.graph.by_limb(Op::Scale(factors), &[limbs], self.task)
    }
}

/// t / D modulo q.
pub(super) fn quotient<W: Word>(
    q: &Modulus<W>,
    numerator: u64,
    dropped: &RnsBasis<W>,
) -> Result<W, Error> {
    let product = q.reduce_digits(&dropped.product().to_u64_digits());
    let inverse = q.inv_vt(product).map_err(rns::RnsError::from)?;
    Ok(q.mul(q.reduce_u64(numerator), inverse))
}

/// 1/g modulo 2n: odd numbers modulo 2n are a group of exponent n/2, or n for the smallest rings.
pub(super) fn inverse_element(g: u64, n: u64) -> u64 {
    let (modulus, mut inverse) = (u128::from(2 * n), 1);
    // Newton: each round doubles the bits that are right; odd g is its own inverse modulo 8.
    for _ in 0..6 {
        let error = (2 * modulus + 2 - u128::from(g) * inverse % modulus) % modulus;
        inverse = inverse * error % modulus;
    }
    inverse as u64
}

#[cfg(test)]
mod tests {
    use super::inverse_element;

    #[test]
    fn elements_times_their_inverses_are_one() {
        for n in [8, 64, 4096, 32768] {
            for g in (1..2 * n).step_by(2) {
                assert_eq!(
                    g * inverse_element(g, n) % (2 * n),
                    1,
                    "{g} modulo {}",
                    2 * n
                );
            }
        }
    }
}
