// SPDX-License-Identifier: Apache-2.0
//! A backend that programs and clients run on, whichever it is.

use crate::errors::Kind;
use crate::threads::cores;
use backend::Client;
use pyo3::prelude::*;
use std::sync::Arc;

/// A backend, for sessions and clients. Its subclasses open it.
#[pyclass(frozen, subclass, module = "ringsmith._native")]
pub struct Backend {
    pub(crate) inner: Arc<dyn backend::Backend>,
}

#[pymethods]
impl Backend {
    /// Its name in reports.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }
}

/// A backend's part of a client, if there is a backend; an error for one that has none.
pub fn client(device: Option<&Backend>) -> PyResult<Option<Arc<dyn Client>>> {
    let of = |device: &Backend| {
        device.inner.client().ok_or_else(|| {
            let name = device.inner.name();
            Kind::Input.error(format!(
                "{name} serves no clients; encrypt and decrypt without a device"
            ))
        })
    };
    device.map(of).transpose()
}

/// The results of `f`: by all cores, but on one thread, the caller's, where a device does the work. There is only one
/// device, and a thread that waits for its turn sees no signal.
pub fn spread<T: Sync, R: Send>(
    device: Option<&Arc<dyn Client>>,
    items: &[T],
    f: impl Fn(&T) -> PyResult<R> + Sync + Send,
) -> PyResult<Vec<R>> {
    match device {
        None => cores()?.try_map(items, f),
        Some(_) => items.iter().map(f).collect(),
    }
}

/// Add the class.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Backend>()
}
