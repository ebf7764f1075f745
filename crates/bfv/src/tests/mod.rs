// SPDX-License-Identifier: Apache-2.0
//! Tests of the scheme as a whole.

mod bytes;
mod encoders;
mod errors;
mod noise;
mod operations;
mod programs;
mod publication;
mod seeds;
mod textbook;
mod transforms;

use crate::*;
use rlwe::{
    GaloisKeys, KeyGenerator, PublicKey, RelinKey, RlweParamsLiteral, SecretKey, SecurityPolicy,
    Seed, conjugation_element, rotation_element,
};
use std::sync::Arc;
use zq::Word;
use zq::primes::{Direction, ntt_primes};

/// Distinct primes of these sizes.
pub(crate) fn primes<W: Word>(n: usize, bits: &[u32]) -> Vec<W> {
    let mut all: Vec<W> = Vec::new();
    for b in bits {
        all.extend(ntt_primes::<W>(*b, 2 * n as u64, 1, Direction::Down, &all.clone()).unwrap());
    }
    all
}

/// A parameter set of these prime sizes.
pub(crate) fn params<W: Word>(n: usize, q_bits: &[u32], p_bits: &[u32], t: u64) -> BfvParams<W> {
    let mut all = primes(n, &[q_bits, p_bits].concat());
    let p = all.split_off(q_bits.len());
    let rlwe = RlweParamsLiteral {
        n,
        q: all,
        p,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: t,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// The smallest prime above 2^(bits-1) with slots for degree n.
pub(crate) fn batching_prime(n: usize, bits: u32) -> u64 {
    ntt_primes::<u64>(bits, 2 * n as u64, 1, Direction::Up, &[]).unwrap()[0]
}

/// Everything a test needs for one set.
pub(crate) struct Kit<W: Word> {
    pub params: BfvParams<W>,
    pub generator: KeyGenerator<W>,
    pub secret: Arc<SecretKey<W>>,
    pub public: Arc<PublicKey<W>>,
    pub relin: RelinKey<W>,
    pub galois: GaloisKeys<W>,
    pub encryptor: Encryptor<W>,
    pub decryptor: Decryptor<W>,
    pub evaluator: Evaluator<W>,
}

impl<W: Word> Kit<W> {
    pub fn new(params: BfvParams<W>) -> Self {
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("test keys"));
        let secret = Arc::new(generator.secret_key().unwrap());
        let public = Arc::new(generator.public_key(&secret).unwrap());
        let limbs = params.rlwe().data_primes();
        let n = params.n();
        let mut elements: Vec<u64> = (0..n.trailing_zeros() - 1)
            .map(|i| rotation_element(n, 1 << i))
            .collect();
        elements.extend([
            rotation_element(n, -1),
            rotation_element(n, 3),
            conjugation_element(n),
        ]);
        Self {
            relin: generator.relin_key(&secret, limbs).unwrap(),
            galois: generator.galois_keys(&secret, &elements, limbs).unwrap(),
            encryptor: Encryptor::new(&params, public.clone(), Seed::from_text("test messages"))
                .unwrap(),
            decryptor: Decryptor::new(&params, secret.clone()).unwrap(),
            evaluator: Evaluator::new(&params),
            params,
            generator,
            secret,
            public,
        }
    }

    pub fn encrypt(&self, coefficients: &[u64]) -> Ciphertext<W> {
        self.encryptor
            .encrypt(&Plaintext::from_coefficients(&self.params, coefficients).unwrap())
            .unwrap()
    }

    pub fn decrypt(&self, ct: &Ciphertext<W>) -> Vec<u64> {
        self.decryptor.decrypt(ct).unwrap().coefficients().to_vec()
    }
}

/// Deterministic values in 0..bound.
pub(crate) fn values(label: &str, count: usize, bound: u64) -> Vec<u64> {
    let mut bytes = vec![0; 16 * count];
    Seed::from_text("values").stream(label, 0).fill(&mut bytes);
    let value = |b: &[u8]| (u128::from_le_bytes(b.try_into().unwrap()) % u128::from(bound)) as u64;
    bytes.chunks_exact(16).map(value).collect()
}

/// The product modulo x^n + 1 and t.
pub(crate) fn negacyclic(a: &[u64], b: &[u64], t: u64) -> Vec<u64> {
    let n = a.len();
    let mut out = vec![0i128; n];
    let t = i128::from(t);
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            let product = i128::from(*x) * i128::from(*y) % t;
            let k = (i + j) % n;
            out[k] = (out[k] + if i + j < n { product } else { t - product }) % t;
        }
    }
    out.into_iter().map(|x| x as u64).collect()
}
