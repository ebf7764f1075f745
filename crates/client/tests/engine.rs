// SPDX-License-Identifier: Apache-2.0
//! The small client and the engine make the same bytes of the same seeds, and read each other's.

use bfv::{BatchEncoder, BfvParams, BfvParamsLiteral};
use ckks::{CkksParams, CkksParamsLiteral, Encoder};
use client::{Client, Error, Params, ParamsLiteral, Scheme, Slots, encrypt_public};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

const KEYS: [u8; 32] = [7; 32];
const MESSAGES: [u8; 32] = [9; 32];

/// Degree, lengths of data primes and of special primes.
const SETS: [(usize, &[u32], &[u32]); 4] = [
    (1024, &[33], &[]),
    (4096, &[36, 36], &[37]),
    (8192, &[60, 40, 40], &[60]),
    (2048, &[32, 45, 59, 60], &[]),
];

fn literal(n: usize, data: &[u32], special: &[u32]) -> RlweParamsLiteral<u64> {
    let mut taken = vec![];
    let mut next = |bits: &u32| {
        let found = ntt_primes(*bits, 2 * n as u64, 1, Direction::Down, &taken).unwrap()[0];
        taken.push(found);
        found
    };
    RlweParamsLiteral {
        n,
        q: data.iter().map(&mut next).collect(),
        p: special.iter().map(&mut next).collect(),
        ..Default::default()
    }
}

fn small(rlwe: &RlweParamsLiteral<u64>, scheme: Scheme) -> Params {
    Params::insecure(&ParamsLiteral {
        n: rlwe.n,
        data: &rlwe.q,
        special: &rlwe.p,
        dnum: rlwe.q.len() as u32,
        scheme,
    })
    .unwrap()
}

fn seed(bytes: [u8; 32]) -> Seed {
    Seed::from_bytes(bytes)
}

/// Something in 0..t for each coefficient.
fn message(n: usize, t: u64) -> Vec<i64> {
    (0..n as u64)
        .map(|i| (i * i * 31 + i % 7 * (t / 7)) % t)
        .map(|m| m as i64)
        .collect()
}

