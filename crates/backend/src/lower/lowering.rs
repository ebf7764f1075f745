// SPDX-License-Identifier: Apache-2.0
//! A program that is lowered, and what its scheme adds.

use super::chain::{Chain, Parts};
use super::key_switch::arrangement::Arrangement;
use super::value::{Part, Source, Value};
use crate::Error;
use crate::scheme::interface::Scheme;
use ::polynomial::{Form, Graph, Limb, Origin, PolyOp};
use program::step::Step;
use program::transform::Transform;
use rlwe::{KeyId, SignedPoly, ZeroSample};
use rns::RnsBasis;
use std::collections::HashMap;
use zq::Word;

/// A scheme whose steps can be written as polynomial operations.
pub trait Lower: Scheme + Sized {
    /// Words of residues.
    type Word: Word;
    /// The form of ciphertexts between steps.
    const FORM: Form;
    /// Whether linear transforms are lowered.
    const TRANSFORMS: bool;
    /// Whether a modulus drop divides by the prime.
    const DROPS_BY_DIVISION: bool;

    /// The primes.
    fn chain(&self) -> Chain<Self::Word>;

    /// Scale of a product.
    fn product_scale(a: f64, b: f64) -> f64;

    /// A part of a ciphertext, limb after limb.
    fn part(&self, ciphertext: &Self::Ciphertext, part: usize) -> Vec<Self::Word>;

    /// The ciphertext of these parts.
    fn assemble(
        &self,
        parts: &Parts<Self::Word>,
        scale: f64,
        key: KeyId,
    ) -> Result<Self::Ciphertext, Error>;

    /// The addend of part 0, in the scheme's form.
    fn summand(&self, plaintext: &Self::Plaintext, limbs: usize) -> Result<Vec<Self::Word>, Error>;

    /// The plaintext as a factor, as values.
    fn factor(&self, plaintext: &Self::Plaintext, limbs: usize) -> Result<Vec<Self::Word>, Error>;

    /// The limbs of a digit's half of the relinearization key, or of an automorphism's, for ciphertexts of
    /// `limbs` limbs: values over these, then over the special primes.
    fn key(
        &self,
        element: Option<u64>,
        digit: usize,
        half: usize,
        limbs: usize,
    ) -> Result<Vec<Vec<Self::Word>>, Error>;

    /// The limbs of half of the public key, for ciphertexts of `limbs` limbs: values over these, then, of an extended
    /// key, over the special primes.
    fn public_key(&self, half: usize, limbs: usize) -> Result<Vec<Vec<Self::Word>>, Error>;

    /// A random polynomial of the encryption of zero with that number under the public key.
    fn zero_sample(
        &self,
        zeros: &Self::Zeros,
        index: u64,
        sample: ZeroSample,
    ) -> Result<SignedPoly, Error>;

    /// The automorphism of a rotation.
    fn element(&self, rotation: i32) -> u64;

    /// A plaintext of a linear transform, limb after limb: values over the data primes, then over the special primes.
    fn extended(&self, plaintext: &Self::Extended) -> Vec<Self::Word>;

    /// The operands of a tensor as values.
    fn operands(
        lowering: &mut Lowering<'_, Self>,
        factors: [&Value; 2],
        limbs: usize,
    ) -> Result<[Vec<Part>; 2], Error>;

    /// The parts of the product from those of the tensor.
    fn after_tensor(
        lowering: &mut Lowering<'_, Self>,
        products: Vec<Part>,
        limbs: usize,
    ) -> Result<Vec<Part>, Error>;
}

