// SPDX-License-Identifier: Apache-2.0
//! Errors.

use core::fmt;

/// Errors of the client; none reveals a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A set beyond this crate's limits, or an invalid one.
    Parameters(&'static str),
    /// A set below 128 bits of security by the engine's default table: it needs [`Params::insecure`].
    Insecure,
    /// Bytes of another parameter set.
    OtherParameters,
    /// Bytes of another secret key.
    OtherKey,
    /// Bytes that are no such object, or damaged.
    Bytes(&'static str),
    /// A message of another length, or with a coefficient out of range.
    Message(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(what) => write!(f, "parameters: {what}"),
            Self::Insecure => {
                f.write_str("parameters: below 128 bits of security, which needs an opt-in")
            }
            Self::OtherParameters => f.write_str("made for another parameter set"),
            Self::OtherKey => f.write_str("made for another secret key"),
            Self::Bytes(what) => write!(f, "bytes of an object: {what}"),
            Self::Message(what) => write!(f, "message: {what}"),
        }
    }
}

impl core::error::Error for Error {}
