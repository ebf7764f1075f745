// SPDX-License-Identifier: Apache-2.0
//! Random programs of 20 operations against clear evaluation, and the static estimate against both.

use super::{Bench, Shape, reals, rotated, zip};
use crate::noise::{Estimate, Estimator};
use crate::{Basis, Ciphertext, Polynomial};
use num_complex::Complex64;
use rlwe::Seed;

/// A value known three ways.
#[derive(Clone)]
struct Tracked {
    encrypted: Ciphertext,
    clear: Vec<Complex64>,
    estimate: Estimate,
}

impl Tracked {
    /// The estimate with the message bound that clear evaluation shows.
    fn tight(mut self) -> Self {
        self.estimate.message = self.clear.iter().map(|z| z.norm()).fold(0.0, f64::max);
        self
    }
}

struct Machine<'b> {
    b: &'b Bench,
    e: &'b Estimator,
}

impl Machine<'_> {
    fn fresh(&self, salt: u64) -> Tracked {
        let clear = reals(self.b.params.slots(), salt);
        let plain = self
            .e
            .encode(1.0, self.b.params.max_level(), self.b.params.scale());
        Tracked {
            encrypted: self.b.encrypt(&clear, salt),
            clear,
            estimate: self.e.encrypt_public(&plain),
        }
        .tight()
    }

    /// Product, relinearised, rescaled and brought to the default scale by the constant's choice.
    fn multiply(&self, x: &Tracked, y: &Tracked) -> Tracked {
        let ev = &self.b.evaluator;
        let wide = ev
            .relinearize(
                &ev.multiply(&x.encrypted, &y.encrypted).unwrap(),
                &self.b.relin,
            )
            .unwrap();
        Tracked {
            encrypted: ev.rescale(&wide).unwrap(),
            clear: zip(&x.clear, &y.clear, |a, b| a * b),
            estimate: self
                .e
                .rescale(
                    &self
                        .e
                        .relinearize(&self.e.multiply(&x.estimate, &y.estimate)),
                )
                .unwrap(),
        }
    }

    fn align(&self, x: &Tracked, y: &Tracked) -> (Tracked, Tracked) {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < crate::SCALE_TOLERANCE;
        if close(x.encrypted.scale(), y.encrypted.scale()) || x.encrypted.level() == 0 {
            return (x.clone(), y.clone());
        }
        let target = y.encrypted.scale();
        let prime = self.b.params.prime(x.encrypted.level()) as f64;
        let wide = self.e.multiply_constant(&x.estimate, 1.0, target * prime);
        let matched = Tracked {
            encrypted: self
                .b
                .evaluator
                .set_scale_by_constant(&x.encrypted, target)
                .unwrap(),
            clear: x.clear.clone(),
            estimate: self.e.rescale(&wide).unwrap(),
        };
        (matched, y.clone())
    }

    fn sum(&self, x: &Tracked, y: &Tracked, minus: bool) -> Option<Tracked> {
        let (x, y) = self.align(x, y);
        let ev = &self.b.evaluator;
        let sign = if minus { -1.0 } else { 1.0 };
        let result = if minus {
            ev.sub(&x.encrypted, &y.encrypted)
        } else {
            ev.add(&x.encrypted, &y.encrypted)
        };
        Some(Tracked {
            encrypted: result.ok()?,
            clear: zip(&x.clear, &y.clear, |a, b| a + b * sign),
            estimate: self.e.add(&x.estimate, &y.estimate),
        })
    }

    fn rotate(&self, x: &Tracked, steps: i64) -> Tracked {
        Tracked {
            encrypted: self
                .b
                .evaluator
                .rotate(&x.encrypted, steps, &self.b.galois)
                .unwrap(),
            clear: rotated(&x.clear, steps),
            estimate: self.e.rotate(&x.estimate),
        }
    }

    fn plain(&self, x: &Tracked, salt: u64) -> Tracked {
        let (level, y) = (x.encrypted.level(), reals(x.clear.len(), salt));
        let scale = self.b.params.prime(level) as f64;
        let plaintext = self.b.encoder.encode(&y, level, scale).unwrap();
        let wide = self
            .b
            .evaluator
            .multiply_plain(&x.encrypted, &plaintext)
            .unwrap();
        let estimate = self
            .e
            .multiply(&x.estimate, &self.e.encode(1.0, level, scale));
        Tracked {
            encrypted: self.b.evaluator.rescale(&wide).unwrap(),
            clear: zip(&x.clear, &y, |a, b| a * b),
            estimate: self.e.rescale(&estimate).unwrap(),
        }
    }

    fn affine(&self, x: &Tracked, c: f64) -> Tracked {
        let ev = &self.b.evaluator;
        let wide = ev.multiply_constant(&x.encrypted, c.into()).unwrap();
        let scale = wide.scale();
        let estimate = self
            .e
            .rescale(&self.e.multiply_constant(&x.estimate, c, scale))
            .unwrap();
        Tracked {
            encrypted: ev
                .add_constant(&ev.rescale(&wide).unwrap(), (-c).into())
                .unwrap(),
            clear: x.clear.iter().map(|z| z * c - c).collect(),
            estimate: self.e.add_constant(&estimate, -c),
        }
    }

    /// One random operation on random members of the pool.
    fn step(
        &self,
        dice: &mut impl FnMut(usize) -> usize,
        pool: &[Tracked],
        salt: u64,
    ) -> Option<Tracked> {
        let (x, y) = (&pool[dice(pool.len())], &pool[dice(pool.len())]);
        let low = x.encrypted.level().min(y.encrypted.level());
        let out = match dice(8) {
            0 if low > 0 => self.multiply(x, y),
            1 => self.sum(x, y, false)?,
            2 => self.sum(x, y, true)?,
            3 => self.rotate(x, [1, 2, -3][dice(3)]),
            4 if x.encrypted.level() > 0 => self.plain(x, salt),
            5 if x.encrypted.level() > 0 => self.affine(x, 0.625),
            6 => Tracked {
                encrypted: self.b.evaluator.negate(&x.encrypted).unwrap(),
                clear: x.clear.iter().map(|z| -z).collect(),
                estimate: x.estimate,
            },
            7 => Tracked {
                encrypted: self
                    .b
                    .evaluator
                    .conjugate(&x.encrypted, &self.b.galois)
                    .unwrap(),
                clear: x.clear.clone(),
                estimate: self.e.rotate(&x.estimate),
            },
            _ => return None,
        };
        Some(out.tight())
    }
}

