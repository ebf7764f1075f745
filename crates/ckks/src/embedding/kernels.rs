// SPDX-License-Identifier: Apache-2.0
//! The loops of the slot transform: one source, compiled for three instruction sets.
//!
//! Everything works on arrays of eight doubles, which the compiler turns into one AVX-512 register, two AVX2 or four
//! SSE2 ones. No multiplication is fused with an addition (the language forbids the contraction), so every path gives
//! the same bits.

use super::tables::{COLUMNS, MIN_BLOCKED, SlotFft, Split};

type Lanes = [f64; COLUMNS];

/// Direction of the transform.
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
                match zq::simd::level() {
                    // SAFETY: a level is in use only on processors that have its features.
                    Level::IfmaAmd | Level::Ifma | Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: a level is in use only on processors that have its features.
                    Level::Avx2 => return unsafe { avx2($($arg),*) },
                    Level::Portable | Level::Neon => {}
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
    match direction {
        Direction::Forward => transform_in::<true>(fft, x, scratch),
        Direction::Inverse => transform_in::<false>(fft, x, scratch),
    }
}

/// The direction as a constant, so that no loop tests it.
#[inline(always)]
fn transform_in<const FORWARD: bool>(fft: &SlotFft, x: &mut Split, scratch: &mut Split) {
    debug_assert!(x.re.len() == fft.points() && x.im.len() == fft.points());
    debug_assert!(scratch.re.len() == fft.points() && scratch.im.len() == fft.points());
    if fft.points() < MIN_BLOCKED {
        return small::<FORWARD>(fft, x);
    }
    if FORWARD {
        upper_levels::<FORWARD>(fft, x);
        to_columns(&x.re, &mut scratch.re);
        to_columns(&x.im, &mut scratch.im);
        std::mem::swap(x, scratch);
        last_three_levels::<FORWARD>(fft, x);
    } else {
        last_three_levels::<FORWARD>(fft, x);
        from_columns(&x.re, &mut scratch.re);
        from_columns(&x.im, &mut scratch.im);
        std::mem::swap(x, scratch);
        upper_levels::<FORWARD>(fft, x);
    }
}

/// Eight complex numbers, parts apart.
type Complexes = (Lanes, Lanes);

/// Forward: (a, b) -> (a + wb, a - wb). Inverse: (a, b) -> (a + b, (a - b) conj(w)), twice the undoing.
#[inline(always)]
fn butterfly<const FORWARD: bool>(a: &mut Complexes, b: &mut Complexes, w: &Complexes) {
    let ((ar, ai), (br, bi)) = (*a, *b);
    for k in 0..COLUMNS {
        let (wr, wi) = (w.0[k], w.1[k]);
        if FORWARD {
            let tr = br[k] * wr - bi[k] * wi;
            let ti = br[k] * wi + bi[k] * wr;
            (a.0[k], a.1[k]) = (ar[k] + tr, ai[k] + ti);
            (b.0[k], b.1[k]) = (ar[k] - tr, ai[k] - ti);
        } else {
            let (dr, di) = (ar[k] - br[k], ai[k] - bi[k]);
            (a.0[k], a.1[k]) = (ar[k] + br[k], ai[k] + bi[k]);
            (b.0[k], b.1[k]) = (dr * wr + di * wi, di * wr - dr * wi);
        }
    }
}

/// Levels of stride 8 and more, in natural layout: two at a time, so that each pass over memory does twice the work,
/// and the top level alone if their number is odd.
#[inline(always)]
fn upper_levels<const FORWARD: bool>(fft: &SlotFft, x: &mut Split) {
    let (re, _) = x.re.as_chunks_mut::<COLUMNS>();
    let (im, _) = x.im.as_chunks_mut::<COLUMNS>();
    let levels = re.len().trailing_zeros();
    let odd = levels % 2;
    if odd == 1 && FORWARD {
        top_level::<FORWARD>(fft, re, im);
    }
    for pair in 0..levels / 2 {
        let pair = if FORWARD { pair } else { levels / 2 - 1 - pair };
        two_levels::<FORWARD>(fft, re, im, 1 << (odd + 2 * pair));
    }
    if odd == 1 && !FORWARD {
        top_level::<FORWARD>(fft, re, im);
    }
}

