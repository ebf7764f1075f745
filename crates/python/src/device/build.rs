// SPDX-License-Identifier: Apache-2.0
//! A build by a preset's numbers.

use crate::errors::OrRaise;
use ::device::DeviceError;
use isa::{BuildInfo, InfoError, PortMemory};
use pyo3::prelude::*;
use std::collections::HashMap;

/// The memory behind a data port: GB/s, latency in ns (0: ideal), the clock in MHz.
pub fn port_memory((gbs, latency_ns, mhz): (f64, f64, f64)) -> PortMemory {
    PortMemory::new(gbs, latency_ns, mhz)
}

/// The build with the numbers of a preset's knobs, and the memory behind its data port.
pub fn build_info(knobs: &HashMap<String, i32>, memory: (f64, f64, f64)) -> PyResult<BuildInfo> {
    let knob = |name: &str| -> Result<i32, DeviceError> {
        let lacking = || DeviceError::from(InfoError::Lacking { name: name.into() });
        knobs.get(name).copied().ok_or_else(lacking)
    };
    let mut info: BuildInfo = BuildInfo::from_knobs(knob).or_raise()?;
    info.port_memory = port_memory(memory);
    Ok(info)
}
