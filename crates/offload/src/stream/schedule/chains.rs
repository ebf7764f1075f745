// SPDX-License-Identifier: Apache-2.0
//! Chains of operations that share no result, two at a time: while one waits for a result the other has work.
//!
//! A key switch is a chain: its products wait for transforms and its transforms for products. Two of them keep the
//! units of a core busy, for the slots of both: side by side they take the same keys, half a length apart they seldom
//! want the same unit.

use isa::Op;

use crate::stream::select::{TileOp, Tiles};

/// When the second track starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stagger {
    /// With the first one.
    SideBySide,
    /// When the first chain of the first one is half done.
    HalfBehind,
}

/// Operations of each stage by chains that share no result, in the order of their first operations.
pub struct Chains {
    ops: Vec<TileOp>,
    stages: Vec<Vec<Vec<usize>>>,
}

impl Chains {
    /// The chains of a program; `None` if no stage has two.
    pub fn new(tiles: &Tiles) -> Option<Self> {
        let chains = chains(tiles);
        let mut stages = Vec::new();
        let mut first = 0;
        for stage in tiles.ops.chunk_by(|a, b| a.stage == b.stage) {
            let mut found: Vec<(usize, Vec<usize>)> = Vec::new();
            for (at, chain) in chains.iter().enumerate().skip(first).take(stage.len()) {
                match found.iter_mut().rfind(|(known, _)| known == chain) {
                    Some((_, ops)) => ops.push(at),
                    None => found.push((*chain, vec![at])),
                }
            }
            stages.push(found.into_iter().map(|(_, ops)| ops).collect());
            first += stage.len();
        }
        let several = |stage: &Vec<Vec<usize>>| stage.len() > 1;
        (stages.iter().any(several)).then(|| Self {
            ops: tiles.ops.clone(),
            stages,
        })
    }

    /// The operations with the chains of each stage in two tracks.
    pub fn in_tracks(&self, stagger: Stagger) -> Vec<TileOp> {
        let stages = self.stages.iter();
        let order = stages.flat_map(|chains| two_tracks(&self.ops, chains, stagger));
        order.map(|at| self.ops[at].clone()).collect()
    }
}

/// For each operation the first operation of its chain.
fn chains(tiles: &Tiles) -> Vec<usize> {
    let mut maker = vec![None; tiles.count()];
    let mut parent: Vec<usize> = (0..tiles.ops.len()).collect();
    for (at, op) in tiles.ops.iter().enumerate() {
        for tile in op.sources.iter().flatten() {
            if let Some(made) = maker[*tile as usize] {
                let (a, b) = (root(&mut parent, made), root(&mut parent, at));
                parent[a.max(b)] = a.min(b);
            }
        }
        maker[op.dst as usize] = Some(at);
    }
    (0..tiles.ops.len())
        .map(|at| root(&mut parent, at))
        .collect()
}

fn root(parent: &mut [usize], mut at: usize) -> usize {
    while parent[at] != at {
        parent[at] = parent[parent[at]];
        at = parent[at];
    }
    at
}

/// Chains in turn on two tracks.
fn two_tracks(ops: &[TileOp], chains: &[Vec<usize>], stagger: Stagger) -> Vec<usize> {
    let length = |chain: &Vec<usize>| chain.iter().map(|&at| weight(&ops[at])).sum::<u64>();
    let track = |which: usize| chains.iter().skip(which).step_by(2).flatten().copied();
    let (mut left, mut right) = (track(0).peekable(), track(1).peekable());
    let second = match stagger {
        Stagger::SideBySide => 0,
        Stagger::HalfBehind => chains.first().map_or(0, length) / 2,
    };
    let mut behind = [0, second];
    let mut order = Vec::new();
    loop {
        let which = match (left.peek(), right.peek()) {
            (None, None) => return order,
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            _ => usize::from(behind[1] < behind[0]),
        };
        let next = if which == 0 {
            left.next()
        } else {
            right.next()
        };
        if let Some(at) = next {
            behind[which] += weight(&ops[at]);
            order.push(at);
        }
    }
}

/// Time of an operation relative to a pointwise one: the butterflies take longer.
fn weight(op: &TileOp) -> u64 {
    match op.op {
        Op::Ntt | Op::Intt => 6,
        _ => 1,
    }
}
