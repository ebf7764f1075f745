// SPDX-License-Identifier: Apache-2.0
//! The inputs of the polynomial program: ciphertexts, plaintexts, keys, whole steps.

use super::lowered::{Lowered, Output};
use super::lowering::Lower;
use super::value::Source;
use super::wide::widen;
use crate::scheme::interface::Spread;
use crate::scheme::kept::Kept;
use crate::scheme::plaintexts::Plaintexts;
use crate::scheme::plan::Plan;
use crate::scheme::value::Value;
use crate::{Error, Observer};
use ::polynomial::{Host, Owner, Room, Words as Shared};
use program::{Encryption, Program};
use rlwe::{KeyId, ZeroSample};
use rns::{Automorphism, Coeff, RnsPoly};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::Zeroizing;
use zq::Word;

/// Words of a limb.
type Words<S> = Vec<<S as Lower>::Word>;

/// Everything around a polynomial program.
pub struct Around<'a, S: Lower> {
    pub program: &'a Program,
    pub plan: &'a Plan,
    pub scheme: &'a S,
    pub plaintexts: &'a Plaintexts<'a, S>,
    pub inputs: &'a [Value<'a, S::Ciphertext>],
    pub zeros: &'a S::Zeros,
    pub lowered: &'a Lowered<S::Word>,
    pub kept: Sources<'a, S::Word>,
    pub key: KeyId,
    pub observer: &'a dyn Observer,
}

/// Sources that stay between requests.
pub struct Sources<'a, W: Word> {
    /// Those made of keys.
    pub keys: &'a Made<W>,
    /// Those made of plaintexts.
    pub plaintexts: &'a Made<W>,
}

/// Sources that are made once, however the programs number them that they are in.
pub struct Made<W: Word> {
    /// Those that this machine keeps.
    limbs: Kept<Source, Vec<Shared<W>>>,
    /// Whose those are that a device keeps.
    owner: Arc<Owner>,
    /// Their numbers there.
    numbers: Mutex<HashMap<Source, u32>>,
}

impl<W: Word> Made<W> {
    /// None, with the room for them in this machine's memory and in a device's.
    pub fn new(room: &Arc<Room>, device_room: &Arc<Room>) -> Self {
        Self {
            limbs: Kept::new(room),
            owner: Owner::new(device_room),
            numbers: Mutex::default(),
        }
    }

    /// The owner of a source, and its number there.
    fn owned(&self, source: Source) -> (&Arc<Owner>, u32) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() as u32;
        (&self.owner, *numbers.entry(source).or_insert(next))
    }
}

impl<S: Lower> Host<S::Word> for Around<'_, S> {
    type Error = Error;

    fn source(&self, number: u32) -> Result<Vec<Shared<S::Word>>, Error> {
        let made = || -> Result<Vec<Shared<S::Word>>, Error> {
            let limbs = self.made(number)?.into_iter();
            Ok(limbs.map(|limb| Zeroizing::new(limb).into()).collect())
        };
        let Some(kept) = self.kept(number) else {
            return made();
        };
        let bytes = |limbs: &Vec<Shared<S::Word>>| {
            let words: usize = limbs.iter().map(|limb| limb.len()).sum();
            words * size_of::<S::Word>()
        };
        let source = self.lowered.sources[number as usize];
        Ok(kept.limbs.get_or(source, bytes, made)?.to_vec())
    }

    fn owner(&self, number: u32) -> Option<(&Arc<Owner>, u32)> {
        let kept = self.kept(number)?;
        Some(kept.owned(self.lowered.sources[number as usize]))
    }

    fn step(&self, number: u32, operands: &[Vec<Shared<S::Word>>]) -> Result<Vec<Words<S>>, Error> {
        let step = &self.program.steps[number as usize];
        let failed = |error: Error| error.at(self.program, number);
        let made = if step.operation.encrypts() {
            self.scheme
                .zero(self.zeros, self.plan.zero_index(number), step)
        } else {
            self.apply(number, operands)
        };
        let made = made.map_err(failed)?;
        let n = self.lowered.graph.n();
        let parts: Vec<Words<S>> = (0..usize::from(step.size))
            .map(|part| self.scheme.part(&made, part))
            .collect();
        Ok(parts.concat().chunks_exact(n).map(<[_]>::to_vec).collect())
    }
}

