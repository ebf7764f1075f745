// SPDX-License-Identifier: Apache-2.0
//! Linear transforms of a program: rotations in order, plaintexts that exist, work within limits.

use super::layout;
use crate::Error;
use crate::program::Program;
use crate::transform::Transform;

/// Elementary operations that estimating the noise of a term counts for,
/// where a plaintext of as many slots counts less.
const TERM_WORK: u64 = 1 << 12;

impl Program {
    /// Elementary operations that the plaintexts of all transforms take, a transform as often as steps use it.
    pub(super) fn transform_work(&self) -> u64 {
        let term = TERM_WORK.max(self.parameters.slots() as u64);
        let work = |transform: &Transform| transform.terms().count() as u64 * term;
        let work: Vec<u64> = self.transforms.iter().map(work).collect();
        let numbers = self
            .steps
            .iter()
            .filter_map(|step| step.operation.transform());
        let uses = numbers.filter_map(|number| work.get(number as usize).copied());
        uses.fold(0, u64::saturating_add)
    }

    pub(super) fn check_transform(&self, number: usize) -> Result<(), Error> {
        let checked = self.judged(&self.transforms[number]);
        checked.map_err(|message| layout(format!("transform {number}"), message))
    }

    fn judged(&self, transform: &Transform) -> Result<(), String> {
        rising("giant", transform.giants.iter().map(|giant| giant.rotation))?;
        for giant in &transform.giants {
            self.check_turn(giant.rotation)?;
            rising("baby", giant.terms.iter().map(|term| term.rotation))?;
            giant
                .terms
                .iter()
                .try_for_each(|term| self.check_turn(term.rotation))?;
        }
        if transform.key_switches() == 0 {
            return Err("nothing is rotated".into());
        }
        if !transform.multiplies() {
            return match transform.scale {
                1.0 => Ok(()),
                scale => Err(format!("scale {scale} without plaintexts; 1 is needed")),
            };
        }
        self.check_plain_scale(transform.scale)?;
        let there = self.plaintexts.len();
        let missing = |plaintext: Option<u32>| plaintext.is_none_or(|p| p as usize >= there);
        match transform.terms().find(|term| missing(term.plaintext)) {
            None => Ok(()),
            Some(term) => Err(match term.plaintext {
                Some(plaintext) => {
                    format!("there is no plaintext {plaintext}, there are {there}")
                }
                None => "a term without a plaintext beside others that have one".into(),
            }),
        }
    }

    /// A rotation as [`Program::check_rotation`] has it, or none.
    fn check_turn(&self, by: i32) -> Result<(), String> {
        if by == 0 {
            Ok(())
        } else {
            self.check_rotation(by)
        }
    }
}

/// At least one rotation, each larger than the one before.
fn rising(what: &str, rotations: impl Iterator<Item = i32>) -> Result<(), String> {
    let rotations: Vec<i32> = rotations.collect();
    if rotations.is_empty() {
        return Err(format!("no {what} step"));
    }
    match rotations.windows(2).find(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(pair) => Err(format!(
            "a {what} step by {} after one by {}; they rise",
            pair[1], pair[0]
        )),
    }
}
