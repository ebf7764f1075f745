// SPDX-License-Identifier: Apache-2.0
//! The domain of a polynomial, as a type.

use core::fmt::Debug;
use zq::{Modulus, Word};

use crate::Automorphism;

mod sealed {
    pub trait Sealed {}
}

/// Coefficients or values: [`Coeff`] or [`Eval`].
pub trait Domain: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// The name shown by `Debug`.
    const NAME: &'static str;

    /// One limb of `x -> x^g`.
    #[doc(hidden)]
    fn permute<W: Word>(auto: &Automorphism, modulus: &Modulus<W>, input: &[W], out: &mut [W]);
}

/// Coefficients in natural order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coeff {}

/// Values at the odd powers of ψ, bit-reversed (see [`ntt::eval_exponent`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eval {}

impl sealed::Sealed for Coeff {}
impl sealed::Sealed for Eval {}

impl Domain for Coeff {
    const NAME: &'static str = "Coeff";

    fn permute<W: Word>(auto: &Automorphism, modulus: &Modulus<W>, input: &[W], out: &mut [W]) {
        auto.coeff_into(modulus, input, out);
    }
}

impl Domain for Eval {
    const NAME: &'static str = "Eval";

    fn permute<W: Word>(auto: &Automorphism, _: &Modulus<W>, input: &[W], out: &mut [W]) {
        auto.eval_into(input, out);
    }
}
