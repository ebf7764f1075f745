// SPDX-License-Identifier: Apache-2.0
//! Vector instruction sets: which one to use, and one set of vector operations that all kernels are written in.
//!
//! [`level`] is chosen once per process: the processor's best, or the one that `RINGSMITH_SIMD` names (`portable`,
//! `neon`, `avx2`, `avx512`, `ifma`, `ifma-amd`). Any other name, or a level that the processor lacks, is an error
//! ([`check_request`]), never a fallback to another level. Every level gives the same residues.
//!
//! Kernels are generic over [`Vector`] and `#[inline(always)]`; a thin `#[target_feature]` function per level
//! instantiates them, so there is one source for all instruction sets.

use crate::fork;
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod float50;
#[cfg(target_arch = "x86_64")]
mod ifma52;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod kernels;
#[cfg(target_arch = "x86_64")]
mod modular512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod modular52;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod multiply52;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod nearest_doubles;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(crate) mod ops;
#[cfg(target_arch = "aarch64")]
mod pair;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod pinning;
#[cfg(target_arch = "x86_64")]
mod products512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vector;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod wide64;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use float50::Float50;
#[cfg(target_arch = "x86_64")]
pub use ifma52::Ifma52;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use kernels::sum_fits;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use modular52::{Modular52, Modulus52};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use multiply52::Multiply52;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use nearest_doubles::NearestDoubles;
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
#[cfg(target_arch = "aarch64")]
pub use pair::Pair;
#[cfg(target_arch = "x86_64")]
pub use products512::{Doubles, Halves, Integers};
#[cfg(target_arch = "x86_64")]
pub use vector::Ifma;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use vector::{Lanes, MAX_LANES, Vector};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use wide64::Wide64;

/// The environment variable that forces a level.
pub const ENV: &str = "RINGSMITH_SIMD";

/// A vector instruction set; each of x86-64 includes the ones of x86-64 before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// No explicit vector instructions.
    Portable,
    /// NEON, which every AArch64 processor has: two lanes.
    Neon,
    /// AVX2 and FMA: four lanes.
    Avx2,
    /// AVX-512 F and DQ: eight lanes.
    Avx512,
    /// AVX-512 with 52-bit multiply-add.
    Ifma,
    /// The same instructions, for processors that start half as many 52-bit multiply-adds as sums at a time: AMD's,
    /// where two of four vector pipes multiply. Intel's server cores start as many of either.
    IfmaAmd,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 6] = [
        Self::Portable,
        Self::Neon,
        Self::Avx2,
        Self::Avx512,
        Self::Ifma,
        Self::IfmaAmd,
    ];

    /// The name `RINGSMITH_SIMD` knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
            Self::IfmaAmd => "ifma-amd",
        }
    }

    /// Whether this processor can run it.
    pub fn is_supported(self) -> bool {
        self.is_part_of(best())
    }

    /// Whether a processor whose best level is `best` can run it.
    fn is_part_of(self, best: Self) -> bool {
        let same_family = (self == Self::Neon) == (best == Self::Neon);
        // Instructions count, not which processor the level is best for.
        let instructions = self.min(Self::Ifma);
        self == Self::Portable || same_family && instructions <= best
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
            return if is_amd() {
                Level::IfmaAmd
            } else {
                Level::Ifma
            };
        }
        if avx512 {
            return Level::Avx512;
        }
        if avx2 {
            return Level::Avx2;
        }
    }
    if cfg!(target_arch = "aarch64") {
        return Level::Neon;
    }
    Level::Portable
}

/// Whether the processor's maker is AMD, by CPUID.
#[cfg(target_arch = "x86_64")]
fn is_amd() -> bool {
    // SAFETY: every processor of this architecture has the instruction. Later compilers know.
    #[allow(unused_unsafe)]
    let maker = unsafe { core::arch::x86_64::__cpuid(0) };
    [maker.ebx, maker.edx, maker.ecx]
        .map(u32::to_le_bytes)
        .concat()
        == *b"AuthenticAMD"
}

/// The level of a request on a processor, or why there is none.
fn resolve(request: Option<&str>, best: Level) -> Result<Level, String> {
    let Some(name) = request.filter(|name| !name.is_empty()) else {
        return Ok(best);
    };
    let known = Level::ALL.into_iter().find(|l| l.name() == name);
    let names = |levels: &[Level]| {
        levels
            .iter()
            .map(|l| l.name())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match known {
        Some(l) if l.is_part_of(best) => Ok(l),
        Some(_) => {
            let here = Level::ALL.into_iter().filter(|l| l.is_part_of(best));
            let here: Vec<Level> = here.collect();
            Err(format!(
                "{ENV}={name} needs instructions that this processor lacks; here it may be {}",
                names(&here)
            ))
        }
        None => Err(format!(
            "{ENV}={name} is no instruction set; it may be {}",
            names(&Level::ALL)
        )),
    }
}

/// The level that the environment asks for, or the best.
///
/// # Errors
/// A text that names the variable, its value and what it may be.
pub fn check_request() -> Result<Level, String> {
    let request = std::env::var_os(ENV).map(|value| value.to_string_lossy().into_owned());
    resolve(request.as_deref(), best())
}

/// The level in use, fixed at the first call.
///
/// # Panics
/// With the text of [`check_request`] when the environment asks for what cannot be had.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *fork::once(&LEVEL, || {
        check_request().unwrap_or_else(|text| panic!("{text}"))
    })
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;

#[cfg(test)]
mod level_tests {
    use super::*;

    #[test]
    fn requests_are_honoured_or_refused_with_what_would_do() {
        for best in Level::ALL {
            assert_eq!(resolve(None, best), Ok(best));
            assert_eq!(resolve(Some(""), best), Ok(best));
            for l in Level::ALL {
                match resolve(Some(l.name()), best) {
                    Ok(got) => assert!(got == l && l.is_part_of(best)),
                    Err(text) => {
                        assert!(!l.is_part_of(best));
                        assert!(text.contains("lacks") && text.contains(best.name()));
                    }
                }
            }
        }
        let runs = |best| Level::ALL.map(|l| resolve(Some(l.name()), best).is_ok());
        let only = |levels: &[Level]| Level::ALL.map(|l| levels.contains(&l));
        assert_eq!(runs(Level::Portable), only(&[Level::Portable]));
        assert_eq!(runs(Level::Neon), only(&[Level::Portable, Level::Neon]));
        assert_eq!(
            runs(Level::Avx512),
            only(&[Level::Portable, Level::Avx2, Level::Avx512])
        );
        // Either level of 52-bit multiply-add runs wherever the other does.
        for best in [Level::Ifma, Level::IfmaAmd] {
            assert_eq!(runs(best), Level::ALL.map(|l| l != Level::Neon));
        }
        let text = resolve(Some("sse9"), Level::Avx2).unwrap_err();
        assert!(
            text.contains("RINGSMITH_SIMD=sse9")
                && text.ends_with("portable, neon, avx2, avx512, ifma, ifma-amd")
        );
        assert!(level().is_supported() && Level::Portable.is_supported());
    }
}
