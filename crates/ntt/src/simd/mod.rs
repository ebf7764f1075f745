// SPDX-License-Identifier: Apache-2.0
//! Vector transforms of `u64` residues: which arithmetic for which modulus, and the entry points per instruction set.
//!
//! | arithmetic | moduli | vector operations per butterfly, forward / inverse |
//! |---|---|---|
//! | `ifma52::Ifma52` without corrections, IFMA | < 2^46 | 5 / 6 |
//! | `ifma52::Ifma52` corrected every third stage, IFMA | < 2^49 | 5.7 / 8 |
//! | `ifma52::Ifma52` corrected every stage, IFMA | < 2^50 | 7 / 8 |
//! | `ifma52_amd::Ifma52Amd`, the same three with fewer multiply-adds | < 2^46, 2^49, 2^50 | 5, 5.7, 8 / 6, 8, 8 |
//! | [`fma64::Fma64`], AVX2 and AVX-512 | < 2^48 | 8 / 8 |
//! | [`fma64::Fma64`] with reductions, AVX2 | < 2^50 | 9 / 8, and 3 a result of a pass |
//! | `mul32::Mul32` with a quotient short by up to 3, AVX-512 | < 2^60 | 19 / 20 |
//! | `mont32::Mont32`, AVX2 | < 2^60 | 20 / 21, and 10 a result of a forward transform |
//! | `mul32::Mul32` with the exact quotient | < 2^62 | 25 / 25 with AVX-512 |
//! | [`fma64::Fma64`], NEON | < 2^48, < 2^50 | 9 / 9, 10 / 9 for two lanes |
//! | `mul64::Mul64`, general registers of AArch64 | < 2^60 | 5.3 / 5.6 for one |
//!
//! All of them run in [`passes`]; the result is fully reduced and equal to the portable one.

mod arith;
#[cfg(test)]
mod bound_tests;
mod fma64;
#[cfg(target_arch = "x86_64")]
mod ifma52;
#[cfg(target_arch = "x86_64")]
mod ifma52_amd;
#[cfg(target_arch = "x86_64")]
mod mont32;
#[cfg(target_arch = "x86_64")]
mod mul32;
#[cfg(target_arch = "aarch64")]
mod mul64;
mod passes;
mod schedule;
mod tables;

#[cfg(target_arch = "aarch64")]
use zq::simd::Neon;
#[cfg(target_arch = "x86_64")]
use zq::simd::{Avx2, Avx512};
use zq::simd::{Lanes, Level};

use crate::tables::ScalarTables;
use arith::Arith;
use fma64::Fma64;
#[cfg(target_arch = "x86_64")]
use ifma52::{Ifma52, NEVER};
#[cfg(target_arch = "x86_64")]
use ifma52_amd::Ifma52Amd;
#[cfg(target_arch = "x86_64")]
use mont32::Mont32;
#[cfg(target_arch = "x86_64")]
use mul32::Mul32;
#[cfg(target_arch = "aarch64")]
use mul64::Mul64;
use passes::{Lifted, Plain, Runs};
use schedule::MIN_LEN;
use tables::Tables;

/// An instruction set with an arithmetic that suits the modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg(target_arch = "x86_64")]
enum Path {
    Ifma46,
    Ifma49,
    Ifma50,
    IfmaAmd46,
    IfmaAmd49,
    IfmaAmd50,
    Avx512Float,
    Avx512Wide60,
    Avx512Wide62,
    Avx2Float,
    Avx2Float50,
    Avx2Wide60,
    Avx2Wide62,
}

/// An arithmetic that suits the modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg(target_arch = "aarch64")]
enum Path {
    NeonFloat,
    NeonFloat50,
    Scalar60,
}

/// The vector form of a plan.
#[derive(Debug, Clone)]
pub(crate) struct SimdPlan {
    q: u64,
    path: Path,
    tables: Tables,
}

