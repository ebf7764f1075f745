// SPDX-License-Identifier: Apache-2.0
//! The loops of the slot transform: one source, compiled for three instruction sets.
//!
//! Everything works on arrays of eight doubles, which the compiler turns into one AVX-512 register, two AVX2 or four
//! SSE2 ones. No multiplication is fused with an addition (the language forbids the contraction), so every path gives
//! the same bits.

use super::fft::{COLUMNS, MIN_BLOCKED, SlotFft, Split};

type Lanes = [f64; COLUMNS];

/// Which way the transform goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Coefficients to slots.
    Forward,
    /// Slots to N times the coefficients.
    Inverse,
}

/// A function that runs `$body` compiled for the level in use ([`zq::simd::level`]).
macro_rules! for_each_level {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) = $body:path) => {
        $(#[$doc])*
        pub(super) fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq")]
                fn avx512($($arg: $ty),*) {
                    $body($($arg),*);
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) {
                    $body($($arg),*);
                }
                use zq::simd::Level;
                // SAFETY: a level is only in use on processors that have its features.
                match zq::simd::level() {
                    Level::Ifma | Level::Avx512 => return unsafe { avx512($($arg),*) },
                    Level::Avx2 => return unsafe { avx2($($arg),*) },
                    Level::Portable => {}
                }
            }
            $body($($arg),*);
        }
    };
}
pub(super) use for_each_level;

for_each_level! {
    /// Runs the transform.
    run(direction: Direction, fft: &SlotFft, x: &mut Split, scratch: &mut Split) = transform
}

#[inline(always)]
fn transform(direction: Direction, fft: &SlotFft, x: &mut Split, scratch: &mut Split) {
    debug_assert!(x.re.len() == fft.points() && x.im.len() == fft.points());
    debug_assert!(scratch.re.len() == fft.points() && scratch.im.len() == fft.points());
    if fft.points() < MIN_BLOCKED {
        return small(direction, fft, x);
    }
    match direction {
        Direction::Forward => {
            upper_levels(direction, fft, x);
            to_columns(&x.re, &mut scratch.re);
            to_columns(&x.im, &mut scratch.im);
            std::mem::swap(x, scratch);
            last_three_levels(direction, fft, x);
        }
        Direction::Inverse => {
            last_three_levels(direction, fft, x);
            from_columns(&x.re, &mut scratch.re);
            from_columns(&x.im, &mut scratch.im);
            std::mem::swap(x, scratch);
            upper_levels(direction, fft, x);
        }
    }
}

/// Forward: (a, b) -> (a + wb, a - wb). Inverse: (a, b) -> (a + b, (a - b) conj(w)), twice the undoing.
#[inline(always)]
fn butterfly(
    direction: Direction,
    a: (&mut Lanes, &mut Lanes),
    b: (&mut Lanes, &mut Lanes),
    w: (&Lanes, &Lanes),
) {
    let (ar, ai, br, bi) = (*a.0, *a.1, *b.0, *b.1);
    for k in 0..COLUMNS {
        let (wr, wi) = (w.0[k], w.1[k]);
        match direction {
            Direction::Forward => {
                let tr = br[k] * wr - bi[k] * wi;
                let ti = br[k] * wi + bi[k] * wr;
                a.0[k] = ar[k] + tr;
                a.1[k] = ai[k] + ti;
                b.0[k] = ar[k] - tr;
                b.1[k] = ai[k] - ti;
            }
            Direction::Inverse => {
                let (dr, di) = (ar[k] - br[k], ai[k] - bi[k]);
                a.0[k] = ar[k] + br[k];
                a.1[k] = ai[k] + bi[k];
                b.0[k] = dr * wr + di * wi;
                b.1[k] = di * wr - dr * wi;
            }
        }
    }
}

/// Levels of stride 8 and more, in natural layout.
#[inline(always)]
fn upper_levels(direction: Direction, fft: &SlotFft, x: &mut Split) {
    let (re, _) = x.re.as_chunks_mut::<COLUMNS>();
    let (im, _) = x.im.as_chunks_mut::<COLUMNS>();
    let blocks = re.len();
    let levels = blocks.trailing_zeros();
    for level in 0..levels {
        let nodes = match direction {
            Direction::Forward => 1usize << level,
            Direction::Inverse => blocks >> (level + 1),
        };
        let stride = blocks / (2 * nodes);
        let pairs = re
            .chunks_exact_mut(2 * stride)
            .zip(im.chunks_exact_mut(2 * stride));
        for (i, (re, im)) in pairs.enumerate() {
            let w = (
                &[fft.root().re[nodes + i]; COLUMNS],
                &[fft.root().im[nodes + i]; COLUMNS],
            );
            column_pair(
                direction,
                re.split_at_mut(stride),
                im.split_at_mut(stride),
                |_| w,
            );
        }
    }
}

/// Butterflies between two equally long rows, the twiddle of step i given by `w`.
#[inline(always)]
fn column_pair<'w>(
    direction: Direction,
    re: (&mut [Lanes], &mut [Lanes]),
    im: (&mut [Lanes], &mut [Lanes]),
    w: impl Fn(usize) -> (&'w Lanes, &'w Lanes),
) {
    let a = re.0.iter_mut().zip(im.0);
    let b = re.1.iter_mut().zip(im.1);
    for (i, (a, b)) in a.zip(b).enumerate() {
        butterfly(direction, a, b, w(i));
    }
}

