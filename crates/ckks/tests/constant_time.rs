// SPDX-License-Identifier: Apache-2.0
//! CKKS key generation, encryption and decryption take a time that does not depend on secrets; a planted leak is seen.
//!
//! Run by `make constant-time`, on a quiet machine.

#[path = "../../rlwe/tests/dudect/mod.rs"]
mod dudect;

use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Plaintext, prime_chain};
use dudect::{LIMIT, expect_constant, pools, smallest};
use num_complex::Complex64;
use rlwe::mutate::repair;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecretKey, SecurityPolicy, Seed};
use std::hint::black_box;

const N: usize = 1024;

fn params() -> CkksParams {
    let (q, p) = prime_chain(N, 45, 36, 1, 45, 1).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        dnum: q.len(),
        q,
        p,
        ..Default::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(36),
    };
    CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// Class 0: the key with all coefficients 0; class 1: random keys. All with one identity, so that one ciphertext serves
/// all.
fn secrets(params: &CkksParams) -> [Vec<SecretKey<u64>>; 2] {
    const START: usize = rlwe::wire::HEADER_LEN;
    let bytes = |i: usize| {
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text(&format!("secret {i}")));
        generator.secret_key().unwrap().to_bytes().to_vec()
    };
    let identity = bytes(0)[START..START + 16].to_vec();
    pools(|class, member| {
        let mut bytes = bytes(member);
        bytes[START..START + 16].copy_from_slice(&identity);
        if class == 0 {
            let end = bytes.len() - rlwe::wire::CHECKSUM_LEN;
            bytes[START + 16..end].fill(0);
        }
        repair(&mut bytes);
        SecretKey::from_bytes(params.rlwe(), &bytes).unwrap()
    })
}

/// Class 0: all slots 0; class 1: random-looking ones.
fn messages(params: &CkksParams) -> [Vec<Plaintext>; 2] {
    let encoder = Encoder::new(params);
    let encode = |values: Vec<Complex64>| {
        encoder
            .encode(&values, params.max_level(), params.scale())
            .unwrap()
    };
    let varied = |member: usize| {
        let value = |i: usize| {
            Complex64::new((i * (member + 3)) as f64, i as f64)
                .sin()
                .norm()
        };
        (0..N / 2)
            .map(|i| Complex64::new(value(i % 7), 0.0))
            .collect()
    };
    pools(|class, member| match class {
        0 => encode(vec![Complex64::ZERO; N / 2]),
        _ => encode(varied(member)),
    })
}

#[test]
#[ignore = "needs a quiet machine and a release build"]
fn key_generation_encryption_and_decryption_take_the_same_time_for_all_secrets() {
    let params = params();
    let keys = secrets(&params);
    let messages = messages(&params);
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("public"));
    expect_constant("ckks relinearisation key generation", |class, member| {
        black_box(generator.relin_key(&keys[class][member], 2).unwrap());
    });
    let public = generator.public_key(&keys[1][0]).unwrap();
    let encryptor = Encryptor::new(&params, Seed::from_text("e"));
    expect_constant("ckks encryption of messages", |class, member| {
        black_box(
            encryptor
                .encrypt(&messages[class][member], &public, 0)
                .unwrap(),
        );
    });
    // The seed decides which samples are drawn.
    let encryptors = pools(|class, member| {
        Encryptor::new(&params, Seed::from_text(&format!("e {}", class * member)))
    });
    expect_constant("ckks encryption under seeds", |class, member| {
        let encryptor = &encryptors[class][member];
        black_box(encryptor.encrypt(&messages[1][0], &public, 0).unwrap());
    });
    expect_constant("ckks secret-key encryption", |class, member| {
        black_box(
            encryptor
                .encrypt_secret(&messages[1][0], &keys[class][member], 0)
                .unwrap(),
        );
    });
    let ciphertexts = pools(|class, member| {
        let message = &messages[class][member];
        encryptor.encrypt(message, &public, 0).unwrap()
    });
    let decryptor = Decryptor::new(&params, &keys[1][0]).unwrap();
    expect_constant("ckks decryption of messages", |class, member| {
        black_box(decryptor.decrypt(&ciphertexts[class][member]).unwrap());
    });
    let opened = |class: usize, member: usize| Decryptor::new(&params, &keys[class][member]);
    let decryptors = pools(|class, member| opened(class, member).unwrap());
    expect_constant("ckks decryption under keys", |class, member| {
        black_box(
            decryptors[class][member]
                .decrypt(&ciphertexts[1][0])
                .unwrap(),
        );
    });
}

#[test]
#[ignore = "needs a quiet machine and a release build"]
fn a_planted_leak_is_found() {
    let keys = secrets(&params());
    // A branch for each coefficient, as a schoolbook product that skips zeros would have.
    let t = smallest(|class, member| {
        let mut sum = 0i64;
        for c in keys[class][member].coefficients() {
            if black_box(*c) != 0 {
                sum += black_box(c * 3 + 1);
            }
        }
        black_box(sum);
    });
    println!("planted leak: |t| = {t:.1}");
    assert!(t > LIMIT, "the test is blind: |t| = {t:.1}");
}
