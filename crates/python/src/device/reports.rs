// SPDX-License-Identifier: Apache-2.0
//! What a device reports, as dictionaries.

use ::backend::measure;
use ::device::{Event, Profile};
use isa::{BuildInfo, Host};
use offload::{BatchStatistics, Moved, Ran, Usage, simulate};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Instant;

pub fn info_dict<'py>(py: Python<'py>, info: &BuildInfo) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in [
        ("isa_version", info.isa_version),
        ("word_bits", info.word_bits),
        ("lanes", info.lanes),
        ("butterflies", info.butterflies),
        ("log2_n_max", info.log2_n_max),
        ("dual_port_slots", info.dual_port_slots),
        ("single_port_slots", info.single_port_slots),
        ("twiddle_tables", info.twiddle_tables),
        ("moduli_slots", info.moduli_slots),
        ("constants", info.constants),
        ("montgomery_bits", info.montgomery_bits),
        ("modulus_bits_min", info.modulus_bits_min),
        ("multiplier", info.multiplier),
        ("cores", info.cores),
        ("fifo_depth", info.fifo_depth),
    ] {
        dict.set_item(key, value)?;
    }
    dict.set_item(
        "host",
        if info.host == Host::Axi4 {
            "axi4"
        } else {
            "serial"
        },
    )?;
    dict.set_item("cyclic", info.cyclic)?;
    dict.set_item("wide_port", info.wide_port)?;
    dict.set_item("stream", info.stream)?;
    dict.set_item("memory_read_latency", info.port_memory.read_latency)?;
    dict.set_item("memory_write_latency", info.port_memory.write_latency)?;
    let rate = info.port_memory.bytes_per_kilocycle;
    dict.set_item("memory_bytes_per_kilocycle", rate)?;
    dict.set_item("instructions", info.instructions)?;
    Ok(dict)
}

pub fn outcome_dict<'py>(
    py: Python<'py>,
    outcome: &simulate::Outcome,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("cycles", outcome.cycles)?;
    dict.set_item("predicted_cycles", outcome.predicted_cycles)?;
    dict.set_item("correct", outcome.correct)?;
    dict.set_item("profile", profile_dict(py, &outcome.profile)?)?;
    dict.set_item("predicted", profile_dict(py, &outcome.predicted)?)?;
    dict.set_item("assembly", isa::disassemble(&outcome.program))?;
    dict.set_item("usage", usage_dict(py, &outcome.usage)?)?;
    Ok(dict)
}

pub fn measured_dict<'py>(
    py: Python<'py>,
    measured: &measure::Measured,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("cycles", measured.shift.cycles)?;
    dict.set_item("predicted_cycles", measured.shift.predicted_cycles)?;
    dict.set_item("correct", measured.correct)?;
    dict.set_item("shift", shift_dict(py, &measured.shift)?)?;
    dict.set_item("profile", profile_dict(py, &measured.profile)?)?;
    dict.set_item("assembly", isa::disassemble(&measured.program))?;
    dict.set_item("usage", usage_dict(py, &measured.usage)?)?;
    dict.set_item("data_primes", measured.data_primes.clone())?;
    dict.set_item("auxiliary", measured.auxiliary.clone())?;
    Ok(dict)
}

pub fn profile_dict<'py>(py: Python<'py>, profile: &Profile) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let counters = &profile.counters;
    dict.set_item("cycles", counters.cycles)?;
    dict.set_item("busy_compute", counters.busy_compute)?;
    dict.set_item("busy_memory", counters.busy_memory)?;
    dict.set_item("busy_rns", counters.busy_rns)?;
    dict.set_item("busy_pointwise", counters.busy_pointwise)?;
    dict.set_item("stall_hazard", counters.stall_hazard)?;
    dict.set_item("stall_unit", counters.stall_unit)?;
    dict.set_item("events", event_tuples(&profile.events))?;
    Ok(dict)
}

/// Place in the program, mnemonic, unit, first cycle, cycle after the last write.
fn event_tuples(events: &[Event]) -> Vec<(usize, &'static str, String, u64, u64)> {
    let tuple = |e: &Event| {
        let unit = format!("{:?}", e.unit).to_lowercase();
        (e.index, e.op.spec().mnemonic, unit, e.start, e.end)
    };
    events.iter().map(tuple).collect()
}