/// Levels of stride 4, 2 and 1 on eight columns.
#[inline(always)]
fn last_three_levels(direction: Direction, fft: &SlotFft, x: &mut Split) {
    let (re, _) = x.re.as_chunks_mut::<COLUMNS>();
    let (im, _) = x.im.as_chunks_mut::<COLUMNS>();
    let (root_re, _) = fft.root().re.as_chunks::<COLUMNS>();
    let (root_im, _) = fft.root().im.as_chunks::<COLUMNS>();
    // Chunks of eight per column; the twiddles of a level start at its number of nodes.
    let column = re.len() / COLUMNS;
    for level in 0..3 {
        let stride = match direction {
            Direction::Forward => 4usize >> level,
            Direction::Inverse => 1usize << level,
        };
        let nodes_per_block = COLUMNS / (2 * stride);
        let first = nodes_per_block * column;
        let span = 2 * stride * column;
        for (h, (re, im)) in re
            .chunks_exact_mut(span)
            .zip(im.chunks_exact_mut(span))
            .enumerate()
        {
            let start = first + h * column;
            let (wr, wi) = (
                &root_re[start..start + column],
                &root_im[start..start + column],
            );
            let (re_a, re_b) = re.split_at_mut(span / 2);
            let (im_a, im_b) = im.split_at_mut(span / 2);
            let rows = re_a
                .chunks_exact_mut(column)
                .zip(re_b.chunks_exact_mut(column))
                .zip(
                    im_a.chunks_exact_mut(column)
                        .zip(im_b.chunks_exact_mut(column)),
                );
            for (re, im) in rows {
                column_pair(direction, re, im, |i| (&wr[i], &wi[i]));
            }
        }
    }
}

/// `out[c·B + i] = x[8i + c]`.
#[inline(always)]
fn to_columns(x: &[f64], out: &mut [f64]) {
    let blocks = x.len() / COLUMNS;
    let (tiles, _) = x.as_chunks::<{ COLUMNS * COLUMNS }>();
    for (t, tile) in tiles.iter().enumerate() {
        let turned = transpose(tile);
        for (c, lanes) in turned.as_chunks::<COLUMNS>().0.iter().enumerate() {
            let at = c * blocks + t * COLUMNS;
            out[at..at + COLUMNS].copy_from_slice(lanes);
        }
    }
}

/// `out[8i + c] = x[c·B + i]`.
#[inline(always)]
fn from_columns(x: &[f64], out: &mut [f64]) {
    let blocks = x.len() / COLUMNS;
    let (tiles, _) = out.as_chunks_mut::<{ COLUMNS * COLUMNS }>();
    for (t, tile) in tiles.iter_mut().enumerate() {
        let mut turned = [0.0; COLUMNS * COLUMNS];
        for (c, lanes) in turned.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
            let at = c * blocks + t * COLUMNS;
            lanes.copy_from_slice(&x[at..at + COLUMNS]);
        }
        *tile = transpose(&turned);
    }
}

#[inline(always)]
fn transpose(tile: &[f64; COLUMNS * COLUMNS]) -> [f64; COLUMNS * COLUMNS] {
    std::array::from_fn(|k| tile[(k % COLUMNS) * COLUMNS + k / COLUMNS])
}

/// Fewer than 64 points: the same butterflies one by one.
#[inline(always)]
fn small(direction: Direction, fft: &SlotFft, x: &mut Split) {
    let points = fft.points();
    for level in 0..points.trailing_zeros() {
        let nodes = match direction {
            Direction::Forward => 1usize << level,
            Direction::Inverse => points >> (level + 1),
        };
        let stride = points / (2 * nodes);
        for i in 0..nodes {
            let (wr, wi) = (fft.root().re[nodes + i], fft.root().im[nodes + i]);
            for j in 2 * i * stride..(2 * i + 1) * stride {
                let (ar, ai, br, bi) = (x.re[j], x.im[j], x.re[j + stride], x.im[j + stride]);
                let (tr, ti) = match direction {
                    Direction::Forward => (br * wr - bi * wi, br * wi + bi * wr),
                    Direction::Inverse => (br, bi),
                };
                (x.re[j], x.im[j]) = (ar + tr, ai + ti);
                let (dr, di) = (ar - tr, ai - ti);
                (x.re[j + stride], x.im[j + stride]) = match direction {
                    Direction::Forward => (dr, di),
                    Direction::Inverse => (dr * wr + di * wi, di * wr - dr * wi),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_gives_the_same_bits() {
        for points in [64, 256, 4096] {
            let fft = SlotFft::new(points);
            let input = Split {
                re: (0..points).map(|k| (k as f64).sin() * 1e6).collect(),
                im: (0..points).map(|k| (k as f64).cos() * 1e-6).collect(),
            };
            for direction in [Direction::Forward, Direction::Inverse] {
                let mut scratch = Split::zero(points);
                let (mut a, mut b) = (input.clone(), input.clone());
                run(direction, &fft, &mut a, &mut scratch);
                transform(direction, &fft, &mut b, &mut scratch);
                assert_eq!(a.re, b.re);
                assert_eq!(a.im, b.im);
            }
        }
    }

    #[test]
    fn columns_there_and_back() {
        let x: Vec<f64> = (0..256).map(f64::from).collect();
        let (mut turned, mut back) = (vec![0.0; 256], vec![0.0; 256]);
        to_columns(&x, &mut turned);
        assert_eq!(turned[3 * 32 + 5], x[8 * 5 + 3]);
        from_columns(&turned, &mut back);
        assert_eq!(back, x);
    }
}
