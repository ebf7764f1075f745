// SPDX-License-Identifier: Apache-2.0
//! Errors of messages and plaintexts made to be rounded badly, under every kind of key and chain, against the estimate.

use super::{Bench, Shape, literal, reals, zip};
use crate::noise::{Estimate, Estimator};
use crate::{Ciphertext, CkksParams};
use num_complex::Complex64;
use rlwe::{ErrorDistribution, SecretDistribution, SecurityPolicy};
use std::f64::consts::PI;

/// Slots whose coefficients at `scale` are all just below 1/2 and of the signs that add up at root `k`, where the power
/// of 5 that is slot j is not minded: any k is some slot's or its conjugate's.
fn all_round_to_zero(b: &Bench, scale: f64, k: usize) -> Vec<Complex64> {
    let n = b.params.n();
    let angle = |j: usize| PI * ((j * (2 * k + 1)) % (2 * n)) as f64 / n as f64;
    let signs: Vec<f64> = (0..n).map(|j| 0.499 * angle(j).cos().signum()).collect();
    b.params.embedding().to_slots(&signs, n / 2, scale).unwrap()
}

fn constant(slots: usize, value: f64) -> Vec<Complex64> {
    vec![Complex64::new(value, 0.0); slots]
}

fn one_hot(slots: usize, value: f64) -> Vec<Complex64> {
    let mut z = constant(slots, 0.0);
    z[slots / 3] = Complex64::new(value, 0.0);
    z
}

fn messages(b: &Bench, scale: f64) -> Vec<Vec<Complex64>> {
    let (n, slots) = (b.params.n(), b.params.slots());
    let alternating = (0..slots).map(|j| Complex64::new(if j % 2 == 0 { 1.0 } else { -1.0 }, 0.0));
    let mut all = vec![
        reals(slots, 7),
        constant(slots, 1.0),
        constant(slots, -0.7),
        alternating.collect(),
        one_hot(slots, 1.0),
        // Too small for a coefficient of the encoding to reach 1/2.
        one_hot(slots, 0.24 * n as f64 / scale),
    ];
    all.extend([0, 1, n / 3].map(|k| all_round_to_zero(b, scale, k)));
    all
}

fn largest(z: &[Complex64]) -> f64 {
    z.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

struct Meter<'b> {
    b: &'b Bench,
    what: String,
}

impl Meter<'_> {
    fn check(&self, operation: &str, ct: &Ciphertext, want: &[Complex64], estimate: &Estimate) {
        let (measured, bound) = (
            self.b.error(ct, want),
            self.b.params.estimator().slot_error(estimate),
        );
        let what = &self.what;
        assert!(
            measured <= bound,
            "{what}, {operation}: error {measured:e} above the bound {bound:e}"
        );
    }
}

/// Every operation on one message and one plaintext.
fn check_operations(b: &Bench, what: &str, z: &[Complex64], w: &[Complex64], plain_scale: f64) {
    let meter = Meter {
        b,
        what: what.into(),
    };
    let (e, ev): (&Estimator, _) = (b.params.estimator(), &b.evaluator);
    let (level, scale) = (b.params.max_level(), b.params.scale());
    let encoded = e.encode(largest(z), level, scale);
    let fresh = e.encrypt_public(&encoded);
    let x = b.encrypt(z, 1);
    meter.check("public encryption", &x, z, &fresh);
    let plain = b.encoder.encode(z, level, scale).unwrap();
    if let Ok(key) = b.extended_key() {
        let less = b.encryptor.encrypt(&plain, &key, 1).unwrap();
        let bound = e.encrypt_extended(&encoded).unwrap();
        assert!(bound.log2_error < fresh.log2_error);
        meter.check("extended encryption", &less, z, &bound);
    }
    let own = b.encryptor.encrypt_secret(&plain, &b.secret, 2).unwrap();
    let secret = e.encrypt_secret(&encoded);
    meter.check("secret encryption", &own, z, &secret);
    let twice: Vec<Complex64> = z.iter().map(|z| z * 2.0).collect();
    meter.check(
        "addition",
        &ev.add(&own, &own).unwrap(),
        &twice,
        &e.add(&secret, &secret),
    );
    let product = ev.multiply(&own, &x).unwrap();
    let (square, wide) = (zip(z, z, |a, b| a * b), e.multiply(&secret, &fresh));
    meter.check("product of three parts", &product, &square, &wide);
    let low = ev.rescale(&product).unwrap();
    meter.check(
        "rescaled in three parts",
        &low,
        &square,
        &e.rescale(&wide).unwrap(),
    );
    let two = ev.relinearize(&product, &b.relin).unwrap();
    meter.check("relinearised", &two, &square, &e.relinearize(&wide));
    let turned = ev.rotate(&own, 1, &b.galois).unwrap();
    meter.check(
        "rotated",
        &turned,
        &super::rotated(z, 1),
        &e.rotate(&secret),
    );
    let weights = b.encoder.encode(w, level, plain_scale).unwrap();
    let products = zip(z, w, |a, b| a * b);
    let estimate = e.multiply(&secret, &e.encode(largest(w), level, plain_scale));
    let times = ev.multiply_plain(&own, &weights).unwrap();
    meter.check("plain product", &times, &products, &estimate);
}

