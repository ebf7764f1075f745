// SPDX-License-Identifier: Apache-2.0
//! Batches on a pool of threads, each pinned to a core of its own.
//!
//! For every operation: the time of each item of a batch on all threads; the same batch on one of them (`…-batch`), so
//! that their ratio is what the threads bring; for some, one operation alone spread over all threads (`…-alone`).

use crate::measure::{measure, measure_alternately};
use rlwe::Threads;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::fs::read_dir;

/// Ciphertexts of a batch: some milliseconds of work, beside which waking a thread (some 50 µs) is little.
pub fn batch_len(n: usize) -> usize {
    ((1 << 18) / n).max(16)
}

/// A pool of all threads, and the calling thread alone.
pub struct Pools {
    many: Threads,
    one: Threads,
}

impl Pools {
    /// `count` threads, one on each of the first cores that this process may use: the caller and those that help it.
    pub fn pinned(count: usize) -> Result<Self, String> {
        let allowed = sched_getaffinity(None).map_err(|e| e.to_string())?;
        let cores: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|c| allowed.is_set(*c))
            .collect();
        if cores.len() < count {
            return Err(format!(
                "{count} threads need as many cores; this process may use {}",
                cores.len()
            ));
        }
        let before = tasks()?;
        let many = Threads::new(count).map_err(|e| e.to_string())?;
        let workers = tasks()?.into_iter().filter(|task| !before.contains(task));
        let workers: Vec<i32> = workers.collect();
        if workers.len() + 1 != count {
            return Err(format!(
                "{} new threads for {count} with the caller",
                workers.len()
            ));
        }
        pin(None, cores[0])?;
        for (worker, core) in workers.into_iter().zip(&cores[1..]) {
            pin(Pid::from_raw(worker), *core)?;
        }
        Ok(Self {
            many,
            one: Threads::ONE,
        })
    }

    /// The rows of one parameter set.
    pub fn of<'a>(&'a self, n: usize, bits: &'a [u32], batch: usize) -> Set<'a> {
        Set {
            pools: self,
            n,
            bits,
            batch,
        }
    }
}

/// Identities of this process's threads.
fn tasks() -> Result<Vec<i32>, String> {
    let entries = read_dir("/proc/self/task").map_err(|e| e.to_string())?;
    let name = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(entries.filter_map(Result::ok).filter_map(name).collect())
}

fn pin(thread: Option<Pid>, core: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(thread, &set).map_err(|e| format!("cannot pin a thread to core {core}: {e}"))
}

/// A parameter set and where it runs.
pub struct Set<'a> {
    pools: &'a Pools,
    n: usize,
    bits: &'a [u32],
    batch: usize,
}

impl Set<'_> {
    /// The numbers of a batch's items.
    pub fn items(&self) -> Vec<usize> {
        (0..self.batch).collect()
    }

    /// Times a batch on all threads and on one, in turns, and checks every result.
    pub fn run<R>(
        &self,
        operation: &str,
        batch: impl Fn(&Threads) -> Vec<R>,
        right: impl Fn(&R) -> bool,
    ) {
        let [many, one] = [&self.pools.many, &self.pools.one];
        let (mut on_many, mut on_one) = (batch(many), batch(one));
        let timings =
            measure_alternately([&mut || on_many = batch(many), &mut || on_one = batch(one)]);
        let name = format!("{operation}-batch");
        let rows = [(operation, many, on_many), (name.as_str(), one, on_one)];
        for ((name, threads, out), (median, spread)) in rows.into_iter().zip(timings) {
            let correct = out.len() == self.batch && out.iter().all(&right);
            self.report(name, threads, (median / self.batch as f64, spread), correct);
        }
    }

    /// Times one operation that all threads share.
    pub fn alone<R, Op: Fn() -> R>(
        &self,
        operation: &str,
        prepare: impl FnOnce(&Threads) -> Op,
        right: impl Fn(&R) -> bool,
    ) {
        let op = prepare(&self.pools.many);
        let mut out = op();
        let timing = measure(|| out = op());
        self.report(
            &format!("{operation}-alone"),
            &self.pools.many,
            timing,
            right(&out),
        );
    }

    fn report(&self, operation: &str, threads: &Threads, timing: (f64, f64), correct: bool) {
        println!(
            "{{\"operation\":\"{operation}\",\"n\":{},\"moduli_bits\":{:?},\"threads\":{},\"library\":\"ringsmith\",\"median_us\":{:.3},\"spread\":{:.4},\"correct\":{correct}}}",
            self.n,
            self.bits,
            threads.count(),
            timing.0,
            timing.1
        );
    }
}
