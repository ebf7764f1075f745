// SPDX-License-Identifier: Apache-2.0
//! Decryption for publication.

use super::{Bench, SMALL, values};
use crate::{Decryptor, Error, Publication};
use rlwe::Seed;

#[test]
fn flooding_hides_the_error_and_keeps_the_promised_precision() {
    let b = Bench::new(SMALL);
    let z = values(b.params.slots(), 1);
    let ct = b.encrypt(&z, 0);
    let e = b.params.estimator();
    let bound = e.slot_error(&e.encrypt_public(&e.encode(1.0, ct.level(), ct.scale())));
    let publication = Publication {
        slot_error: bound,
        security_bits: 20,
        queries: 16,
    };
    let decryptor = Decryptor::new(&b.params, &b.secret).unwrap();
    let published = decryptor
        .decrypt_for_publication(&ct, &publication, &Seed::from_text("p"))
        .unwrap();
    let exact = decryptor.decrypt(&ct).unwrap();
    let noise: Vec<f64> = b
        .encoder
        .coefficients(&published)
        .iter()
        .zip(b.encoder.coefficients(&exact))
        .map(|(a, b)| a - b)
        .collect();
    let deviation = (noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64).sqrt();
    let sigma = publication.sigma(ct.scale());
    assert!(
        (deviation / sigma - 1.0).abs() < 0.4,
        "{deviation:e} {sigma:e}"
    );
    // sqrt(12 · 16) · 2^10 times the bound.
    assert!((sigma / (bound * ct.scale()) / (192f64.sqrt() * 1024.0) - 1.0).abs() < 1e-12);
    let decoded = b.encoder.decode(&published).unwrap();
    let worst = decoded
        .iter()
        .zip(&z)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f64::max);
    assert!(worst < publication.added_slot_error(b.params.n(), ct.scale()) + bound);
    assert!(worst > bound, "the noise must exceed the error it hides");
}

#[test]
fn each_seed_gives_its_own_noise() {
    let b = Bench::new(SMALL);
    let ct = b.encrypt(&values(4, 1), 0);
    let decryptor = Decryptor::new(&b.params, &b.secret).unwrap();
    let publish = |seed: &str| {
        let publication = Publication::with_slot_error(1e-9);
        decryptor
            .decrypt_for_publication(&ct, &publication, &Seed::from_text(seed))
            .unwrap()
    };
    assert_eq!(publish("a"), publish("a"));
    assert_ne!(publish("a"), publish("b"));
}

#[test]
fn one_seed_floods_two_results_with_noises_of_their_own() {
    let b = Bench::new(SMALL);
    let decryptor = Decryptor::new(&b.params, &b.secret).unwrap();
    let noise = |index: u64, slot_error: f64| {
        let ct = b.encrypt(&values(4, 1), index);
        let publication = Publication::with_slot_error(slot_error);
        let published = decryptor
            .decrypt_for_publication(&ct, &publication, &Seed::from_text("p"))
            .unwrap();
        let exact = b.encoder.coefficients(&decryptor.decrypt(&ct).unwrap());
        let found = b.encoder.coefficients(&published);
        found
            .iter()
            .zip(exact)
            .map(|(a, b)| a - b)
            .collect::<Vec<f64>>()
    };
    let (first, again, other, wider) = (
        noise(0, 1e-9),
        noise(0, 1e-9),
        noise(1, 1e-9),
        noise(0, 2e-9),
    );
    assert_eq!(first, again);
    let correlation = |a: &[f64], b: &[f64]| {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    assert!(correlation(&first, &other).abs() < 0.6);
    assert!(correlation(&first, &wider).abs() < 0.6);
}

#[test]
fn impossible_noise_is_refused() {
    let b = Bench::new(SMALL);
    let ct = b.encrypt(&values(4, 1), 0);
    let decryptor = Decryptor::new(&b.params, &b.secret).unwrap();
    let publish = |bound: f64| {
        let publication = Publication::with_slot_error(bound);
        decryptor
            .decrypt_for_publication(&ct, &publication, &Seed::from_text("x"))
            .unwrap_err()
    };
    assert!(matches!(publish(1e40), Error::Flooding { .. }));
    assert!(matches!(publish(f64::NAN), Error::NotFinite { .. }));
    assert!(matches!(publish(0.0), Error::NotFinite { .. }));
}
