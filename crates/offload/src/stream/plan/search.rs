// SPDX-License-Identifier: Apache-2.0
//! Plans of the parts of a program, one for each core of a device: the fastest of several orders.

use isa::BuildInfo;
use polynomial::Graph;
use zq::Word;

use super::part::PlannedPart;
use crate::stream::cost::timed;
use crate::stream::schedule::{Chains, PortShare, Stagger};
use crate::stream::select::TileOp;
use crate::{Offer, OffloadError};

/// Orders tried besides that of the program with slots that keep everything they can: whether independent chains run
/// on two tracks, and for how many operations ahead a slot keeps a tile that the host has too. Each is the fastest for
/// some batch of key switches or multiplications; a key switch has about 50 operations, a digit 12.
const TRIED: [(Option<Stagger>, usize); 4] = [
    (None, 50),
    (None, 12),
    (Some(Stagger::SideBySide), 50),
    (Some(Stagger::HalfBehind), 12),
];

/// Plans the parts of a program for the first cores of a device: of the orders tried, the one that ends first on all
/// cores.
///
/// # Errors
/// What the build cannot do.
pub fn plan_parts<'g, W: Word>(
    info: &BuildInfo,
    offer: &Offer,
    graphs: impl Iterator<Item = &'g Graph<W>>,
) -> Result<Vec<PlannedPart>, OffloadError> {
    let parts = graphs.map(|graph| PlannedPart::new(info, offer, graph));
    let mut parts: Vec<PlannedPart> = parts.collect::<Result<_, _>>()?;
    let ports = PortShare::new(&parts.iter().map(|part| &part.tiles).collect::<Vec<_>>());
    for (part, port) in parts.iter_mut().zip(&ports) {
        part.plan = part.planned(info, port, usize::MAX)?;
    }
    let chains = parts.iter().map(|part| Chains::new(&part.tiles));
    let chains: Vec<Option<Chains>> = chains.collect();
    if chains.iter().all(Option::is_none) {
        return Ok(parts);
    }
    let given: Vec<Vec<TileOp>> = parts.iter().map(|part| part.tiles.ops.clone()).collect();
    let mut least = cycles(info, &parts);
    for (stagger, keep) in TRIED {
        let mut before = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter_mut().enumerate() {
            let ops = match (&chains[at], stagger) {
                (Some(chains), Some(stagger)) => chains.in_tracks(stagger),
                _ => given[at].clone(),
            };
            let ops = std::mem::replace(&mut part.tiles.ops, ops);
            let plan = part.planned(info, &ports[at], keep)?;
            before.push((ops, std::mem::replace(&mut part.plan, plan)));
        }
        let cycles = cycles(info, &parts);
        if cycles < least {
            least = cycles;
            continue;
        }
        for (part, (ops, plan)) in parts.iter_mut().zip(before) {
            (part.tiles.ops, part.plan) = (ops, plan);
        }
    }
    Ok(parts)
}

fn cycles(info: &BuildInfo, parts: &[PlannedPart]) -> u64 {
    let n = parts.first().map_or(0, |part| part.layout.n);
    timed(info, n, parts.iter().map(PlannedPart::tiles_and_plan)).cycles
}
