// SPDX-License-Identifier: Apache-2.0
//! Does the time of an operation depend on a secret? A statistical test in the manner of dudect (ePrint 2016/1123).
//!
//! Two classes of inputs, one fixed and one varying, are timed in random order; Welch's t between them, after the slow
//! outliers are cut, grows with the number of measurements if there is a leak.
#![allow(dead_code)]

use rlwe::Seed;
use std::time::Instant;

/// Inputs of each class.
pub const POOL: usize = 32;
/// Measurements of each operation.
const ROUNDS: usize = 40_000;
/// Above this a difference is a leak (dudect calls 10 "definitely not constant time").
pub const LIMIT: f64 = 10.0;
/// Tries; a leak shows in each of them, a disturbance of the machine does not.
const TRIES: usize = 3;

/// Welch's t between the times of `operation(class, member)` for the two classes.
fn welch(operation: impl Fn(usize, usize)) -> f64 {
    let mut choices = vec![0u8; ROUNDS];
    Seed::from_text("classes")
        .stream("choices", 0)
        .fill(&mut choices);
    let mut samples: Vec<(usize, f64)> = Vec::with_capacity(ROUNDS);
    for choice in choices {
        let (class, member) = (usize::from(choice & 1), usize::from(choice >> 1) % POOL);
        let start = Instant::now();
        operation(class, member);
        samples.push((class, start.elapsed().as_nanos() as f64));
    }
    let mut times: Vec<f64> = samples.iter().map(|s| s.1).collect();
    times.sort_by(f64::total_cmp);
    // Interrupts and other load make a long tail that carries no information.
    let cut = times[times.len() * 3 / 4];
    let statistics = |class: usize| {
        let kept: Vec<f64> = samples
            .iter()
            .filter(|s| s.0 == class && s.1 <= cut)
            .map(|s| s.1)
            .collect();
        let count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / count;
        let variance = kept.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    };
    let ((m0, v0), (m1, v1)) = (statistics(0), statistics(1));
    (m0 - m1) / (v0 + v1).sqrt()
}

/// The smallest |t| of several tries.
pub fn smallest(operation: impl Fn(usize, usize)) -> f64 {
    let tries = (0..TRIES).map(|_| welch(&operation).abs());
    tries.fold(f64::INFINITY, f64::min)
}

/// Fails if the time of `operation(class, member)` depends on the class.
pub fn expect_constant(what: &str, operation: impl Fn(usize, usize)) {
    // Tries end with the first that shows nothing.
    let mut worst = f64::INFINITY;
    for _ in 0..TRIES {
        worst = worst.min(welch(&operation).abs());
        if worst < LIMIT {
            break;
        }
    }
    println!("{what}: |t| = {worst:.1}");
    assert!(
        worst < LIMIT,
        "{what} depends on the secret: |t| = {worst:.1}"
    );
}
