// SPDX-License-Identifier: Apache-2.0
//! Stages: in each the host works first, then the device.

use std::collections::{BTreeMap, BTreeSet};

use polynomial::{Graph, Limb, PolyOp};
use zq::Word;

use crate::stream::partition::Layout;

/// The stage of each operation: a result of the device reaches the host one stage later.
pub fn stages<W: Word>(
    graph: &Graph<W>,
    layout: &Layout,
    on_device: impl Fn(usize) -> bool,
) -> Vec<u32> {
    let mut stages = vec![0; graph.bundles().len()];
    for (number, bundle) in graph.bundles().iter().enumerate() {
        let mut stage = 0;
        for operand in &bundle.operands {
            let apart = on_device(number) && !is_one_piece(graph, &on_device, layout, operand);
            for limb in operand {
                let home = graph.home(*limb);
                let later = on_device(home) && (!on_device(number) || apart);
                stage = stage.max(stages[home] + u32::from(later));
            }
        }
        stages[number] = stage;
    }
    stages
}

/// Whether the limbs of each section were made by one operation, or none of them on the device.
fn is_one_piece<W: Word>(
    graph: &Graph<W>,
    on_device: impl Fn(usize) -> bool,
    layout: &Layout,
    operand: &[Limb],
) -> bool {
    let mut sets: BTreeMap<usize, Vec<Limb>> = BTreeMap::new();
    for &limb in operand {
        let set = layout.place(graph.modulus_of(limb)).0;
        sets.entry(set).or_default().push(limb);
    }
    sets.values().all(|limbs| {
        let homes: BTreeSet<usize> = limbs.iter().map(|limb| graph.home(*limb)).collect();
        homes.len() == 1
            || !homes.iter().any(|&home| on_device(home))
            || homes
                .iter()
                .any(|&home| on_device(home) && is_digit(graph, home, limbs))
    })
}

/// Whether limbs are a conversion's results and, in the lanes of its input primes, its inputs: the device's conversion
/// gives those too.
fn is_digit<W: Word>(graph: &Graph<W>, home: usize, limbs: &[Limb]) -> bool {
    let made = &graph.bundles()[home];
    let from = |limb: &Limb| graph.home(*limb) == home || made.operands[0].contains(limb);
    made.operation == PolyOp::Convert && limbs.iter().all(from)
}
