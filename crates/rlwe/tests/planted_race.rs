// SPDX-License-Identifier: Apache-2.0
//! A data race for ThreadSanitizer to find, so that `make sanitize` knows that it is not blind.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counter(UnsafeCell<u64>);

// SAFETY: none. Two threads write without order: that is the plant.
unsafe impl Sync for Counter {}

/// Waits for both threads without ordering anything between them, as a lock or a thread's end would.
fn meet(arrived: &AtomicUsize) {
    arrived.fetch_add(1, Ordering::Relaxed);
    while arrived.load(Ordering::Relaxed) < 2 {
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "a defect on purpose, for ThreadSanitizer"]
fn two_threads_write_without_order() {
    let counter = &Counter(UnsafeCell::new(0));
    let (before, after) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                meet(before);
                // SAFETY: none, see above.
                unsafe { *std::hint::black_box(counter.0.get()) += 1 };
                meet(after);
            });
        }
    });
}
