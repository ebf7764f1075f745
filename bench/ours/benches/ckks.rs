// SPDX-License-Identifier: Apache-2.0
//! CKKS operations, one thread. Sets are named n, data primes + special primes; rescale primes have 45 bits.

use ckks::{
    Ciphertext, CkksParams, CkksParamsLiteral, Encoder, Encryptor, Evaluator, Plaintext,
    prime_chain,
};
use divan::Bencher;
use num_complex::Complex64;
use rlwe::{
    GaloisKeys, KeyGenerator, PublicKey, RelinKey, RlweParamsLiteral, SecretKey, SecurityPolicy,
    Seed, Threads,
};
use std::sync::OnceLock;

fn main() {
    divan::main();
}

/// A parameter set by its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Set {
    log_n: u32,
    primes: usize,
    special: usize,
    dnum: usize,
}

const SETS: [Set; 4] = [
    Set {
        log_n: 13,
        primes: 3,
        special: 1,
        dnum: 3,
    },
    Set {
        log_n: 14,
        primes: 7,
        special: 1,
        dnum: 7,
    },
    Set {
        log_n: 15,
        primes: 14,
        special: 1,
        dnum: 14,
    },
    Set {
        log_n: 15,
        primes: 12,
        special: 3,
        dnum: 4,
    },
];

struct Setup {
    set: Set,
    params: CkksParams,
    secret: SecretKey<u64>,
    public: PublicKey<u64>,
    extended: PublicKey<u64>,
    relin: RelinKey<u64>,
    galois: GaloisKeys<u64>,
    values: Vec<Complex64>,
    plaintext: Plaintext,
    ct: Ciphertext,
    product: Ciphertext,
}

fn setup(set: Set) -> &'static Setup {
    static READY: [OnceLock<Setup>; SETS.len()] = [const { OnceLock::new() }; SETS.len()];
    let index = SETS
        .iter()
        .position(|s| *s == set)
        .expect("a set of the list");
    READY[index].get_or_init(|| make(set).expect("the sets are valid"))
}

fn make(set: Set) -> Result<Setup, ckks::Error> {
    let n = 1usize << set.log_n;
    let (q, p) = prime_chain(n, 46, 45, set.primes - 1, 46, set.special)?;
    let rlwe = RlweParamsLiteral {
        n,
        q,
        p,
        dnum: set.dnum,
        ..RlweParamsLiteral::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(45),
    };
    let params = CkksParams::new(&literal, SecurityPolicy::insecure())?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
    let secret = generator.secret_key()?;
    let public = generator.public_key(&secret)?;
    let values: Vec<Complex64> = (0..n / 2)
        .map(|k| Complex64::new((k as f64).sin(), (k as f64).cos()))
        .collect();
    let plaintext = Encoder::new(&params).encode(&values, params.max_level(), params.scale())?;
    let ct = Encryptor::new(&params, Seed::from_text("m")).encrypt(&plaintext, &public, 0)?;
    Ok(Setup {
        set,
        relin: generator.relin_key(&secret, set.primes)?,
        galois: generator.galois_keys(
            &secret,
            &params.galois_elements(&[1, 2, 4, 8], false),
            set.primes,
        )?,
        product: Evaluator::new(&params).multiply(&ct, &ct)?,
        extended: generator.extended_public_key(&secret)?,
        secret,
        public,
        values,
        plaintext,
        ct,
        params,
    })
}

#[divan::bench(args = SETS)]
fn encode(bencher: Bencher, set: Set) {
    let s = setup(set);
    let encoder = Encoder::new(&s.params);
    bencher.bench(|| encoder.encode(&s.values, s.params.max_level(), s.params.scale()));
}

#[divan::bench(args = SETS)]
fn decrypt_decode(bencher: Bencher, set: Set) {
    let s = setup(set);
    let decryptor = ckks::Decryptor::new(&s.params, &s.secret).expect("own key");
    bencher.bench(|| decryptor.decrypt_slots(&s.ct));
}

#[divan::bench(args = SETS)]
fn encrypt(bencher: Bencher, set: Set) {
    let s = setup(set);
    let encryptor = Encryptor::new(&s.params, Seed::from_text("e"));
    bencher.bench(|| encryptor.encrypt(&s.plaintext, &s.public, 1));
}

#[divan::bench(args = SETS)]
fn encrypt_extended(bencher: Bencher, set: Set) {
    let s = setup(set);
    let encryptor = Encryptor::new(&s.params, Seed::from_text("e"));
    bencher.bench(|| encryptor.encrypt(&s.plaintext, &s.extended, 1));
}

#[divan::bench(args = SETS)]
fn encrypt_secret(bencher: Bencher, set: Set) {
    let s = setup(set);
    let encryptor = Encryptor::new(&s.params, Seed::from_text("e"));
    bencher.bench(|| encryptor.encrypt_secret(&s.plaintext, &s.secret, 1));
}

#[divan::bench(args = SETS)]
fn multiply(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params);
    bencher.bench(|| evaluator.multiply(&s.ct, &s.ct));
}

#[divan::bench(args = SETS)]
fn relinearize(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params);
    bencher.bench(|| {
        evaluator
            .relinearize(&s.product, &s.relin)
            .expect("own key")
    });
}

#[divan::bench(args = SETS)]
fn rescale(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params);
    let product = evaluator
        .relinearize(&s.product, &s.relin)
        .expect("own key");
    bencher.bench(|| evaluator.rescale(&product).expect("a level is left"));
}

#[divan::bench(args = SETS)]
fn rotate(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params);
    bencher.bench(|| evaluator.rotate(&s.ct, 1, &s.galois).expect("own key"));
}

#[divan::bench(args = SETS)]
fn rotate_four_hoisted(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params);
    assert_eq!(s.set, set);
    bencher.bench(|| evaluator.rotate_many(&s.ct, &[1, 2, 4, 8], &s.galois));
}

/// Eight ciphertexts with one pass over the key.
#[divan::bench(args = SETS)]
fn relinearize_batch_of_eight(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params);
    let batch = vec![s.product.clone(); 8];
    bencher.bench(|| {
        evaluator
            .relinearize_batch(&batch, &s.relin)
            .expect("own key")
    });
}

#[divan::bench(args = SETS)]
fn relinearize_batch_of_eight_two_threads(bencher: Bencher, set: Set) {
    let s = setup(set);
    let evaluator = Evaluator::new(&s.params).with_threads(Threads::new(2).expect("threads"));
    let batch = vec![s.product.clone(); 8];
    bencher.bench(|| {
        evaluator
            .relinearize_batch(&batch, &s.relin)
            .expect("own key")
    });
}
