// SPDX-License-Identifier: Apache-2.0
//! Several threads that start at the same moment.

use std::sync::Barrier;

/// How many [`together`] starts.
pub const THREADS: usize = 4;

/// Starts `work` on all threads at once, so that they meet at the first use of every table.
pub fn together<R: Send>(work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(THREADS);
    let run = |i| {
        barrier.wait();
        work(i)
    };
    std::thread::scope(|scope| {
        let run = &run;
        let started: Vec<_> = (0..THREADS).map(|i| scope.spawn(move || run(i))).collect();
        started.into_iter().map(|t| t.join().unwrap()).collect()
    })
}
