// SPDX-License-Identifier: Apache-2.0
//! Words that fresh memory already holds.

/// A word that is zero where all its bytes are. Not part of the interface.
///
/// # Safety
/// All bytes zero is its default, and it needs no drop.
#[doc(hidden)]
pub unsafe trait Zeroed: Copy + Default + Send + Sync + 'static {}

// SAFETY: an integer.
unsafe impl Zeroed for u64 {}
// SAFETY: an integer.
unsafe impl Zeroed for u128 {}