#[cfg(target_arch = "x86_64")]
fn choose(level: Level, bits: u32) -> Option<Path> {
    Some(match (level, bits) {
        (Level::Ifma, ..=46) => Path::Ifma46,
        (Level::Ifma, ..=49) => Path::Ifma49,
        (Level::Ifma, ..=50) => Path::Ifma50,
        (Level::IfmaAmd, ..=46) => Path::IfmaAmd46,
        (Level::IfmaAmd, ..=49) => Path::IfmaAmd49,
        (Level::IfmaAmd, ..=50) => Path::IfmaAmd50,
        (Level::Avx512, ..=48) => Path::Avx512Float,
        (Level::Avx512 | Level::Ifma | Level::IfmaAmd, ..=60) => Path::Avx512Wide60,
        (Level::Avx512 | Level::Ifma | Level::IfmaAmd, _) => Path::Avx512Wide62,
        (Level::Avx2, ..=48) => Path::Avx2Float,
        (Level::Avx2, ..=50) => Path::Avx2Float50,
        (Level::Avx2, ..=60) => Path::Avx2Wide60,
        (Level::Avx2, _) => Path::Avx2Wide62,
        (Level::Portable | Level::Neon, _) => return None,
    })
}

#[cfg(target_arch = "aarch64")]
fn choose(level: Level, bits: u32) -> Option<Path> {
    match (level, bits) {
        (Level::Neon, ..=48) => Some(Path::NeonFloat),
        (Level::Neon, ..=50) => Some(Path::NeonFloat50),
        (Level::Neon, ..=60) => Some(Path::Scalar60),
        _ => None,
    }
}

