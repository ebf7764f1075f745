// SPDX-License-Identifier: Apache-2.0
//! Runs one test of the including binary in child processes, one for each instruction set,
//! and compares what they print.
//!
//! The level is fixed once per process. The binary has an ignored test `digests` that calls [`print`].

use rlwe::wire::Fingerprint;
use std::process::{Command, Output};
use zq::simd::{ENV, Level};

/// Prints the digest of every object of every set, and the level that made them.
pub fn print(sets: &[&[u32]], objects: impl Fn(&[u32]) -> Vec<(&'static str, Vec<u8>)>) {
    println!("digest level {}", zq::simd::level().name());
    for bits in sets {
        for (what, bytes) in objects(bits) {
            println!("digest {bits:?} {what}: {}", Fingerprint::of(&bytes));
        }
    }
}

/// Runs this binary, by the command in `RINGSMITH_RUNNER` where another processor has to be emulated.
fn this_binary() -> Command {
    let binary = std::env::current_exe().unwrap();
    let runner = std::env::var("RINGSMITH_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(program) = words.next() else {
        return Command::new(binary);
    };
    let mut command = Command::new(program);
    command.args(words).arg(binary);
    command
}

/// Runs `digests` in a child that is told to use `level`.
fn child(level: &str) -> Output {
    this_binary()
        .args(["--exact", "digests", "--ignored", "--nocapture"])
        .env(ENV, level)
        .output()
        .unwrap()
}

/// Every level prints `count` digests, the same ones.
pub fn assert_same_under_every_level(count: usize) {
    let lines = |level: Level| -> Vec<String> {
        let done = child(level.name());
        let text = String::from_utf8(done.stdout).unwrap();
        let error = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}: {error}", level.name());
        let lines = text.lines().filter_map(|l| l.split_once("digest "));
        let mut lines: Vec<String> = lines.map(|(_, l)| l.to_string()).collect();
        assert_eq!(lines.remove(0), format!("level {}", level.name()));
        assert_eq!(lines.len(), count);
        lines
    };
    let expected = lines(Level::Portable);
    for level in Level::ALL.into_iter().filter(|l| l.is_supported()) {
        for (got, want) in lines(level).iter().zip(&expected) {
            assert_eq!(got, want, "{}", level.name());
        }
    }
}

/// A level that the processor lacks, or an unknown one, ends the process with a message.
pub fn assert_refused_with_a_message() {
    let lacking = Level::ALL.into_iter().filter(|l| !l.is_supported());
    for name in lacking.map(Level::name).chain(["sse9"]) {
        let done = child(name);
        let error = String::from_utf8_lossy(&done.stderr);
        // A status, not a signal: no illegal instruction was reached.
        assert!(
            done.status.code().is_some_and(|code| code != 0),
            "{name}: {error}"
        );
        assert!(
            error.contains(&format!("{ENV}={name} ")) && error.contains("portable"),
            "{error}"
        );
    }
}
