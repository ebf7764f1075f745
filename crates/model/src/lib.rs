// SPDX-License-Identifier: Apache-2.0
//! Functional and timing model of the co-processor.
