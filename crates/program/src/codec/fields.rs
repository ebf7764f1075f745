// SPDX-License-Identifier: Apache-2.0
//! Fields that several parts of a program share: counts, texts, shapes, index maps.

use crate::Error;
use crate::index_map::{IndexMap, MAX_ELEMENTS, Run};
use crate::shape::MAX_AXES;
use rlwe::wire::{Reader, WireError, Writer};

/// Longest name, file name or source line in bytes.
const MAX_TEXT: u32 = 1024;
/// A position without an element.
const NONE: u32 = u32::MAX;
/// Bytes of a run.
const RUN_LEN: usize = 12;

/// The error of a value that no writer produces.
pub fn refused(what: &'static str, got: u64, allowed: impl Into<String>) -> Error {
    WireError::Value {
        what,
        got,
        allowed: allowed.into(),
    }
    .into()
}

pub fn write_count(out: &mut Writer, count: usize) {
    out.u32(u32::try_from(count).expect("a program's lists are below 2^32, as its maker checked"));
}

/// A list of items of at least `least` bytes each; the count is checked against what is left before memory is taken.
pub fn list<T>(
    input: &mut Reader<'_>,
    what: &'static str,
    least: usize,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let count = input.u32(what)? as usize;
    let needed = count as u64 * least as u64;
    if needed > input.left() as u64 {
        return Err(WireError::Truncated {
            what,
            needed,
            left: input.left(),
        }
        .into());
    }
    (0..count).map(|_| read(input)).collect()
}

/// A code of 0 to `most`.
pub fn choice(input: &mut Reader<'_>, what: &'static str, most: u8) -> Result<u8, Error> {
    match input.u8(what)? {
        code if code <= most => Ok(code),
        code => Err(refused(what, code.into(), format!("0..={most}"))),
    }
}

pub fn write_text(out: &mut Writer, text: &str) {
    write_count(out, text.len());
    out.bytes(text.as_bytes());
}

/// A text without control characters, which would reach a terminal.
pub fn read_text(input: &mut Reader<'_>, what: &'static str) -> Result<String, Error> {
    let len = input.ranged(what, 0..=MAX_TEXT)? as usize;
    let text = std::str::from_utf8(input.bytes(len, what)?)
        .map_err(|e| refused(what, e.valid_up_to() as u64, "UTF-8 throughout"))?;
    match text.chars().find(|c| c.is_control()) {
        Some(control) => Err(refused(what, control.into(), "no control characters")),
        None => Ok(text.into()),
    }
}

pub fn write_shape(out: &mut Writer, shape: &[u32]) {
    out.u8(shape.len() as u8);
    shape.iter().for_each(|&axis| out.u32(axis));
}

pub fn read_shape(input: &mut Reader<'_>) -> Result<Vec<u32>, Error> {
    let axes = choice(input, "the number of axes", MAX_AXES as u8)?;
    (0..axes).map(|_| Ok(input.u32("an axis")?)).collect()
}

pub fn write_map(out: &mut Writer, map: &IndexMap) {
    write_count(out, map.runs().len());
    for run in map.runs() {
        out.u32(run.first.unwrap_or(NONE));
        out.u32(run.step as u32);
        out.u32(run.length);
    }
}

pub fn read_map(input: &mut Reader<'_>) -> Result<IndexMap, Error> {
    let runs = list(input, "runs of an index map", RUN_LEN, |input| {
        let first = input.u32("a run's first element")?;
        let step = input.u32("a run's step")? as i32;
        let length = input.u32("a run's length")?;
        Ok(Run {
            first: (first != NONE).then_some(first),
            step,
            length,
        })
    })?;
    IndexMap::from_runs(runs, MAX_ELEMENTS)
}
