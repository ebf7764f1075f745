// SPDX-License-Identifier: Apache-2.0
//! Choices of a mutator, the same for a seed.

use rlwe::{Seed, Xof};

/// A stream of choices.
pub struct Dice(Xof);

impl Dice {
    /// The choices of that number.
    pub fn new(number: u64) -> Self {
        Self(Seed::from_text("ringsmith fuzz dice").stream("choice", number))
    }

    /// A number below `bound`; 0 where there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % bound.max(1) as u64) as usize
    }

    /// One of some.
    pub fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }
}
