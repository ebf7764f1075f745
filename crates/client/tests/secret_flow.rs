// SPDX-License-Identifier: Apache-2.0
//! The small client neither branches on a secret nor uses one as an address. Run by `make constant-time`.
#![cfg(target_arch = "x86_64")]

#[path = "../../rlwe/tests/taint/mod.rs"]
mod taint;

use client::{Client, Params, ParamsLiteral, Scheme, Slots, encrypt_public};
use std::hint::black_box;
use taint::{expect_clean, public, secret, secret_bytes, verdict, watched};
use zq::primes::{Direction, ntt_primes};

const N: usize = 256;
const T: u64 = 7681;

fn params(scheme: Scheme) -> Params {
    let q = ntt_primes::<u64>(40, 2 * N as u64, 2, Direction::Down, &[]).unwrap();
    Params::insecure(&ParamsLiteral {
        n: N,
        data: &q,
        special: &[],
        dnum: 2,
        scheme,
    })
    .unwrap()
}

/// A client whose coefficients are secret and whose identity is not: it is published.
fn tainted(params: &Params) -> Client {
    let bytes = Client::new(params, &[7; 32]).to_bytes();
    secret(&bytes[48..48 + 2 * N]);
    // Damage is told by a branch, before the key is one.
    Client::from_bytes(params, &bytes).unwrap()
}

#[test]
#[ignore = "needs valgrind"]
fn keys_encryption_and_decryption() {
    for scheme in [
        Scheme::Bfv { t: T },
        Scheme::Ckks {
            scale: 2f64.powi(20),
        },
    ] {
        let params = params(scheme);
        let key = secret_bytes("keys");
        expect_clean("a new key", || {
            drop(black_box(Client::new(&params, &key).to_bytes()))
        });
        let client = tainted(&params);
        let public_key = expect_clean("a public key", || client.public_key(&[8; 32]));
        public(&public_key);
        let message: Vec<i64> = (0..N as i64).map(|i| i * i % T as i64).collect();
        let wanted = message.clone();
        secret(&message);
        // One branch tells whether every coefficient is in range.
        let (own, told) = watched(|| client.encrypt_secret(&message, &[9; 32], 0).unwrap());
        assert_eq!(told, 1, "secret-key encryption");
        let seed = secret_bytes("messages");
        let (other, told) =
            watched(|| encrypt_public(&params, &public_key, &message, &seed, 0).unwrap());
        assert_eq!(told, 1, "public-key encryption");
        for ct in [own, other] {
            public(&ct);
            let found = expect_clean("decryption", || client.decrypt(&ct).unwrap());
            public(&found);
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 4000));
        }
    }
    verdict();
}

#[test]
#[ignore = "needs valgrind"]
fn slots() {
    let params = params(Scheme::Bfv { t: T });
    let slots = Slots::new(&params).unwrap();
    let values: Vec<i64> = (0..N as i64).map(|i| i - 100).collect();
    secret(&values);
    let (message, told) = watched(|| slots.encode(&values).unwrap());
    assert_eq!(told, 1, "encoding");
    let (decoded, told) = watched(|| slots.decode(&message).unwrap());
    assert_eq!(told, 1, "decoding");
    public(&decoded);
    public(&values);
    assert_eq!(*decoded, values);
}