fn bfv_set(rlwe: &RlweParamsLiteral<u64>, t: u64) -> BfvParams<u64> {
    let literal = BfvParamsLiteral {
        rlwe: rlwe.clone(),
        plain_modulus: t,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

#[test]
fn bfv_bytes_are_the_engines() {
    for (n, data, special) in SETS {
        let rlwe = literal(n, data, special);
        for t in [2, 65537, 786433, (1 << 31) - 1] {
            if n == 1024 && t > 786433 {
                continue; // No room under one prime of 33 bits.
            }
            let params = bfv_set(&rlwe, t);
            let own = small(&rlwe, Scheme::Bfv { t });
            let generator = KeyGenerator::new(&params, seed(KEYS));
            let secret = Arc::new(generator.secret_key().unwrap());
            let public = Arc::new(generator.public_key(&secret).unwrap());
            let client = Client::new(&own, &KEYS);
            assert_eq!(client.to_bytes(), secret.to_bytes(), "{n} {t}");
            let public_bytes = client.public_key(&KEYS);
            assert_eq!(public_bytes, public.to_bytes(), "{n} {t}");
            let coefficients = message(n, t);
            let plain = bfv::Plaintext::from_coefficients(
                &params,
                &coefficients.iter().map(|m| *m as u64).collect::<Vec<_>>(),
            )
            .unwrap();
            let symmetric =
                bfv::Encryptor::symmetric(&params, secret.clone(), seed(MESSAGES)).unwrap();
            let asymmetric = bfv::Encryptor::new(&params, public, seed(MESSAGES)).unwrap();
            for index in [0, 5] {
                let theirs = symmetric.encrypt_at(&plain, index).unwrap();
                let ours = client
                    .encrypt_secret(&coefficients, &MESSAGES, index)
                    .unwrap();
                assert_eq!(ours, theirs.to_bytes(), "{n} {t} secret {index}");
                assert_eq!(*client.decrypt(&ours).unwrap(), coefficients);
                let theirs = asymmetric.encrypt_at(&plain, index).unwrap();
                let ours =
                    encrypt_public(&own, &public_bytes, &coefficients, &MESSAGES, index).unwrap();
                assert_eq!(ours, theirs.to_bytes(), "{n} {t} public {index}");
                if n > 1024 || t < 786433 {
                    assert_eq!(*client.decrypt(&ours).unwrap(), coefficients, "{n} {t}");
                }
                // A server switches to fewer primes before it answers.
                if data.len() > 1 && t < 786433 {
                    let fewer = bfv::Evaluator::new(&params).mod_switch(&theirs).unwrap();
                    assert_eq!(*client.decrypt(&fewer.to_bytes()).unwrap(), coefficients);
                }
            }
        }
    }
}

#[test]
fn ckks_bytes_are_the_engines() {
    for (n, data, special) in SETS {
        let rlwe = literal(n, data, special);
        let scale = 2f64.powi(24);
        let set = CkksParamsLiteral {
            rlwe: rlwe.clone(),
            scale,
        };
        let params = CkksParams::new(&set, SecurityPolicy::insecure()).unwrap();
        let own = small(&rlwe, Scheme::Ckks { scale });
        let generator = KeyGenerator::new(&params, seed(KEYS));
        let secret = generator.secret_key().unwrap();
        let public = generator.public_key(&secret).unwrap();
        let client = Client::new(&own, &KEYS);
        assert_eq!(client.to_bytes(), secret.to_bytes());
        assert_eq!(client.public_key(&KEYS), public.to_bytes());
        let values: Vec<f64> = (0..n / 2).map(|i| (i % 19) as f64 / 9.0 - 1.0).collect();
        let encoder = Encoder::new(&params);
        let plain = encoder
            .encode_real(&values, params.max_level(), scale)
            .unwrap();
        let coefficients: Vec<i64> = encoder
            .coefficients(&plain)
            .iter()
            .map(|c| (c * 1.0).round() as i64)
            .collect();
        let encryptor = ckks::Encryptor::new(&params, seed(MESSAGES));
        let theirs = encryptor.encrypt_secret(&plain, &secret, 3).unwrap();
        let ours = client.encrypt_secret(&coefficients, &MESSAGES, 3).unwrap();
        assert_eq!(ours, theirs.to_bytes(), "{n} secret");
        let theirs = encryptor.encrypt(&plain, &public, 3).unwrap();
        let ours = encrypt_public(&own, &public.to_bytes(), &coefficients, &MESSAGES, 3).unwrap();
        assert_eq!(ours, theirs.to_bytes(), "{n} public");
        let dropped = ckks::Evaluator::new(&params).drop_to(&theirs, 0).unwrap();
        for bytes in [ours, dropped.to_bytes()] {
            let found = client.decrypt(&bytes).unwrap();
            let worst = found
                .iter()
                .zip(&coefficients)
                .map(|(a, b)| (a - b).abs())
                .max()
                .unwrap();
            assert!(worst < 4000, "{n}: noise of {worst}");
        }
    }
}

#[test]
fn slots_are_the_engines() {
    let rlwe = literal(4096, &[36, 36], &[37]);
    let params = bfv_set(&rlwe, 65537);
    let slots = Slots::new(&small(&rlwe, Scheme::Bfv { t: 65537 })).unwrap();
    let values: Vec<i64> = (0..4096).map(|i| (i * 37) % 65537 - 32768).collect();
    let theirs = BatchEncoder::new(&params)
        .unwrap()
        .encode_signed(&values)
        .unwrap();
    let ours = slots.encode(&values).unwrap();
    assert!(
        ours.iter()
            .map(|m| *m as u64)
            .eq(theirs.coefficients().iter().copied())
    );
    assert_eq!(*slots.decode(&ours).unwrap(), values);
    assert!(slots.encode(&[32769]).is_err() && slots.encode(&[0; 4097]).is_err());
    assert!(slots.decode(&[65537; 4096]).is_err() && slots.decode(&[0; 5]).is_err());
    assert!(Slots::new(&small(&rlwe, Scheme::Bfv { t: 65539 })).is_err());
}

#[test]
fn a_key_comes_back_from_its_bytes_and_others_are_refused() {
    let rlwe = literal(1024, &[33], &[]);
    let set = small(&rlwe, Scheme::Bfv { t: 257 });
    let client = Client::new(&set, &KEYS);
    let bytes = client.to_bytes();
    assert_eq!(Client::from_bytes(&set, &bytes).unwrap().to_bytes(), bytes);
    let sent = client
        .encrypt_secret(&message(1024, 257), &MESSAGES, 0)
        .unwrap();
    let refused = |client: &Client, bytes: &[u8]| client.decrypt(bytes).unwrap_err();
    assert_eq!(
        refused(&Client::new(&set, &MESSAGES), &sent),
        Error::OtherKey
    );
    let other = small(&rlwe, Scheme::Bfv { t: 17 });
    assert_eq!(
        refused(&Client::new(&other, &KEYS), &sent),
        Error::OtherParameters
    );
    assert_eq!(
        refused(&client, &bytes),
        Error::Bytes("an object of another kind")
    );
    for cut in 0..sent.len() {
        assert!(client.decrypt(&sent[..cut]).is_err(), "{cut}");
    }
    for place in (0..sent.len()).step_by(41) {
        let mut damaged = sent.clone();
        damaged[place] ^= 1;
        assert!(client.decrypt(&damaged).is_err(), "{place}");
    }
    for message in [&[257; 1024][..], &[-1; 1024], &[0; 1023]] {
        assert!(matches!(
            client.encrypt_secret(message, &MESSAGES, 0),
            Err(Error::Message(_))
        ));
    }
}

#[test]
fn sets_beyond_the_limits_are_refused() {
    let scheme = Scheme::Bfv { t: 257 };
    let q = literal(1024, &[33], &[]).q;
    for (n, data, scheme) in [
        (1000, &q[..], scheme),
        (16384, &q, scheme),
        (1024, &[], scheme),
        (1024, &[12289], scheme),
        (1024, &[(1 << 40) + 1], scheme),
        (1024, &[q[0]; 9], scheme),
        (1024, &q, Scheme::Bfv { t: 1 << 31 }),
        (1024, &q, Scheme::Ckks { scale: f64::NAN }),
    ] {
        let refused = Params::new(&ParamsLiteral {
            n,
            data,
            special: &[],
            dnum: 1,
            scheme,
        });
        assert!(matches!(refused, Err(Error::Parameters(_))), "{n} {data:?}");
    }
}
