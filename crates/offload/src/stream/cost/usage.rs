// SPDX-License-Identifier: Apache-2.0
//! Cycles and transfers of submissions.

use device::Profile;
use isa::{BuildInfo, Instruction, Op, TWIDDLE_SLOT, Unit};

use crate::Usage;

/// Counts a submission's transfers and work.
pub fn add_submission(
    info: &BuildInfo,
    usage: &mut Usage,
    profile: &Profile,
    program: &[Instruction],
) {
    let lane_bytes = u64::from(info.lanes) * info.word_bytes() as u64;
    usage.execute(program);
    usage.submissions += 1;
    for instruction in program {
        let bytes = instruction.n() as u64 * lane_bytes;
        match instruction.op {
            Op::Load => usage.send.count(bytes),
            Op::Store => usage.receive.count(bytes),
            _ => {}
        }
        usage.tables += u64::from(instruction.op == Op::Load && instruction.dst == TWIDDLE_SLOT);
    }
    let mut transfers = Vec::new();
    for event in &profile.events {
        match event.op {
            Op::Load => usage.send.cycles += event.end - event.start,
            Op::Store => usage.receive.cycles += event.end - event.start,
            _ => continue,
        }
        transfers.push((event.start, event.end));
    }
    let work = profile
        .events
        .iter()
        .filter(|event| matches!(event.unit, Unit::Compute | Unit::Pointwise));
    let mut work: Vec<(u64, u64)> = work.map(|event| (event.start, event.end)).collect();
    usage.conversion_cycles += profile.counters.busy_rns;
    usage.cycles += profile.counters.cycles;
    let mut all = [transfers.as_slice(), &work].concat();
    let (moving, working) = (covered(&mut transfers), covered(&mut work));
    usage.transfer_cycles += moving;
    usage.compute_cycles += working;
    usage.hidden_cycles += moving + working - covered(&mut all);
}

/// Cycles in any of these intervals.
pub fn covered(intervals: &mut [(u64, u64)]) -> u64 {
    intervals.sort_unstable();
    let (mut end, mut sum) = (0, 0);
    for &mut (from, to) in intervals {
        sum += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    sum
}