fn run(shape: Shape, seed: u64) -> f64 {
    let b = Bench::new(shape);
    let machine = Machine {
        b: &b,
        e: b.params.estimator(),
    };
    let mut stream = Seed::from_text("programs").stream("dice", seed);
    let mut dice = |sides: usize| {
        let mut byte = [0u8; 2];
        stream.fill(&mut byte);
        usize::from(u16::from_le_bytes(byte)) % sides
    };
    let mut pool: Vec<Tracked> = (0..3).map(|i| machine.fresh(100 * seed + i)).collect();
    let (mut done, mut widest) = (0, 0f64);
    while done < 20 {
        let Some(next) = machine.step(&mut dice, &pool, 1000 + seed * 50 + done) else {
            continue;
        };
        if next.estimate.message > 64.0 || next.estimate.message < 1e-6 {
            continue;
        }
        done += 1;
        assert_eq!(next.encrypted.level(), next.estimate.level);
        assert!((next.encrypted.scale() / next.estimate.scale - 1.0).abs() < 1e-9);
        let (measured, bound) = (
            b.error(&next.encrypted, &next.clear),
            machine.e.slot_error(&next.estimate),
        );
        assert!(
            measured < bound,
            "operation {done}: error {measured:e} above the bound {bound:e}"
        );
        widest = widest.max((bound / measured).log2());
        pool.push(next);
    }
    widest
}

#[test]
fn random_programs_of_twenty_operations_stay_within_their_estimates() {
    let shapes = [
        Shape {
            log_n: 6,
            levels: 4,
            scale_bits: 40,
            special: 1,
            dnum: 0,
        },
        Shape {
            log_n: 10,
            levels: 5,
            scale_bits: 40,
            special: 2,
            dnum: 3,
        },
    ];
    for shape in shapes {
        for seed in 0..12 {
            let widest = run(shape, seed);
            assert!(
                widest < 12.0,
                "n=2^{}, seed {seed}: estimate {widest:.1} bits above",
                shape.log_n
            );
        }
    }
}

#[test]
fn fresh_and_single_operations_are_estimated_within_six_bits() {
    for log_n in [5, 8, 11] {
        let b = Bench::new(Shape {
            log_n,
            levels: 3,
            scale_bits: 40,
            special: 1,
            dnum: 0,
        });
        let machine = Machine {
            b: &b,
            e: b.params.estimator(),
        };
        let (x, y) = (machine.fresh(1), machine.fresh(2));
        let all = [
            ("fresh", x.clone()),
            ("multiply", machine.multiply(&x, &y)),
            ("rotate", machine.rotate(&x, 1)),
            ("plain", machine.plain(&x, 3)),
            ("affine", machine.affine(&x, 0.5)),
        ];
        for (name, t) in all {
            let (measured, bound) = (
                b.error(&t.encrypted, &t.clear),
                machine.e.slot_error(&t.estimate),
            );
            let gap = (bound / measured).log2();
            assert!(
                (0.0..6.0).contains(&gap),
                "n=2^{log_n} {name}: {gap:.2} bits"
            );
        }
    }
}

#[test]
fn polynomial_estimates_hold() {
    let b = Bench::new(Shape {
        log_n: 8,
        levels: 5,
        scale_bits: 45,
        special: 1,
        dnum: 0,
    });
    let machine = Machine {
        b: &b,
        e: b.params.estimator(),
    };
    let x = machine.fresh(4);
    for (basis, degree) in [
        (Basis::Monomial, 7),
        (Basis::Chebyshev, 7),
        (Basis::Chebyshev, 15),
        (Basis::Chebyshev, 31),
    ] {
        let c: Vec<f64> = (0..=degree).map(|k| 1.0 / f64::from(k + 1)).collect();
        let p = Polynomial::new(basis, &c).unwrap();
        let out = b.evaluator.polynomial(&x.encrypted, &p, &b.relin).unwrap();
        let estimate = machine
            .e
            .polynomial(&x.estimate, &p, x.encrypted.scale())
            .unwrap();
        assert_eq!(estimate.level, out.level());
        let want: Vec<Complex64> = x.clear.iter().map(|z| p.eval(z.re).into()).collect();
        let (measured, bound) = (b.error(&out, &want), machine.e.slot_error(&estimate));
        let gap = (bound / measured).log2();
        assert!(
            (0.0..12.0).contains(&gap),
            "{basis:?} degree {degree}: {gap:.2} bits"
        );
    }
}
