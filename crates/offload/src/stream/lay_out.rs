// SPDX-License-Identifier: Apache-2.0
//! The parts of a program laid out for the cores of a device: the plan that ends first on all of them.

use isa::BuildInfo;
use polynomial::Graph;
use zq::Word;

use super::interleave::{Parts, Tracks};
use super::laid::Laid;
use super::tile::TileOp;
use super::timing::timed;
use super::turns::Turns;
use crate::{Offer, OffloadError};

/// What is tried beside one part after another with all that slots can keep: the order of parts that have nothing in
/// common, and for how many operations ahead a slot keeps what the host has too. Each is the fastest for some batch of
/// key switches or multiplications; 50 operations are about those of a key switch, 12 those of a digit.
const TRIED: [(Option<Tracks>, usize); 4] = [
    (None, 50),
    (None, 12),
    (Some(Tracks::SideBySide), 50),
    (Some(Tracks::HalfBehind), 12),
];

/// The parts of a program laid out for the first cores of a device: planned so that they end first on all of them.
///
/// # Errors
/// What the build cannot do.
pub(super) fn lay_out<'g, W: Word>(
    info: &BuildInfo,
    offer: &Offer,
    graphs: impl Iterator<Item = &'g Graph<W>>,
) -> Result<Vec<Laid<'g, W>>, OffloadError> {
    let laid = graphs.map(|graph| Laid::new(info, offer, graph));
    let mut laid: Vec<Laid<'g, W>> = laid.collect::<Result<_, _>>()?;
    let turns = Turns::new(&laid.iter().map(|laid| &laid.tiles).collect::<Vec<_>>());
    for (laid, turns) in laid.iter_mut().zip(&turns) {
        laid.plan = laid.planned(info, turns, usize::MAX)?;
    }
    let parts: Vec<Option<Parts>> = laid.iter().map(|laid| Parts::new(&laid.tiles)).collect();
    if parts.iter().all(Option::is_none) {
        return Ok(laid);
    }
    let given: Vec<Vec<TileOp>> = laid.iter().map(|laid| laid.tiles.ops.clone()).collect();
    let mut least = timed(info, &laid).cycles;
    for (tracks, keep) in TRIED {
        let mut others = Vec::with_capacity(laid.len());
        for (at, laid) in laid.iter_mut().enumerate() {
            let ops = match (&parts[at], tracks) {
                (Some(parts), Some(tracks)) => parts.in_tracks(tracks),
                _ => given[at].clone(),
            };
            let ops = std::mem::replace(&mut laid.tiles.ops, ops);
            let plan = laid.planned(info, &turns[at], keep)?;
            others.push((ops, std::mem::replace(&mut laid.plan, plan)));
        }
        let cycles = timed(info, &laid).cycles;
        if cycles < least {
            least = cycles;
            continue;
        }
        for (laid, (ops, plan)) in laid.iter_mut().zip(others) {
            (laid.tiles.ops, laid.plan) = (ops, plan);
        }
    }
    Ok(laid)
}
