// SPDX-License-Identifier: Apache-2.0
//! The words in which an engine computes a scheme: those of its own, or wider ones.

use super::lowering::Lower;
use super::shape::{Shape, wide_shape};
use super::widened::Widened;
use crate::scheme::bfv::Bfv;
use crate::scheme::ckks::Ckks;
use crate::scheme::interface::Scheme;
use crate::scheme::with_scheme;
use crate::{Error, Keys};
use ::program::Program;
use rlwe::Threads;

/// What is done with a scheme that is lowered, whichever it is.
pub trait Visitor {
    /// The result.
    type Out;

    fn visit<S: Lower>(self, scheme: S, shape: Shape) -> Result<Self::Out, Error>;
}

/// A scheme that picks the words for an engine.
trait OnEngine: Scheme {
    fn on_engine<V: Visitor>(self, shape: Shape, visitor: V) -> Result<V::Out, Error>;
}

impl OnEngine for Bfv<u64> {
    fn on_engine<V: Visitor>(self, shape: Shape, visitor: V) -> Result<V::Out, Error> {
        match wide_shape(&self.params, shape) {
            Ok(shape) => visitor.visit(Widened::new(self)?, shape),
            Err(shape) => visitor.visit(self, shape),
        }
    }
}

impl OnEngine for Bfv<u128> {
    fn on_engine<V: Visitor>(self, shape: Shape, visitor: V) -> Result<V::Out, Error> {
        visitor.visit(self, shape)
    }
}

impl OnEngine for Ckks {
    fn on_engine<V: Visitor>(self, shape: Shape, visitor: V) -> Result<V::Out, Error> {
        visitor.visit(self, shape.narrow())
    }
}

/// Hands the scheme of a program, with its keys and in the words for an engine of that shape, to a visitor.
pub fn visit<V: Visitor>(
    program: &Program,
    keys: &Keys,
    threads: &Threads,
    shape: Shape,
    visitor: V,
) -> Result<V::Out, Error> {
    with_scheme!((program, keys, threads), scheme => scheme.on_engine(shape, visitor))
}
