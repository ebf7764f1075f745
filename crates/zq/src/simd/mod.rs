// SPDX-License-Identifier: Apache-2.0
//! Vector instruction sets: which one to use, and one set of vector operations that all kernels are written in.
//!
//! [`level`] is chosen once per process: the best the processor has, or what `RINGSMITH_SIMD` names (`portable`, `avx2`,
//! `avx512`, `ifma`). A level the processor lacks is never used: the next lower one it has is taken, and a line on standard
//! error says so. Every level gives the same residues.
//!
//! Kernels are generic over [`Vector`] and `#[inline(always)]`; a thin `#[target_feature]` function per level instantiates
//! them, so there is one source for all instruction sets.

use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod ifma52;
#[cfg(target_arch = "x86_64")]
pub(crate) mod kernels;
pub(crate) mod ops;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod wide64;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
#[cfg(target_arch = "x86_64")]
pub use ifma52::Ifma52;
#[cfg(target_arch = "x86_64")]
pub use kernels::sum_fits;
#[cfg(target_arch = "x86_64")]
pub use vector::{Ifma, Vector};
#[cfg(target_arch = "x86_64")]
pub use wide64::Wide64;

/// The environment variable that forces a level.
pub const ENV: &str = "RINGSMITH_SIMD";

/// A vector instruction set; each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// No explicit vector instructions.
    Portable,
    /// AVX2 and FMA: four lanes.
    Avx2,
    /// AVX-512 F and DQ: eight lanes.
    Avx512,
    /// AVX-512 with 52-bit multiply-add.
    Ifma,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Ifma];

    /// The name `RINGSMITH_SIMD` knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
        }
    }

    /// Whether this processor can run it.
    pub fn is_supported(self) -> bool {
        self <= best()
    }
}

/// The best level of this processor.
fn best() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let avx512 =
            avx2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        if avx512 && is_x86_feature_detected!("avx512ifma") {
            return Level::Ifma;
        }
        if avx512 {
            return Level::Avx512;
        }
        if avx2 {
            return Level::Avx2;
        }
    }
    Level::Portable
}

/// What a request becomes on a processor, and the warning that goes with it.
fn resolve(request: Option<&str>, best: Level) -> (Level, Option<String>) {
    let Some(name) = request else {
        return (best, None);
    };
    match Level::ALL.into_iter().find(|l| l.name() == name) {
        Some(l) if l <= best => (l, None),
        Some(_) => {
            let text = format!(
                "{ENV}={name} is not supported by this processor; using {}",
                best.name()
            );
            (best, Some(text))
        }
        None => {
            let text = format!(
                "{ENV}={name} is none of portable, avx2, avx512, ifma; using {}",
                best.name()
            );
            (best, Some(text))
        }
    }
}

/// The level in use, fixed at the first call.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let request = std::env::var(ENV).ok().filter(|s| !s.is_empty());
        let (level, warning) = resolve(request.as_deref(), best());
        if let Some(text) = warning {
            eprintln!("ringsmith: {text}");
        }
        level
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

#[cfg(test)]
mod level_tests {
    use super::*;

    #[test]
    fn requests_are_honoured_or_answered_with_a_warning_and_never_exceed_the_processor() {
        for best in Level::ALL {
            assert_eq!(resolve(None, best), (best, None));
            for l in Level::ALL {
                let (got, warning) = resolve(Some(l.name()), best);
                assert_eq!(
                    (got, warning.is_some()),
                    if l <= best { (l, false) } else { (best, true) }
                );
            }
        }
        let (level, warning) = resolve(Some("sse9"), Level::Avx2);
        assert_eq!(level, Level::Avx2);
        assert!(warning.unwrap().contains("sse9"));
        assert!(level_is_supported());
    }

    fn level_is_supported() -> bool {
        level().is_supported() && Level::Portable.is_supported()
    }
}
