// SPDX-License-Identifier: Apache-2.0
//! Placement of operations on device or host, and the order of their stages.

use std::collections::{BTreeMap, BTreeSet};

use isa::{BuildInfo, Op};
use polynomial::{Graph, Limb, Operation};
use zq::Word;

use super::addends::Addends;
use crate::stream::legality::{self, Legality, Unsupported, is_conversion, is_free, is_heavy};
use crate::stream::partition::Layout;
use crate::{Offer, OffloadError};

/// Rounds in which operations that either side can do move to where they cost fewer transfers.
const ROUNDS: usize = 4;

/// An operation of the device, in one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionOp {
    pub stage: u32,
    pub section: usize,
    /// The operation.
    pub number: usize,
}

/// Placement of each operation.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Whether it runs on the device.
    pub on_device: Vec<bool>,
    /// What it lacks to run there, if an output depends on it.
    pub lacks: Vec<Option<Unsupported>>,
    /// The stage it runs in; in a stage the host is first.
    pub stages: Vec<u32>,
    /// Whether an output depends on it.
    pub is_needed: Vec<bool>,
    /// The operations that use its result.
    pub users: Vec<Vec<u32>>,
    /// Sums that inverse transforms make.
    pub addends: Addends,
    /// Base conversions by moves.
    pub moves: Moves,
}

/// Base conversions that are moves, if they are the device's.
#[derive(Clone, Debug)]
pub struct Moves {
    /// All of them.
    pub is_move: Vec<bool>,
    /// Those whose results are not reduced: nothing but products with constants reads them.
    pub is_long: Vec<bool>,
}

impl Moves {
    fn new<W: Word>(
        info: &BuildInfo,
        (graph, layout): (&Graph<W>, &Layout),
        (users, is_output): (&[Vec<u32>], &[bool]),
    ) -> Self {
        let count = graph.bundles().len();
        let mut found = Self {
            is_move: vec![false; count],
            is_long: vec![false; count],
        };
        for (number, bundle) in graph.bundles().iter().enumerate() {
            if !is_conversion(&bundle.operation) {
                continue;
            }
            let is_move = |scaled| legality::is_move(info, (graph, layout), bundle, scaled);
            let is_reduced = is_move(false);
            found.is_long[number] = !is_reduced
                && !is_output[number]
                && is_only_scaled(graph, users, number)
                && is_move(true);
            found.is_move[number] = is_reduced || found.is_long[number];
        }
        found
    }
}

struct Placer<'a, W: Word> {
    graph: &'a Graph<W>,
    users: Vec<Vec<u32>>,
    is_output: Vec<bool>,
    /// Products that stay with the moves before them, whose results they reduce.
    reduces: Vec<bool>,
    /// At first everything that can be there.
    on_device: Vec<bool>,
    /// Whether the device converts bases: then polynomials stay there if the costs are equal.
    converts: bool,
}

impl Placement {
    /// For a build that gets an offer of operations.
    ///
    /// # Errors
    /// [`OffloadError::Host`] for what the host would have to do, where it is to do nothing.
    pub fn new<W: Word>(
        info: &BuildInfo,
        offer: &Offer,
        graph: &Graph<W>,
        layout: &Layout,
    ) -> Result<Self, OffloadError> {
        // Lowering for builds that convert bases leaves operations that nothing uses; a part has those of the others.
        let is_needed = match info.has(Op::Lift) || info.has(Op::Decomp) || graph.is_part() {
            true => needed(graph),
            false => vec![true; graph.bundles().len()],
        };
        let users = users(graph, &is_needed);
        let is_output = is_output(graph);
        let moves = Moves::new(info, (graph, layout), (&users, &is_output));
        let judge = Legality::new((info, offer), (graph, layout), &moves.is_move);
        let lacks = judge.lacks(&is_needed)?;
        let able: Vec<bool> = (is_needed.iter().zip(&lacks))
            .map(|(is_needed, lack)| *is_needed && lack.is_none())
            .collect();
        let mut placer = Placer {
            graph,
            reduces: reducing(&users, &moves.is_long),
            users,
            is_output,
            converts: (graph.bundles().iter().zip(&able))
                .any(|(bundle, able)| *able && is_conversion(&bundle.operation)),
            on_device: able,
        };
        if !offer.alone {
            placer.share_out();
        }
        let stages = stages(graph, &placer.on_device, layout);
        let addends = match placer.converts || offer.resident {
            true => Addends::new(graph, &placer.users, &placer.on_device, &stages),
            false => Addends::default(),
        };
        Ok(Self {
            on_device: placer.on_device,
            lacks,
            stages,
            is_needed,
            users: placer.users,
            addends,
            moves,
        })
    }
}

