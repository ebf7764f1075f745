// SPDX-License-Identifier: Apache-2.0
//! BFV encoding, encryption, decryption and decoding neither branch on a secret nor use one as an address.
//! Run by `make constant-time`.
#![cfg(target_arch = "x86_64")]

#[path = "../../rlwe/tests/taint/mod.rs"]
mod taint;

use bfv::{
    BatchEncoder, BfvParams, BfvParamsLiteral, Decryptor, Encryptor, Plaintext, Publication,
};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::hint::black_box;
use std::sync::Arc;
use taint::{expect_clean, public, secret, secret_bytes, verdict, watched};
use zq::primes::{Direction, ntt_primes};

const N: usize = 256;
const T: u64 = 12289;
/// Widths of data primes for each arithmetic.
const SETS: [[u32; 2]; 4] = [[36, 36], [48, 47], [50, 55], [60, 61]];

fn params(bits: [u32; 2]) -> BfvParams<u64> {
    let mut q: Vec<u64> = Vec::new();
    for b in bits {
        q.extend(ntt_primes::<u64>(b, 2 * N as u64, 1, Direction::Down, &q).unwrap());
    }
    let p = ntt_primes::<u64>(bits[1], 2 * N as u64, 2, Direction::Down, &q).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        p,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: T,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

fn message(params: &BfvParams<u64>) -> (Vec<u64>, Plaintext) {
    let values: Vec<u64> = (0..N as u64).map(|i| i * i % T).collect();
    let plain = BatchEncoder::new(params).unwrap().encode(&values).unwrap();
    (values, plain)
}

#[test]
#[ignore = "needs valgrind"]
fn encryption_and_decryption() {
    for bits in SETS {
        let params = params(bits);
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
        let key = Arc::new(generator.secret_key().unwrap());
        let public_key = Arc::new(generator.public_key(&key).unwrap());
        let extended_key = Arc::new(generator.extended_public_key(&key).unwrap());
        let (values, plain) = message(&params);
        // Tables are made at first use; they are public.
        let opened = Encryptor::new(&params, public_key.clone(), Seed::from_text("warm")).unwrap();
        let decryptor = Decryptor::new(&params, key.clone()).unwrap();
        decryptor.decrypt(&opened.encrypt(&plain).unwrap()).unwrap();
        Encryptor::new(&params, extended_key.clone(), Seed::from_text("warm"))
            .and_then(|e| e.encrypt(&plain))
            .unwrap();

        secret(plain.coefficients());
        secret(key.coefficients());
        secret(key.eval().data());
        let seed = Seed::from_bytes(secret_bytes("messages"));
        let encryptor = Encryptor::new(&params, public_key, seed).unwrap();
        let ct = expect_clean(&format!("public-key encryption {bits:?}"), || {
            encryptor.encrypt_at(&plain, 3).unwrap()
        });
        let seed = Seed::from_bytes(secret_bytes("messages"));
        let encryptor = Encryptor::new(&params, extended_key, seed).unwrap();
        let less = expect_clean(&format!("extended encryption {bits:?}"), || {
            encryptor.encrypt_at(&plain, 3).unwrap()
        });
        // The uniform half is published and drawn by rejection, so this seed is not secret; key and message are.
        let symmetric = Encryptor::symmetric(&params, key, Seed::from_text("s")).unwrap();
        let own = expect_clean(&format!("secret-key encryption {bits:?}"), || {
            symmetric.encrypt_at(&plain, 3).unwrap()
        });
        for ct in [ct, less, own] {
            ct.parts().iter().for_each(|part| public(part.data()));
            let opened = expect_clean(&format!("decryption {bits:?}"), || {
                decryptor.decrypt(&ct).unwrap()
            });
            let encoder = BatchEncoder::new(&params).unwrap();
            let decoded = expect_clean("decoding", || encoder.decode(&opened).unwrap());
            public(&decoded);
            // Valgrind gives 15 - 3·5 by one fused operation as -0, which the AVX2 path takes for a negative number:
            // q, not 0.
            assert!(decoded.iter().zip(&values).all(|(a, b)| a % T == *b));
        }
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn encoding() {
    let params = params(SETS[0]);
    let encoder = BatchEncoder::new(&params).unwrap();
    let (values, _) = message(&params);
    let signed: Vec<i64> = values.iter().map(|v| *v as i64 - (T / 2) as i64).collect();
    secret(&values);
    secret(&signed);
    expect_clean("batch encoding", || drop(encoder.encode(&values).unwrap()));
    expect_clean("batch encoding of signed values", || {
        drop(encoder.encode_signed(&signed).unwrap());
    });
    expect_clean("coefficients", || {
        drop(Plaintext::from_coefficients(&params, &values).unwrap());
        drop(Plaintext::from_signed(&params, &signed).unwrap());
    });
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn published_decryption() {
    let params = params(SETS[3]);
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
    let key = Arc::new(generator.secret_key().unwrap());
    let decryptor = Decryptor::new(&params, key.clone()).unwrap();
    let symmetric = Encryptor::symmetric(&params, key.clone(), Seed::from_text("s")).unwrap();
    let (_, plain) = message(&params);
    let ct = symmetric.encrypt(&plain).unwrap();
    let publication = Publication::with_budget(60.0);
    let seed = Seed::from_text("warm");
    decryptor
        .decrypt_for_publication(&ct, &publication, &seed)
        .unwrap();
    secret(key.coefficients());
    secret(key.eval().data());
    let seed = Seed::from_bytes(secret_bytes("flood"));
    let opened = expect_clean("decryption for publication", || {
        decryptor
            .decrypt_for_publication(&ct, &publication, &seed)
            .unwrap()
    });
    public(opened.coefficients());
    assert!(opened == plain);
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn a_planted_check_of_a_message_is_found() {
    let (values, _) = message(&params(SETS[0]));
    secret(&values);
    let (_, errors) = watched(|| black_box(values.iter().position(|v| *v >= T)));
    println!("planted: {errors} branches");
    assert!(errors > 0, "a planted leak was not seen");
}

#[test]
#[ignore = "needs valgrind"]
fn a_planted_leak_is_found() {
    let (_, plain) = message(&params(SETS[0]));
    secret(plain.coefficients());
    let (_, errors) = watched(|| {
        for c in plain.coefficients() {
            if c & 1 == 1 {
                black_box(c);
            }
        }
    });
    println!("planted: {errors} branches");
    assert!(errors > 0, "a planted leak was not seen");
}
