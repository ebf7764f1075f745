// SPDX-License-Identifier: Apache-2.0
//! A program shared out to engines that work at the same time.

use std::collections::HashMap;

use zq::Word;

use crate::{Bundle, Graph, Limb, PolyOp};

impl<W: Word> Graph<W> {
    /// The program for `count` engines at most, one part each: outputs, and what they depend on. Outputs that depend on
    /// a common operation stay together, unless it follows from sources alone that are not `own`, as those of keys and
    /// plaintexts are: it is in every part. Limbs keep their numbers. Nothing if there is one part only.
    pub fn shares(&self, count: usize, own: impl Fn(u32) -> bool) -> Vec<Self> {
        let groups = match count {
            0 | 1 => Vec::new(),
            _ => self.groups(own),
        };
        let count = count.min(groups.len());
        if count < 2 {
            return Vec::new();
        }
        let part = |share: usize| {
            let taken = &groups[share * groups.len() / count..(share + 1) * groups.len() / count];
            self.part(taken.concat())
        };
        (0..count).map(part).collect()
    }

    /// Outputs by what they have in common, in order of their first.
    fn groups(&self, own: impl Fn(u32) -> bool) -> Vec<Vec<Limb>> {
        let bundles = self.bundles();
        let homes = |bundle: &Bundle| -> Vec<usize> {
            let operands = bundle.operands.iter().flatten();
            operands.map(|limb| self.home(*limb)).collect()
        };
        // Whether it differs from output to output: it depends on an own source or is a step.
        let mut varies: Vec<bool> = Vec::with_capacity(bundles.len());
        // A forest: operations that belong together have one root.
        let mut parents: Vec<usize> = (0..bundles.len()).collect();
        for (number, bundle) in bundles.iter().enumerate() {
            let operands = homes(bundle);
            varies.push(match bundle.operation {
                PolyOp::Source(source, _) => own(source),
                PolyOp::Step(..) => true,
                _ => operands.iter().any(|home| varies[*home]),
            });
            let is_work = |home: &usize| !matches!(bundles[*home].operation, PolyOp::Source(..));
            for home in operands.into_iter().filter(is_work) {
                if varies[home] {
                    let root = root(&mut parents, home);
                    parents[root] = number;
                }
            }
        }
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut groups: Vec<Vec<Limb>> = Vec::new();
        for &limb in self.outputs() {
            let place = places
                .entry(root(&mut parents, self.home(limb)))
                .or_insert(groups.len());
            if *place == groups.len() {
                groups.push(Vec::new());
            }
            groups[*place].push(limb);
        }
        groups
    }
}

/// The root of a tree; the way there is shortened.
fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}
