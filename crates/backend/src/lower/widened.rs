// SPDX-License-Identifier: Apache-2.0
//! BFV over 64-bit words whose polynomial operations are over 128-bit words: a device with wide words takes the place
//! of several narrow primes by one wide prime where only the integer result matters.

use super::bfv::Multiplies;
use super::chain::{Chain, Parts};
use super::lowering::{Lower, Lowering};
use super::value::{Part, Value};
use crate::Error;
use crate::scheme::bfv::Bfv;
use crate::scheme::interface::{Facts, Scheme, Spread};
use ::bfv::linear_transform::ExtendedPlaintext;
use ::bfv::{Ciphertext, Plaintext};
use ::polynomial::Form;
use program::Program;
use program::expression::Numbers;
use program::step::Step;
use program::transform::Transform;
use rlwe::{KeyId, Seed, SignedPoly, ZeroSample};
use rns::RnsBasis;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// BFV with wider words.
pub struct Widened {
    inner: Bfv<u64>,
    chain: Chain<u128>,
    products: Mutex<HashMap<usize, RnsBasis<u128>>>,
}

fn widened(basis: &RnsBasis<u64>) -> Result<RnsBasis<u128>, Error> {
    let values: Vec<u128> = basis.values().iter().map(|&q| q.into()).collect();
    Ok(RnsBasis::new(basis.n(), &values)?)
}

fn wide(words: &[u64]) -> Vec<u128> {
    words.iter().map(|&word| word.into()).collect()
}

impl Widened {
    pub fn new(inner: Bfv<u64>) -> Result<Self, Error> {
        let narrow = inner.chain();
        let chain = Chain {
            q: widened(&narrow.q)?,
            p: narrow.p.as_ref().map(widened).transpose()?,
            digit_len: narrow.digit_len,
        };
        Ok(Self {
            inner,
            chain,
            products: Mutex::default(),
        })
    }
}

impl Scheme for Widened {
    type Ciphertext = Ciphertext<u64>;
    type Plaintext = Plaintext;
    type Extended = ExtendedPlaintext<u64>;
    type Zeros = <Bfv<u64> as Scheme>::Zeros;

    fn check_keys(&self, program: &Program) -> Result<Option<KeyId>, Error> {
        self.inner.check_keys(program)
    }

