// SPDX-License-Identifier: Apache-2.0
//! Threads that share parameters, keys, evaluators and encryptors see the same residues as one thread alone.
//!
//! Tables made at first use, pools of work space and the message counter are what they share; `make sanitize` runs this
//! under ThreadSanitizer.

#[path = "../../rlwe/tests/together/mod.rs"]
mod together;

use bfv::{
    BatchEncoder, BfvParams, BfvParamsLiteral, Decryptor, Encryptor, Evaluator, MultiplyAlgorithm,
};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed, Threads};
use std::collections::BTreeSet;
use std::sync::Arc;
use together::together;
use zq::primes::{Direction, ntt_primes};

const N: usize = 256;
const T: u64 = 12289;

fn params() -> BfvParams<u64> {
    let primes = ntt_primes::<u64>(40, 2 * N as u64, 4, Direction::Down, &[]).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q: primes[..3].to_vec(),
        p: primes[3..].to_vec(),
        dnum: 3,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: T,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

fn values(seed: u64) -> Vec<u64> {
    (0..N as u64).map(|i| (i * i + seed * 977) % T).collect()
}

#[test]
fn first_uses_may_collide() {
    for algorithm in [MultiplyAlgorithm::Hps, MultiplyAlgorithm::HpsOverQ] {
        let params = params();
        let outputs = together(|_| {
            let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
            let secret = Arc::new(generator.secret_key().unwrap());
            let public = Arc::new(generator.public_key(&secret).unwrap());
            let relin = generator.relin_key(&secret, 3).unwrap();
            let encoder = BatchEncoder::new(&params).unwrap();
            let encryptor = Encryptor::new(&params, public, Seed::from_text("m")).unwrap();
            let ct = encryptor
                .encrypt(&encoder.encode(&values(1)).unwrap())
                .unwrap();
            let evaluator = Evaluator::new(&params).with_algorithm(algorithm);
            let product = evaluator.multiply_relin(&ct, &ct, &relin).unwrap();
            let lower = evaluator.mod_switch(&product).unwrap();
            let decryptor = Decryptor::new(&params, secret).unwrap();
            let opened = encoder.decode(&decryptor.decrypt(&lower).unwrap()).unwrap();
            let squares: Vec<u64> = values(1).iter().map(|v| v * v % T).collect();
            assert_eq!(opened, squares);
            lower.to_bytes()
        });
        assert!(outputs.iter().all(|bytes| *bytes == outputs[0]));
    }
}

#[test]
fn one_evaluator_and_one_encryptor_serve_all_threads() {
    let params = params();
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
    let secret = Arc::new(generator.secret_key().unwrap());
    let public = Arc::new(generator.public_key(&secret).unwrap());
    let relin = generator.relin_key(&secret, 3).unwrap();
    let element = rlwe::rotation_element(N, 1);
    let galois = generator.galois_keys(&secret, &[element], 3).unwrap();
    let encoder = BatchEncoder::new(&params).unwrap();
    let encryptor = Encryptor::new(&params, public, Seed::from_text("messages")).unwrap();
    let message = encoder.encode(&values(2)).unwrap();
    // Every message has a number of its own, in every thread.
    let fresh = together(|_| {
        (0..6)
            .map(|_| encryptor.encrypt(&message).unwrap())
            .collect::<Vec<_>>()
    });
    let fresh: Vec<_> = fresh.into_iter().flatten().collect();
    let distinct: BTreeSet<Vec<u8>> = fresh.iter().map(|ct| ct.to_bytes()).collect();
    let numbered =
        (0..fresh.len() as u64).map(|i| encryptor.encrypt_at(&message, i).unwrap().to_bytes());
    assert_eq!(distinct, numbered.collect());

    let plain = Evaluator::new(&params);
    let pool = Threads::new(3).unwrap();
    let shared = plain.clone().with_threads(pool.clone());
    let want = plain.rotate_rows(
        &plain.multiply_relin(&fresh[0], &fresh[1], &relin).unwrap(),
        1,
        &galois,
    );
    let want = want.unwrap().to_bytes();
    // Operations that spread over a pool, started from several threads, and batches on the same pool.
    let outputs = together(|i| {
        let pairs = [(&fresh[0], &fresh[1]); 5];
        let evaluator = if i % 2 == 0 { &shared } else { &plain };
        let products = if i < 2 {
            plain
                .batch(&pool, &pairs, |e, (a, b)| e.multiply_relin(a, b, &relin))
                .unwrap()
        } else {
            vec![
                evaluator
                    .multiply_relin(pairs[0].0, pairs[0].1, &relin)
                    .unwrap(),
            ]
        };
        let rotated = products
            .iter()
            .map(|p| evaluator.rotate_rows(p, 1, &galois).unwrap());
        rotated.map(|ct| ct.to_bytes()).collect::<Vec<_>>()
    });
    assert!(outputs.iter().flatten().all(|bytes| *bytes == want));
}
