// SPDX-License-Identifier: Apache-2.0
//! The CKKS scheme: approximate arithmetic on encrypted reals.
