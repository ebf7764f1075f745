// SPDX-License-Identifier: Apache-2.0
//! From homomorphic steps to operations on residue polynomials. BFV's ciphertexts are in coefficient form between
//! steps, CKKS's are values; sums and plain products of BFV stay values until coefficients are needed.
//!
//! A rotation by x -> x^g multiplies the digits of the ciphertext as it is by keys permuted by 1/g and permutes the
//! sum: the centred digits commute with permutations, so all rotations of a ciphertext share its digits' transforms.

mod apart;
mod bfv;
mod ckks;
pub mod client;
mod execute;
mod halves;
mod mixed_radix;
mod run;
mod scheme;
mod sides;
mod switch;
mod transform;
mod wide;
mod widened;
mod zero;

use crate::Error;
use ::polynomial::{Form, Graph, Limb, Operation as Op, Origin};
use halves::Halves;
use program::step::{Operation, Plaintext, Step};
use program::transform::Transform;
use program::{Encryption, Program};
use rlwe::ZeroSample;
use rns::RnsBasis;
pub use run::{Engine, Shape, run, wide_shape};
pub use scheme::{Lower, Word};
use std::borrow::Cow;
use std::collections::HashMap;
pub use widened::Widened;

/// One polynomial of a ciphertext.
#[derive(Clone, Debug)]
pub struct Part {
    form: Form,
    limbs: Vec<Limb>,
}

/// A ciphertext of the program.
#[derive(Clone, Debug)]
pub struct Value {
    parts: Vec<Part>,
    scale: f64,
    /// The input that it is, unchanged.
    input: Option<usize>,
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
    /// Half of a digit of a key, for ciphertexts of so many limbs: the relinearization key, or an automorphism's. Over
    /// `wide` wide primes, or over its own. Permuted by x -> x^`permuted`.
    Key {
        element: Option<u64>,
        permuted: u64,
        digit: usize,
        half: usize,
        limbs: usize,
        wide: usize,
    },
    /// A random polynomial of the encryption of zero that a step is, for so many data primes.
    Sample {
        step: u32,
        sample: ZeroSample,
        limbs: usize,
    },
    /// Half of the public key, for so many data primes.
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

/// A result of the program.
pub struct Output {
    /// The input that it is.
    pub input: Option<usize>,
    /// Limbs of its parts.
    pub parts: Vec<Vec<Limb>>,
    /// Its scale.
    pub scale: f64,
}

/// A homomorphic program in polynomial operations.
pub struct Lowered<W: Word> {
    /// The operations.
    pub graph: Graph<W>,
    /// Its sources.
    pub sources: Vec<Source>,
    /// Its results.
    pub outputs: Vec<Output>,
    /// Scales of the operands of steps done whole.
    pub scales: HashMap<u32, Vec<f64>>,
    /// Bases of wide primes.
    pub wide_bases: Vec<RnsBasis<W>>,
}

impl<W: Word> Lowered<W> {
    /// The program for `cores` engines that work at the same time, a part for each that gets one.
    pub fn parts(&self, cores: usize) -> Vec<Cow<'_, Graph<W>>> {
        let varies = |source: u32| {
            let source = self.sources[source as usize];
            matches!(source, Source::Input { .. } | Source::Sample { .. })
        };
        let parts = self.graph.shares(cores, varies);
        match parts.is_empty() {
            true => vec![Cow::Borrowed(&self.graph)],
            false => parts.into_iter().map(Cow::Owned).collect(),
        }
    }
}

