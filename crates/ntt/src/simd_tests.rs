// SPDX-License-Identifier: Apache-2.0
//! Every vector path gives the residues of the portable one.

use zq::Modulus;
use zq::primes::{Direction, ntt_primes};
use zq::simd::Level;

use crate::tests::residues;
use crate::{Form, NttPlan, Shift};

/// Widths at both ends of every path.
const WIDTHS: [u32; 13] = [20, 30, 36, 45, 46, 47, 48, 49, 50, 51, 59, 60, 62];

/// Inputs that drive values to their bounds: all `q - 1`, alternating, one impulse, then random ones.
fn inputs(m: &Modulus<u64>, n: usize) -> Vec<Vec<u64>> {
    let top = m.value() - 1;
    let mut impulse = vec![0; n];
    impulse[n - 1] = top;
    let alternating = (0..n).map(|i| if i % 2 == 0 { top } else { 0 }).collect();
    let halves = (0..n).map(|i| if i < n / 2 { top } else { 0 }).collect();
    vec![
        vec![top; n],
        vec![0; n],
        impulse,
        alternating,
        halves,
        residues(m, n, 1),
        residues(m, n, 2),
    ]
}

/// The outer stages a few columns at a time against all at once.
fn check_columns(plan: &NttPlan<u64>, input: &[u64], what: &str) {
    let (mut want, mut got) = (vec![0; plan.outer_len()], vec![0; plan.outer_len()]);
    plan.forward_outer(input, None, &mut want);
    let run = plan.n() / plan.blocks();
    for columns in [run.min(128 / plan.blocks()), run.min(256 / plan.blocks())] {
        got.fill(7);
        for start in (0..run).step_by(columns) {
            let runs = input.chunks_exact(run);
            let from: Vec<u64> = runs
                .flat_map(|r| &r[start..start + columns])
                .copied()
                .collect();
            plan.forward_outer_columns(&from, start, &mut got);
        }
        let block = |x: &[u64]| -> Vec<u64> {
            let blocks = x.chunks_exact(plan.block_stride());
            blocks.flat_map(|block| &block[..run]).copied().collect()
        };
        assert!(block(&got) == block(&want), "{columns} columns, {what}");
    }
}

fn check(bits: u32, log_n: u32) {
    let n = 1usize << log_n;
    let Ok(q) = ntt_primes(bits, 2 * n as u64, 1, Direction::Down, &[]) else {
        return;
    };
    let m = Modulus::new(q[0]).unwrap();
    let portable = NttPlan::with_level(m, n, Level::Portable).unwrap();
    let levels = Level::ALL
        .into_iter()
        .filter(|l| l.is_supported() && *l != Level::Portable);
    let vector: Vec<_> = levels
        .map(|l| (l, NttPlan::with_level(m, n, l).unwrap()))
        .collect();
    for (i, input) in inputs(&m, n).iter().enumerate() {
        let (mut forward, mut inverse) = (input.clone(), input.clone());
        portable.forward(&mut forward);
        portable.inverse(&mut inverse);
        for (level, plan) in &vector {
            let what = format!("{} bits, n = 2^{log_n}, {}, input {i}", bits, level.name());
            let mut a = input.clone();
            plan.forward(&mut a);
            assert!(a == forward, "forward, {what}");
            let mut a = input.clone();
            plan.inverse(&mut a);
            assert!(a == inverse, "inverse, {what}");
            check_columns(plan, input, &what);
            a.fill(1);
            plan.inverse_from(input, &mut a);
            assert!(a == inverse, "inverse from elsewhere, {what}");
        }
    }
}

#[test]
fn vector_paths_equal_the_portable_one_up_to_2_pow_9() {
    for bits in WIDTHS {
        (3..=9).for_each(|log_n| check(bits, log_n));
    }
}

#[test]
fn vector_paths_equal_the_portable_one_up_to_2_pow_13() {
    for bits in WIDTHS {
        (10..=13).for_each(|log_n| check(bits, log_n));
    }
}

