// SPDX-License-Identifier: Apache-2.0
//! CKKS encoding, encryption, decryption and decoding neither branch on a secret nor use one as an address.
//! Run by `make constant-time`.
#![cfg(target_arch = "x86_64")]

#[path = "../../rlwe/tests/taint/mod.rs"]
mod taint;

use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Plaintext, Publication};
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
    let p = ntt_primes::<u64>(bits[1], 2 * N as u64, 2, Direction::Down, &q).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q,
        p,
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
        let extended_key = generator.extended_public_key(&key).unwrap();
        let (values, plain) = message(&params);
        // Tables are made at first use; they are public.
        Encryptor::new(&params, Seed::from_text("warm"))
            .encrypt(&plain, &extended_key, 0)
            .unwrap();
        secret(plain.poly().data());
        secret(key.coefficients());
        secret(key.eval().data());
        let encryptor = Encryptor::new(&params, Seed::from_bytes(secret_bytes("messages")));
        let ct = expect_clean(&format!("public-key encryption {bits:?}"), || {
            encryptor.encrypt(&plain, &public_key, 3).unwrap()
        });
        let less = expect_clean(&format!("extended encryption {bits:?}"), || {
            encryptor.encrypt(&plain, &extended_key, 3).unwrap()
        });
        // The uniform half is published and drawn by rejection, so this seed is not secret; key and message are.
        let symmetric = Encryptor::new(&params, Seed::from_text("s"));
        let own = expect_clean(&format!("secret-key encryption {bits:?}"), || {
            symmetric.encrypt_secret(&plain, &key, 3).unwrap()
        });
        let decryptor = Decryptor::new(&params, &key).unwrap();
        for ct in [ct, less, own] {
            ct.parts().iter().for_each(|part| public(part.data()));
            let opened = expect_clean(&format!("decryption {bits:?}"), || {
                decryptor.decrypt(&ct).unwrap()
            });
            let decoded = expect_clean(&format!("decoding {bits:?}"), || {
                Encoder::new(&params).decode(&opened).unwrap()
            });
            public(&decoded);
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

/// Messages whose coefficients take each way to residues, at a scale of 2^`log2_scale`.
fn encodings(params: &CkksParams, log2_scale: i32) {
    let scale = 2f64.powi(log2_scale);
    let encoder = Encoder::new(params);
    let (values, _) = message(params);
    let reals: Vec<f64> = values.iter().map(|z| z.re).collect();
    // Tables are made at first use; they are public.
    for slots in [1, 4, N / 2] {
        let few = &values[..slots];
        encoder
            .encode_sparse(few, slots, params.max_level(), scale)
            .unwrap();
        let few = few.to_vec();
        secret(&few);
        let what = format!("encoding in {slots} slots at scale 2^{log2_scale}");
        let plain = expect_clean(&what, || {
            encoder
                .encode_sparse(&few, slots, params.max_level(), scale)
                .unwrap()
        });
        let decoded = expect_clean("decoding", || encoder.decode(&plain).unwrap());
        public(&decoded);
        assert!(
            decoded
                .iter()
                .zip(&values)
                .all(|(a, b)| (a - b).norm() < 1e-3)
        );
    }
    secret(&reals);
    expect_clean("encoding of reals", || {
        drop(
            encoder
                .encode_real(&reals, params.max_level(), scale)
                .unwrap(),
        );
    });
}

#[test]
#[ignore = "needs valgrind"]
fn encoding_and_decoding() {
    let longer = |bits: &[u32]| {
        let mut q: Vec<u64> = Vec::new();
        for b in bits {
            q.extend(ntt_primes::<u64>(*b, 2 * N as u64, 1, Direction::Down, &q).unwrap());
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
    };
    for chain in [
        &[40][..],
        &[36, 36],
        &[60, 61],
        &[50, 51, 52, 36],
        &[40, 40, 60, 40],
    ] {
        let params = longer(chain);
        let room = chain.iter().sum::<u32>() as i32 - 5;
        // Below 2^51, below 2^62, wider, and beyond the first two primes.
        for log2_scale in [30, 55, 70, 130].into_iter().filter(|s| *s < room) {
            encodings(&params, log2_scale);
        }
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn published_decryption() {
    for bits in SETS {
        let params = params(bits);
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("keys"));
        let key = generator.secret_key().unwrap();
        let (values, plain) = message(&params);
        let encryptor = Encryptor::new(&params, Seed::from_text("s"));
        let ct = encryptor.encrypt_secret(&plain, &key, 0).unwrap();
        let decryptor = Decryptor::new(&params, &key).unwrap();
        // Noise of the narrowest deviation, and of a wide one.
        let widths = [1e-15, 1e-8].map(Publication::with_slot_error);
        for publication in &widths {
            let seed = Seed::from_text("warm");
            decryptor
                .decrypt_for_publication(&ct, publication, &seed)
                .unwrap();
        }
        secret(key.coefficients());
        secret(key.eval().data());
        for publication in &widths {
            let seed = Seed::from_bytes(secret_bytes("flood"));
            let opened = expect_clean(&format!("decryption for publication {bits:?}"), || {
                decryptor
                    .decrypt_for_publication(&ct, publication, &seed)
                    .unwrap()
            });
            public(opened.poly().data());
            let decoded = Encoder::new(&params).decode(&opened).unwrap();
            let most = 1e-3 + publication.added_slot_error(N, params.scale());
            assert!(
                decoded
                    .iter()
                    .zip(&values)
                    .all(|(a, b)| (a - b).norm() < most)
            );
        }
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn a_planted_check_of_a_message_is_found() {
    let (values, _) = message(&params(SETS[0]));
    secret(&values);
    let (_, errors) = watched(|| black_box(values.iter().position(|z| z.re > 0.5)));
    println!("planted: {errors} branches");
    assert!(errors > 0, "a planted leak was not seen");
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
