// SPDX-License-Identifier: Apache-2.0
//! A backend to start from: what a device for polynomial operations has to write. This one adds, subtracts and
//! multiplies in a "device" of a few lines; the host computes the rest, as long as the device does not.
//!
//! 1. [`Engine`]: how programs are lowered for the device ([`Shape`]), and their computation.
//! 2. [`Backend`]: its name, and what it refuses when a program is opened. Keys, plaintexts, inputs and results are
//!    handled by [`open`].
//! 3. A line in `backends` of the conformance suite.

use crate::lower::{Engine, Shape, open};
use crate::{Backend, Error, Keys, Observer, Resources, Run};
use ::polynomial::{Bundle, Graph, Host, Memory, PolyOp, Words};
use program::Program;
use std::sync::Arc;
use zq::Word;

/// Most coefficients of a polynomial that the device holds.
pub const MOST_COEFFICIENTS: usize = 1024;

/// The device; clones share it.
#[derive(Clone)]
pub struct Skeleton;

impl Backend for Skeleton {
    fn name(&self) -> &str {
        "skeleton"
    }

    fn open(
        &self,
        program: &Arc<Program>,
        keys: &Keys,
        resources: &Resources,
    ) -> Result<Box<dyn Run>, Error> {
        let n = program.parameters.n();
        if n > MOST_COEFFICIENTS {
            return Err(Error::Device {
                name: self.name().into(),
                message: format!("has degrees up to {MOST_COEFFICIENTS}, the program has {n}"),
            });
        }
        open(self, program, keys, resources)
    }
}

impl Engine for Skeleton {
    /// Limb by limb, no base conversion, no moves between lanes.
    fn shape(&self, _: usize) -> Shape {
        Shape::PLAIN
    }

    /// The device computes what it can, in the program's order; what is left is computed by the host when a later
    /// operation or a result asks for it.
    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        let mut memory = Memory::whole(graph);
        let total = graph.bundles().len();
        for (done, bundle) in graph.bundles().iter().enumerate() {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            if is_taken(&bundle.operation) {
                run_bundle(graph, bundle, &mut memory, host)?;
            }
            observer.progress(done + 1, total);
        }
        Ok(memory)
    }
}

/// Whether the device has the operation.
fn is_taken(operation: &PolyOp) -> bool {
    matches!(operation, PolyOp::Add | PolyOp::Sub | PolyOp::Mul)
}

/// Operands to the device, an operation for each limb, results back.
fn run_bundle<'g, W: Word, H: Host<W, Error = Error>>(
    graph: &'g Graph<W>,
    bundle: &Bundle,
    memory: &mut Memory<'g, W>,
    host: &H,
) -> Result<(), Error> {
    let [a, b] = &bundle.operands[..] else {
        unreachable!("two operands")
    };
    let mut load = |limbs: &[_]| -> Result<Vec<Words<W>>, Error> {
        limbs.iter().map(|&limb| memory.take(limb, host)).collect()
    };
    let (a, b) = (load(a)?, load(b)?);
    for (row, (limb, modulus)) in bundle.limbs().zip(&bundle.moduli).enumerate() {
        let q = graph.plans()[usize::from(*modulus)].modulus();
        let mut result = a[row].to_vec();
        match bundle.operation {
            PolyOp::Add => q.add_assign(&mut result, &b[row]),
            PolyOp::Sub => q.sub_assign(&mut result, &b[row]),
            _ => q.mul_assign(&mut result, &b[row]),
        }
        memory.put(limb, result);
    }
    Ok(())
}
