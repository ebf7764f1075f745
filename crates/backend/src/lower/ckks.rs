// SPDX-License-Identifier: Apache-2.0
//! CKKS: everything is values.

use super::chain::{Chain, Parts, polynomials};
use super::lowering::{Lower, Lowering};
use super::value::{Part, Value};
use crate::Error;
use crate::keys::key;
use crate::scheme::ckks::Ckks;
use ::ckks::linear_transform::ExtendedPlaintext;
use ::ckks::{Ciphertext, Plaintext};
use ::polynomial::Form;
use rlwe::{KeyId, SignedPoly, ZeroSample};

impl Lower for Ckks {
    type Word = u64;
    const FORM: Form = Form::Values;
    const TRANSFORMS: bool = true;
    const DROPS_BY_DIVISION: bool = false;

    fn chain(&self) -> Chain<u64> {
        Chain::of(self.params.rlwe())
    }

    fn product_scale(a: f64, b: f64) -> f64 {
        a * b
    }

    fn part(&self, ciphertext: &Ciphertext, part: usize) -> Vec<u64> {
        ciphertext.parts()[part].data().to_vec()
    }

    fn assemble(&self, parts: &Parts<u64>, scale: f64, key: KeyId) -> Result<Ciphertext, Error> {
        let parts = polynomials(self.params.rlwe(), parts)?;
        let slots = self.params.slots();
        Ok(Ciphertext::from_parts(
            &self.params,
            parts,
            scale,
            slots,
            key,
        )?)
    }

    fn summand(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<u64>, Error> {
        self.factor(plaintext, limbs)
    }

    fn factor(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<u64>, Error> {
        Ok(plaintext.poly().data()[..limbs * self.params.n()].to_vec())
    }

    fn key(
        &self,
        element: Option<u64>,
        digit: usize,
        half: usize,
        limbs: usize,
    ) -> Result<Vec<Vec<u64>>, Error> {
        self.keys.limbs(element, digit, half, limbs)
    }

    fn public_key(&self, half: usize, limbs: usize) -> Result<Vec<Vec<u64>>, Error> {
        self.keys.public_limbs(half, limbs)
    }

    fn zero_sample(
        &self,
        zeros: &Self::Zeros,
        index: u64,
        sample: ZeroSample,
    ) -> Result<SignedPoly, Error> {
        let public = key(self.keys.public.as_deref(), "public")?;
        Ok(zeros.sample(public, index, sample)?)
    }

    fn element(&self, rotation: i32) -> u64 {
        ::ckks::slot_rotation_element(self.params.n(), rotation.into())
    }

    fn extended(&self, plaintext: &ExtendedPlaintext) -> Vec<u64> {
        plaintext.poly().data().to_vec()
    }

    fn operands(
        _: &mut Lowering<'_, Self>,
        factors: [&Value; 2],
        limbs: usize,
    ) -> Result<[Vec<Part>; 2], Error> {
        Ok(factors.map(|value| value.parts.iter().map(|part| part.prefix(limbs)).collect()))
    }

    fn after_tensor(
        _: &mut Lowering<'_, Self>,
        products: Vec<Part>,
        _: usize,
    ) -> Result<Vec<Part>, Error> {
        Ok(products)
    }
}
