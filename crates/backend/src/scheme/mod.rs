// SPDX-License-Identifier: Apache-2.0
//! The scheme layer that every backend stands on: encoding and evaluation by the scheme of a program, its inputs, its
//! plaintexts, and the plan of its steps.

pub mod bfv;
pub mod ckks;
pub mod inputs;
pub mod interface;
pub mod plaintexts;
pub mod plan;
pub mod value;
