// SPDX-License-Identifier: Apache-2.0
//! Times a bootstrapping of poulpy-ckks on one thread and prints one JSON line: `LOG_N REPEATS [PRESET]`.
//!
//! The library's own driver of its presets (its feature `test-utils`) makes keys, encrypts and measures: the message is
//! a cosine in the slots, a sine in the imaginary parts where messages are complex, not random. Without PRESET it is
//! the fastest one of that degree whose keys fit 24 GiB of memory: they are kept prepared, twice their size, and those
//! they are made from at the same time. A PRESET with `+powers` rotates by powers of two alone, with fewer keys.

use std::time::Instant;

use poulpy_ckks::layouts::{BootstrappingPipeline, EvalModRing};
use poulpy_ckks::presets::bootstrapping::{BootstrappingPreset, all};
use poulpy_ckks::test_suite::presets::{BootstrappingPresetRun, preset_for_backend};
use poulpy_core::layouts::{GGLWEInfos, LWEInfos};

#[cfg(feature = "ifma")]
use poulpy_cpu_avx512::{NTT3x42CIIfma as Symmetric, NTT3x42Ifma as Engine};

#[cfg(not(feature = "ifma"))]
use poulpy_cpu_avx::{NTT4x30Avx as Engine, NTT4x30CIAvx as Symmetric};

type Run = BootstrappingPresetRun<Engine>;

/// Its keys, message and context; real slots where they take half of the work.
fn set_up(preset: &BootstrappingPreset) -> Run {
    let plan = preset.plan();
    let standard = plan.eval_mod_ring() == EvalModRing::Standard;
    match (standard, plan.pipeline()) {
        (false, _) => Run::setup_ci(preset.clone()),
        (true, BootstrappingPipeline::S2CFirst) => Run::setup(preset.clone()).with_real_slots(),
        (true, _) => Run::setup(preset.clone()),
    }
}

/// Bytes of a key's coefficients, eight for each.
fn bytes(key: &(impl GGLWEInfos + LWEInfos)) -> usize {
    let parts = key.rank_in().as_usize() * (key.rank_out().as_usize() + 1);
    key.n().as_usize() * key.dnum().as_usize() * parts * key.size() * 8
}

/// Bytes of all keys that the preset's bootstrapping takes.
fn key_bytes(preset: &BootstrappingPreset) -> usize {
    let keys = preset.keys_layout();
    let first = keys.first_factor_key.as_ref().map_or(0, |key| {
        let factors = preset.plan().coeffs_to_slots();
        factors.diagonal_indexes(preset.log_n())[0].len() * bytes(key)
    });
    let conversion = (keys.conversion_keys.as_ref()).map_or(0, |(trace, embed)| bytes(trace) + bytes(embed));
    let encapsulation = keys.encapsulation.as_ref().map_or(0, |keys| {
        bytes(&keys.dense_to_sparse) + keys.sparse_to_dense.as_ref().map_or(0, bytes)
    });
    let rotations: usize = keys.rotation_keys.values().map(bytes).sum();
    rotations + bytes(&keys.tensor_key) + first + conversion + encapsulation
}

/// Most bytes that this process has had in memory at a time.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kib.expect("a number of KiB") << 10
}

/// The preset of a name, at the radix this backend takes.
fn preset(name: &str) -> BootstrappingPreset {
    let (name, powers) = match name.strip_suffix("+powers") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let presets = all().expect("presets");
    let found = presets.into_iter().find(|preset| preset.name() == name);
    let found = found.unwrap_or_else(|| panic!("no preset {name}"));
    let found = if powers { found.with_power_of_two_keys().expect("keys") } else { found };
    preset_for_backend::<Engine, Symmetric>(&found).expect("a radix")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let own = match arguments.first().map(String::as_str) {
        Some("15") => "n15_d35_k180_p18_c2s",
        Some("16") => "n16_d35_k685_p19_s2c_ffr_ci",
        _ => panic!("arguments: 15 or 16, repeats, [preset]"),
    };
    let repeats: usize = arguments.get(1).and_then(|count| count.parse().ok()).expect("repeats");
    let name = arguments.get(2).map_or(own, String::as_str);
    let preset = preset(name);
    let start = Instant::now();
    let mut run = set_up(&preset);
    let made = start.elapsed().as_secs_f64();
    let timed = (0..repeats.max(1)).map(|_| {
        let start = Instant::now();
        run.bootstrap();
        start.elapsed().as_secs_f64()
    });
    let seconds = timed.fold(f64::INFINITY, f64::min);
    let (re, im) = run.precision();
    let least = re.min_log2_prec.min(im.min_log2_prec);
    println!(
        "{{\"library\": \"poulpy-ckks 0.10.0\", \"set\": \"{name}\", \"n\": {}, \"slots\": {}, \"levels\": {}, \
         \"seconds\": {seconds:.4}, \"key_seconds\": {made:.3}, \"average_bits\": {:.2}, \"least_bits\": {least:.2}, \
         \"wire_bytes\": {}, \"peak_bytes\": {}}}",
        preset.n(),
        preset.n() / 2,
        (preset.output_k() - preset.input_k()) / preset.log_delta(),
        re.avg_log2_prec.min(im.avg_log2_prec),
        key_bytes(&preset),
        peak(),
    );
    assert!(least > 6.0, "poulpy's refreshed message is wrong");
}
