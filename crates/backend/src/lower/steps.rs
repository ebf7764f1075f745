// SPDX-License-Identifier: Apache-2.0
//! The steps that need no key, and the way to those that do.

use super::lowering::{Lower, Lowering};
use super::value::{Part, Source, Value};
use crate::Error;
use ::polynomial::{Form, Limb, PolyOp};
use program::step::{Operation, Plaintext, Step};

impl<S: Lower> Lowering<'_, S> {
    /// The name of a step's work in reports.
    fn task_of(&mut self, number: u32, step: &Step) -> u32 {
        let name = match step.operation {
            Operation::Multiply(..) | Operation::Square(_) => "tensor",
            Operation::Relinearize(_)
            | Operation::Rotate(..)
            | Operation::SwapRows(_)
            | Operation::RelinearizeRescale(_)
            | Operation::LinearTransform(..) => "key-switch",
            Operation::Bootstrap(_) => "refresh",
            Operation::MultiplyPlain(..) => "polymul",
            Operation::EncryptZero => "zero-encrypt",
            Operation::Rescale(_) | Operation::ModDrop(_) => "rescale",
            Operation::Input => "input",
            Operation::Add(..)
            | Operation::Sub(..)
            | Operation::Negate(_)
            | Operation::AddPlain(..)
            | Operation::SubPlain(..)
            | Operation::Within(..) => "sum",
        };
        self.graph.task(name, number)
    }

    pub(super) fn step(
        &mut self,
        number: u32,
        step: &Step,
        values: &[Value],
    ) -> Result<Value, Error> {
        self.task = self.task_of(number, step);
        let of = |a: u32| &values[a as usize];
        let limbs = step.level as usize + 1;
        Ok(match step.operation {
            Operation::Input => self.input(number as usize, step)?,
            Operation::Add(a, b) => self.sum(of(a), of(b), &PolyOp::Add),
            Operation::Sub(a, b) => self.sum(of(a), of(b), &PolyOp::Sub),
            Operation::Negate(a) => self.negate(of(a)),
            Operation::AddPlain(a, p) => self.plain_sum(of(a), p, &PolyOp::Add)?,
            Operation::SubPlain(a, p) => self.plain_sum(of(a), p, &PolyOp::Sub)?,
            Operation::MultiplyPlain(a, p) => self.plain_product(of(a), p, step.level)?,
            Operation::Multiply(a, b) => self.product(of(a), of(b))?,
            Operation::Square(a) => self.product(of(a), of(a))?,
            Operation::Relinearize(a) if of(a).parts.len() == 2 => of(a).clone(),
            Operation::Relinearize(a) => self.relinearize(of(a))?,
            Operation::Rotate(a, by) => self.rotate(of(a), self.scheme.element(by))?,
            Operation::SwapRows(a) => {
                let swap = 2 * self.graph.n() as u64 - 1;
                self.rotate(of(a), swap)?
            }
            Operation::RelinearizeRescale(a) => self.relinearize_rescale(of(a))?,
            Operation::LinearTransform(a, number) if S::TRANSFORMS => {
                let transform = &self.transforms[number as usize];
                self.transform(of(a), transform, step.level)?
            }
            Operation::Rescale(a) => self.rescale(of(a))?,
            Operation::ModDrop(a) => self.mod_drop(of(a), limbs)?,
            Operation::Within(a, _) => of(a).clone(),
            Operation::EncryptZero if self.zeros => self.zero(number, step)?,
            Operation::LinearTransform(..) | Operation::EncryptZero | Operation::Bootstrap(_) => {
                self.outside(number, step, values)?
            }
        })
    }

    fn negate(&mut self, a: &Value) -> Value {
        let negated = |part: &Part| self.by_limb(PolyOp::Neg, &[part]);
        Value::computed(a.parts.iter().map(negated).collect(), a.scale)
    }

    fn plain_product(&mut self, a: &Value, p: Plaintext, level: u32) -> Result<Value, Error> {
        let limbs = self.source(Source::Factor(p, level), level as usize + 1)?;
        let form = Form::Values;
        let factor = Part { form, limbs };
        let parts = a.parts.iter().map(|part| {
            let values = self.in_form(part, Form::Values);
            self.by_limb(PolyOp::Mul, &[&values, &factor])
        });
        let scale = S::product_scale(a.scale, p.scale);
        Ok(Value::computed(parts.collect(), scale))
    }

    fn rescale(&mut self, a: &Value) -> Result<Value, Error> {
        let divided = self.drop_last(a)?;
        Ok(Value::computed(divided, a.scale / self.last_prime(a)))
    }

    /// A step that only the scheme's own evaluator does.
    fn outside(&mut self, number: u32, step: &Step, values: &[Value]) -> Result<Value, Error> {
        let (operands, count) = step.operation.operands();
        let (mut limbs, mut scales) = (Vec::new(), Vec::new());
        for &operand in &operands[..count] {
            let value = &values[operand as usize];
            scales.push(value.scale);
            for part in &value.parts {
                limbs.push(self.in_form(part, S::FORM).limbs);
            }
        }
        self.scales.insert(number, scales);
        let moduli = self.moduli(step.level as usize + 1)?;
        let all = moduli.repeat(usize::from(step.size));
        let made = self.graph.step((number, S::FORM), limbs, &all, self.task);
        let part = |limbs: &[Limb]| Part {
            form: S::FORM,
            limbs: limbs.to_vec(),
        };
        Ok(Value::computed(
            made.chunks_exact(moduli.len()).map(part).collect(),
            step.scale,
        ))
    }

    fn sum(&mut self, a: &Value, b: &Value, operation: &PolyOp) -> Value {
        let common = a.parts[0].limbs.len().min(b.parts[0].limbs.len());
        let parts =
            (0..a.parts.len().max(b.parts.len())).map(|i| match (a.parts.get(i), b.parts.get(i)) {
                (Some(x), Some(y)) => {
                    let [x, y] = self.alike(x, y);
                    self.by_limb(operation.clone(), &[&x, &y])
                }
                (None, Some(y)) if *operation == PolyOp::Sub => {
                    self.by_limb(PolyOp::Neg, &[&y.prefix(common)])
                }
                (x, y) => x
                    .or(y)
                    .map(|part| part.prefix(common))
                    .unwrap_or_else(|| a.parts[0].clone()),
            });
        Value::computed(parts.collect(), a.scale)
    }

    fn plain_sum(
        &mut self,
        a: &Value,
        plaintext: Plaintext,
        operation: &PolyOp,
    ) -> Result<Value, Error> {
        let limbs = a.parts[0].limbs.len();
        let source = Source::Sum(plaintext, limbs as u32 - 1);
        let summand = Part {
            form: S::FORM,
            limbs: self.source(source, limbs)?,
        };
        let mut parts = a.parts.clone();
        let [x, y] = self.alike(&parts[0], &summand);
        parts[0] = self.by_limb(operation.clone(), &[&x, &y]);
        Ok(Value::computed(parts, a.scale))
    }

    /// The tensor of two ciphertexts, by the scheme's own way before and after.
    fn product(&mut self, a: &Value, b: &Value) -> Result<Value, Error> {
        let limbs = a.parts[0].limbs.len().min(b.parts[0].limbs.len());
        let [left, right] = S::operands(self, [a, b], limbs)?;
        let size = left.len() + right.len() - 1;
        let parts = if self.converts {
            // The last part first: relinearisation begins with it, while the others are still scaled.
            let mut parts = Vec::with_capacity(size);
            for part in (0..size).rev() {
                let product = self.product_part(&left, &right, part);
                parts.extend(S::after_tensor(self, vec![product], limbs)?);
            }
            parts.reverse();
            parts
        } else {
            let products = (0..size).map(|part| self.product_part(&left, &right, part));
            let products = products.collect();
            S::after_tensor(self, products, limbs)?
        };
        Ok(Value::computed(parts, S::product_scale(a.scale, b.scale)))
    }

    /// The sum of the products of parts i and j with i + j = `part`.
    fn product_part(&mut self, left: &[Part], right: &[Part], part: usize) -> Part {
        let mut sum: Option<Part> = None;
        for (i, x) in left.iter().enumerate().take(part + 1) {
            let Some(y) = right.get(part - i) else {
                continue;
            };
            sum = Some(match sum {
                None => self.by_limb(PolyOp::Mul, &[x, y]),
                Some(sum) => self.by_limb(PolyOp::MulAdd, &[x, y, &sum]),
            });
        }
        sum.unwrap_or_else(|| left[0].clone())
    }

    pub(super) fn mod_drop(&mut self, a: &Value, limbs: usize) -> Result<Value, Error> {
        let mut value = a.clone();
        while S::DROPS_BY_DIVISION && value.parts[0].limbs.len() > limbs {
            value = Value {
                parts: self.drop_last(&value)?,
                input: None,
                ..value
            };
        }
        if S::DROPS_BY_DIVISION {
            return Ok(value);
        }
        value
            .parts
            .iter_mut()
            .for_each(|part| part.limbs.truncate(limbs));
        value.input = None;
        Ok(value)
    }
}