/// A program being lowered.
pub struct Lowering<'s, S: Lower> {
    pub(super) scheme: &'s S,
    pub(super) transforms: &'s [Transform],
    pub(super) input_scales: &'s [f64],
    pub(super) graph: Graph<S::Word>,
    /// The task that operations belong to from now on, a number of the graph.
    pub(super) task: u32,
    pub(super) sources: Vec<Source>,
    pub(super) scales: HashMap<u32, Vec<f64>>,
    /// Bits of the primes that integers may be worked on by, where that is worth it.
    pub(super) wide_bits: Option<u32>,
    /// Whether the engine converts bases: then operations are ordered and factors placed so that conversions run in
    /// parallel with products and transforms.
    pub(super) converts: bool,
    /// Whether the engine moves residues from lane to lane and applies automorphisms to values.
    pub(super) moves: bool,
    /// How key switches use the lanes.
    pub(super) arrangement: Arrangement,
    /// Whether encryptions of zero are polynomial operations, or whole steps.
    pub(super) zeros: bool,
    /// Whether the public key is over Q·P.
    pub(super) extended: bool,
    pub(super) wide_bases: Vec<RnsBasis<S::Word>>,
}

impl<S: Lower> Lowering<'_, S> {
    pub(super) fn moduli(&mut self, limbs: usize) -> Result<Vec<u16>, Error> {
        let whole = self.graph.basis(&self.scheme.chain().q);
        Ok(whole[..limbs].to_vec())
    }

    pub(super) fn source(&mut self, source: Source, limbs: usize) -> Result<Vec<Limb>, Error> {
        let moduli = self.moduli(limbs)?;
        Ok(self.source_over(source, &moduli))
    }

    pub(super) fn source_over(&mut self, source: Source, moduli: &[u16]) -> Vec<Limb> {
        let known = self.sources.iter().position(|other| *other == source);
        let number = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        let form = match source {
            Source::Input { .. } | Source::Sum(..) => S::FORM,
            Source::Sample { .. } => Form::Coefficients,
            _ => Form::Values,
        };
        let origin = match source {
            Source::Input { .. } => Origin::Ciphertext,
            Source::Sum(..) | Source::Factor(..) | Source::Extended(..) => Origin::Plaintext,
            Source::Key { .. } | Source::SpecialKey { .. } | Source::PublicKey { .. } => {
                Origin::Key
            }
            Source::Sample { .. } => Origin::Randomness,
        };
        self.graph.label(number as u32, origin);
        self.graph.source((number as u32, form), moduli, self.task)
    }

    pub(super) fn input(&mut self, input: usize, step: &Step) -> Result<Value, Error> {
        let parts = (0..usize::from(step.size)).map(|part| {
            let source = Source::Input { input, part };
            let limbs = self.source(source, step.level as usize + 1)?;
            Ok(Part {
                form: S::FORM,
                limbs,
            })
        });
        Ok(Value {
            parts: parts.collect::<Result<_, Error>>()?,
            scale: self.input_scales[input],
            input: Some(input),
        })
    }

    pub(super) fn in_form(&mut self, part: &Part, form: Form) -> Part {
        let limbs = match (part.form, form) {
            (Form::Coefficients, Form::Values) => self.graph.ntt(&part.limbs, self.task),
            (Form::Values, Form::Coefficients) => self.graph.intt(&part.limbs, self.task),
            _ => part.limbs.clone(),
        };
        Part { form, limbs }
    }

    /// An operation on parts of one form, over the limbs that all of them have.
    pub(super) fn by_limb(&mut self, operation: PolyOp, parts: &[&Part]) -> Part {
        let common = parts.iter().map(|part| part.limbs.len()).min().unwrap_or(0);
        let operands: Vec<&[Limb]> = parts.iter().map(|part| &part.limbs[..common]).collect();
        Part {
            form: parts[0].form,
            limbs: self.graph.by_limb(operation, &operands, self.task),
        }
    }

    /// Both in the form that one of them has: values, if one of them is.
    pub(super) fn alike(&mut self, a: &Part, b: &Part) -> [Part; 2] {
        let form = if a.form == b.form {
            a.form
        } else {
            Form::Values
        };
        [a, b].map(|part| self.in_form(part, form))
    }

    pub(super) fn last_prime(&self, value: &Value) -> f64 {
        let last = value.parts[0].limbs.len() - 1;
        self.scheme.chain().q.modulus(last).value().to_u128() as f64
    }

    /// Each limb times its factor.
    pub(super) fn scaled(&mut self, limbs: &[Limb], factors: Vec<u128>) -> Vec<Limb> {
        (self.graph).by_limb(PolyOp::Scale(factors), &[limbs], self.task)
    }
}
