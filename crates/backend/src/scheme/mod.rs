// SPDX-License-Identifier: Apache-2.0
//! The scheme layer that every backend stands on: evaluation and encoding by the scheme of a program, its inputs, its
//! plaintexts, the plan of its steps, and what stays between requests.

pub mod bfv;
pub mod ckks;
pub mod inputs;
pub mod interface;
pub mod kept;
pub mod plaintexts;
pub mod plan;
pub mod value;

/// The one place that tells the schemes apart: an expression with the scheme of a program, opened with its keys. It is
/// compiled for each of the three types, so it may use all that their traits have.
macro_rules! with_scheme {
    (($program:expr, $keys:expr, $threads:expr), $scheme:ident => $done:expr) => {{
        use $crate::scheme::{bfv::Bfv, ckks::Ckks};
        let encodes = !$program.plaintexts.is_empty();
        match (&$program.parameters, $keys) {
            (::program::Parameters::Bfv(params), $crate::Keys::Narrow(keys)) => {
                let $scheme = Bfv::new(params, keys, $threads, encodes)?;
                $done
            }
            (::program::Parameters::BfvWide(params), $crate::Keys::Wide(keys)) => {
                let $scheme = Bfv::new(params, keys, $threads, encodes)?;
                $done
            }
            (::program::Parameters::Ckks(params), $crate::Keys::Narrow(keys)) => {
                let $scheme = Ckks::new(&$program, params, keys, $threads);
                $done
            }
            _ => Err($crate::Keys::of_other_words()),
        }
    }};
}
pub(crate) use with_scheme;
