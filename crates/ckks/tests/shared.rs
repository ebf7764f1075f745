// SPDX-License-Identifier: Apache-2.0
//! Threads that share parameters, keys, encoders and evaluators see the same residues as one thread alone.
//!
//! Tables made at first use and pools of work space are what they share; `make sanitize` runs this under
//! ThreadSanitizer.

#[path = "../../rlwe/tests/together/mod.rs"]
mod together;

use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Evaluator, prime_chain};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed, Threads};
use together::{THREADS, together};

const N: usize = 256;

fn params() -> CkksParams {
    let (q, p) = prime_chain(N, 45, 40, 3, 45, 1).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        dnum: q.len(),
        q,
        p,
        ..Default::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(40),
    };
    CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

fn values() -> Vec<Complex64> {
    (0..N / 2)
        .map(|i| Complex64::new((i as f64).sin(), 0.5))
        .collect()
}

#[test]
fn first_uses_may_collide() {
    let params = params();
    let outputs = together(|_| {
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
        let secret = generator.secret_key().unwrap();
        let public = generator.public_key(&secret).unwrap();
        let relin = generator.relin_key(&secret, 4).unwrap();
        let encoder = Encoder::new(&params);
        let plain = encoder
            .encode(&values(), params.max_level(), params.scale())
            .unwrap();
        let ct = Encryptor::new(&params, Seed::from_text("m"))
            .encrypt(&plain, &public, 0)
            .unwrap();
        let evaluator = Evaluator::new(&params);
        let product = evaluator.multiply(&ct, &ct).unwrap();
        let short = evaluator.relinearize(&product, &relin).unwrap();
        let lower = evaluator.rescale(&short).unwrap();
        let opened = Decryptor::new(&params, &secret)
            .unwrap()
            .decrypt_slots(&lower)
            .unwrap();
        assert!(
            opened
                .iter()
                .zip(values())
                .all(|(a, b)| (a - b * b).norm() < 1e-3)
        );
        lower.to_bytes()
    });
    assert!(outputs.iter().all(|bytes| *bytes == outputs[0]));
}

#[test]
fn one_evaluator_and_one_encoder_serve_all_threads() {
    let params = params();
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    let relin = generator.relin_key(&secret, 4).unwrap();
    let galois = generator
        .galois_keys(&secret, &params.galois_elements(&[1, 2], false), 4)
        .unwrap();
    let encoder = Encoder::new(&params);
    let encryptor = Encryptor::new(&params, Seed::from_text("messages"));
    let encrypt = |index| {
        let plain = encoder
            .encode(&values(), params.max_level(), params.scale())
            .unwrap();
        encryptor.encrypt(&plain, &public, index).unwrap()
    };
    let fresh = together(|i| encrypt(i as u64));
    assert!((0..THREADS).all(|i| fresh[i].to_bytes() == encrypt(i as u64).to_bytes()));

    let plain = Evaluator::new(&params);
    let pooled = Evaluator::new(&params).with_threads(Threads::new(3).unwrap());
    let squares = plain.multiply_batch(&fresh, &fresh).unwrap();
    // Batches and single operations on one pool, started from several threads.
    let outputs = together(|i| {
        let evaluator = if i % 2 == 0 { &pooled } else { &plain };
        let short = evaluator.relinearize_batch(&squares, &relin).unwrap();
        let turned = evaluator.rotate_batch(&short, 1, &galois).unwrap();
        let lower = evaluator.rescale_batch(&turned).unwrap();
        let both = evaluator.rotate_many(&lower[0], &[1, 2], &galois).unwrap();
        let opened = Decryptor::new(&params, &secret)
            .unwrap()
            .decrypt_slots(&lower[0])
            .unwrap();
        assert!((opened[0] - values()[1] * values()[1]).norm() < 1e-3);
        let all = lower.iter().chain(&both);
        all.map(|ct| ct.to_bytes()).collect::<Vec<_>>()
    });
    assert!(outputs.iter().all(|bytes| *bytes == outputs[0]));
}