/// Runs `$body` with `$a` bound to the arithmetic of a path.
macro_rules! with_arith {
    ($path:expr, $a:ident => $body:expr) => {
        match $path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma46 => {
                type $a = Ifma52<NEVER>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Ifma49 => {
                type $a = Ifma52<3>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Ifma50 => {
                type $a = Ifma52<1>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::IfmaAmd46 => {
                type $a = Ifma52Amd<NEVER>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::IfmaAmd49 => {
                type $a = Ifma52Amd<3>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::IfmaAmd50 => {
                type $a = Ifma52Amd<1>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Float => {
                type $a = Fma64<Avx512, false>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Wide60 => {
                type $a = Mul32<Avx512, false>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Wide62 => {
                type $a = Mul32<Avx512, true>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Float => {
                type $a = Fma64<Avx2, false>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Float50 => {
                type $a = Fma64<Avx2, true>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Wide60 => {
                type $a = Mont32<Avx2>;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Wide62 => {
                type $a = Mul32<Avx2, true>;
                $body
            }
            #[cfg(target_arch = "aarch64")]
            Path::NeonFloat => {
                type $a = Fma64<Neon, false>;
                $body
            }
            #[cfg(target_arch = "aarch64")]
            Path::NeonFloat50 => {
                type $a = Fma64<Neon, true>;
                $body
            }
            #[cfg(target_arch = "aarch64")]
            Path::Scalar60 => {
                type $a = Mul64;
                $body
            }
        }
    };
}

impl SimdPlan {
    /// Tables for the level, or none where the portable transform is used. `level` must be supported by the processor.
    pub fn new(plan: &ScalarTables<'_>, level: Level) -> Option<Self> {
        assert!(
            level.is_supported(),
            "{} is not supported by this processor",
            level.name()
        );
        let bits = u64::BITS - plan.q.leading_zeros();
        let path = choose(level, bits).filter(|_| plan.forward.len() >= MIN_LEN)?;
        Some(Self {
            q: plan.q,
            path,
            tables: with_arith!(path, A => Tables::new::<A>(plan)),
        })
    }

    pub fn forward(&self, a: &mut [u64]) {
        assert_eq!(
            a.len(),
            self.tables.n,
            "slice length is not the transform's"
        );
        // SAFETY: the length is checked, and `new` checked that the processor has the path's features.
        unsafe { (self.entry_points().forward)(self.q, &self.tables, a.as_mut_ptr()) }
    }

    pub fn inverse(&self, a: &mut [u64]) {
        assert_eq!(
            a.len(),
            self.tables.n,
            "slice length is not the transform's"
        );
        let inverse = self.entry_points().inverse;
        let a = a.as_mut_ptr();
        // SAFETY: `a` has n words to be read and written, and `new` checked that the processor has the path's features.
        unsafe { inverse(self.q, &self.tables, a.cast_const(), a) }
    }

    pub fn inverse_from(&self, from: &[u64], out: &mut [u64]) {
        let n = self.tables.n;
        assert!(
            from.len() == n && out.len() == n,
            "slice lengths are not the transform's"
        );
        let inverse = self.entry_points().inverse;
        // SAFETY: both slices have n words, and `new` checked that the processor has the path's features.
        unsafe { inverse(self.q, &self.tables, from.as_ptr(), out.as_mut_ptr()) }
    }

    /// Parts of a transform in two steps; 1 where there is one step only.
    pub fn outer_blocks(&self) -> usize {
        self.tables.schedule.outer_blocks()
    }

    /// See [`passes::Arith::LAZY_BOUND`](arith::Arith::LAZY_BOUND).
    pub fn lazy_bound(&self) -> u64 {
        with_arith!(self.path, A => <A as arith::Arith>::LAZY_BOUND)
    }

    /// The outer stages of the columns of `from`, lifted, into outer blocks whose starts are `apart` words apart.
    pub fn forward_outer(
        &self,
        from: &[u64],
        lift: Option<[u64; 2]>,
        out: &mut [u64],
        apart: usize,
    ) {
        let (n, outer_blocks) = (self.tables.n, self.outer_blocks());
        let columns = from.len() / outer_blocks;
        assert!(
            outer_blocks > 1
                && columns * outer_blocks == from.len()
                && columns
                    .is_multiple_of(128 / outer_blocks)
                    .max(columns * outer_blocks == n)
                && columns <= n / outer_blocks
                && out.len() >= apart * (outer_blocks - 1) + columns
                && apart >= n / outer_blocks,
            "slice lengths are not the transform's"
        );
        let outer = self.entry_points().outer;
        // SAFETY: `new` checked the processor; the assertion says that there is a pass before the last, that columns
        // are whole steps of it and that every block has room for them.
        unsafe {
            outer(
                self.q,
                &self.tables,
                (from.as_ptr(), from.len()),
                lift,
                (out.as_mut_ptr(), apart),
            )
        }
    }

    /// The other stages of one block, in place.
    pub fn forward_block(&self, block: usize, a: &mut [u64], lazy: bool, prefetch: &[*const u64]) {
        let outer_blocks = self.outer_blocks();
        assert!(
            block < outer_blocks && outer_blocks > 1 && a.len() * outer_blocks == self.tables.n,
            "slice length is not a block's"
        );
        let run = self.entry_points().block;
        // SAFETY: `new` checked the processor; `a` has a block's words, `block` is one of those after the first pass.
        unsafe {
            run(
                self.q,
                &self.tables,
                a.as_mut_ptr(),
                [outer_blocks, block],
                lazy,
                prefetch,
            )
        }
    }

    fn entry_points(&self) -> EntryPoints {
        match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma46 => ifma46::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Ifma49 => ifma49::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Ifma50 => ifma50::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::IfmaAmd46 => ifma_amd46::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::IfmaAmd49 => ifma_amd49::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::IfmaAmd50 => ifma_amd50::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Float => avx512_fma64::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Wide60 => avx512_mul32_60::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx512Wide62 => avx512_mul32_62::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Float => avx2_fma64::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Float50 => avx2_fma64_50::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Wide60 => avx2_mont32::ENTRY_POINTS,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2Wide62 => avx2_mul32_62::ENTRY_POINTS,
            #[cfg(target_arch = "aarch64")]
            Path::NeonFloat => neon_fma64::ENTRY_POINTS,
            #[cfg(target_arch = "aarch64")]
            Path::NeonFloat50 => neon_fma64_50::ENTRY_POINTS,
            #[cfg(target_arch = "aarch64")]
            Path::Scalar60 => mul64_60::ENTRY_POINTS,
        }
    }
}

/// Pointer to the first word, and the number of words.
type Words = (*const u64, usize);

/// The functions of one path.
#[derive(Clone, Copy)]
struct EntryPoints {
    forward: unsafe fn(u64, &Tables, *mut u64),
    inverse: unsafe fn(u64, &Tables, *const u64, *mut u64),
    outer: unsafe fn(u64, &Tables, Words, Option<[u64; 2]>, Runs),
    block: unsafe fn(u64, &Tables, *mut u64, [usize; 2], bool, &[*const u64]),
}

/// The transforms of one arithmetic, compiled for its instruction set.
macro_rules! entry_points {
    ($name:ident, $features:literal, $arith:ty) => {
        mod $name {
            use super::*;

            /// # Safety
            /// The processor has the features, and `a` points to `tables.n` words.
            #[target_feature(enable = $features)]
            pub unsafe fn forward(q: u64, tables: &Tables, a: *mut u64) {
                // SAFETY: this function enables the arithmetic's features; the caller gives `tables.n` words at `a`.
                unsafe { passes::forward(&<$arith>::new(q), tables, a) }
            }

            /// # Safety
            /// As `forward`, for both.
            #[target_feature(enable = $features)]
            pub unsafe fn inverse(q: u64, tables: &Tables, from: *const u64, a: *mut u64) {
                // SAFETY: this function enables the arithmetic's features; `from` and `a` have `tables.n` words each.
                unsafe { passes::inverse(&<$arith>::new(q), tables, from, a) }
            }

            /// # Safety
            /// The processor has the features; as [`passes::forward_outer`].
            #[target_feature(enable = $features)]
            pub unsafe fn outer(
                q: u64,
                tables: &Tables,
                (from, len): Words,
                lift: Option<[u64; 2]>,
                out: Runs,
            ) {
                // SAFETY: this function enables the arithmetic's features; the caller vouches for the pass, the `len`
                // words at `from` and the room at `out`.
                unsafe {
                    let arith = <$arith>::new(q);
                    match lift {
                        None => passes::forward_outer(&arith, tables, (Plain(from), len), out),
                        Some([threshold, shift]) => {
                            let lifted = Lifted {
                                from,
                                threshold: Lanes::splat(threshold),
                                shift: Lanes::splat(shift),
                            };
                            passes::forward_outer(&arith, tables, (lifted, len), out);
                        }
                    }
                }
            }

            /// # Safety
            /// As [`passes::forward_block`] from the second pass on.
            #[target_feature(enable = $features)]
            pub unsafe fn block(
                q: u64,
                tables: &Tables,
                a: *mut u64,
                block: [usize; 2],
                lazy: bool,
                prefetch: &[*const u64],
            ) {
                // SAFETY: this function enables the arithmetic's features; `a` has the words of one block after pass 0.
                unsafe {
                    let arith = <$arith>::new(q);
                    // Compiled where it makes a difference.
                    if const { <$arith as Arith>::LAZY_BOUND > 1 } {
                        if lazy {
                            return passes::forward_block::<_, true>(
                                &arith, tables, 1, a, block, prefetch,
                            );
                        }
                    }
                    passes::forward_block::<_, false>(&arith, tables, 1, a, block, prefetch)
                }
            }

            pub const ENTRY_POINTS: EntryPoints = EntryPoints {
                forward,
                inverse,
                outer,
                block,
            };
        }
    };
}

#[cfg(target_arch = "x86_64")]
entry_points!(ifma46, "avx512f,avx512dq,avx512ifma", Ifma52<NEVER>);
#[cfg(target_arch = "x86_64")]
entry_points!(ifma49, "avx512f,avx512dq,avx512ifma", Ifma52<3>);
#[cfg(target_arch = "x86_64")]
entry_points!(ifma50, "avx512f,avx512dq,avx512ifma", Ifma52<1>);
#[cfg(target_arch = "x86_64")]
entry_points!(ifma_amd46, "avx512f,avx512dq,avx512ifma", Ifma52Amd<NEVER>);
#[cfg(target_arch = "x86_64")]
entry_points!(ifma_amd49, "avx512f,avx512dq,avx512ifma", Ifma52Amd<3>);
#[cfg(target_arch = "x86_64")]
entry_points!(ifma_amd50, "avx512f,avx512dq,avx512ifma", Ifma52Amd<1>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx512_fma64, "avx512f,avx512dq", Fma64<Avx512, false>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx512_mul32_60, "avx512f,avx512dq", Mul32<Avx512, false>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx512_mul32_62, "avx512f,avx512dq", Mul32<Avx512, true>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx2_fma64, "avx2,fma", Fma64<Avx2, false>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx2_fma64_50, "avx2,fma", Fma64<Avx2, true>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx2_mont32, "avx2,fma", Mont32<Avx2>);
#[cfg(target_arch = "x86_64")]
entry_points!(avx2_mul32_62, "avx2,fma", Mul32<Avx2, true>);
#[cfg(target_arch = "aarch64")]
entry_points!(neon_fma64, "neon", Fma64<Neon, false>);
#[cfg(target_arch = "aarch64")]
entry_points!(neon_fma64_50, "neon", Fma64<Neon, true>);
#[cfg(target_arch = "aarch64")]
entry_points!(mul64_60, "neon", Mul64);
