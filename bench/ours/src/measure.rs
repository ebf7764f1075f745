// SPDX-License-Identifier: Apache-2.0
//! Medians and their spread, as the peers' programs take them.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Median in µs and relative interquartile spread over at least 0.4 s or 400 runs, after a warm-up.
pub fn measure(mut op: impl FnMut()) -> (f64, f64) {
    let [timing] = measure_alternately([&mut op]);
    timing
}

/// [`measure`] for several operations that take turns, so that what disturbs one disturbs the others.
pub fn measure_alternately<const N: usize>(ops: [&mut dyn FnMut(); N]) -> [(f64, f64); N] {
    let start = Instant::now();
    times(ops, || start.elapsed()).map(summary)
}

/// The lowest time and the median, in µs of this thread's own, of operations that take turns.
pub fn alternately<const N: usize>(ops: [&mut dyn FnMut(); N]) -> [(f64, f64); N] {
    times(ops, own_time).map(|mut micros| {
        micros.sort_by(f64::total_cmp);
        (micros[0], micros[micros.len() / 2])
    })
}

fn times<const N: usize>(
    mut ops: [&mut dyn FnMut(); N],
    now: impl Fn() -> Duration,
) -> [Vec<f64>; N] {
    ops.iter_mut().for_each(|op| op());
    let mut micros = [const { Vec::new() }; N];
    let (limit, begin) = (N as u32 * Duration::from_millis(400), now());
    while micros[0].len() < 7 || (micros[0].len() < 400 && now() - begin < limit) {
        for (op, micros) in ops.iter_mut().zip(&mut micros) {
            let start = now();
            op();
            micros.push((now() - start).as_secs_f64() * 1e6);
        }
    }
    micros
}

/// The time that this thread has had a processor: what others take of it does not count.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Median and relative interquartile spread.
fn summary(mut micros: Vec<f64>) -> (f64, f64) {
    micros.sort_by(f64::total_cmp);
    let median = micros[micros.len() / 2];
    let quartiles = micros[micros.len() * 3 / 4] - micros[micros.len() / 4];
    (median, quartiles / median)
}

/// Print one operation's line, without the number of threads, which the command sets.
pub fn report(operation: &str, n: usize, bits: &[u32], timing: (f64, f64), correct: bool) {
    print_row(operation, n, bits, timing, correct, "");
}

/// [`report`], with the bits of noise budget that the result has left (BFV).
pub fn report_budget(
    operation: &str,
    n: usize,
    bits: &[u32],
    timing: (f64, f64),
    correct: bool,
    budget: f64,
) {
    let left = format!(",\"noise_budget_bits\":{budget:.1}");
    print_row(operation, n, bits, timing, correct, &left);
}

fn print_row(
    operation: &str,
    n: usize,
    bits: &[u32],
    (median, spread): (f64, f64),
    correct: bool,
    more: &str,
) {
    println!(
        "{{\"operation\":\"{operation}\",\"n\":{n},\"moduli_bits\":{bits:?},\"library\":\"ringsmith\",\"median_us\":{median:.3},\"spread\":{spread:.4},\"correct\":{correct}{more}}}"
    );
}