impl<W: Word> Placer<'_, W> {
    /// Gives the host what costs fewer transfers there, of everything that the device can do: from there on chains of
    /// sums between two products stay together.
    fn share_out(&mut self) {
        let able = self.on_device.clone();
        self.settle(&able);
        self.only_beside_others();
        self.settle(&able);
    }

    /// Work of tasks that no preset names stays on the device beside operations that are there.
    fn only_beside_others(&mut self) {
        for number in 0..self.on_device.len() {
            let bundle = &self.graph.bundles()[number];
            let may_move = is_heavy(&bundle.operation) && is_free(self.graph, bundle);
            if self.on_device[number] && may_move {
                let from_device = self.operand_homes(number).any(|home| self.on_device[home]);
                let to_device = self.users[number]
                    .iter()
                    .any(|user| self.on_device[*user as usize]);
                self.on_device[number] = from_device || to_device;
            }
        }
    }

    fn operand_homes(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let operands = self.graph.bundles()[number].operands.iter().flatten();
        operands.map(|limb: &Limb| self.graph.home(*limb))
    }

    /// Places what either side can do.
    fn settle(&mut self, able: &[bool]) {
        let light: Vec<usize> = (0..able.len())
            .filter(|&number| able[number] && !self.reduces[number])
            .filter(|&number| !is_heavy(&self.graph.bundles()[number].operation))
            .collect();
        for round in 0..ROUNDS {
            let order: Box<dyn Iterator<Item = &usize>> = if round % 2 == 0 {
                Box::new(light.iter().rev())
            } else {
                Box::new(light.iter())
            };
            for &number in order {
                self.on_device[number] = self.is_cheaper_on_device(number);
            }
        }
    }

    /// Counts limbs that would cross: to the device, operands that are not there; from it, results for the host.
    fn is_cheaper_on_device(&self, number: usize) -> bool {
        let rows = self.graph.bundles()[number].moduli.len();
        let users = &self.users[number];
        let (mut there, mut here) = (self.is_output[number], false);
        // `there`: somebody on the host wants it; `here`: somebody on the device.
        for user in users {
            match self.on_device[*user as usize] {
                true => here = true,
                false => there = true,
            }
        }
        let (mut device, mut host) = (0, 0);
        let mut limbs: Vec<Limb> = self.graph.bundles()[number].operands.concat();
        limbs.sort_unstable();
        limbs.dedup();
        for home in limbs.iter().map(|limb| self.graph.home(*limb)) {
            match self.on_device[home] {
                true => host += usize::from(!self.host_has(home, number)),
                false => device += usize::from(!self.device_has(home, number)),
            }
        }
        device += if there { rows } else { 0 };
        host += if here { rows } else { 0 };
        let at_home = self.operand_homes(number).any(|home| self.on_device[home]);
        device < host || device == host && here && (at_home || self.converts)
    }

    /// Whether the host gets a result anyway, for another than this user.
    fn host_has(&self, home: usize, but: usize) -> bool {
        let other = |user: &u32| *user as usize != but && !self.on_device[*user as usize];
        self.is_output[home] || self.users[home].iter().any(other)
    }

    /// Whether the device gets a result anyway.
    fn device_has(&self, home: usize, but: usize) -> bool {
        let other = |user: &u32| *user as usize != but && self.on_device[*user as usize];
        self.users[home].iter().any(other)
    }
}

/// Whether nothing but products with constants reads the results of an operation.
fn is_only_scaled<W: Word>(graph: &Graph<W>, users: &[Vec<u32>], number: usize) -> bool {
    let scales = |user: &u32| {
        let bundle = &graph.bundles()[*user as usize];
        let is_product = matches!(
            bundle.operation,
            Operation::Scale(_) | Operation::ScaleAdd(_)
        );
        let mut addends = bundle.operands.iter().skip(1).flatten();
        is_product && addends.all(|limb| graph.home(*limb) != number)
    };
    users[number].iter().all(scales)
}

/// For each operation whether it is a product that reduces what a move gives.
fn reducing(users: &[Vec<u32>], is_long: &[bool]) -> Vec<bool> {
    let mut reduces = vec![false; users.len()];
    for (users, _) in users.iter().zip(is_long).filter(|(_, is_long)| **is_long) {
        users.iter().for_each(|user| reduces[*user as usize] = true);
    }
    reduces
}

/// Whether each operation makes an output.
fn is_output<W: Word>(graph: &Graph<W>) -> Vec<bool> {
    let mut makes = vec![false; graph.bundles().len()];
    let outputs = graph.outputs().iter();
    outputs.for_each(|limb| makes[graph.home(*limb)] = true);
    makes
}

