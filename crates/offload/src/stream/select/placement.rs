// SPDX-License-Identifier: Apache-2.0
//! Placement of operations on device or host, and the order of their stages.

use std::collections::HashSet;

use isa::{BuildInfo, Op};
use polynomial::{Bundle, Graph, Limb};
use zq::Word;

use super::addends::Addends;
use super::placed::{Moving, Placed};
use super::stages::stages;
use super::uses::{Uses, is_only_scaled, uses};
use crate::stream::legality::{Legality, is_conversion, is_free, is_heavy, is_move, listed};
use crate::stream::partition::Layout;
use crate::{Offer, OffloadError};

/// Rounds in which operations that either side can do move to where they cost fewer transfers.
const ROUNDS: usize = 4;

/// The placement of a program.
#[derive(Clone, Debug)]
pub struct Placement {
    /// By number.
    pub operations: Vec<Placed>,
    /// Sums that inverse transforms make.
    pub addends: Addends,
}

impl Placement {
    /// For a build that is offered some operations.
    ///
    /// # Errors
    /// [`OffloadError::Host`] if the host is to do nothing and would have to do something; it says what.
    pub fn new<W: Word>(
        info: &BuildInfo,
        offer: &Offer,
        graph: &Graph<W>,
        layout: &Layout,
    ) -> Result<Self, OffloadError> {
        let operations = possible(info, offer, graph, layout);
        if offer.alone {
            let lacks = listed(graph, |number| operations[number].unsupported);
            if !lacks.is_empty() {
                return Err(OffloadError::Host { lacks });
            }
        }
        let mut placer = Placer::new(graph, operations);
        if !offer.alone {
            placer.share_out();
        }
        let (converts, mut operations) = (placer.converts, placer.operations);
        let stages = stages(graph, layout, |number| operations[number].on_device);
        for (placed, stage) in operations.iter_mut().zip(stages) {
            placed.stage = stage;
        }
        let addends = match converts || offer.resident {
            true => Addends::new(graph, &operations),
            false => Addends::default(),
        };
        Ok(Self {
            operations,
            addends,
        })
    }
}

/// Each operation on the device if the device can do it.
fn possible<W: Word>(
    info: &BuildInfo,
    offer: &Offer,
    graph: &Graph<W>,
    layout: &Layout,
) -> Vec<Placed> {
    // Lowering for builds that convert bases leaves unused operations; a part of a program has those of the others.
    let has_unused = info.has(Op::Lift) || info.has(Op::Decomp) || graph.is_part();
    let legality = Legality::new((info, offer), (graph, layout));
    let placed = |((number, bundle), uses): ((usize, &Bundle), Uses)| {
        let moving = moving(info, (graph, layout), (number, bundle), &uses);
        let unsupported = (uses.is_needed)
            .then(|| legality.unsupported(bundle, moving.is_some()))
            .flatten();
        Placed {
            on_device: uses.is_needed && unsupported.is_none(),
            stage: 0,
            unsupported,
            uses,
            moving,
        }
    };
    let bundles = graph.bundles().iter().enumerate();
    bundles.zip(uses(graph, !has_unused)).map(placed).collect()
}

/// How the move unit does an operation, if it can.
fn moving<W: Word>(
    info: &BuildInfo,
    place: (&Graph<W>, &Layout),
    (number, bundle): (usize, &Bundle),
    uses: &Uses,
) -> Option<Moving> {
    if !is_conversion(&bundle.operation) {
        return None;
    }
    let can_move = |only_scaled| is_move(info, place, bundle, only_scaled);
    if can_move(false) {
        return Some(Moving::Reduced);
    }
    let is_long = !uses.is_output && is_only_scaled(place.0, &uses.users, number) && can_move(true);
    is_long.then_some(Moving::Unreduced)
}

struct Placer<'a, W: Word> {
    graph: &'a Graph<W>,
    /// At first everything that the device can do is there.
    operations: Vec<Placed>,
    /// Operations that either side can do and that are not worth a transfer.
    light: Vec<usize>,
    /// Whether the device converts bases: then polynomials stay there if the costs are equal.
    converts: bool,
}

impl<'a, W: Word> Placer<'a, W> {
    fn new(graph: &'a Graph<W>, operations: Vec<Placed>) -> Self {
        let bundles = || operations.iter().zip(graph.bundles());
        // Products that reduce the result of a move stay with it.
        let unreduced = operations
            .iter()
            .filter(|placed| placed.moving == Some(Moving::Unreduced));
        let reducing: HashSet<u32> = unreduced
            .flat_map(|placed| placed.uses.users.iter().copied())
            .collect();
        let is_light = |(number, (placed, bundle)): (usize, (&Placed, &Bundle))| {
            let stays = reducing.contains(&(number as u32)) || is_heavy(&bundle.operation);
            (placed.on_device && !stays).then_some(number)
        };
        Self {
            graph,
            light: bundles().enumerate().filter_map(is_light).collect(),
            converts: bundles()
                .any(|(placed, bundle)| placed.on_device && is_conversion(&bundle.operation)),
            operations,
        }
    }

