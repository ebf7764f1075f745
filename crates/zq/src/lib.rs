// SPDX-License-Identifier: Apache-2.0
//! Arithmetic modulo a word-sized prime.
