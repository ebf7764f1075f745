// SPDX-License-Identifier: Apache-2.0
//! The scheme interface of lowering, an extension of that of a run.

use super::{Lowering, Part, Value};
use crate::Error;
use crate::cpu::scheme::Scheme;
use ::polynomial::Form;
use rlwe::{KeyId, RlweParams, SignedPoly, ZeroSample};
use rns::{Domain, RnsBasis, RnsPoly};
use zq::AlignedVec;
pub use zq::Word;

/// Limbs of the parts of a ciphertext.
pub type Parts<W> = Vec<Vec<Vec<W>>>;

/// The primes of a set.
#[derive(Clone)]
pub struct Chain<W: Word> {
    /// Data primes.
    pub q: RnsBasis<W>,
    /// Special primes.
    pub p: Option<RnsBasis<W>>,
    /// Data primes of a digit.
    pub digit_len: usize,
}

impl<W: Word> Chain<W> {
    /// Those of ring-LWE parameters.
    pub fn of(params: &RlweParams<W>) -> Self {
        Self {
            q: params.q().clone(),
            p: params.p().cloned(),
            digit_len: params.digit_len(),
        }
    }
}

/// The polynomials of limbs, each over the first data primes.
pub fn polynomials<W: Word, D: Domain>(
    params: &RlweParams<W>,
    parts: &Parts<W>,
) -> Result<Vec<RnsPoly<W, D>>, Error> {
    let polynomial = |limbs: &Vec<Vec<W>>| {
        let basis = params.q_prefix(limbs.len())?;
        let data = AlignedVec::from_slice(&limbs.concat());
        Ok(RnsPoly::from_data(&basis, data))
    };
    parts.iter().map(polynomial).collect()
}

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

    /// The limbs of a digit's half of the relinearization key, or of an automorphism's, for ciphertexts of so many
    /// limbs: values over these, then over the special primes.
    fn key(
        &self,
        element: Option<u64>,
        place: (usize, usize),
        limbs: usize,
    ) -> Result<Vec<Vec<Self::Word>>, Error>;

    /// The limbs of half of the public key, for ciphertexts of so many limbs: values over these, then, of an extended
    /// key, over the special primes.
    fn public_key(&self, half: usize, limbs: usize) -> Result<Vec<Vec<Self::Word>>, Error>;

    /// A random polynomial of the encryption of zero with that number under the public key.
    fn zero_sample(&self, index: u64, sample: ZeroSample) -> Result<SignedPoly, Error>;

    /// The automorphism of a rotation.
    fn element(&self, rotation: i32) -> u64;

    /// A plaintext of a linear transform, limb after limb: values over the data primes, then over the special primes.
    fn extended(&self, plaintext: &Self::Extended) -> Vec<Self::Word>;

    /// The operands of a tensor as values.
    fn operands(
        lowering: &mut Lowering<'_, Self>,
        factors: [&Value; 2],
        limbs: usize,
        task: u32,
    ) -> Result<[Vec<Part>; 2], Error>;

    /// The parts of the product from those of the tensor.
    fn after_tensor(
        lowering: &mut Lowering<'_, Self>,
        products: Vec<Part>,
        limbs: usize,
        task: u32,
    ) -> Result<Vec<Part>, Error>;
}
