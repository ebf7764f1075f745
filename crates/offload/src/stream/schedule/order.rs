// SPDX-License-Identifier: Apache-2.0
//! The order of operations on the device.
//!
//! Without base conversions sections depend on the host only: one after another, so that tables are loaded once a
//! stage. With them sections depend on each other. Then homomorphic steps follow each other, and within a step as much
//! as possible is done in a section before the next one is entered; a conversion comes just before the first operation
//! that wants it (the overlap pass starts it earlier), so that its result takes no slot before.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use polynomial::{Graph, Limb};
use zq::Word;

use crate::stream::legality::is_conversion;
use crate::stream::partition::Layout;
use crate::stream::select::{Placement, SectionOp};

/// Operations in the order of execution.
pub fn order<W: Word>(graph: &Graph<W>, layout: &Layout, placement: &Placement) -> Vec<SectionOp> {
    let mut items = Vec::new();
    for (number, bundle) in graph.bundles().iter().enumerate() {
        if !placement.on_device[number] || placement.addends.is_absorbed(number) {
            continue;
        }
        let sets: BTreeSet<usize> = bundle.moduli.iter().map(|m| layout.place(*m).0).collect();
        let sections = (sets.iter())
            .flat_map(|set| (0..layout.halves).map(move |half| set * layout.halves + half));
        let stage = placement.stages[number];
        items.extend(sections.map(|section| SectionOp {
            stage,
            section,
            number,
        }));
    }
    let converts = |item: &SectionOp| is_conversion(&graph.bundles()[item.number].operation);
    if items.iter().any(converts) {
        return Orderer::new(graph, layout, placement, items).order();
    }
    // Every other stage goes backwards through the sections: the table at the turn is there already.
    let turned = |stage: u32, section: usize| match stage % 2 {
        0 => section,
        _ => layout.sections.len() - section,
    };
    items.sort_unstable_by_key(|item| {
        let SectionOp {
            stage,
            section,
            number,
        } = *item;
        (stage, turned(stage, section), number)
    });
    items
}

struct Orderer {
    items: Vec<SectionOp>,
    /// Per item those that it depends on.
    needs: Vec<Vec<usize>>,
    is_conversion: Vec<bool>,
    /// Per item the section that its own is worked through with.
    sections: Vec<usize>,
    /// Per item the homomorphic step, counted.
    blocks: Vec<u32>,
    is_done: Vec<bool>,
    out: Vec<SectionOp>,
}

impl Orderer {
    fn new<W: Word>(
        graph: &Graph<W>,
        layout: &Layout,
        placement: &Placement,
        items: Vec<SectionOp>,
    ) -> Self {
        let place: HashMap<(usize, usize), usize> = (0..)
            .zip(&items)
            .map(|(at, item)| ((item.number, item.section), at))
            .collect();
        let needs = items.iter().map(|item| {
            let mut homes = BTreeSet::new();
            sources(graph, layout, placement, item, &mut homes);
            homes
                .iter()
                .filter_map(|home| place.get(home).copied())
                .collect()
        });
        let (mut blocks, mut last) = (Vec::with_capacity(items.len()), (0, None));
        for item in &items {
            let step = graph.tasks()[graph.bundles()[item.number].task as usize].step;
            last = (
                last.0 + u32::from(last.1.is_some_and(|known| known != step)),
                Some(step),
            );
            blocks.push(last.0);
        }
        let converts = |item: &SectionOp| is_conversion(&graph.bundles()[item.number].operation);
        Self {
            needs: needs.collect(),
            is_conversion: items.iter().map(converts).collect(),
            sections: (items.iter())
                .map(|item| layout.origin(item.section))
                .collect(),
            blocks,
            is_done: vec![false; items.len()],
            out: Vec::with_capacity(items.len()),
            items,
        }
    }

    fn order(mut self) -> Vec<SectionOp> {
        let mut groups: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (at, item) in self.items.iter().enumerate() {
            groups
                .entry((item.stage, self.blocks[at]))
                .or_default()
                .push(at);
        }
        let mut section = 0;
        for group in groups.values() {
            section = self.group(group, section);
        }
        self.out
    }

    /// One step's operations, from a section on; the section of the last one.
    fn group(&mut self, group: &[usize], mut section: usize) -> usize {
        let mut waits: HashMap<usize, usize> = HashMap::new();
        let mut wanted: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut ready: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &at in group.iter().filter(|&&at| !self.is_conversion[at]) {
            let before = self.behind_conversions(at);
            for &earlier in &before {
                wanted.entry(earlier).or_default().push(at);
            }
            match before.len() {
                0 => _ = ready.entry(self.sections[at]).or_default().insert(at),
                count => _ = waits.insert(at, count),
            }
        }
        loop {
            let next = match ready.get_mut(&section).and_then(BTreeSet::pop_first) {
                Some(next) => next,
                // The oldest operation that is ready leads to another section.
                None => match ready.values().filter_map(BTreeSet::first).min() {
                    Some(&oldest) => {
                        section = self.sections[oldest];
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
                    ready.entry(self.sections[later]).or_default().insert(later);
                }
            }
        }
        // Conversions that only later steps want, or the host.
        group.iter().for_each(|&at| self.emit(at));
        section
    }

    /// The operations, conversions aside, that have to be done before one.
    fn behind_conversions(&self, at: usize) -> HashSet<usize> {
        let (mut found, mut seen, mut stack) = (HashSet::new(), HashSet::new(), vec![at]);
        while let Some(next) = stack.pop() {
            for &earlier in &self.needs[next] {
                if self.is_done[earlier] || !seen.insert(earlier) {
                    continue;
                }
                if self.is_conversion[earlier] {
                    stack.push(earlier);
                } else {
                    found.insert(earlier);
                }
            }
        }
        found
    }

    /// One operation, after the conversions that it depends on.
    fn emit(&mut self, at: usize) {
        let mut stack = vec![at];
        while let Some(&top) = stack.last() {
            if self.is_done[top] {
                stack.pop();
                continue;
            }
            let missing = self.needs[top].iter().filter(|&&need| !self.is_done[need]);
            let missing: Vec<usize> = missing.rev().copied().collect();
            if missing.is_empty() {
                self.is_done[top] = true;
                self.out.push(self.items[top]);
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
    item: &SectionOp,
    homes: &mut BTreeSet<(usize, usize)>,
) {
    let bundle = &graph.bundles()[item.number];
    let everywhere = is_conversion(&bundle.operation);
    let section = |limb: &Limb| layout.place(graph.modulus_of(*limb)).0;
    let limbs = bundle.operands.iter().flatten();
    for limb in limbs.filter(|limb| everywhere || section(limb) == item.section / layout.halves) {
        let home = graph.home(*limb);
        let from = SectionOp {
            number: home,
            section: if everywhere {
                section(limb)
            } else {
                item.section
            },
            ..*item
        };
        if placement.addends.is_absorbed(home) {
            sources(graph, layout, placement, &from, homes);
        } else {
            homes.insert((home, from.section));
        }
    }
}
