// SPDX-License-Identifier: Apache-2.0
//! Timelines of programs, of one core or several that share a data port.

mod port;
mod sequencer;

pub use port::schedule_together;
pub use sequencer::{SlotMasks, in_flight};

use isa::{BuildInfo, Instruction, State};

use crate::timing::Profile;

/// The timeline of a program without base conversions on an idle device whose command queue is filled faster than it
/// drains.
pub fn schedule(info: &BuildInfo, program: &[Instruction]) -> Profile {
    schedule_from(info, &State::new(info), program)
}

/// The timeline of a program on an idle device that holds what `state` says: a base conversion lasts by its primes.
pub fn schedule_from(info: &BuildInfo, state: &State, program: &[Instruction]) -> Profile {
    let mut profiles = schedule_together(info, &[(state, program)]);
    profiles.pop().unwrap_or_default()
}
