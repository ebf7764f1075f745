// SPDX-License-Identifier: Apache-2.0
//! The classes that every scheme has, one macro each: what a scheme does its own way is given to it as expressions, and
//! `more` holds the members that only one scheme has.

mod context;
mod data;
mod decryptor;
mod encoder;
mod encryptor;
mod estimator;
mod evaluator;

pub(crate) use context::context_class;
pub(crate) use data::{Wrapped, data_class};
pub(crate) use decryptor::decryptor_class;
pub(crate) use encoder::encoder_class;
pub(crate) use encryptor::encryptor_class;
pub(crate) use estimator::estimator_class;
pub(crate) use evaluator::{evaluator_class, same_length};
