// SPDX-License-Identifier: Apache-2.0
//! How the results of operations are used.

use polynomial::{Graph, PolyOp};
use zq::Word;

/// How an operation's result is used.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// It has outputs.
    pub is_output: bool,
    /// An output depends on it.
    pub is_needed: bool,
    /// The needed operations that read it, each once, in order.
    pub users: Vec<u32>,
}

/// The uses of each operation of a program; `all`: every operation counts as needed.
pub fn uses<W: Word>(graph: &Graph<W>, all: bool) -> Vec<Uses> {
    let bundles = graph.bundles();
    let mut uses = vec![Uses::default(); bundles.len()];
    for limb in graph.outputs() {
        uses[graph.home(*limb)].is_output = true;
    }
    for (number, bundle) in bundles.iter().enumerate().rev() {
        uses[number].is_needed |= uses[number].is_output || all;
        if uses[number].is_needed {
            let operands = bundle.operands.iter().flatten();
            operands.for_each(|limb| uses[graph.home(*limb)].is_needed = true);
        }
    }
    for (number, bundle) in (0..).zip(bundles) {
        if !uses[number as usize].is_needed {
            continue;
        }
        for limb in bundle.operands.iter().flatten() {
            let users = &mut uses[graph.home(*limb)].users;
            if users.last() != Some(&number) {
                users.push(number);
            }
        }
    }
    uses
}

/// Whether only products with constants read the result of an operation.
pub fn is_only_scaled<W: Word>(graph: &Graph<W>, users: &[u32], number: usize) -> bool {
    let scales = |user: &u32| {
        let bundle = &graph.bundles()[*user as usize];
        let is_product = matches!(bundle.operation, PolyOp::Scale(_) | PolyOp::ScaleAdd(_));
        let mut addends = bundle.operands.iter().skip(1).flatten();
        is_product && addends.all(|limb| graph.home(*limb) != number)
    };
    users.iter().all(scales)
}