/// The root with index `i` in every lane.
#[inline(always)]
fn splat_root(fft: &SlotFft, i: usize) -> Complexes {
    ([fft.root().re[i]; COLUMNS], [fft.root().im[i]; COLUMNS])
}

/// The level of one node.
#[inline(always)]
fn top_level<const FORWARD: bool>(fft: &SlotFft, re: &mut [Lanes], im: &mut [Lanes]) {
    let half = re.len() / 2;
    let w = splat_root(fft, 1);
    let (re_a, re_b) = re.split_at_mut(half);
    let (im_a, im_b) = im.split_at_mut(half);
    for k in 0..half {
        let (mut a, mut b) = ((re_a[k], im_a[k]), (re_b[k], im_b[k]));
        butterfly::<FORWARD>(&mut a, &mut b, &w);
        (re_a[k], im_a[k], re_b[k], im_b[k]) = (a.0, a.1, b.0, b.1);
    }
}

/// The levels of `nodes` and of 2·`nodes` nodes.
#[inline(always)]
fn two_levels<const FORWARD: bool>(
    fft: &SlotFft,
    re: &mut [Lanes],
    im: &mut [Lanes],
    nodes: usize,
) {
    let quarter = re.len() / (4 * nodes);
    let blocks = re
        .chunks_exact_mut(4 * quarter)
        .zip(im.chunks_exact_mut(4 * quarter));
    for (i, (re, im)) in blocks.enumerate() {
        let upper = splat_root(fft, nodes + i);
        let (left, right) = (
            splat_root(fft, 2 * (nodes + i)),
            splat_root(fft, 2 * (nodes + i) + 1),
        );
        let (re_ab, re_cd) = re.split_at_mut(2 * quarter);
        let (im_ab, im_cd) = im.split_at_mut(2 * quarter);
        let ((re_a, re_b), (re_c, re_d)) =
            (re_ab.split_at_mut(quarter), re_cd.split_at_mut(quarter));
        let ((im_a, im_b), (im_c, im_d)) =
            (im_ab.split_at_mut(quarter), im_cd.split_at_mut(quarter));
        for k in 0..quarter {
            let (mut a, mut b) = ((re_a[k], im_a[k]), (re_b[k], im_b[k]));
            let (mut c, mut d) = ((re_c[k], im_c[k]), (re_d[k], im_d[k]));
            if FORWARD {
                butterfly::<FORWARD>(&mut a, &mut c, &upper);
                butterfly::<FORWARD>(&mut b, &mut d, &upper);
                butterfly::<FORWARD>(&mut a, &mut b, &left);
                butterfly::<FORWARD>(&mut c, &mut d, &right);
            } else {
                butterfly::<FORWARD>(&mut a, &mut b, &left);
                butterfly::<FORWARD>(&mut c, &mut d, &right);
                butterfly::<FORWARD>(&mut a, &mut c, &upper);
                butterfly::<FORWARD>(&mut b, &mut d, &upper);
            }
            (re_a[k], im_a[k], re_b[k], im_b[k]) = (a.0, a.1, b.0, b.1);
            (re_c[k], im_c[k], re_d[k], im_d[k]) = (c.0, c.1, d.0, d.1);
        }
    }
}

