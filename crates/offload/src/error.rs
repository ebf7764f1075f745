// SPDX-License-Identifier: Apache-2.0
//! Errors of offloading.

use device::DeviceError;
use thiserror::Error;

/// An operation that the device cannot take or did not finish.
#[derive(Debug, Error)]
pub enum OffloadError {
    /// The build lacks what the operation needs.
    #[error("{operation} {what}")]
    Build {
        /// The operation.
        operation: &'static str,
        /// The resource needed and the one there is.
        what: String,
    },
    /// Moduli or degree that the build cannot work with.
    #[error("{what}")]
    Shape {
        /// The reason, with the numbers.
        what: String,
    },
    /// Operations that the host would have to do, where it is to do none.
    #[error("the host is to do nothing, and these operations are not the device's: {}", .lacks.join("; "))]
    Host {
        /// How many of which kind, and why.
        lacks: Vec<String>,
    },
    /// The device or its driver.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
