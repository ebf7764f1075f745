// SPDX-License-Identifier: Apache-2.0
//! What a program would take of a build, from its plan alone: no data, no keys, no device.

use std::borrow::Cow;

use isa::{BuildInfo, Instruction};
use polynomial::Graph;
use zq::Word;

use super::part::PlannedPart;
use super::search::plan_parts;
use crate::stream::allocate::TABLES;
use crate::stream::cost::{Prediction, timed};
use crate::{Offer, OffloadError};

/// Usage of a build that gets an offer of operations after one run of a program, a part of it ([`Graph::shares`]) on
/// each of its first cores: their plans, timed by the latency formulas and the scheduling rules.
///
/// # Errors
/// What the build cannot do.
pub fn predict<W: Word>(
    info: &BuildInfo,
    offer: &Offer,
    parts: &[Cow<'_, Graph<W>>],
) -> Result<Prediction, OffloadError> {
    let planned = plan_parts(info, offer, parts.iter().map(|part| &**part))?;
    let n = planned.first().map_or(0, |part| part.layout.n);
    let mut found = timed(info, n, planned.iter().map(PlannedPart::tiles_and_plan));
    for (part, graph) in planned.iter().zip(parts) {
        part.count(info, graph, &mut found.usage);
    }
    Ok(found)
}

/// The submissions of a program with resident operands, twiddle tables in the buffers behind those of tiles.
///
/// # Errors
/// What the build cannot do.
pub fn resident_programs<W: Word>(
    info: &BuildInfo,
    graph: &Graph<W>,
) -> Result<Vec<Vec<Instruction>>, OffloadError> {
    let parts = plan_parts(info, &Offer::resident(graph), std::iter::once(graph))?;
    let mut programs = Vec::new();
    for plan in parts.into_iter().map(|part| part.plan) {
        let placed = |mut i: Instruction| {
            if let Some(table) = i.buf_idx.checked_sub(TABLES) {
                i.buf_idx = plan.buffers + table;
            }
            i
        };
        let submissions = plan.submissions.into_iter();
        programs.extend(submissions.map(|one| one.program.into_iter().map(placed).collect()));
    }
    Ok(programs)
}
