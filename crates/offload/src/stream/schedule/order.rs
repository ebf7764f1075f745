// SPDX-License-Identifier: Apache-2.0
//! The order of operations on the device.
//!
//! Without base conversions no section depends on another: they run one after another, so that tables are loaded once a
//! stage. With base conversions sections depend on each other. Then homomorphic steps follow each other, and within a
//! step as many operations as possible run in a section before the next section; a conversion comes just before the
//! first operation that reads it (the overlap pass starts it earlier), so that its result takes no slot before.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use polynomial::{Graph, Limb};
use zq::Word;

use crate::stream::legality::is_conversion;
use crate::stream::partition::Layout;
use crate::stream::select::{Placement, SectionOp};

/// Operations in the order of execution.
pub fn order<W: Word>(graph: &Graph<W>, layout: &Layout, placement: &Placement) -> Vec<SectionOp> {
    let mut ops = Vec::new();
    for (number, bundle) in graph.bundles().iter().enumerate() {
        if !placement.operations[number].on_device || placement.addends.is_absorbed(number) {
            continue;
        }
        let sets: BTreeSet<usize> = bundle.moduli.iter().map(|m| layout.place(*m).0).collect();
        let sections = (sets.iter())
            .flat_map(|set| (0..layout.halves).map(move |half| set * layout.halves + half));
        let stage = placement.operations[number].stage;
        ops.extend(sections.map(|section| SectionOp {
            stage,
            section,
            number,
        }));
    }
    let converts = |op: &SectionOp| is_conversion(&graph.bundles()[op.number].operation);
    if ops.iter().any(converts) {
        return Orderer::new(graph, layout, placement, ops).order();
    }
    // Every other stage goes backwards through the sections: it starts with the table that the last one ended with.
    let turned = |stage: u32, section: usize| match stage % 2 {
        0 => section,
        _ => layout.sections.len() - section,
    };
    ops.sort_unstable_by_key(|op: &SectionOp| (op.stage, turned(op.stage, op.section), op.number));
    ops
}

/// An operation in a section, to be put in order.
struct Node {
    op: SectionOp,
    /// Nodes that it depends on.
    needs: Vec<usize>,
    is_conversion: bool,
    /// The first section with the moduli of its own.
    section: usize,
    /// Homomorphic steps before its own.
    step: u32,
    is_done: bool,
}

struct Orderer {
    nodes: Vec<Node>,
    out: Vec<SectionOp>,
}

impl Orderer {
    fn new<W: Word>(
        graph: &Graph<W>,
        layout: &Layout,
        placement: &Placement,
        ops: Vec<SectionOp>,
    ) -> Self {
        let place: HashMap<(usize, usize), usize> = (0..)
            .zip(&ops)
            .map(|(at, op)| ((op.number, op.section), at))
            .collect();
        let (mut step, mut last) = (0, None);
        let mut node = |op: &SectionOp| {
            let bundle = &graph.bundles()[op.number];
            let own = graph.tasks()[bundle.task as usize].step;
            step += u32::from(last.is_some_and(|last| last != own));
            last = Some(own);
            let mut homes = BTreeSet::new();
            sources(graph, layout, placement, op, &mut homes);
            let needs = homes.iter().filter_map(|home| place.get(home).copied());
            Node {
                op: *op,
                needs: needs.collect(),
                is_conversion: is_conversion(&bundle.operation),
                section: layout.origin(op.section),
                step,
                is_done: false,
            }
        };
        Self {
            nodes: ops.iter().map(&mut node).collect(),
            out: Vec::with_capacity(ops.len()),
        }
    }

    fn order(mut self) -> Vec<SectionOp> {
        let mut groups: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let group = groups.entry((node.op.stage, node.step));
            group.or_default().push(at);
        }
        let mut section = 0;
        for group in groups.values() {
            section = self.group(group, section);
        }
        self.out
    }

    /// Orders the operations of a step, first those in `section`; returns the section of the last one.
    fn group(&mut self, group: &[usize], mut section: usize) -> usize {
        let mut waits: HashMap<usize, usize> = HashMap::new();
        let mut wanted: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut ready: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &at in group.iter().filter(|&&at| !self.nodes[at].is_conversion) {
            let before = self.behind_conversions(at);
            for &earlier in &before {
                wanted.entry(earlier).or_default().push(at);
            }
            match before.len() {
                0 => _ = ready.entry(self.nodes[at].section).or_default().insert(at),
                count => _ = waits.insert(at, count),
            }
        }
        loop {
            let next = match ready.get_mut(&section).and_then(BTreeSet::pop_first) {
                Some(next) => next,
                // The oldest operation that is ready leads to another section.
                None => match ready.values().filter_map(BTreeSet::first).min() {
                    Some(&oldest) => {
                        section = self.nodes[oldest].section;
                        continue;
                    }
                    None => break,
                },
            };
            self.emit(next);
            for later in wanted.remove(&next).unwrap_or_default() {
                let Some(count) = waits.get_mut(&later) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 {
                    ready
                        .entry(self.nodes[later].section)
                        .or_default()
                        .insert(later);
                }
            }
        }
        // Conversions that only later steps or the host read.
        group.iter().for_each(|&at| self.emit(at));
        section
    }

    /// The operations other than conversions that have to be done before one.
    fn behind_conversions(&self, at: usize) -> HashSet<usize> {
        let (mut found, mut seen, mut stack) = (HashSet::new(), HashSet::new(), vec![at]);
        while let Some(next) = stack.pop() {
            for &earlier in &self.nodes[next].needs {
                if self.nodes[earlier].is_done || !seen.insert(earlier) {
                    continue;
                }
                if self.nodes[earlier].is_conversion {
                    stack.push(earlier);
                } else {
                    found.insert(earlier);
                }
            }
        }
        found
    }

    /// Emits an operation after the conversions that it depends on.
    fn emit(&mut self, at: usize) {
        let mut stack = vec![at];
        while let Some(&top) = stack.last() {
            if self.nodes[top].is_done {
                stack.pop();
                continue;
            }
            let missing = self.nodes[top]
                .needs
                .iter()
                .filter(|&&need| !self.nodes[need].is_done);
            let missing: Vec<usize> = missing.rev().copied().collect();
            if missing.is_empty() {
                self.nodes[top].is_done = true;
                self.out.push(self.nodes[top].op);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
    }
}

/// The operations and sections that an operation in a section reads from.
fn sources<W: Word>(
    graph: &Graph<W>,
    layout: &Layout,
    placement: &Placement,
    op: &SectionOp,
    homes: &mut BTreeSet<(usize, usize)>,
) {
    let bundle = &graph.bundles()[op.number];
    let everywhere = is_conversion(&bundle.operation);
    let section = |limb: &Limb| layout.place(graph.modulus_of(*limb)).0;
    let limbs = bundle.operands.iter().flatten();
    for limb in limbs.filter(|limb| everywhere || section(limb) == op.section / layout.halves) {
        let home = graph.home(*limb);
        let from = SectionOp {
            number: home,
            section: if everywhere {
                section(limb)
            } else {
                op.section
            },
            ..*op
        };
        if placement.addends.is_absorbed(home) {
            sources(graph, layout, placement, &from, homes);
        } else {
            homes.insert((home, from.section));
        }
    }
}
