// SPDX-License-Identifier: Apache-2.0
//! Clients on a device, of either scheme.

use super::Device;
use crate::operations::cores;
use backend::Coprocessor;
use pyo3::prelude::*;

/// The co-processor of a device, if there is one.
pub fn coprocessor(device: Option<&Device>) -> Option<Coprocessor> {
    device.map(|device| device.coprocessor.clone())
}

/// The results of `f`: by all cores, but on one thread, the caller's, where a device does the work. There is only one,
/// and whoever waits for another thread's turn sees no signal.
pub fn spread<T: Sync, R: Send>(
    device: Option<&Coprocessor>,
    items: &[T],
    f: impl Fn(&T) -> PyResult<R> + Sync + Send,
) -> PyResult<Vec<R>> {
    match device {
        None => cores()?.try_map(items, f),
        Some(_) => items.iter().map(f).collect(),
    }
}