impl<S: Lower> Around<'_, S> {
    /// Where a source belongs that stays the same from request to request.
    fn kept(&self, number: u32) -> Option<&Made<S::Word>> {
        match self.lowered.sources[number as usize] {
            Source::Input { .. } | Source::Sample { .. } => None,
            Source::Sum(..) | Source::Factor(..) | Source::Extended(..) => {
                Some(self.kept.plaintexts)
            }
            Source::Key { .. } | Source::SpecialKey { .. } | Source::PublicKey { .. } => {
                Some(self.kept.keys)
            }
        }
    }

    /// The limbs of a source.
    fn made(&self, number: u32) -> Result<Vec<Words<S>>, Error> {
        let n = self.lowered.graph.n();
        let cut = |words: &[S::Word]| words.chunks_exact(n).map(<[_]>::to_vec).collect();
        let limbs = |level: u32| level as usize + 1;
        match self.lowered.sources[number as usize] {
            Source::Input { input, part } => Ok(cut(&self.scheme.part(&self.inputs[input], part))),
            Source::Sum(plaintext, level) => {
                let encoded = self.plaintexts.take(plaintext, level)?;
                Ok(cut(&self.scheme.summand(&encoded, limbs(level))?))
            }
            Source::Factor(plaintext, level) => {
                let encoded = self.plaintexts.take(plaintext, level)?;
                Ok(cut(&self.scheme.factor(&encoded, limbs(level))?))
            }
            Source::Extended(plaintext, level) => {
                let encoded = self.plaintexts.take_extended(plaintext, level)?;
                Ok(cut(&self.scheme.extended(&encoded)))
            }
            Source::Key {
                element,
                permuted,
                digit,
                half,
                limbs,
                wide,
            } => {
                let key = self.scheme.key(element, digit, half, limbs)?;
                self.over_wide(self.turned(key, permuted)?, limbs, wide)
            }
            Source::Sample {
                step,
                sample,
                limbs,
            } => Ok(cut(self.sample(step, sample, limbs)?.data())),
            Source::PublicKey { half, limbs } => self.scheme.public_key(half, limbs),
            Source::SpecialKey {
                element,
                permuted,
                digit,
                limbs,
            } => {
                let half = |half| self.scheme.key(element, digit, half, limbs);
                let mut special = half(0)?.split_off(limbs);
                special.extend(half(1)?.split_off(limbs));
                self.turned(special, permuted)
            }
        }
    }

    /// A half of a key, for ciphertexts of `limbs` limbs, over `wide` wide primes; as it is, if there are none.
    fn over_wide(
        &self,
        key: Vec<Words<S>>,
        limbs: usize,
        wide: usize,
    ) -> Result<Vec<Words<S>>, Error> {
        let known = &mut self.lowered.wide_bases.iter();
        let Some(to) = known.find(|basis| basis.len() == wide) else {
            return Ok(key);
        };
        let chain = self.scheme.chain();
        let mut from = chain.q.prefix(limbs)?;
        if let Some(p) = &chain.p {
            from = from.concat(p)?;
        }
        widen(key, &from, to)
    }

    /// Residues of a random polynomial of the encryption of zero that a step is.
    fn sample(
        &self,
        step: u32,
        sample: ZeroSample,
        limbs: usize,
    ) -> Result<Zeroizing<RnsPoly<S::Word, Coeff>>, Error> {
        let chain = self.scheme.chain();
        let mut basis = chain.q.prefix(limbs)?;
        if self.program.encryption == Encryption::Extended
            && let Some(p) = &chain.p
        {
            basis = basis.concat(p)?;
        }
        let index = self.plan.zero_index(step);
        let poly = self.scheme.zero_sample(self.zeros, index, sample)?;
        Ok(Zeroizing::new(poly.residues(&basis)))
    }

    /// Limbs of values under x -> x^`element`.
    fn turned(&self, limbs: Vec<Words<S>>, element: u64) -> Result<Vec<Words<S>>, Error> {
        if element == 1 {
            return Ok(limbs);
        }
        let n = self.lowered.graph.n();
        let map = Automorphism::new(n, element as usize)?;
        let one = |limb: &Words<S>| {
            let mut turned = vec![S::Word::ZERO; n];
            map.eval_into(limb, &mut turned);
            turned
        };
        Ok(limbs.iter().map(one).collect())
    }

    /// A step by the scheme's evaluator; parts of its operands come one after another.
    fn apply(&self, number: u32, parts: &[Vec<Shared<S::Word>>]) -> Result<S::Ciphertext, Error> {
        let step = &self.program.steps[number as usize];
        let (operands, count) = step.operation.operands();
        let mut parts = parts.iter();
        let mut ciphertexts = Vec::with_capacity(count);
        for (&operand, &scale) in operands[..count].iter().zip(&self.lowered.scales[&number]) {
            let size = usize::from(self.program.steps[operand as usize].size);
            let own: Vec<Vec<Words<S>>> = parts
                .by_ref()
                .take(size)
                .map(|limbs| limbs.iter().map(|limb| limb.to_vec()).collect())
                .collect();
            ciphertexts.push(self.scheme.assemble(&own, scale, self.key)?);
        }
        if let (Some(transform), [a]) = (self.program.transform(step), &ciphertexts[..]) {
            let plaintexts = self.plaintexts.of_transform(Spread::All, step)?;
            return self
                .scheme
                .transform(Spread::All, a, transform, &plaintexts);
        }
        if let (true, [a]) = (step.operation.refreshes(), &ciphertexts[..]) {
            return self
                .scheme
                .refresh(Spread::All, a, &|| self.observer.cancelled());
        }
        let plaintext = self.plaintexts.of_step(step)?;
        let operands: Vec<&S::Ciphertext> = ciphertexts.iter().collect();
        self.scheme
            .apply(Spread::All, step, &operands, plaintext.as_deref())
    }

    /// A result as bytes; `take` gives the limbs.
    pub fn write(
        &self,
        output: &Output,
        mut take: impl FnMut(::polynomial::Limb) -> Result<Words<S>, Error>,
    ) -> Result<Vec<u8>, Error> {
        if let Some(input) = output.input {
            return Ok(self.scheme.write(&self.inputs[input]));
        }
        let mut parts = Vec::with_capacity(output.parts.len());
        for limbs in &output.parts {
            let limbs: Result<Vec<Words<S>>, Error> =
                limbs.iter().map(|limb| take(*limb)).collect();
            parts.push(limbs?);
        }
        let made = self.scheme.assemble(&parts, output.scale, self.key)?;
        Ok(self.scheme.write(&made))
    }
}
