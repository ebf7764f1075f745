// SPDX-License-Identifier: Apache-2.0
//! Times our own operations with the parameters of the peers in `bench/peers` and prints one JSON line each.
//!
//! Without arguments every operation runs alone on one thread. `--threads N` runs batches on N pinned threads (see
//! [`batch`]); `memory SCHEME` prints the sizes of keys and ciphertexts (see [`memory`]); `fused` compares fused
//! operations with single ones (see [`fused`]). Every result is checked: transforms
//! by their inverse, homomorphic operations by decryption.

mod batch;
mod bfv_sets;
mod ckks_sets;
mod fused;
mod linear;
mod measure;
mod memory;
mod transforms;

use std::process::ExitCode;

fn one_thread() -> Result<(), String> {
    transforms::run();
    for (n, data, special) in bfv_sets::SETS {
        let kit = bfv_sets::Kit::new(n, data, special);
        kit.and_then(|kit| kit.run()).map_err(|e| e.to_string())?;
    }
    for set in ckks_sets::SETS {
        let kit = ckks_sets::Kit::new(set);
        kit.and_then(|kit| kit.run()).map_err(|e| e.to_string())?;
    }
    linear::run().map_err(|e| e.to_string())
}

fn batches(count: &str) -> Result<(), String> {
    let count = count
        .parse()
        .map_err(|_| format!("{count} is no number of threads"))?;
    let pools = batch::Pools::pinned(count)?;
    transforms::run_batches(&pools);
    for (n, data, special) in bfv_sets::SETS {
        let kit = bfv_sets::Kit::new(n, data, special);
        kit.and_then(|kit| kit.run_batches(&pools))
            .map_err(|e| e.to_string())?;
    }
    for set in ckks_sets::SETS {
        let kit = ckks_sets::Kit::new(set);
        kit.and_then(|kit| kit.run_batches(&pools))
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => one_thread(),
        ["--threads", count] => batches(count),
        ["memory", scheme] => memory::run(scheme),
        ["fused"] => fused::run(""),
        ["fused", only] => fused::run(only),
        _ => Err("usage: ringsmith-bench [--threads N | memory bfv|ckks|nothing | fused [rescale|sum|bfv|diagonals]]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("error: {text}");
            ExitCode::from(2)
        }
    }
}
