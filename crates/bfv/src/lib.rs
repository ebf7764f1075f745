// SPDX-License-Identifier: Apache-2.0
//! The BFV scheme: exact arithmetic on encrypted integers.
