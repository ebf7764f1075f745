// SPDX-License-Identifier: Apache-2.0
//! Programs of the homomorphic operations and the host/hardware split.