/// A device program of a timeline; times are seconds before `now`.
pub fn ran_dict<'py>(py: Python<'py>, ran: &Ran, now: Instant) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("begun_s_ago", (now - ran.begun).as_secs_f64())?;
    dict.set_item("ended_s_ago", (now - ran.ended).as_secs_f64())?;
    dict.set_item("cycles", ran.cycles)?;
    dict.set_item("programs", ran.programs)?;
    dict.set_item("events", event_tuples(&ran.events))?;
    Ok(dict)
}

fn moved_dict<'py>(py: Python<'py>, moved: &Moved) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("polynomials", moved.polynomials)?;
    dict.set_item("bytes", moved.bytes)?;
    dict.set_item("cycles", moved.cycles)?;
    Ok(dict)
}

pub fn usage_dict<'py>(py: Python<'py>, usage: &Usage) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("offloaded", usage.offloaded.clone())?;
    dict.set_item("on_host", usage.on_host.clone())?;
    dict.set_item("send", moved_dict(py, &usage.send)?)?;
    dict.set_item("receive", moved_dict(py, &usage.receive)?)?;
    dict.set_item("written_bytes", usage.written_bytes)?;
    let operands = PyDict::new(py);
    for (name, found) in &usage.operands {
        let one = PyDict::new(py);
        one.set_item("reads", found.reads)?;
        one.set_item("on_chip", found.reads.saturating_sub(found.loads))?;
        one.set_item("from_memory", found.loads)?;
        one.set_item("bytes", found.bytes)?;
        operands.set_item(*name, one)?;
    }
    dict.set_item("operands", operands)?;
    dict.set_item("compute_cycles", usage.compute_cycles)?;
    dict.set_item("submissions", usage.submissions)?;
    dict.set_item("tables", usage.tables)?;
    dict.set_item("cycles", usage.cycles)?;
    dict.set_item("transfer_cycles", usage.transfer_cycles)?;
    dict.set_item("hidden_cycles", usage.hidden_cycles)?;
    dict.set_item("instructions", usage.instructions)?;
    let executed = PyDict::new(py);
    for (mnemonic, found) in &usage.executed {
        let one = PyDict::new(py);
        one.set_item("count", found.count)?;
        one.set_item("coefficients", found.coefficients)?;
        one.set_item("reads", found.reads)?;
        executed.set_item(*mnemonic, one)?;
    }
    dict.set_item("executed", executed)?;
    dict.set_item("predicted_cycles", usage.predicted_cycles)?;
    dict.set_item("conversion_cycles", usage.conversion_cycles)?;
    dict.set_item("conversions", usage.conversions)?;
    dict.set_item("host_operations", usage.host_operations)?;
    let mut work = Vec::with_capacity(usage.host_work.len());
    for ((kind, because), found) in &usage.host_work {
        let one = PyDict::new(py);
        one.set_item("kind", kind)?;
        one.set_item("because", because)?;
        one.set_item("count", found.count)?;
        one.set_item("beside", found.beside)?;
        one.set_item("terms", found.terms)?;
        work.push(one);
    }
    dict.set_item("host_work", work)?;
    dict.set_item("device_seconds", usage.device_seconds)?;
    Ok(dict)
}

/// Statistics of all cores as a dictionary.
pub fn shift_dict<'py>(py: Python<'py>, shift: &BatchStatistics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("cycles", shift.cycles)?;
    dict.set_item("predicted_cycles", shift.predicted_cycles)?;
    dict.set_item("port_cycles", shift.port_cycles)?;
    dict.set_item("transfers", shift.transfers)?;
    dict.set_item("port_transfers", shift.port_transfers)?;
    let mut cores = Vec::with_capacity(shift.cores.len());
    for time in &shift.cores {
        let core = PyDict::new(py);
        core.set_item("compute", time.compute)?;
        core.set_item("conversion", time.conversion)?;
        core.set_item("memory", time.memory)?;
        core.set_item("idle", time.idle)?;
        cores.push(core);
    }
    dict.set_item("cores", cores)?;
    Ok(dict)
}
