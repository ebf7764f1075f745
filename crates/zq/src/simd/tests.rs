// SPDX-License-Identifier: Apache-2.0
//! Every vector kernel gives the residues of the scalar operation, on random and extreme operands.

use super::Level;
use super::kernels::{Scalar, dot, run, sum_fits};
use super::ops::Op;
use crate::Modulus;

const OPS: [Op; 14] = [
    Op::Add,
    Op::Sub,
    Op::SubFrom,
    Op::Neg,
    Op::AddScalar,
    Op::Reduce,
    Op::Mul,
    Op::MulInto,
    Op::MulAdd,
    Op::MulFactor,
    Op::MulFactorInto,
    Op::MulAddFactor,
    Op::MulAddWords,
    Op::SubMulFactor,
];

fn scalar(m: &Modulus<u64>, op: Op, s: u64, o: u64, x: u64, y: u64) -> u64 {
    match op {
        Op::Add => m.add(o, x),
        Op::Sub => m.sub(o, x),
        Op::SubFrom => m.sub(x, o),
        Op::Neg => m.neg(o),
        Op::AddScalar => m.add(o, s),
        Op::Reduce => m.reduce(x),
        Op::Mul => m.mul(o, x),
        Op::MulInto => m.mul(x, y),
        Op::MulAdd => m.mul_add(o, x, y),
        Op::MulFactor => m.mul(o, s),
        Op::MulFactorInto => m.mul(x, s),
        Op::MulAddFactor | Op::MulAddWords => m.mul_add(o, x, s),
        Op::SubMulFactor => m.mul(m.sub(o, x), s),
    }
}

/// All triples of extreme and random residues, in an order that fills vectors.
fn operands(q: u64, seed: u64) -> [Vec<u64>; 3] {
    let mut x = seed | 1;
    let mut random = || {
        x = x
            .wrapping_mul(0xD134_2543_DE82_EF95)
            .wrapping_add(0x9E37_79B9);
        (x ^ (x >> 29)) % q
    };
    let values = [0, 1, 2, q / 2, q - 2, q - 1, random(), random()];
    let mut out = [vec![], vec![], vec![]];
    for i in 0..512 {
        out[0].push(values[i % 8]);
        out[1].push(values[i / 8 % 8]);
        out[2].push(values[i / 64]);
    }
    out
}

fn moduli() -> impl Iterator<Item = u64> {
    (2..=62).flat_map(|b: u32| {
        [
            (1 << (b - 1)) | 1,
            (1 << b) - 1,
            (1 << b) - (1 << (b / 2)) + 1,
        ]
    })
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|l| l.is_supported())
}

#[test]
fn kernels_equal_the_scalar_operations_at_every_level() {
    for q in moduli() {
        let m = Modulus::new(q).unwrap();
        let [o, x, y] = operands(q, q);
        for (level, op) in levels().flat_map(|l| OPS.map(|op| (l, op))) {
            let shoup = m.shoup(x[y.len() - 1]);
            let s = Scalar {
                w: shoup.w,
                quotient: shoup.quotient,
            };
            let mut out = o.clone();
            let done = run(level, op, q, s, &mut out, Some(&x), Some(&y));
            let expected = if done == 0 { 0 } else { out.len() };
            assert_eq!(done, expected, "whole vectors are all done");
            for i in 0..done {
                let want = scalar(&m, op, s.w, o[i], x[i], y[i]);
                assert_eq!(
                    out[i],
                    want,
                    "{} {op:?} mod {q}: {} {} {}",
                    level.name(),
                    o[i],
                    x[i],
                    y[i]
                );
            }
        }
    }
}

#[test]
fn reduction_takes_any_word() {
    for q in moduli() {
        let m = Modulus::new(q).unwrap();
        let x: Vec<u64> = (0..64)
            .map(|i| {
                u64::MAX
                    .rotate_left(i)
                    .wrapping_sub(q.wrapping_mul(i.into()))
            })
            .collect();
        for level in levels() {
            let mut out = vec![0; 64];
            let done = run(
                level,
                Op::Reduce,
                q,
                Scalar { w: 0, quotient: 0 },
                &mut out,
                Some(&x),
                None,
            );
            assert!(
                (0..done).all(|i| out[i] == m.reduce(x[i])),
                "{} mod {q}",
                level.name()
            );
            let s = m.shoup(q - 1);
            let s = Scalar {
                w: s.w,
                quotient: s.quotient,
            };
            let mut out = vec![1; 64];
            let done = run(level, Op::MulAddWords, q, s, &mut out, Some(&x), None);
            let want = |i: usize| m.sub(1, m.reduce(x[i]));
            assert!(
                (0..done).all(|i| out[i] == want(i)),
                "{} mod {q}",
                level.name()
            );
        }
    }
}

#[test]
fn sums_of_products_are_exact_up_to_the_longest_that_fits() {
    for bits in [3, 30, 46, 49, 50] {
        let q = (1u64 << bits) - 1;
        let m = Modulus::new(q).unwrap();
        let longest = (1..=64)
            .take_while(|&t| sum_fits(t, 2 * bits))
            .last()
            .unwrap();
        assert!(longest >= 3, "{bits} bits");
        let top = vec![q - 1; 64];
        let [_, x, _] = operands(q, 5);
        for terms in [1, 2, longest] {
            for a in [&top[..], &x[..64]] {
                let (left, right) = (vec![a; terms], vec![&top[..]; terms]);
                let mut out = vec![0; 64];
                let done = dot(super::level(), q, &mut out, &left, &right);
                let count = m.reduce(terms as u64);
                let want = |i: usize| m.mul(m.mul(a[i], q - 1), count);
                assert!(
                    (0..done).all(|i| out[i] == want(i)),
                    "{terms} terms mod {q}"
                );
                if !matches!(super::level(), Level::Portable | Level::Avx512) {
                    assert_eq!(done, 64);
                }
            }
        }
    }
    assert!(sum_fits(15, 100) && !sum_fits(16, 100));
}
