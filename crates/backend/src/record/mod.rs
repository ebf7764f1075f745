// SPDX-License-Identifier: Apache-2.0
//! A recorder: runs a program on this machine by its polynomial operations and keeps them as text,
//! with all they start from.

use crate::lower::{Engine, Shape};
use crate::{Error, Observer};
use ::polynomial::{Graph, Host, Limb, Memory, PolyOp, fhetch};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use zq::Word;

/// A program in polynomial operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The operations, in the flat FHETCH form.
    pub trace: String,
    /// Their inputs, and the numbers of the result polynomials, as JSON.
    pub inputs: String,
}

/// Records what it runs. Clones share the record.
#[derive(Clone, Default)]
pub struct Recorder {
    kept: Arc<Mutex<Record>>,
}

impl Recorder {
    /// The last run.
    pub fn take(&self) -> Record {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine for Recorder {
    type Plan = ();

    fn name(&self) -> &str {
        "record"
    }

    /// What is recorded is a program's run.
    fn serves_clients(&self) -> bool {
        false
    }

    fn shape(&self, _: usize) -> Shape {
        Shape::PLAIN
    }

    fn plan<W: Word>(&self, _: &[&Graph<W>]) -> Result<(), Error> {
        Ok(())
    }

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        let mut uses = vec![0; graph.limb_count()];
        let operands = graph.bundles().iter().flat_map(|bundle| &bundle.operands);
        let used = operands.flatten().chain(graph.outputs()).copied();
        used.chain(given(graph))
            .for_each(|limb| uses[limb.0 as usize] += 1);
        let mut memory = Memory::new(graph, uses);
        let mut inputs = format!("{{\"n\": {}, \"inputs\": {{", graph.n());
        for (at, limb) in given(graph).enumerate() {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let words = memory.take(limb, host)?;
            let words: Vec<String> = words
                .iter()
                .map(|word| word.to_u128().to_string())
                .collect();
            let comma = if at > 0 { "," } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(inputs, "{comma}\n\"{}\": [{}]", limb.0, words.join(","));
        }
        let outputs: Vec<String> = graph
            .outputs()
            .iter()
            .map(|limb| limb.0.to_string())
            .collect();
        let _ = writeln!(inputs, "}},\n\"outputs\": [{}]}}", outputs.join(", "));
        let trace = fhetch(graph, "homomorphic program")?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Record { trace, inputs };
        Ok(memory)
    }
}

/// Limbs that no polynomial operation makes.
fn given<W: Word>(graph: &Graph<W>) -> impl Iterator<Item = Limb> + '_ {
    let outside = |operation: &PolyOp| matches!(operation, PolyOp::Source(..) | PolyOp::Step(..));
    let bundles = graph.bundles().iter();
    bundles
        .filter(move |bundle| outside(&bundle.operation))
        .flat_map(|bundle| bundle.limbs())
}