#[test]
fn vector_paths_equal_the_portable_one_up_to_2_pow_17() {
    for bits in WIDTHS {
        (14..=17).for_each(|log_n| check(bits, log_n));
    }
}

#[test]
fn smallest_primes_of_a_width_work_too() {
    for bits in [14, 46, 47, 49, 50, 51, 60, 61] {
        let q: Vec<u64> = ntt_primes(bits, 512, 1, Direction::Up, &[]).unwrap();
        let m = Modulus::new(q[0]).unwrap();
        let portable = NttPlan::with_level(m, 256, Level::Portable).unwrap();
        let best = NttPlan::new(m, 256).unwrap();
        for input in inputs(&m, 256) {
            let (mut a, mut b) = (input.clone(), input.clone());
            portable.forward(&mut a);
            best.forward(&mut b);
            assert_eq!(a, b);
            portable.inverse(&mut a);
            best.inverse(&mut b);
            assert_eq!((&a, &b), (&input, &input));
        }
    }
}

/// Outer stages and blocks, of residues lifted from a prime next to this one, against lifting and transforming.
fn check_blocks(bits: u32, log_n: u32) {
    let n = 1usize << log_n;
    let primes = ntt_primes::<u64>(bits, 2 * n as u64, 2, Direction::Down, &[]);
    let Ok([p, q]) = primes.as_deref().map(|p| [p[0], p[1]]) else {
        return;
    };
    let (from, m) = (Modulus::new(p).unwrap(), Modulus::new(q).unwrap());
    let lift = Shift {
        threshold: p / 2,
        shift: q.wrapping_sub(p),
    };
    for level in Level::ALL.into_iter().filter(|l| l.is_supported()) {
        let plan = NttPlan::with_level(m, n, level).unwrap();
        let (len, bound) = (n / plan.blocks(), u128::from(plan.lazy_bound()));
        for (i, input) in inputs(&from, n).iter().enumerate() {
            let what = format!("{bits} bits, n = 2^{log_n}, {}, input {i}", level.name());
            let lifted = |x: &u64| if *x < p / 2 { *x } else { x + q - p };
            let mut want: Vec<u64> = input.iter().map(lifted).collect();
            plan.forward(&mut want);
            let mut whole = vec![0; n];
            plan.forward_from(input, Some(lift), &mut whole);
            assert!(whole == want, "whole, {what}");
            let mut outer = vec![0; plan.outer_len()];
            plan.forward_outer(input, Some(lift), &mut outer);
            // Parts in any order.
            for block in (0..plan.blocks()).rev() {
                let range = block * len..(block + 1) * len;
                let left = &outer[block * plan.block_stride()..][..len];
                let (mut reduced, mut lazy) = (left.to_vec(), left.to_vec());
                plan.forward_block(block, &mut reduced, Form::Reduced, [&[]; 3]);
                assert!(reduced == want[range.clone()], "reduced, {what}");
                plan.forward_block(block, &mut lazy, Form::Lazy, [input, &want, input]);
                for (x, want) in lazy.iter().zip(&want[range]) {
                    let x = if bound > 1 { x & ((1 << 52) - 1) } else { *x };
                    assert!(u128::from(x) < bound * u128::from(q), "bound, {what}");
                    assert_eq!(x % q, *want, "lazy, {what}");
                }
            }
        }
    }
}

#[test]
fn transforms_in_blocks_equal_whole_ones() {
    for bits in WIDTHS {
        (3..=12).for_each(|log_n| check_blocks(bits, log_n));
    }
}

#[test]
#[should_panic(expected = "slice length is not a block's")]
fn a_part_of_the_wrong_length_is_refused() {
    let q = ntt_primes::<u64>(45, 2048, 1, Direction::Down, &[]).unwrap()[0];
    let plan = NttPlan::new(Modulus::new(q).unwrap(), 1024).unwrap();
    plan.forward_block(0, &mut [0; 3], Form::Reduced, [&[]; 3]);
}