/// Whether an output depends on each operation.
fn needed<W: Word>(graph: &Graph<W>) -> Vec<bool> {
    let mut needed = is_output(graph);
    for (number, bundle) in graph.bundles().iter().enumerate().rev() {
        if needed[number] {
            let operands = bundle.operands.iter().flatten();
            operands.for_each(|limb| needed[graph.home(*limb)] = true);
        }
    }
    needed
}

/// For each operation those that use its result.
fn users<W: Word>(graph: &Graph<W>, is_needed: &[bool]) -> Vec<Vec<u32>> {
    let mut users = vec![Vec::new(); graph.bundles().len()];
    for (number, bundle) in (0..).zip(graph.bundles()) {
        if !is_needed[number as usize] {
            continue;
        }
        for limb in bundle.operands.iter().flatten() {
            let of: &mut Vec<u32> = &mut users[graph.home(*limb)];
            if of.last() != Some(&number) {
                of.push(number);
            }
        }
    }
    users
}

/// The stage of each operation: what the device makes reaches the host one stage later.
fn stages<W: Word>(graph: &Graph<W>, on_device: &[bool], layout: &Layout) -> Vec<u32> {
    let mut stages = vec![0; on_device.len()];
    for (number, bundle) in graph.bundles().iter().enumerate() {
        let mut stage = 0;
        for operand in &bundle.operands {
            let apart = on_device[number] && !is_one_piece(graph, on_device, layout, operand);
            for limb in operand {
                let home = graph.home(*limb);
                let later = on_device[home] && (!on_device[number] || apart);
                stage = stage.max(stages[home] + u32::from(later));
            }
        }
        stages[number] = stage;
    }
    stages
}

/// Whether the limbs of each section were made by one operation, or none of them on the device.
pub fn is_one_piece<W: Word>(
    graph: &Graph<W>,
    on_device: &[bool],
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
            || !homes.iter().any(|&home| on_device[home])
            || homes
                .iter()
                .any(|&home| on_device[home] && is_digit(graph, home, limbs))
    })
}

/// Whether limbs are a conversion's results and, in the lanes of its input primes, its inputs: the device's conversion
/// gives those too.
fn is_digit<W: Word>(graph: &Graph<W>, home: usize, limbs: &[Limb]) -> bool {
    let made = &graph.bundles()[home];
    let from = |limb: &Limb| graph.home(*limb) == home || made.operands[0].contains(limb);
    made.operation == Operation::Convert && limbs.iter().all(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::small;
    use polynomial::{Form, Origin};
    use rns::RnsBasis;

    /// Residues modulo a prime of 37 bits moved to the lane of one of 30, then read as told.
    fn moves(read: impl Fn(&mut Graph<u64>, &[Limb]) -> Vec<Limb>) -> Placement {
        let moduli = crate::simulate::default_moduli(&[30, 37], 64, 64).unwrap();
        let moduli: Vec<u64> = moduli.iter().map(|&q| q as u64).collect();
        let mut graph = Graph::new(64).together();
        let all = graph.basis(&RnsBasis::new(64, &moduli).unwrap());
        let task = graph.task("key-switch", 0);
        graph.label(0, Origin::Ciphertext);
        let given = graph.source((0, Form::Coefficients), &all, task);
        let moved = graph.convert(&given[1..], &all[..1], task);
        let result = read(&mut graph, &moved);
        graph.output(&result);
        let info = BuildInfo {
            moves: 4,
            ..small(40, 2)
        };
        let layout = Layout::new(&info, &graph);
        let offer = Offer::new(["key-switch".to_owned()]);
        Placement::new(&info, &offer, &graph, &layout).unwrap()
    }

    #[test]
    fn only_products_with_constants_read_what_moves_leave_unreduced() {
        let once = |graph: &mut Graph<u64>, moved: &[Limb]| {
            graph.by_limb(Operation::Scale(vec![1]), &[moved], 0)
        };
        let scaled = moves(once);
        assert_eq!(scaled.moves.is_long, [false, true, false]);
        assert_eq!(scaled.moves.is_move, [false, true, false]);
        // The product stays with the move, though the host would do it as cheaply.
        assert_eq!(scaled.on_device, [false, true, true]);
        let addend = moves(|graph, moved| {
            let scaled = once(graph, moved);
            graph.by_limb(Operation::ScaleAdd(vec![1]), &[&scaled, moved], 0)
        });
        let transformed = moves(|graph, moved| {
            let scaled = once(graph, moved);
            let values = graph.ntt(moved, 0);
            [scaled, values].concat()
        });
        let output = moves(|graph, moved| [once(graph, moved), moved.to_vec()].concat());
        for (found, what) in [
            (addend, "an addend"),
            (transformed, "a transform's"),
            (output, "an output"),
        ] {
            assert!(!found.moves.is_move[1] && !found.on_device[1], "{what}");
        }
    }
}
