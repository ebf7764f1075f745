// SPDX-License-Identifier: Apache-2.0
//! Panics become Python exceptions; what Rust prints of them on the way is left out unless a traceback is asked for.

use std::panic;

/// The environment variable that asks for it; the command line's `--traceback` sets it.
const TRACEBACK: &str = "RINGSMITH_TRACEBACK";

/// Quiets panics: the text of a failed comparison shows both sides, which may be secret,
/// and the exception says the rest.
pub fn quiet() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if std::env::var_os(TRACEBACK).is_some_and(|value| !value.is_empty()) {
            usual(info);
        }
    }));
}
