// SPDX-License-Identifier: Apache-2.0
//! Driver of the co-processor: one trait, simulated and real devices behind it.
