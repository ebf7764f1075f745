// SPDX-License-Identifier: Apache-2.0
//! One Python class over both word widths: moduli below 2^62 in 64-bit words, wider ones in 128-bit words.

/// The same thing over words of 64 or of 128 bits.
#[derive(Clone, Debug)]
pub enum WordWidth<A, B> {
    /// Over `u64`.
    W64(A),
    /// Over `u128`.
    W128(B),
}

/// An expression of either width, `$x` bound to the content: `each!(words, x => x.n())`.
macro_rules! each {
    ($words:expr, $x:ident => $body:expr) => {
        match $words {
            $crate::word_width::WordWidth::W64($x) => $body,
            $crate::word_width::WordWidth::W128($x) => $body,
        }
    };
}

/// As [`each`], for a scheme that has one width.
macro_rules! only {
    ($words:expr, $x:ident => $body:expr) => {{
        let $x = $words;
        $body
    }};
}

/// As [`each`], for a fallible expression whose value again has a width: `try_map!(words, x => x.negate())`.
macro_rules! try_map {
    ($words:expr, $x:ident => $body:expr) => {
        match $words {
            $crate::word_width::WordWidth::W64($x) => {
                $crate::errors::OrRaise::or_raise($body).map($crate::word_width::WordWidth::W64)
            }
            $crate::word_width::WordWidth::W128($x) => {
                $crate::errors::OrRaise::or_raise($body).map($crate::word_width::WordWidth::W128)
            }
        }
    };
}

/// As [`try_map`] for two operands, which must have the same width.
macro_rules! try_zip {
    ($a:expr, $b:expr, ($x:ident, $y:ident) => $body:expr) => {
        match ($a, $b) {
            ($crate::word_width::WordWidth::W64($x), $crate::word_width::WordWidth::W64($y)) => {
                $crate::errors::OrRaise::or_raise($body).map($crate::word_width::WordWidth::W64)
            }
            ($crate::word_width::WordWidth::W128($x), $crate::word_width::WordWidth::W128($y)) => {
                $crate::errors::OrRaise::or_raise($body).map($crate::word_width::WordWidth::W128)
            }
            _ => Err($crate::word_width::mismatch()),
        }
    };
}

pub(crate) use {each, only, try_map, try_zip};

/// The error of operands with different widths: they cannot share a parameter set.
pub fn mismatch() -> pyo3::PyErr {
    crate::errors::Kind::KeyMismatch
        .error("the operands belong to parameter sets of different word widths")
}
