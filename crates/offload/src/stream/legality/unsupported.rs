// SPDX-License-Identifier: Apache-2.0
//! Why the device cannot do an operation.

use std::collections::BTreeMap;
use std::fmt;

use polynomial::{Bundle, Graph, PolyOp};
use zq::Word;

/// Why the device cannot do an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsupported {
    /// The ring degree is not among the build's.
    Degree(usize),
    /// The preset's operations do not include its task.
    Task(&'static str),
    /// The build has no instruction for it.
    Instruction,
    /// A modulus of this many bits does not suit the build.
    Modulus(u32),
    /// The ring is worked on in halves, which have no automorphism.
    Halves,
    /// The build's units cannot do this base conversion.
    Conversion,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Degree(n) => write!(f, "n = {n} is no degree of the build"),
            Self::Task(name) => write!(f, "the preset's operations lack {name}"),
            Self::Instruction => f.write_str("the build has no instruction for them"),
            Self::Modulus(bits) => write!(f, "a prime of {bits} bits does not suit the build"),
            Self::Halves => f.write_str("the ring has twice the build's degree"),
            Self::Conversion => f.write_str(
                "the build has no unit that does (moves: digits and divisions; rns_rate: Lift, Scale), or too few lanes",
            ),
        }
    }
}

/// Operations that the device cannot do, by kind and reason, in words.
pub fn listed<W: Word>(
    graph: &Graph<W>,
    unsupported: impl Fn(usize) -> Option<Unsupported>,
) -> Vec<String> {
    let mut counts: BTreeMap<(&str, Unsupported), u64> = BTreeMap::new();
    for number in on_data(graph) {
        if let Some(reason) = unsupported(number) {
            let kind = kind(&graph.bundles()[number].operation);
            *counts.entry((kind, reason)).or_default() += 1;
        }
    }
    let line =
        |((kind, reason), count): ((&str, Unsupported), u64)| format!("{count} {kind} ({reason})");
    counts.into_iter().map(line).collect()
}

/// The operations that depend on inputs; the others, such as encryptions of zero, can be done before.
pub fn on_data<W: Word>(graph: &Graph<W>) -> impl Iterator<Item = usize> {
    let mut depends: Vec<bool> = Vec::with_capacity(graph.bundles().len());
    let mut found = Vec::new();
    for (number, bundle) in graph.bundles().iter().enumerate() {
        let is_given = matches!(bundle.operation, PolyOp::Source(..));
        let mut operands = bundle.operands.iter().flatten();
        let depending = is_given || operands.any(|limb| depends[graph.home(*limb)]);
        depends.push(depending);
        if depending && !is_given {
            found.push(number);
        }
    }
    found.into_iter()
}

/// Time of reducing a sum in a base conversion on the host, in products.
const REDUCTION: usize = 3;

/// The size of an operation's work; see [`crate::HostWork`].
pub fn terms<W: Word>(graph: &Graph<W>, bundle: &Bundle) -> u64 {
    let (n, limbs) = (graph.n() as u64, bundle.moduli.len() as u64);
    match bundle.operation {
        PolyOp::Ntt | PolyOp::Intt => limbs * n * u64::from(n.ilog2()),
        PolyOp::Convert | PolyOp::Round { .. } => {
            let sums = bundle
                .groups()
                .map(|(from, to)| (from.len() + REDUCTION) * to.len());
            n * sums.sum::<usize>() as u64
        }
        _ => limbs * n,
    }
}

/// An operation's kind, in the plural.
pub fn kind(operation: &PolyOp) -> &'static str {
    use PolyOp::{Convert, Intt, Mul, MulAdd, Ntt, Permute, Round, Step};
    match operation {
        Ntt | Intt => "transforms",
        Mul | MulAdd => "products",
        Permute { .. } => "automorphisms",
        Convert | Round { .. } => "base conversions",
        Step(..) => "whole steps",
        _ => "sums",
    }
}
