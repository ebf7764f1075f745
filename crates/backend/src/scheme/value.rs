// SPDX-License-Identifier: Apache-2.0
//! A ciphertext of a run.

use std::ops::Deref;
use std::sync::Arc;

/// A ciphertext of the run, or the caller's own.
pub enum Value<'a, C> {
    Lent(&'a C),
    Own(Arc<C>),
}

impl<C> Clone for Value<'_, C> {
    fn clone(&self) -> Self {
        match self {
            Self::Lent(value) => Self::Lent(value),
            Self::Own(value) => Self::Own(value.clone()),
        }
    }
}

impl<C> Deref for Value<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        match self {
            Self::Lent(value) => value,
            Self::Own(value) => value,
        }
    }
}
