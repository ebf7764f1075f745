// SPDX-License-Identifier: Apache-2.0
//! The co-processor's instruction set: encode, decode, assemble.