/// Lowers a program for an engine.
pub fn lower<S: Lower>(
    program: &Program,
    scheme: &S,
    input_scales: &[f64],
    shape: Shape,
) -> Result<Lowered<S::Word>, Error> {
    let chain = scheme.chain();
    let mut graph = Graph::new(chain.q.n());
    if shape.lanes > 1 {
        graph = graph.together();
    }
    let moves = shape.moves && shape.wide_bits.is_none();
    let halves = match moves {
        true => Halves::of::<S>(&mut graph, &chain, shape)?,
        false => Halves::InTurn,
    };
    if halves == Halves::Mirrored {
        graph = graph.mirrored();
    }
    let mut lowering = Lowering {
        scheme,
        transforms: &program.transforms,
        input_scales,
        graph,
        moves,
        halves,
        digit_major: moves && shape.digit_major,
        wide_bits: shape.wide_bits,
        converts: shape.converts && shape.wide_bits.is_none(),
        zeros: shape.zeros,
        extended: program.encryption == Encryption::Extended,
        wide_bases: Vec::new(),
        sources: Vec::new(),
        scales: HashMap::new(),
    };
    let mut values: Vec<Value> = Vec::with_capacity(program.steps.len());
    for (number, step) in (0..).zip(&program.steps) {
        let failed = |error: Error| error.at(program, number);
        let value = lowering.step(number, step, &values).map_err(failed)?;
        values.push(value);
    }
    let outputs = program.outputs.iter().map(|&output| {
        let value = &values[output as usize];
        let task = lowering.graph.task("output", output);
        let native = |part: &Part| lowering.in_form(part, S::FORM, task).limbs;
        Output {
            input: value.input,
            parts: value.parts.clone().iter().map(native).collect(),
            scale: value.scale,
        }
    });
    let outputs: Vec<Output> = outputs.collect();
    for part in outputs
        .iter()
        .filter(|o| o.input.is_none())
        .flat_map(|o| &o.parts)
    {
        lowering.graph.output(part);
    }
    Ok(Lowered {
        graph: lowering.graph,
        sources: lowering.sources,
        outputs,
        scales: lowering.scales,
        wide_bases: lowering.wide_bases,
    })
}

/// A program being lowered.
pub struct Lowering<'s, S: Lower> {
    scheme: &'s S,
    transforms: &'s [Transform],
    input_scales: &'s [f64],
    graph: Graph<S::Word>,
    sources: Vec<Source>,
    scales: HashMap<u32, Vec<f64>>,
    /// Bits of the primes that integers may be worked on by, where that is worth it.
    wide_bits: Option<u32>,
    /// Whether the engine converts bases: then operations are ordered and factors placed so that conversions run in
    /// parallel with products and transforms.
    converts: bool,
    /// Whether the engine moves residues from lane to lane and applies automorphisms to values.
    moves: bool,
    /// Both halves of a key switch in the lanes.
    halves: Halves,
    /// Whether digits are made and transformed one after another.
    digit_major: bool,
    /// Whether encryptions of zero are polynomial operations, or whole steps.
    zeros: bool,
    /// Whether the public key is over Q·P.
    extended: bool,
    wide_bases: Vec<RnsBasis<S::Word>>,
}

