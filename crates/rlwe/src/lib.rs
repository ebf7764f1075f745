// SPDX-License-Identifier: Apache-2.0
//! Ring-LWE: samplers, seeds, keys, key switching, noise.
