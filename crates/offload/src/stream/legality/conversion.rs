// SPDX-License-Identifier: Apache-2.0
//! Base conversions that a build can do: by moves from lane to lane, or by its unit for base conversions.

use std::ops::Range;

use isa::{BuildInfo, Op};
use model::{Digit, MOST_PRIMES};
use polynomial::{Bundle, Graph, Limb, PolyOp};
use zq::Word;

use crate::stream::partition::Layout;

/// Whether an operation is a base conversion.
pub fn is_conversion(operation: &PolyOp) -> bool {
    matches!(operation, PolyOp::Convert | PolyOp::Round { .. })
}

/// Whether a move converts residues modulo `q` to reduced ones modulo `p`: `q` is below 2 `p`. Else a product with a
/// constant has to follow it, before anything else reads the result.
pub fn suits(q: u128, p: u128) -> bool {
    q > 1 && Digit::suits(q, p)
}

/// Whether some of these rows of a result are over primes of a set.
pub fn is_target(bundle: &Bundle, layout: &Layout, set: usize, rows: Range<usize>) -> bool {
    bundle.moduli[rows]
        .iter()
        .any(|m| layout.place(*m).0 == set)
}

/// Whether the move unit can do a conversion: of single primes, to each section from one. Where only products with
/// constants read the result any prime does; else each is not much larger than its target primes, and for every
/// other prime there one in the lanes that they come from.
pub fn is_move<W: Word>(
    info: &BuildInfo,
    (graph, layout): (&Graph<W>, &Layout),
    bundle: &Bundle,
    only_scaled: bool,
) -> bool {
    let value = |m: u16| graph.plans()[usize::from(m)].modulus().value().to_u128();
    let set = |limb: Limb| layout.place(graph.modulus_of(limb)).0;
    let suits_all = |(operand, rows): (&[Limb], Range<usize>)| {
        let q = value(graph.modulus_of(operand[0]));
        let mut targets = bundle.moduli[rows].iter();
        operand.len() == 1 && (only_scaled || targets.all(|m| suits(q, value(*m))))
    };
    let from_one = |target: usize| {
        let from: Vec<Limb> = (bundle.groups())
            .filter(|(_, rows)| is_target(bundle, layout, target, rows.clone()))
            .map(|(operand, _)| operand[0])
            .collect();
        // A lane that no operation reads gets a reduced value.
        let sources = &layout.sections[set(from[0])].moduli;
        let fills = |p: &u128| sources.iter().any(|q| suits(*q, *p));
        let moduli = &layout.sections[target].moduli;
        let of_one_section = from.iter().all(|limb| set(*limb) == set(from[0]));
        of_one_section && (only_scaled || moduli.iter().all(fills))
    };
    info.has(Op::Decomp)
        && bundle.operation == PolyOp::Convert
        && layout.halves == 1
        && bundle.groups().all(suits_all)
        && (bundle.moduli.iter().map(|&m| layout.place(m).0)).all(from_one)
}

/// Whether the build can do a conversion, by a move or by its unit: its input primes stand side by side in the lanes of
/// one section, the unit's tables hold its constants, and all primes are among the usable.
pub fn fits<W: Word>(
    info: &BuildInfo,
    (graph, layout): (&Graph<W>, &Layout),
    usable: &[bool],
    (bundle, is_move): (&Bundle, bool),
) -> bool {
    if is_move {
        return (bundle.operands.iter().flatten())
            .all(|&l| usable[usize::from(graph.modulus_of(l))]);
    }
    let Some(unit) = info.rns.filter(|_| info.has(Op::Lift)) else {
        return false;
    };
    let once = bundle
        .moduli
        .iter()
        .all(|m| bundle.moduli.iter().filter(|o| *o == m).count() == 1);
    if bundle.operands.len() > 1 || !once {
        return false;
    }
    let inputs = graph.moduli_of(&bundle.operands[0]);
    let places: Vec<(usize, usize)> = inputs.iter().map(|&m| layout.place(m)).collect();
    let side_by_side =
        |pair: &[(usize, usize)]| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1;
    // A section that works in half of a ring has no coefficients to convert.
    layout.halves == 1
        && inputs.len() <= MOST_PRIMES
        && inputs.len() < unit.entries as usize
        && places.windows(2).all(side_by_side)
        && inputs
            .iter()
            .chain(&bundle.moduli)
            .all(|&m| usable[usize::from(m)])
}
