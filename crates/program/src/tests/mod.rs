// SPDX-License-Identifier: Apache-2.0
//! Programs as bytes: what is written is read again, and what no writer makes is refused with its reason.

mod bootstrapping;
mod bytes;
mod circuit;
mod clear;
mod cost;
mod guarantee;
mod handed;
mod lies;
mod limits;
mod probable;
mod promised_errors;
mod repeat;
mod sample;
mod vectors;

use crate::evaluate::IntegersModulo;
use crate::expression::{Expression, Numbers, PlainOp};
use crate::step::{Operation, Place, Plaintext, Promise, SourceLine, Step};
use crate::transform::{Giant, Term, Transform};
use crate::*;
use bfv::{BfvParams, BfvParamsLiteral};
use ckks::{CkksParams, CkksParamsLiteral};
use rlwe::mutate;
use rlwe::wire::WireError;
use rlwe::{RlweParamsLiteral, SecurityPolicy, Threads};
use sample::*;
