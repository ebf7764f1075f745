// SPDX-License-Identifier: Apache-2.0
//! The elementwise operations of slice kernels.

/// Operation of a kernel on output `o`, operands `x`, `y` and a factor `s`. All are residues unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `o + x`.
    Add,
    /// `o - x`.
    Sub,
    /// `x - o`.
    SubFrom,
    /// `-o`.
    Neg,
    /// `o + s`.
    AddScalar,
    /// `x mod q` for any words.
    Reduce,
    /// `o x`.
    Mul,
    /// `x y`.
    MulInto,
    /// `o + x y`.
    MulAdd,
    /// `o s`.
    MulFactor,
    /// `x s`.
    MulFactorInto,
    /// `o + x s`.
    MulAddFactor,
    /// `o + x s` for any words `x`.
    MulAddWords,
    /// `(o - x) s`.
    SubMulFactor,
}
