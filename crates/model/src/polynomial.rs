// SPDX-License-Identifier: Apache-2.0
//! What a slot holds.

/// One polynomial per lane; lane after lane, each of `n_max` words below 2^W.
pub type Polynomial = Vec<Vec<u128>>;
