// SPDX-License-Identifier: Apache-2.0
//! Encryptions of zero under a public key: a client's, and those within a program.

use super::lowering::{Lower, Lowering};
use super::value::{Part, Source, Value};
use crate::Error;
use ::polynomial::{Form, Graph, Limb, PolyOp};
use program::step::Step;
use rlwe::ZeroSample;
use zq::Word;

/// What an encryption of zero is computed from.
pub struct ZeroOperands<'a> {
    /// u, coefficients.
    pub u: &'a [Limb],
    /// Both halves of the public key, values.
    pub key: [&'a [Limb]; 2],
    /// Both errors, coefficients.
    pub errors: [&'a [Limb]; 2],
}

/// `key_i·u + e_i` in a form.
pub fn zero_sums<W: Word>(
    graph: &mut Graph<W>,
    operands: &ZeroOperands<'_>,
    form: Form,
    task: u32,
) -> [Vec<Limb>; 2] {
    let u = graph.ntt(operands.u, task);
    [0, 1].map(|half| match form {
        Form::Values => {
            let error = graph.ntt(operands.errors[half], task);
            graph.by_limb(PolyOp::MulAdd, &[&u, operands.key[half], &error], task)
        }
        Form::Coefficients => {
            let product = graph.by_limb(PolyOp::Mul, &[&u, operands.key[half]], task);
            let product = graph.intt(&product, task);
            graph.by_limb(PolyOp::Add, &[&product, operands.errors[half]], task)
        }
    })
}

impl<S: Lower> Lowering<'_, S> {
    /// An encryption of zero at the step's level; over Q·P first and divided by P with an extended key.
    pub(super) fn zero(&mut self, number: u32, step: &Step) -> Result<Value, Error> {
        let own = step.level as usize + 1;
        // Where levels are dropped by division a fresh ciphertext has all data primes.
        let limbs = match S::DROPS_BY_DIVISION {
            true => self.scheme.chain().q.len(),
            false => own,
        };
        let mut moduli = self.moduli(limbs)?;
        if self.extended {
            moduli.extend(self.special());
        }
        let mut sample = |sample| {
            let step = number;
            self.source_over(
                Source::Sample {
                    step,
                    sample,
                    limbs,
                },
                &moduli,
            )
        };
        let u = sample(ZeroSample::U);
        let errors = [ZeroSample::E0, ZeroSample::E1].map(sample);
        let key = [0, 1].map(|half| self.source_over(Source::PublicKey { half, limbs }, &moduli));
        let operands = ZeroOperands {
            u: &u,
            key: [&key[0], &key[1]],
            errors: [&errors[0], &errors[1]],
        };
        let sums = zero_sums(&mut self.graph, &operands, S::FORM, self.task);
        let mut parts = sums
            .map(|limbs| Part {
                form: S::FORM,
                limbs,
            })
            .to_vec();
        if self.extended {
            let divided = parts.iter().map(|sum| self.mod_down(sum));
            parts = divided.collect::<Result<_, Error>>()?;
        }
        let fresh = Value::computed(parts, step.scale);
        self.mod_drop(&fresh, own)
    }
}
