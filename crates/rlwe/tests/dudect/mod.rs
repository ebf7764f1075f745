// SPDX-License-Identifier: Apache-2.0
//! Does the time of an operation depend on a secret? A statistical test in the manner of dudect (ePrint 2016/1123).
//!
//! Two classes of inputs, one fixed and one varying, are timed in random order. Where an object lies in memory decides
//! over its time too, and stays the same from call to call: calls of one object say nothing new about its class. So
//! Welch's t is that between the classes' objects, each with its mean after its slow calls are cut. It grows with the
//! number of objects if there is a leak.
#![allow(dead_code)]

use rlwe::Seed;
use std::time::Instant;

/// Inputs of each class.
pub const POOL: usize = 128;
/// Measurements of each operation, some 150 of each object.
const ROUNDS: usize = 40_000;
/// Above this a difference is a leak (dudect calls 10 "definitely not constant time").
pub const LIMIT: f64 = 10.0;
/// Tries; a leak shows in each of them, a disturbance of the machine does not.
const TRIES: usize = 3;

/// The inputs `make(class, member)`, made in turns: where a class lies in memory must not tell it from the other.
pub fn pools<T>(make: impl Fn(usize, usize) -> T) -> [Vec<T>; 2] {
    let mut pools = [const { Vec::new() }; 2];
    for member in 0..POOL {
        for class in [member % 2, 1 - member % 2] {
            pools[class].push(make(class, member));
        }
    }
    pools
}

/// Times of one operation by class and member.
type Times = [Vec<Vec<f64>>; 2];

fn measured(operation: impl Fn(usize, usize)) -> Times {
    let mut choices = vec![0u8; ROUNDS];
    Seed::from_text("classes")
        .stream("choices", 0)
        .fill(&mut choices);
    let mut times = [const { Vec::new() }; 2].map(|_: Vec<()>| vec![Vec::new(); POOL]);
    for choice in choices {
        let (class, member) = (usize::from(choice & 1), usize::from(choice >> 1) % POOL);
        let start = Instant::now();
        operation(class, member);
        times[class][member].push(start.elapsed().as_nanos() as f64);
    }
    times
}

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|t| (t - mean).powi(2)).sum::<f64>();
    (mean, squares / (count - 1.0))
}

/// Welch's t between the means of the objects of both classes.
fn welch(times: Times) -> f64 {
    let [(m0, v0), (m1, v1)] = times.map(|class| {
        let mean = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            // Interrupts and other load make a long tail that carries no information.
            moments(&times[..times.len() * 3 / 4]).0
        };
        let means: Vec<f64> = class.into_iter().map(mean).collect();
        moments(&means)
    });
    (m0 - m1) / ((v0 + v1) / POOL as f64).sqrt()
}

/// The smallest |t| of several tries.
pub fn smallest(operation: impl Fn(usize, usize)) -> f64 {
    let tries = (0..TRIES).map(|_| welch(measured(&operation)).abs());
    tries.fold(f64::INFINITY, f64::min)
}

/// Fails if the time of `operation(class, member)` depends on the class.
pub fn expect_constant(what: &str, operation: impl Fn(usize, usize)) {
    // Tries end with the first that shows nothing.
    let mut worst = f64::INFINITY;
    for _ in 0..TRIES {
        worst = worst.min(welch(measured(&operation)).abs());
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

/// Times of objects that each have a delay of their own, up to 200 ns, and of a class that takes `leak` ns longer.
fn made_up(leak: f64) -> Times {
    let mut bytes = vec![0u8; 2 * POOL * 151];
    Seed::from_text("delays")
        .stream("times", 0)
        .fill(&mut bytes);
    let mut bytes = bytes.into_iter().map(f64::from);
    [0.0, leak].map(|leak| {
        let object = |_| {
            let delay = bytes.next().unwrap() / 256.0 * 200.0;
            let call = |noise: f64| 10_000.0 + leak + delay + noise;
            bytes.by_ref().take(150).map(call).collect()
        };
        (0..POOL).map(object).collect()
    })
}

#[test]
fn delays_of_objects_are_no_leak_and_a_leak_is_found_among_them() {
    let t = welch(made_up(0.0)).abs();
    assert!(t < 4.0, "|t| = {t:.1} without a leak");
    let t = welch(made_up(100.0)).abs();
    assert!(t > LIMIT, "|t| = {t:.1} with a leak");
}
