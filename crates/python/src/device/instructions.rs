// SPDX-License-Identifier: Apache-2.0
//! Instructions as text and words, degrees, moduli that suit a build, names of operations.

use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use isa::{BuildInfo, Instruction, Mix, State};
use offload::{Form, Workload, simulate};
use pyo3::prelude::*;

/// The words of a program's text.
#[pyfunction]
fn assemble(text: &str) -> PyResult<Vec<u64>> {
    Ok(isa::encode(&isa::assemble(text).or_raise()?))
}

/// The text of a program's words.
#[pyfunction]
fn disassemble(#[pyo3(from_py_with = number)] words: Vec<u64>) -> PyResult<String> {
    let program: Vec<Instruction> = isa::decode(&words).or_raise()?;
    Ok(isa::disassemble(&program))
}

/// The instructions that exist: mnemonic, unit, whether a build can have it.
#[pyfunction]
fn instruction_set() -> Vec<(&'static str, String, bool)> {
    isa::TABLE
        .iter()
        .map(|spec| {
            (
                spec.mnemonic,
                format!("{:?}", spec.unit).to_lowercase(),
                spec.implemented,
            )
        })
        .collect()
}

/// The largest distinct primes of each bit length that serve degree n and a build's own n_max.
#[pyfunction]
fn default_moduli(
    #[pyo3(from_py_with = number)] bits: Vec<u32>,
    #[pyo3(from_py_with = number)] n: usize,
    #[pyo3(from_py_with = number)] n_max: usize,
) -> PyResult<Vec<u128>> {
    simulate::default_moduli(&bits, n, n_max).or_raise()
}

/// Add the functions of this file.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(assemble, m)?)?;
    m.add_function(wrap_pyfunction!(disassemble, m)?)?;
    m.add_function(wrap_pyfunction!(instruction_set, m)?)?;
    m.add_function(wrap_pyfunction!(default_moduli, m)?)
}

/// Instructions of a random program at most, and the highest number of its first output buffer.
const MOST_RANDOM: usize = 1 << 16;

/// A random program of a mix: instruction words from a seed.
pub fn random(info: &BuildInfo, state: &State, mix: &Mix, seed: u64) -> PyResult<Vec<u64>> {
    let known = |route: &isa::Route| route.from < mix.moduli && route.to < mix.moduli;
    let in_range = mix.length <= MOST_RANDOM
        && mix.outputs as usize <= MOST_RANDOM
        && (1..=info.moduli_slots).contains(&mix.moduli.into())
        && mix.routes.iter().chain(&mix.digits).all(known);
    if !in_range {
        return Err(Kind::Input.error(format!(
            "length {}, outputs {}, moduli {}; allowed: up to {MOST_RANDOM}, up to {MOST_RANDOM}, 1..={}",
            mix.length, mix.outputs, mix.moduli, info.moduli_slots
        )));
    }
    Ok(isa::encode(&isa::random_program(info, state, mix, seed)))
}

/// log2 of a degree that the instruction word can hold.
pub fn log2_degree(n: usize) -> PyResult<u8> {
    let legal = n.is_power_of_two() && (8..=32768).contains(&n);
    legal.then(|| n.trailing_zeros() as u8).ok_or_else(|| {
        Kind::Input.error(format!(
            "n = {n} is no ring degree: a power of two from 8 to 32768"
        ))
    })
}

/// The operation of a name, of a scheme whose ciphertexts are values or coefficients.
pub fn workload(name: &str, values: bool) -> PyResult<Workload> {
    let ciphertexts = match values {
        true => Form::Values,
        false => Form::Coefficients,
    };
    Workload::from_name(name, ciphertexts)
        .ok_or_else(|| Kind::Input.error(format!("{name:?} is no operation")))
}
