// SPDX-License-Identifier: Apache-2.0
//! Ciphertexts and sources of a program that is lowered.

use ::polynomial::{Form, Limb};
use program::step::Plaintext;
use rlwe::ZeroSample;
use std::hash::{Hash, Hasher};

/// One polynomial of a ciphertext.
#[derive(Clone, Debug)]
pub struct Part {
    pub(super) form: Form,
    pub(super) limbs: Vec<Limb>,
}

/// A ciphertext of the program.
#[derive(Clone, Debug)]
pub struct Value {
    pub(super) parts: Vec<Part>,
    pub(super) scale: f64,
    /// The input that it is, unchanged.
    pub(super) input: Option<usize>,
}

impl Value {
    /// A ciphertext that is no input.
    pub(super) fn computed(parts: Vec<Part>, scale: f64) -> Self {
        Self {
            parts,
            scale,
            input: None,
        }
    }
}

/// A source of the polynomial program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// A part of an input.
    Input { input: usize, part: usize },
    /// A plaintext as a summand, at a level.
    Sum(Plaintext, u32),
    /// A plaintext as a factor.
    Factor(Plaintext, u32),
    /// A plaintext of a linear transform, at a level.
    Extended(Plaintext, u32),
    /// Half of a digit of a key, for ciphertexts of `limbs` limbs: the relinearization key, or an automorphism's. Over
    /// `wide` wide primes, or over its own. Permuted by x -> x^`permuted`.
    Key {
        element: Option<u64>,
        permuted: u64,
        digit: usize,
        half: usize,
        limbs: usize,
        wide: usize,
    },
    /// A random polynomial of the encryption of zero that a step is, over `limbs` data primes.
    Sample {
        step: u32,
        sample: ZeroSample,
        limbs: usize,
    },
    /// Half of the public key, over `limbs` data primes.
    PublicKey { half: usize, limbs: usize },
    /// Both halves of a digit of a key over the special primes, the first half's before the second's; the rest is as
    /// for `Key`.
    SpecialKey {
        element: Option<u64>,
        permuted: u64,
        digit: usize,
        limbs: usize,
    },
}

/// Scales of plaintexts are numbers: the reader of programs refuses others.
impl Eq for Source {}

/// Of a plaintext without its scale, which hardly ever is the only difference.
impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match *self {
            Self::Input { input, part } => (input, part).hash(state),
            Self::Sum(plaintext, level)
            | Self::Factor(plaintext, level)
            | Self::Extended(plaintext, level) => (plaintext.number, level).hash(state),
            Self::Key {
                element,
                permuted,
                digit,
                half,
                limbs,
                wide,
            } => (element, permuted, digit, half, limbs, wide).hash(state),
            Self::Sample {
                step,
                sample,
                limbs,
            } => (step, sample, limbs).hash(state),
            Self::PublicKey { half, limbs } => (half, limbs).hash(state),
            Self::SpecialKey {
                element,
                permuted,
                digit,
                limbs,
            } => (element, permuted, digit, limbs).hash(state),
        }
    }
}

impl Part {
    /// The first limbs.
    pub(super) fn prefix(&self, limbs: usize) -> Self {
        Self {
            form: self.form,
            limbs: self.limbs[..limbs].to_vec(),
        }
    }
}
