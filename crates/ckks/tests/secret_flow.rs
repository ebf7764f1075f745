// SPDX-License-Identifier: Apache-2.0
//! CKKS encryption and decryption neither branch on a secret nor use one as an address. Run by `make constant-time`.
#![cfg(target_arch = "x86_64")]

#[path = "../../rlwe/tests/taint/mod.rs"]
mod taint;

use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Plaintext};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::hint::black_box;
use taint::{expect_clean, public, secret, secret_bytes, verdict, watched};
use zq::primes::{Direction, ntt_primes};

const N: usize = 256;
/// Widths of data primes for each arithmetic.
const SETS: [[u32; 2]; 4] = [[36, 36], [48, 47], [50, 55], [60, 61]];

fn params(bits: [u32; 2]) -> CkksParams {
    let mut q: Vec<u64> = Vec::new();
    for b in bits {
        q.extend(ntt_primes::<u64>(b, 2 * N as u64, 1, Direction::Down, &q).unwrap());
    }
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        ..Default::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(30),
    };
    CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

fn message(params: &CkksParams) -> (Vec<Complex64>, Plaintext) {
    let values: Vec<_> = (0..N / 2)
        .map(|i| Complex64::new((i as f64).sin(), 0.5))
        .collect();
    let plain = Encoder::new(params)
        .encode(&values, params.max_level(), params.scale())
        .unwrap();
    (values, plain)
}

#[test]
#[ignore = "needs valgrind"]
fn encryption_and_decryption() {
    for bits in SETS {
        let params = params(bits);
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
        let key = generator.secret_key().unwrap();
        let public_key = generator.public_key(&key).unwrap();
        let (values, plain) = message(&params);
        secret(plain.poly().data());
        secret(key.coefficients());
        secret(key.eval().data());
        let encryptor = Encryptor::new(&params, Seed::from_bytes(secret_bytes("messages")));
        let ct = expect_clean(&format!("public-key encryption {bits:?}"), || {
            encryptor.encrypt(&plain, &public_key, 3).unwrap()
        });
        // The uniform half is published and drawn by rejection, so this seed is not secret; key and message are.
        let symmetric = Encryptor::new(&params, Seed::from_text("s"));
        let own = expect_clean(&format!("secret-key encryption {bits:?}"), || {
            symmetric.encrypt_secret(&plain, &key, 3).unwrap()
        });
        let decryptor = Decryptor::new(&params, &key).unwrap();
        for ct in [ct, own] {
            ct.parts().iter().for_each(|part| public(part.data()));
            let opened = expect_clean(&format!("decryption {bits:?}"), || {
                decryptor.decrypt(&ct).unwrap()
            });
            public(opened.poly().data());
            let decoded = Encoder::new(&params).decode(&opened).unwrap();
            assert!(
                decoded
                    .iter()
                    .zip(&values)
                    .all(|(a, b)| (a - b).norm() < 1e-3)
            );
        }
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn a_planted_leak_is_found() {
    let (_, plain) = message(&params(SETS[0]));
    secret(plain.poly().data());
    let (_, errors) = watched(|| {
        for c in plain.poly().data() {
            if c & 1 == 1 {
                black_box(c);
            }
        }
    });
    println!("planted: {errors} branches");
    assert!(errors > 0, "a planted leak was not seen");
}