    fn zeros(&self, seed: Seed) -> Result<Self::Zeros, Error> {
        self.inner.zeros(seed)
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertext<u64>, Error> {
        self.inner.read(bytes)
    }

    fn write(&self, ciphertext: &Ciphertext<u64>) -> Vec<u8> {
        self.inner.write(ciphertext)
    }

    fn facts(&self, ciphertext: &Ciphertext<u64>) -> Facts {
        self.inner.facts(ciphertext)
    }

    fn encode(&self, slots: &Numbers, level: usize, scale: f64) -> Result<Plaintext, Error> {
        self.inner.encode(slots, level, scale)
    }

    fn encode_extended(
        &self,
        slots: &Numbers,
        level: usize,
        scale: f64,
    ) -> Result<ExtendedPlaintext<u64>, Error> {
        self.inner.encode_extended(slots, level, scale)
    }

    fn transform(
        &self,
        spread: Spread,
        a: &Ciphertext<u64>,
        transform: &Transform,
        plaintexts: &[Arc<ExtendedPlaintext<u64>>],
    ) -> Result<Ciphertext<u64>, Error> {
        self.inner.transform(spread, a, transform, plaintexts)
    }

    fn zero(&self, zeros: &Self::Zeros, index: u64, step: &Step) -> Result<Ciphertext<u64>, Error> {
        self.inner.zero(zeros, index, step)
    }

    fn plaintext_bytes(plaintext: &Plaintext) -> usize {
        Bfv::<u64>::plaintext_bytes(plaintext)
    }

    fn extended_bytes(plaintext: &ExtendedPlaintext<u64>) -> usize {
        Bfv::<u64>::extended_bytes(plaintext)
    }

    fn rotate_many(
        &self,
        spread: Spread,
        a: &Ciphertext<u64>,
        by: &[i64],
    ) -> Result<Vec<Ciphertext<u64>>, Error> {
        self.inner.rotate_many(spread, a, by)
    }

    fn refresh(
        &self,
        spread: Spread,
        a: &Ciphertext<u64>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Ciphertext<u64>, Error> {
        self.inner.refresh(spread, a, stopped)
    }

    fn apply(
        &self,
        spread: Spread,
        step: &Step,
        operands: &[&Ciphertext<u64>],
        plaintext: Option<&Plaintext>,
    ) -> Result<Ciphertext<u64>, Error> {
        self.inner.apply(spread, step, operands, plaintext)
    }
}

impl Lower for Widened {
    type Word = u128;
    const FORM: Form = Form::Coefficients;
    // Their plaintexts would have to be over the wide primes too.
    const TRANSFORMS: bool = false;
    const DROPS_BY_DIVISION: bool = true;

    fn chain(&self) -> Chain<u128> {
        self.chain.clone()
    }

    fn product_scale(_: f64, _: f64) -> f64 {
        1.0
    }

    fn part(&self, ciphertext: &Ciphertext<u64>, part: usize) -> Vec<u128> {
        wide(&self.inner.part(ciphertext, part))
    }

    fn assemble(
        &self,
        parts: &Parts<u128>,
        scale: f64,
        key: KeyId,
    ) -> Result<Ciphertext<u64>, Error> {
        let narrow = |limb: &Vec<u128>| limb.iter().map(|&word| word as u64).collect();
        let parts: Parts<u64> = parts
            .iter()
            .map(|limbs| limbs.iter().map(narrow).collect())
            .collect();
        self.inner.assemble(&parts, scale, key)
    }

    fn summand(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<u128>, Error> {
        Ok(wide(&self.inner.summand(plaintext, limbs)?))
    }

    fn factor(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<u128>, Error> {
        Ok(wide(&self.inner.factor(plaintext, limbs)?))
    }

    fn key(
        &self,
        element: Option<u64>,
        digit: usize,
        half: usize,
        limbs: usize,
    ) -> Result<Vec<Vec<u128>>, Error> {
        let narrow = self.inner.key(element, digit, half, limbs)?;
        Ok(narrow.iter().map(|limb| wide(limb)).collect())
    }

    fn public_key(&self, half: usize, limbs: usize) -> Result<Vec<Vec<u128>>, Error> {
        let narrow = self.inner.public_key(half, limbs)?;
        Ok(narrow.iter().map(|limb| wide(limb)).collect())
    }

    fn zero_sample(
        &self,
        zeros: &Self::Zeros,
        index: u64,
        sample: ZeroSample,
    ) -> Result<SignedPoly, Error> {
        self.inner.zero_sample(zeros, index, sample)
    }

    fn element(&self, rotation: i32) -> u64 {
        self.inner.element(rotation)
    }

    fn extended(&self, plaintext: &ExtendedPlaintext<u64>) -> Vec<u128> {
        wide(&self.inner.extended(plaintext))
    }

    fn operands(
        lowering: &mut Lowering<'_, Self>,
        factors: [&Value; 2],
        limbs: usize,
    ) -> Result<[Vec<Part>; 2], Error> {
        super::bfv::operands(lowering, factors, limbs)
    }

    fn after_tensor(
        lowering: &mut Lowering<'_, Self>,
        products: Vec<Part>,
        limbs: usize,
    ) -> Result<Vec<Part>, Error> {
        super::bfv::after_tensor(lowering, products, limbs)
    }
}

impl Multiplies for Widened {
    fn over_q(&self, limbs: usize) -> Result<RnsBasis<u128>, Error> {
        let mut known = self.products.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(basis) = known.get(&limbs) {
            return Ok(basis.clone());
        }
        let basis = widened(&self.inner.over_q(limbs)?)?;
        known.insert(limbs, basis.clone());
        Ok(basis)
    }

    fn plain_modulus(&self) -> u64 {
        self.inner.plain_modulus()
    }
}