impl<S: Lower> Lowering<'_, S> {
    /// The name of a step's work in reports.
    fn task(&mut self, number: u32, step: &Step) -> u32 {
        let name = match step.operation {
            Operation::Multiply(..) | Operation::Square(_) => "tensor",
            Operation::Relinearize(_)
            | Operation::Rotate(..)
            | Operation::SwapRows(_)
            | Operation::RelinearizeRescale(_)
            | Operation::LinearTransform(..) => "key-switch",
            Operation::MultiplyPlain(..) => "polymul",
            Operation::EncryptZero => "zero-encrypt",
            Operation::Rescale(_) | Operation::ModDrop(_) => "rescale",
            Operation::Input => "input",
            _ => "sum",
        };
        self.graph.task(name, number)
    }

    fn step(&mut self, number: u32, step: &Step, values: &[Value]) -> Result<Value, Error> {
        let task = self.task(number, step);
        let of = |a: u32| &values[a as usize];
        let limbs = step.level as usize + 1;
        let kept = |parts: Vec<Part>, scale: f64| Value {
            parts,
            scale,
            input: None,
        };
        Ok(match step.operation {
            Operation::Input => self.input(number as usize, step, task)?,
            Operation::Add(a, b) => self.sum(of(a), of(b), (&Op::Add, task)),
            Operation::Sub(a, b) => self.sum(of(a), of(b), (&Op::Sub, task)),
            Operation::Negate(a) => {
                let negated = |part: &Part| self.by_limb(Op::Neg, &[part], task);
                kept(of(a).parts.iter().map(negated).collect(), of(a).scale)
            }
            Operation::AddPlain(a, p) => self.plain_sum(of(a), p, (&Op::Add, task))?,
            Operation::SubPlain(a, p) => self.plain_sum(of(a), p, (&Op::Sub, task))?,
            Operation::MultiplyPlain(a, p) => {
                let (a, level) = (of(a), step.level);
                let factor = self.source(Source::Factor(p, level), limbs, task)?;
                let factor = Part {
                    form: Form::Values,
                    limbs: factor,
                };
                let parts = a.parts.iter().map(|part| {
                    let values = self.in_form(part, Form::Values, task);
                    self.by_limb(Op::Mul, &[&values, &factor], task)
                });
                kept(parts.collect(), S::product_scale(a.scale, p.scale))
            }
            Operation::Multiply(a, b) => self.product(of(a), of(b), task)?,
            Operation::Square(a) => self.product(of(a), of(a), task)?,
            Operation::Relinearize(a) if of(a).parts.len() == 2 => of(a).clone(),
            Operation::Relinearize(a) => self.relinearize(of(a), task)?,
            Operation::Rotate(a, by) => self.rotate(of(a), self.scheme.element(by), task)?,
            Operation::SwapRows(a) => {
                let swap = 2 * self.graph.n() as u64 - 1;
                self.rotate(of(a), swap, task)?
            }
            Operation::RelinearizeRescale(a) => self.relinearize_rescale(of(a), task)?,
            Operation::LinearTransform(a, number) if S::TRANSFORMS => {
                let transform = &self.transforms[number as usize];
                self.transform(of(a), transform, (step.level, task))?
            }
            Operation::Rescale(a) => {
                let value = of(a);
                let divided = self.drop_last(value, task)?;
                kept(divided, value.scale / self.last_prime(value))
            }
            Operation::ModDrop(a) => self.mod_drop(of(a), limbs, task)?,
            Operation::Within(a, _) => of(a).clone(),
            Operation::EncryptZero if self.zeros => self.zero(number, step, task)?,
            _ => self.outside(number, step, values, task)?,
        })
    }

    fn moduli(&mut self, limbs: usize) -> Result<Vec<u16>, Error> {
        let whole = self.graph.basis(&self.scheme.chain().q);
        Ok(whole[..limbs].to_vec())
    }

    fn source(&mut self, source: Source, limbs: usize, task: u32) -> Result<Vec<Limb>, Error> {
        let moduli = self.moduli(limbs)?;
        Ok(self.source_over(source, &moduli, task))
    }

    fn source_over(&mut self, source: Source, moduli: &[u16], task: u32) -> Vec<Limb> {
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
            Source::Input { .. } | Source::Sum(..) => Origin::Ciphertext,
            Source::Factor(..) | Source::Extended(..) => Origin::Plaintext,
            Source::Key { .. } | Source::SpecialKey { .. } | Source::PublicKey { .. } => {
                Origin::Key
            }
            Source::Sample { .. } => Origin::Randomness,
        };
        self.graph.label(number as u32, origin);
        self.graph.source((number as u32, form), moduli, task)
    }

    fn input(&mut self, input: usize, step: &Step, task: u32) -> Result<Value, Error> {
        let parts = (0..usize::from(step.size)).map(|part| {
            let source = Source::Input { input, part };
            let limbs = self.source(source, step.level as usize + 1, task)?;
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

    /// A step that only the scheme's own evaluator does.
    fn outside(
        &mut self,
        number: u32,
        step: &Step,
        values: &[Value],
        task: u32,
    ) -> Result<Value, Error> {
        let (operands, count) = step.operation.operands();
        let (mut limbs, mut scales) = (Vec::new(), Vec::new());
        for &operand in &operands[..count] {
            let value = &values[operand as usize];
            scales.push(value.scale);
            for part in &value.parts {
                limbs.push(self.in_form(part, S::FORM, task).limbs);
            }
        }
        self.scales.insert(number, scales);
        let moduli = self.moduli(step.level as usize + 1)?;
        let all = moduli.repeat(usize::from(step.size));
        let made = self.graph.step((number, S::FORM), limbs, &all, task);
        let part = |limbs: &[Limb]| Part {
            form: S::FORM,
            limbs: limbs.to_vec(),
        };
        Ok(Value {
            parts: made.chunks_exact(moduli.len()).map(part).collect(),
            scale: step.scale,
            input: None,
        })
    }

    fn in_form(&mut self, part: &Part, form: Form, task: u32) -> Part {
        let limbs = match (part.form, form) {
            (Form::Coefficients, Form::Values) => self.graph.ntt(&part.limbs, task),
            (Form::Values, Form::Coefficients) => self.graph.intt(&part.limbs, task),
            _ => part.limbs.clone(),
        };
        Part { form, limbs }
    }

    /// An operation on parts of one form, over the limbs that all of them have.
    fn by_limb(&mut self, operation: Op, parts: &[&Part], task: u32) -> Part {
        let common = parts.iter().map(|part| part.limbs.len()).min().unwrap_or(0);
        let operands: Vec<&[Limb]> = parts.iter().map(|part| &part.limbs[..common]).collect();
        Part {
            form: parts[0].form,
            limbs: self.graph.by_limb(operation, &operands, task),
        }
    }

    /// Both in the form that one of them has: values, if one of them is.
    fn alike(&mut self, a: &Part, b: &Part, task: u32) -> [Part; 2] {
        let form = if a.form == b.form {
            a.form
        } else {
            Form::Values
        };
        [a, b].map(|part| self.in_form(part, form, task))
    }

    fn sum(&mut self, a: &Value, b: &Value, (operation, task): (&Op, u32)) -> Value {
        let common = a.parts[0].limbs.len().min(b.parts[0].limbs.len());
        let parts =
            (0..a.parts.len().max(b.parts.len())).map(|i| match (a.parts.get(i), b.parts.get(i)) {
                (Some(x), Some(y)) => {
                    let [x, y] = self.alike(x, y, task);
                    self.by_limb(operation.clone(), &[&x, &y], task)
                }
                (None, Some(y)) if *operation == Op::Sub => {
                    self.by_limb(Op::Neg, &[&y.prefix(common)], task)
                }
                (x, y) => x
                    .or(y)
                    .map(|part| part.prefix(common))
                    .unwrap_or_else(|| a.parts[0].clone()),
            });
        Value {
            parts: parts.collect(),
            scale: a.scale,
            input: None,
        }
    }

    fn plain_sum(
        &mut self,
        a: &Value,
        plaintext: Plaintext,
        (operation, task): (&Op, u32),
    ) -> Result<Value, Error> {
        let limbs = a.parts[0].limbs.len();
        let source = Source::Sum(plaintext, limbs as u32 - 1);
        let summand = Part {
            form: S::FORM,
            limbs: self.source(source, limbs, task)?,
        };
        let mut parts = a.parts.clone();
        let [x, y] = self.alike(&parts[0], &summand, task);
        parts[0] = self.by_limb(operation.clone(), &[&x, &y], task);
        Ok(Value {
            parts,
            scale: a.scale,
            input: None,
        })
    }

    /// The tensor of two ciphertexts, by the scheme's own way before and after.
    fn product(&mut self, a: &Value, b: &Value, task: u32) -> Result<Value, Error> {
        let limbs = a.parts[0].limbs.len().min(b.parts[0].limbs.len());
        let [left, right] = S::operands(self, [a, b], limbs, task)?;
        let size = left.len() + right.len() - 1;
        let parts = if self.converts {
            // The last part first: relinearisation begins with it, while the others are still scaled.
            let mut parts = Vec::with_capacity(size);
            for part in (0..size).rev() {
                let product = self.product_part(&left, &right, (part, task));
                parts.extend(S::after_tensor(self, vec![product], limbs, task)?);
            }
            parts.reverse();
            parts
        } else {
            let products = (0..size).map(|part| self.product_part(&left, &right, (part, task)));
            let products = products.collect();
            S::after_tensor(self, products, limbs, task)?
        };
        Ok(Value {
            parts,
            scale: S::product_scale(a.scale, b.scale),
            input: None,
        })
    }

    /// The sum of the products of parts i and j with i + j = `part`.
    fn product_part(&mut self, left: &[Part], right: &[Part], (part, task): (usize, u32)) -> Part {
        let mut sum: Option<Part> = None;
        for (i, x) in left.iter().enumerate().take(part + 1) {
            let Some(y) = right.get(part - i) else {
                continue;
            };
            sum = Some(match sum {
                None => self.by_limb(Op::Mul, &[x, y], task),
                Some(sum) => self.by_limb(Op::MulAdd, &[x, y, &sum], task),
            });
        }
        sum.unwrap_or_else(|| left[0].clone())
    }

    fn last_prime(&self, value: &Value) -> f64 {
        let last = value.parts[0].limbs.len() - 1;
        self.scheme.chain().q.modulus(last).value().to_u128() as f64
    }

    fn mod_drop(&mut self, a: &Value, limbs: usize, task: u32) -> Result<Value, Error> {
        let mut value = a.clone();
        while S::DROPS_BY_DIVISION && value.parts[0].limbs.len() > limbs {
            value = Value {
                parts: self.drop_last(&value, task)?,
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

impl Part {
    fn prefix(&self, limbs: usize) -> Self {
        Self {
            form: self.form,
            limbs: self.limbs[..limbs].to_vec(),
        }
    }
}
