// SPDX-License-Identifier: Apache-2.0
//! The content of a slot.

/// One polynomial per lane; lane after lane, each of `n_max` words below 2^W.
pub type Polynomial = Vec<Vec<u128>>;
