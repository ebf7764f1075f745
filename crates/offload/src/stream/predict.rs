// SPDX-License-Identifier: Apache-2.0
//! What a program would take of a build, from its plan alone: no data, no keys, no device.

use std::collections::{BTreeMap, BTreeSet};

use isa::{BuildInfo, Shape, State, Unit};
use model::{Timing, schedule_from};
use polynomial::{Graph, Operation};
use zq::Word;

use super::run::{Laid, account};
use crate::{OffloadError, Usage};

/// What a program would take of a build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// As a run on an idle device has it, to the cycle.
    pub usage: Usage,
    /// Issue cycles of the compute unit: no order of the instructions and no number of slots can save them.
    pub least_cycles: u64,
    /// Operations on polynomials that depend on what is given and that the host does, by kind.
    pub host_work: BTreeMap<&'static str, u64>,
}

/// Usage of a build that takes these operations after one run of a program: its plan, timed by the latency formulas and
/// the scheduling rules.
///
/// # Errors
/// What the build cannot do.
pub fn predict<W: Word>(
    info: &BuildInfo,
    operations: &BTreeSet<String>,
    graph: &Graph<W>,
) -> Result<Prediction, OffloadError> {
    let laid = Laid::new(info, operations, graph)?;
    let mut found = Prediction {
        host_work: host_work(graph, |number| laid.is_on_host(number)),
        ..Prediction::default()
    };
    let (timing, mut state) = (Timing::new(info), State::new(info));
    laid.count(&mut found.usage);
    for submission in &laid.plan.submissions {
        for (number, spec) in &submission.conversions {
            found.usage.conversions += u64::from(spec.is_some());
            state.conversions[usize::from(*number)] = spec.as_ref().map(|spec| Shape {
                inputs: spec.inputs.len() as u8,
                own: false,
            });
        }
        let program = &submission.program;
        let profile = schedule_from(info, &state, program);
        found.usage.predicted_cycles += profile.counters.cycles;
        account(info, &mut found.usage, &profile, program);
        let work = program.iter().filter(|i| i.op.spec().unit == Unit::Compute);
        found.least_cycles += work.map(|i| timing.issue(i)).sum::<u64>();
    }
    Ok(found)
}

/// Counts the host's operations on inputs and on results of the device; the rest, such as encryptions of zero, can be
/// done before.
fn host_work<W: Word>(
    graph: &Graph<W>,
    is_on_host: impl Fn(usize) -> bool,
) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    let mut depends: Vec<bool> = Vec::with_capacity(graph.bundles().len());
    for (number, bundle) in graph.bundles().iter().enumerate() {
        let is_given = matches!(bundle.operation, Operation::Source(..));
        let mut operands = bundle.operands.iter().flatten();
        let depending = is_given || operands.any(|limb| depends[graph.home(*limb)]);
        depends.push(depending);
        if depending && !is_given && is_on_host(number) {
            *counts.entry(kind(&bundle.operation)).or_default() += 1;
        }
    }
    counts
}

fn kind(operation: &Operation) -> &'static str {
    use Operation::{Convert, Intt, Mul, MulAdd, Ntt, Permute, Round, Step};
    match operation {
        Ntt | Intt => "transforms",
        Mul | MulAdd => "products",
        Permute { .. } => "automorphisms",
        Convert | Round { .. } => "base conversions",
        Step(..) => "whole steps",
        _ => "sums",
    }
}
