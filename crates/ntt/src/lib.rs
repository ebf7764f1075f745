// SPDX-License-Identifier: Apache-2.0
//! The negacyclic number-theoretic transform.
