// SPDX-License-Identifier: Apache-2.0
//! Operations that a build can do and is offered.

use isa::{BuildInfo, Op};
use polynomial::{Bundle, Form, Graph, PolyOp};
use zq::Word;

use super::conversion::{fits as fits_conversion, is_conversion};
use super::unsupported::Unsupported;
use crate::Offer;
use crate::stream::partition::{Layout, fits, fits_degree};

/// Tasks that no preset names: the device does their transforms where it does an operation beside them.
const FREE: [&str; 4] = ["input", "output", "rescale", "sum"];

/// The instruction of an operation.
pub fn instruction(operation: &PolyOp) -> Option<Op> {
    Some(match operation {
        PolyOp::Ntt => Op::Ntt,
        PolyOp::Intt => Op::Intt,
        PolyOp::Add => Op::Pmodadd,
        PolyOp::Sub | PolyOp::Neg => Op::Pmodsub,
        PolyOp::Mul => Op::Pmodmul,
        PolyOp::MulAdd => Op::Pmac,
        PolyOp::Scale(_) | PolyOp::ScaleAdd(_) => Op::Cmodmul,
        PolyOp::Permute {
            form: Form::Values, ..
        } => Op::Auto,
        PolyOp::Convert | PolyOp::Round { .. } => Op::Lift,
        _ => return None,
    })
}

/// Whether an operation is worth a transfer.
pub fn is_heavy(operation: &PolyOp) -> bool {
    use PolyOp::{Intt, Mul, MulAdd, Ntt, Permute};
    matches!(operation, Ntt | Intt | Mul | MulAdd | Permute { .. }) || is_conversion(operation)
}

/// Whether an operation belongs to a task that no preset names.
pub fn is_free<W: Word>(graph: &Graph<W>, bundle: &Bundle) -> bool {
    FREE.contains(&task(graph, bundle))
}

fn task<W: Word>(graph: &Graph<W>, bundle: &Bundle) -> &'static str {
    graph.tasks()[bundle.task as usize].name
}

/// What a build that is offered some operations can do of a program.
pub struct Legality<'a, W: Word> {
    info: &'a BuildInfo,
    offer: &'a Offer,
    graph: &'a Graph<W>,
    layout: &'a Layout,
    /// For each of the program's primes whether it suits the build.
    usable: Vec<bool>,
}

impl<'a, W: Word> Legality<'a, W> {
    pub fn new(
        (info, offer): (&'a BuildInfo, &'a Offer),
        (graph, layout): (&'a Graph<W>, &'a Layout),
    ) -> Self {
        let moduli = graph.plans().iter().map(|plan| plan.modulus().value());
        Self {
            info,
            offer,
            graph,
            layout,
            usable: moduli.map(|q| fits(info, q.to_u128())).collect(),
        }
    }

    /// Why the device cannot do an operation; `is_move`: whether it is a base conversion by moves.
    pub fn unsupported(&self, bundle: &Bundle, is_move: bool) -> Option<Unsupported> {
        if !fits_degree(self.info, self.graph.n()) {
            return Some(Unsupported::Degree(self.graph.n()));
        }
        self.task(bundle)
            .or_else(|| self.instruction(bundle))
            .or_else(|| self.modulus(bundle))
            .or_else(|| self.halves(bundle))
            .or_else(|| self.conversion(bundle, is_move))
    }

    fn task(&self, bundle: &Bundle) -> Option<Unsupported> {
        let name = task(self.graph, bundle);
        let is_named = self.offer.takes(name) || FREE.contains(&name);
        (is_heavy(&bundle.operation) && !is_named).then_some(Unsupported::Task(name))
    }

    fn instruction(&self, bundle: &Bundle) -> Option<Unsupported> {
        let has = |op| self.info.has(op) || is_conversion(&bundle.operation);
        (!instruction(&bundle.operation).is_some_and(has)).then_some(Unsupported::Instruction)
    }

    fn modulus(&self, bundle: &Bundle) -> Option<Unsupported> {
        let mut moduli = bundle.moduli.iter().copied().map(usize::from);
        let unfit = moduli.find(|&m| !self.usable[m])?;
        Some(Unsupported::Modulus(
            self.graph.plans()[unfit].modulus().bits(),
        ))
    }

    fn halves(&self, bundle: &Bundle) -> Option<Unsupported> {
        let is_automorphism = instruction(&bundle.operation) == Some(Op::Auto);
        (is_automorphism && self.layout.halves > 1).then_some(Unsupported::Halves)
    }

    fn conversion(&self, bundle: &Bundle, is_move: bool) -> Option<Unsupported> {
        let place = (self.graph, self.layout);
        let fits = || fits_conversion(self.info, place, &self.usable, (bundle, is_move));
        (is_conversion(&bundle.operation) && !fits()).then_some(Unsupported::Conversion)
    }
}
