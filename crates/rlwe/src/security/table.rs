// SPDX-License-Identifier: Apache-2.0
//! What a published table says, and of which secrets.

/// The kinds of secret the tables tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// Uniform in {−1, 0, 1}.
    Ternary,
    /// Distributed like the error, σ at least 3.19.
    Gaussian,
}

/// A table for one kind of secret.
pub(super) struct Table {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) secret: SecretKind,
    /// [n, largest log2(QP) at 128, at 192, at 256 bits]; 0 where the source gives none.
    pub(super) rows: &'static [[u32; 4]],
}
