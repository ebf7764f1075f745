// SPDX-License-Identifier: Apache-2.0
//! BFV key generation, encryption and decryption take a time that does not depend on secrets; a planted leak is seen.
//!
//! Run by `make constant-time`, on a quiet machine.

#[path = "../../rlwe/tests/dudect/mod.rs"]
mod dudect;

use bfv::{BfvParams, BfvParamsLiteral, Ciphertext, Decryptor, Encryptor, Plaintext};
use dudect::{LIMIT, expect_constant, pools, smallest};
use rlwe::mutate::repair;
use rlwe::{
    ErrorDistribution, KeyGenerator, RlweParamsLiteral, Sampler, SecretDistribution, SecretKey,
};
use rlwe::{SecurityPolicy, Seed};
use std::hint::black_box;
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

const N: usize = 1024;

fn params() -> BfvParams<u64> {
    let q = ntt_primes::<u64>(26, 2 * N as u64, 2, Direction::Down, &[]).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: 12289,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// The key with all coefficients 0 in class 0, random keys in class 1.
fn secrets(params: &BfvParams<u64>) -> [Vec<Arc<SecretKey<u64>>>; 2] {
    let random = |i: usize| {
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text(&format!("secret {i}")));
        Arc::new(generator.secret_key().unwrap())
    };
    let zero = |i: usize| {
        let mut bytes = random(i).to_bytes().to_vec();
        let coefficients = rlwe::wire::HEADER_LEN + 16..bytes.len() - rlwe::wire::CHECKSUM_LEN;
        bytes[coefficients].fill(0);
        repair(&mut bytes);
        Arc::new(SecretKey::from_bytes(params.rlwe(), &bytes).unwrap())
    };
    pools(|class, member| {
        if class == 0 {
            zero(member)
        } else {
            random(member)
        }
    })
}

#[test]
#[ignore = "needs a quiet machine and a release build"]
fn samplers_take_the_same_time_for_all_streams() {
    let samplers = [
        ("ternary", Sampler::Ternary),
        ("binary", Sampler::Binary),
        (
            "binomial",
            Sampler::of_error(&ErrorDistribution::default()).unwrap(),
        ),
        (
            "gaussian",
            Sampler::of_secret(&SecretDistribution::Gaussian { sigma: 3.2 }).unwrap(),
        ),
    ];
    let seeds = pools(|class, member| Seed::from_text(&format!("stream {}", class * member)));
    for (name, sampler) in samplers {
        expect_constant(name, |class, member| {
            let mut out = [0; 256];
            sampler.fill(
                &mut seeds[class][member].stream("s", 0),
                black_box(&mut out),
            );
        });
    }
}

#[test]
#[ignore = "needs a quiet machine and a release build"]
fn key_generation_encryption_and_decryption_take_the_same_time_for_all_secrets() {
    let params = params();
    let keys = secrets(&params);
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("public"));
    expect_constant("public key generation", |class, member| {
        black_box(generator.public_key(&keys[class][member]).unwrap());
    });
    let public = Arc::new(generator.public_key(&keys[1][0]).unwrap());
    let encryptor = Encryptor::new(&params, public, Seed::from_text("e")).unwrap();
    let messages = pools(|class, member| {
        let value = |i: u64| {
            if class == 0 {
                0
            } else {
                (i * i * 31 + member as u64 * 977 + i) % 12289
            }
        };
        Plaintext::from_coefficients(&params, &(0..N as u64).map(value).collect::<Vec<_>>())
            .unwrap()
    });
    expect_constant("encryption", |class, member| {
        black_box(encryptor.encrypt_at(&messages[class][member], 0).unwrap());
    });
    let ciphertexts = pools(|class, member| encryptor.encrypt(&messages[class][member]).unwrap());
    let opened = |key: &Arc<SecretKey<u64>>| Decryptor::new(&params, key.clone()).unwrap();
    let decryptor = opened(&keys[1][0]);
    expect_constant("decryption of messages", |class, member| {
        black_box(decryptor.decrypt(&ciphertexts[class][member]).unwrap());
    });
    // One ciphertext, many keys: it is relabelled so that each key accepts it.
    let trivial = Ciphertext::from_parts(
        &params,
        rlwe::KeyId::NONE,
        ciphertexts[1][0].parts().to_vec(),
    )
    .unwrap();
    let decryptors = pools(|class, member| opened(&keys[class][member]));
    expect_constant("decryption under keys", |class, member| {
        black_box(decryptors[class][member].decrypt(&trivial).unwrap());
    });
}

#[test]
#[ignore = "needs a quiet machine and a release build"]
fn a_planted_leak_is_found() {
    let keys = secrets(&params());
    let leaky = |class: usize, member: usize| {
        let mut sum = 0i64;
        for c in keys[class][member].coefficients() {
            if black_box(*c) != 0 {
                sum += black_box(c * 3 + 1);
            }
        }
        black_box(sum);
    };
    let t = smallest(leaky);
    println!("planted leak: |t| = {t:.1}");
    assert!(t > LIMIT, "the test is blind: |t| = {t:.1}");
}
