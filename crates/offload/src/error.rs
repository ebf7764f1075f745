// SPDX-License-Identifier: Apache-2.0
//! What cannot be handed over.

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
        /// What it needs and what there is.
        what: String,
    },
    /// Moduli or degree that the build cannot work with.
    #[error("{what}")]
    Shape {
        /// What does not fit, with the numbers.
        what: String,
    },
    /// The device or its driver.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
