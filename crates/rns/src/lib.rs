// SPDX-License-Identifier: Apache-2.0
//! Residue number systems: bases, CRT, base conversion and polynomials over them.
