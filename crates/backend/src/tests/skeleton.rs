// SPDX-License-Identifier: Apache-2.0
//! A backend to start from: what a device for polynomial operations has to write. This one adds, subtracts and
//! multiplies in a "device" of a few lines; the host computes the rest, as long as the device does not.
//!
//! 1. [`Engine`]: the device's name, what it refuses, how programs are lowered for it ([`Shape`]), and their
//!    computation. Every engine is a [`crate::Backend`] and serves clients: keys, plaintexts, inputs and results need
//!    no code of its own.
//! 2. A line in `backends` of the conformance suite.

use crate::lower::{Engine, Shape};
use crate::{Error, Observer};
use ::polynomial::{Bundle, Graph, Host, Memory, PolyOp, Words};
use program::Program;
use zq::Word;

/// Most coefficients of a polynomial that the device holds.
pub const MOST_COEFFICIENTS: usize = 1024;

/// The device; clones share it.
#[derive(Clone)]
pub struct Skeleton;

impl Engine for Skeleton {
    type Plan = ();

    fn name(&self) -> &str {
        "skeleton"
    }

    fn accepts(&self, program: &Program) -> Result<(), Error> {
        let n = program.parameters.n();
        if n <= MOST_COEFFICIENTS {
            return Ok(());
        }
        Err(Error::Device {
            name: self.name().into(),
            message: format!("has degrees up to {MOST_COEFFICIENTS}, the program has {n}"),
        })
    }

    /// Limb by limb, no base conversion, no moves between lanes.
    fn shape(&self, _: usize) -> Shape {
        Shape::PLAIN
    }

    fn plan<W: Word>(&self, _: &[&Graph<W>]) -> Result<(), Error> {
        Ok(())
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