fn check_shape(shape: Shape, secret: SecretDistribution, error: ErrorDistribution) {
    let mut set = literal(shape);
    (set.rlwe.secret, set.rlwe.error) = (secret, error);
    let b = Bench::of(
        CkksParams::new(&set, SecurityPolicy::insecure()).unwrap(),
        "contrived",
    );
    let plain_scale = 22f64.exp2();
    let weights = messages(&b, plain_scale);
    for (number, z) in messages(&b, b.params.scale()).iter().enumerate() {
        let n = b.params.n();
        let what = format!("n = {n}, {secret:?}, {error:?}, message {number}");
        check_operations(&b, &what, z, &weights[number % weights.len()], plain_scale);
        check_operations(&b, &what, &weights[1], z, b.params.scale());
    }
}

fn check_all(log_n: u32) {
    let errors = [
        ErrorDistribution::default(),
        ErrorDistribution::Gaussian { sigma: 20.0 },
    ];
    for (special, dnum) in [(1, 0), (2, 2), (4, 1)] {
        let shape = Shape {
            log_n,
            levels: 3,
            scale_bits: 30,
            special,
            dnum,
        };
        check_shape(shape, SecretDistribution::Ternary, errors[0]);
    }
    let shape = Shape {
        log_n,
        levels: 2,
        scale_bits: 30,
        special: 1,
        dnum: 0,
    };
    for secret in [
        SecretDistribution::Binary,
        SecretDistribution::Binomial { eta: 21 },
        SecretDistribution::Gaussian { sigma: 3.2 },
    ] {
        check_shape(shape, secret, errors[1]);
    }
}

#[test]
fn contrived_messages_stay_within_their_estimates() {
    for log_n in [5, 7, 9] {
        check_all(log_n);
    }
}

#[test]
#[ignore = "minutes: the same at real degrees"]
fn contrived_messages_stay_within_their_estimates_at_real_degrees() {
    for log_n in 10..=14 {
        check_all(log_n);
    }
}

#[test]
fn rounding_is_told_and_bounded() {
    for log_n in [5, 8, 11] {
        let b = Bench::new(Shape {
            log_n,
            levels: 1,
            scale_bits: 40,
            special: 1,
            dnum: 0,
        });
        let (e, n) = (b.params.estimator(), b.params.n() as f64);
        let worst = e.log2_worst_rounding().exp2();
        let value = 0.24 * n / 4096.0;
        let mut z = vec![0.0; b.params.slots()];
        z[1] = value;
        let lost = b.encoder.rounding(&z, 4096.0).unwrap();
        // Every coefficient rounds to 0: the slot loses all it had.
        assert!(
            (lost - value * 4096.0).abs() < 1e-6 * n && lost <= worst,
            "{lost}"
        );
        let spread: Vec<f64> = reals(b.params.slots(), 3).iter().map(|z| z.re).collect();
        let usual = b.encoder.rounding(&spread, 4096.0).unwrap();
        assert!(usual <= e.log2_random_rounding().exp2() && usual > 0.0);
    }
}

#[test]
fn rarer_failure_takes_a_larger_bound() {
    let b = Bench::new(super::SMALL);
    let e = b.params.estimator();
    let frequent = e.clone().with_failure_bits(40);
    let bound =
        |e: &Estimator| e.log2_slot_error(&e.encrypt_public(&e.encode(1.0, 1, 40f64.exp2())));
    let gap = bound(e) - bound(&frequent);
    assert!((0.5..4.0).contains(&gap), "{gap}");
}
