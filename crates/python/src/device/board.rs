// SPDX-License-Identifier: Apache-2.0
//! What a board at a port takes and tells beside other devices.

use crate::errors::Kind;
use ::device::{Device, Done, UioAddress, XdmaAddress};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::time::Duration;

/// Rates of a port.
const BAUDS: std::ops::RangeInclusive<u32> = 9_600..=12_500_000;
/// Time that a board may be given to begin an answer.
const PATIENCE: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_secs(60);

/// The time of a number of seconds, if a port can have it and the rate.
pub fn patience(baud: u32, seconds: f64) -> PyResult<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    match time.filter(|time| PATIENCE.contains(time) && BAUDS.contains(&baud)) {
        Some(time) => Ok(time),
        None => Err(Kind::Input.error(format!(
            "{baud} baud, {seconds} s; allowed: 9600 to 12500000 baud, 0.01 to 60 s"
        ))),
    }
}

/// The address of a core behind UIO.
pub fn uio(device: String, buffers: Option<String>, polls: bool, root: PathBuf) -> UioAddress {
    UioAddress {
        device,
        buffers,
        done: done(polls),
        root,
    }
}

/// The address of a core behind XDMA.
pub fn xdma(card: u32, memory: (u64, u64), polls: bool, root: PathBuf) -> XdmaAddress {
    XdmaAddress {
        card,
        memory,
        done: done(polls),
        root,
    }
}

/// How a program's end is learnt.
fn done(polls: bool) -> Done {
    match polls {
        true => Done::Poll,
        false => Done::Interrupt,
    }
}

/// What a board's port took since open; nothing of another device.
pub fn used<'py>(py: Python<'py>, device: &dyn Device) -> PyResult<Option<Bound<'py, PyDict>>> {
    let (Some(port), Some(link)) = (device.port(), device.link()) else {
        return Ok(None);
    };
    let dict = PyDict::new(py);
    dict.set_item("clock_khz", port.clock_khz)?;
    dict.set_item("seconds", port.seconds)?;
    dict.set_item("frames", link.frames)?;
    dict.set_item("resent", port.resent)?;
    dict.set_item("bytes_to_device", link.bytes_to_device)?;
    dict.set_item("bytes_from_device", link.bytes_from_device)?;
    dict.set_item("busy_cycles", port.busy_cycles)?;
    Ok(Some(dict))
}
