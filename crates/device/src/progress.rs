// SPDX-License-Identifier: Apache-2.0
//! Progress of a core whose clock runs by itself.

use std::time::{Duration, Instant};

/// Without progress for so long a core may be asked how many cycles that is.
const QUIET: Duration = Duration::from_secs(2);

/// When a core has last shown progress.
pub struct Progress {
    since: Instant,
    /// Instructions that it had finished.
    retired: u32,
    /// Clock of the core.
    pub clock_khz: u32,
}

impl Progress {
    /// Of a core that has just been given something.
    pub fn new(clock_khz: u32) -> Self {
        Self {
            since: Instant::now(),
            retired: 0,
            clock_khz,
        }
    }

    /// Something was given to the core.
    pub fn made(&mut self) {
        self.since = Instant::now();
    }

    /// The core has finished `count` instructions.
    pub fn retired(&mut self, count: u32) {
        if count != self.retired {
            self.retired = count;
            self.made();
        }
    }

    /// Cycles of a time.
    pub fn cycles_of(&self, time: Duration) -> u64 {
        (time.as_secs_f64() * f64::from(self.clock_khz) * 1e3) as u64
    }

    /// Cycles without progress; 0 while that is not long.
    pub fn quiet(&self) -> u64 {
        match self.since.elapsed() {
            quiet if quiet < QUIET => 0,
            quiet => self.cycles_of(quiet),
        }
    }
}
