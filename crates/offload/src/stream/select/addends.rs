// SPDX-License-Identifier: Apache-2.0
//! Sums that an inverse transform makes: INTT can add a slot to its result.

use std::collections::{HashMap, HashSet};

use polynomial::{Graph, Limb, PolyOp};
use zq::Word;

use super::placed::Placed;

/// Sums that inverse transforms make.
#[derive(Clone, Debug, Default)]
pub struct Addends {
    /// Per sum: the transform, and the operand that is added.
    of: HashMap<usize, (usize, usize)>,
    absorbed: HashSet<usize>,
}

impl Addends {
    /// Sums of an addend and an inverse transform of the same stage, with no other use.
    pub fn new<W: Word>(graph: &Graph<W>, placed: &[Placed]) -> Self {
        let mut found = Self::default();
        let is_output: HashSet<Limb> = graph.outputs().iter().copied().collect();
        for (number, bundle) in graph.bundles().iter().enumerate() {
            if bundle.operation != PolyOp::Add || !placed[number].on_device {
                continue;
            }
            let alone = |operand: &Vec<Limb>| {
                let home = graph.home(operand[0]);
                let made = &graph.bundles()[home];
                made.operation == PolyOp::Intt
                    && placed[home].on_device
                    && placed[home].uses.users == [number as u32]
                    && placed[home].stage == placed[number].stage
                    && made.limbs().eq(operand.iter().copied())
                    && !made.limbs().any(|limb| is_output.contains(&limb))
            };
            let (a, b) = (&bundle.operands[0], &bundle.operands[1]);
            let chosen = if alone(a) && a != b {
                Some((a, 1))
            } else {
                (alone(b) && a != b).then_some((b, 0))
            };
            if let Some((operand, other)) = chosen {
                let transform = graph.home(operand[0]);
                found.of.insert(number, (transform, other));
                found.absorbed.insert(transform);
            }
        }
        found
    }

    /// Whether a transform is part of a sum.
    pub fn is_absorbed(&self, number: usize) -> bool {
        self.absorbed.contains(&number)
    }

    /// The transform that makes a sum, and the number of the operand that it adds.
    pub fn of(&self, sum: usize) -> Option<(usize, usize)> {
        self.of.get(&sum).copied()
    }
}
