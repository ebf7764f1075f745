// SPDX-License-Identifier: Apache-2.0
//! A homomorphic program as a whole in polynomial operations.

use super::key_switch::arrangement::Arrangement;
use super::lowering::{Lower, Lowering};
use super::shape::Shape;
use super::value::{Part, Source, Value};
use crate::Error;
use ::polynomial::{Graph, Limb};
use program::{Encryption, Program};
use rns::RnsBasis;
use std::borrow::Cow;
use std::collections::HashMap;
use zq::Word;

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
    let arrangement = Arrangement::of(&mut graph, &chain, shape, S::FORM)?;
    if arrangement == Arrangement::Mirrored {
        graph = graph.mirrored();
    }
    let mut lowering = Lowering {
        scheme,
        transforms: &program.transforms,
        input_scales,
        graph,
        task: 0,
        moves,
        arrangement,
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
    let outputs = outputs(&mut lowering, program, &values);
    Ok(Lowered {
        graph: lowering.graph,
        sources: lowering.sources,
        outputs,
        scales: lowering.scales,
        wide_bases: lowering.wide_bases,
    })
}

/// The results, in the form of ciphertexts between steps.
fn outputs<S: Lower>(
    lowering: &mut Lowering<'_, S>,
    program: &Program,
    values: &[Value],
) -> Vec<Output> {
    let outputs = program.outputs.iter().map(|&output| {
        let value = &values[output as usize];
        lowering.task = lowering.graph.task("output", output);
        let native = |part: &Part| lowering.in_form(part, S::FORM).limbs;
        Output {
            input: value.input,
            parts: value.parts.iter().map(native).collect(),
            scale: value.scale,
        }
    });
    let outputs: Vec<Output> = outputs.collect();
    let computed = outputs.iter().filter(|output| output.input.is_none());
    for part in computed.flat_map(|output| &output.parts) {
        lowering.graph.output(part);
    }
    outputs
}
