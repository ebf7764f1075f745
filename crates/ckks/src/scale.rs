// SPDX-License-Identifier: Apache-2.0
//! When two scales count as one.

use crate::Error;

/// Relative difference below which two scales are the same number with different rounding histories. Adding such
/// operands costs at most this relative error, less than what encoding costs.
pub const SCALE_TOLERANCE: f64 = 1.0 / (1u64 << 48) as f64;

/// Refuses scales that differ by more than rounding.
pub(crate) fn same_scale(
    operation: &'static str,
    left: f64,
    right: f64,
    levels_left: usize,
) -> Result<(), Error> {
    if (left / right - 1.0).abs() <= SCALE_TOLERANCE {
        return Ok(());
    }
    // More than a factor of 2^8 apart: a product that was not rescaled, rather than drift of the primes.
    let remedy = if (left / right).log2().abs() > 8.0 {
        "rescale the operand with the larger scale"
    } else {
        "bring one operand to the other's scale with set_scale_by_constant, or multiply both alike before adding"
    };
    Err(Error::ScaleMismatch {
        operation,
        left: left.log2(),
        right: right.log2(),
        levels_left,
        remedy,
    })
}