/// Levels of stride 4, 2 and 1 on eight columns, in one pass.
#[inline(always)]
fn last_three_levels<const FORWARD: bool>(fft: &SlotFft, x: &mut Split) {
    let (re, _) = x.re.as_chunks_mut::<COLUMNS>();
    let (im, _) = x.im.as_chunks_mut::<COLUMNS>();
    let (root_re, _) = fft.root().re.as_chunks::<COLUMNS>();
    let (root_im, _) = fft.root().im.as_chunks::<COLUMNS>();
    // Chunks of eight per column; the twiddles of a level start at its number of nodes.
    let column = re.len() / COLUMNS;
    for i in 0..column {
        let mut x = [([0.0; COLUMNS], [0.0; COLUMNS]); COLUMNS];
        for (c, x) in x.iter_mut().enumerate() {
            *x = (re[c * column + i], im[c * column + i]);
        }
        let roots = |at: usize| (root_re[at * column + i], root_im[at * column + i]);
        if FORWARD {
            within_block::<4, FORWARD>(&mut x, roots);
            within_block::<2, FORWARD>(&mut x, roots);
            within_block::<1, FORWARD>(&mut x, roots);
        } else {
            within_block::<1, FORWARD>(&mut x, roots);
            within_block::<2, FORWARD>(&mut x, roots);
            within_block::<4, FORWARD>(&mut x, roots);
        }
        for (c, x) in x.iter().enumerate() {
            (re[c * column + i], im[c * column + i]) = *x;
        }
    }
}

/// One of the last levels on eight blocks side by side; `root(k)` is node k's, counted from the level's number of
/// nodes.
#[inline(always)]
fn within_block<const STRIDE: usize, const FORWARD: bool>(
    x: &mut [Complexes; COLUMNS],
    root: impl Fn(usize) -> Complexes,
) {
    let nodes = COLUMNS / (2 * STRIDE);
    for h in 0..nodes {
        let w = root(nodes + h);
        for c in 2 * STRIDE * h..2 * STRIDE * h + STRIDE {
            let (mut a, mut b) = (x[c], x[c + STRIDE]);
            butterfly::<FORWARD>(&mut a, &mut b, &w);
            (x[c], x[c + STRIDE]) = (a, b);
        }
    }
}

/// `out[c·B + i] = x[8i + c]`.
#[inline(always)]
fn to_columns(x: &[f64], out: &mut [f64]) {
    let (blocks, _) = x.as_chunks::<COLUMNS>();
    for (c, column) in out.chunks_exact_mut(blocks.len()).enumerate() {
        for (o, block) in column.iter_mut().zip(blocks) {
            *o = block[c];
        }
    }
}

/// `out[8i + c] = x[c·B + i]`.
#[inline(always)]
fn from_columns(x: &[f64], out: &mut [f64]) {
    let (blocks, _) = out.as_chunks_mut::<COLUMNS>();
    let column = blocks.len();
    let rows = x.as_chunks::<COLUMNS>().0;
    // Tiles of eight by eight: whole vectors are read and written.
    for (t, tile) in blocks.as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
        for c in 0..COLUMNS {
            let row = &rows[c * column / COLUMNS + t];
            for (block, value) in tile.iter_mut().zip(row) {
                block[c] = *value;
            }
        }
    }
}

/// Fewer than 64 points: the same butterflies one by one.
#[inline(always)]
fn small<const FORWARD: bool>(fft: &SlotFft, x: &mut Split) {
    let points = fft.points();
    for level in 0..points.trailing_zeros() {
        let nodes = if FORWARD {
            1usize << level
        } else {
            points >> (level + 1)
        };
        let stride = points / (2 * nodes);
        for i in 0..nodes {
            let (wr, wi) = (fft.root().re[nodes + i], fft.root().im[nodes + i]);
            for j in 2 * i * stride..(2 * i + 1) * stride {
                let (ar, ai, br, bi) = (x.re[j], x.im[j], x.re[j + stride], x.im[j + stride]);
                let (tr, ti) = if FORWARD {
                    (br * wr - bi * wi, br * wi + bi * wr)
                } else {
                    (br, bi)
                };
                (x.re[j], x.im[j]) = (ar + tr, ai + ti);
                let (dr, di) = (ar - tr, ai - ti);
                (x.re[j + stride], x.im[j + stride]) = if FORWARD {
                    (dr, di)
                } else {
                    (dr * wr + di * wi, di * wr - dr * wi)
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