    /// Moves to the host what costs fewer transfers there. Everything that the device can do starts on the device, so
    /// chains of sums between two products stay together.
    fn share_out(&mut self) {
        self.settle();
        self.only_beside_others();
        self.settle();
    }

    fn is_on_device(&self, number: u32) -> bool {
        self.operations[number as usize].on_device
    }

    /// Transforms of tasks that no preset names stay on the device only beside operations that are there.
    fn only_beside_others(&mut self) {
        for number in 0..self.operations.len() {
            let bundle = &self.graph.bundles()[number];
            let may_move = is_heavy(&bundle.operation) && is_free(self.graph, bundle);
            if self.operations[number].on_device && may_move {
                let from_device = self
                    .operand_homes(number)
                    .any(|home| self.operations[home].on_device);
                let to_device = self.operations[number]
                    .uses
                    .users
                    .iter()
                    .any(|user| self.is_on_device(*user));
                self.operations[number].on_device = from_device || to_device;
            }
        }
    }

    fn operand_homes(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let operands = self.graph.bundles()[number].operands.iter().flatten();
        operands.map(|limb: &Limb| self.graph.home(*limb))
    }

    /// Places light operations where they cost fewer transfers, in rounds backwards and forwards.
    fn settle(&mut self) {
        for round in 0..ROUNDS {
            for at in 0..self.light.len() {
                let at = if round % 2 == 0 {
                    self.light.len() - 1 - at
                } else {
                    at
                };
                let number = self.light[at];
                self.operations[number].on_device = self.is_cheaper_on_device(number);
            }
        }
    }

    /// Compares the limbs transferred for an operation on the device with those on the host: operands that are on the
    /// other side, results that the other side reads.
    fn is_cheaper_on_device(&self, number: usize) -> bool {
        let rows = self.graph.bundles()[number].moduli.len();
        let uses = &self.operations[number].uses;
        let for_device = uses.users.iter().any(|user| self.is_on_device(*user));
        let for_host = uses.is_output || !uses.users.iter().all(|user| self.is_on_device(*user));
        let (mut device, mut host) = (0, 0);
        let mut limbs: Vec<Limb> = self.graph.bundles()[number].operands.concat();
        limbs.sort_unstable();
        limbs.dedup();
        for home in limbs.iter().map(|limb| self.graph.home(*limb)) {
            match self.operations[home].on_device {
                true => host += usize::from(!self.host_has(home, number)),
                false => device += usize::from(!self.device_has(home, number)),
            }
        }
        device += if for_host { rows } else { 0 };
        host += if for_device { rows } else { 0 };
        let at_home = self
            .operand_homes(number)
            .any(|home| self.operations[home].on_device);
        device < host || device == host && for_device && (at_home || self.converts)
    }

    /// Whether the host gets a result anyway, as an output or for a user other than `but`.
    fn host_has(&self, home: usize, but: usize) -> bool {
        let other = |user: &u32| *user as usize != but && !self.is_on_device(*user);
        self.operations[home].uses.is_output || self.operations[home].uses.users.iter().any(other)
    }

    /// Whether the device gets a result anyway, for a user other than `but`.
    fn device_has(&self, home: usize, but: usize) -> bool {
        let other = |user: &u32| *user as usize != but && self.is_on_device(*user);
        self.operations[home].uses.users.iter().any(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::small;
    use polynomial::{Form, Origin, PolyOp};
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
            graph.by_limb(PolyOp::Scale(vec![1]), &[moved], 0)
        };
        let scaled = moves(once);
        let moving: Vec<_> = scaled.operations.iter().map(|one| one.moving).collect();
        assert_eq!(moving, [None, Some(Moving::Unreduced), None]);
        // The product stays with the move, though the host would do it as cheaply.
        let on_device = scaled.operations.iter().map(|one| one.on_device);
        assert!(on_device.eq([false, true, true]));
        let addend = moves(|graph, moved| {
            let scaled = once(graph, moved);
            graph.by_limb(PolyOp::ScaleAdd(vec![1]), &[&scaled, moved], 0)
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
            let placed = &found.operations[1];
            assert!(placed.moving.is_none() && !placed.on_device, "{what}");
        }
    }
}
