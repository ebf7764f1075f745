// SPDX-License-Identifier: Apache-2.0
//! Tests of the whole scheme on small rings, against clear arithmetic.

mod bytes;
mod contrived;
mod fused;
mod operations;
mod polynomials;
mod programs;
mod publication;
mod refusals;
mod seeds;
mod threads;

use crate::{
    Ciphertext, CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Evaluator,
    prime_chain,
};
use num_complex::Complex64;
use rlwe::{
    GaloisKeys, KeyGenerator, PublicKey, RelinKey, RlweParamsLiteral, SecretKey, SecurityPolicy,
    Seed,
};

/// Shape of a test set.
#[derive(Clone, Copy)]
pub struct Shape {
    pub log_n: u32,
    pub levels: usize,
    pub scale_bits: u32,
    pub special: usize,
    pub dnum: usize,
}

pub const SMALL: Shape = Shape {
    log_n: 6,
    levels: 3,
    scale_bits: 40,
    special: 1,
    dnum: 0,
};

/// A client and server in one.
pub struct Bench {
    pub params: CkksParams,
    pub secret: SecretKey<u64>,
    pub public: PublicKey<u64>,
    pub relin: RelinKey<u64>,
    pub galois: GaloisKeys<u64>,
    pub encoder: Encoder,
    pub encryptor: Encryptor,
    pub evaluator: Evaluator,
}

pub fn literal(shape: Shape) -> CkksParamsLiteral {
    let n = 1usize << shape.log_n;
    let first = shape.scale_bits + 12;
    let (q, p) = prime_chain(
        n,
        first,
        shape.scale_bits,
        shape.levels,
        first,
        shape.special,
    )
    .unwrap();
    let rlwe = RlweParamsLiteral {
        n,
        q,
        p,
        dnum: shape.dnum,
        ..RlweParamsLiteral::default()
    };
    CkksParamsLiteral {
        rlwe,
        scale: f64::from(shape.scale_bits).exp2(),
    }
}

impl Bench {
    pub fn new(shape: Shape) -> Self {
        Self::seeded(shape, "bench")
    }

    pub fn seeded(shape: Shape, seed: &str) -> Self {
        let params = CkksParams::new(&literal(shape), SecurityPolicy::insecure()).unwrap();
        Self::of(params, seed)
    }

    pub fn of(params: CkksParams, seed: &str) -> Self {
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text(seed));
        let secret = generator.secret_key().unwrap();
        let limbs = params.max_level() + 1;
        let elements = params.galois_elements(&[1, 2, 3, 4, 5, 8, -1, -3], true);
        Self {
            public: generator.public_key(&secret).unwrap(),
            relin: generator.relin_key(&secret, limbs).unwrap(),
            galois: generator.galois_keys(&secret, &elements, limbs).unwrap(),
            encoder: Encoder::new(&params),
            encryptor: Encryptor::new(&params, Seed::from_text("messages")),
            evaluator: Evaluator::new(&params),
            secret,
            params,
        }
    }

    pub fn encrypt(&self, values: &[Complex64], index: u64) -> Ciphertext {
        let plaintext = self
            .encoder
            .encode(values, self.params.max_level(), self.params.scale())
            .unwrap();
        self.encryptor
            .encrypt(&plaintext, &self.public, index)
            .unwrap()
    }

    /// An extended public key, if there are special primes.
    pub fn extended_key(&self) -> Result<PublicKey<u64>, rlwe::Error> {
        let generator = KeyGenerator::new(self.params.rlwe(), Seed::from_text("extended"));
        generator.extended_public_key(&self.secret)
    }

    pub fn decrypt(&self, ct: &Ciphertext) -> Vec<Complex64> {
        Decryptor::new(&self.params, &self.secret)
            .unwrap()
            .decrypt_slots(ct)
            .unwrap()
    }

    /// Largest distance between decrypted and expected slots.
    pub fn error(&self, ct: &Ciphertext, want: &[Complex64]) -> f64 {
        let got = self.decrypt(ct);
        assert_eq!(got.len(), want.len());
        got.iter()
            .zip(want)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max)
    }

    /// Asserts that the slots are `want` up to `tolerance`.
    pub fn expect(&self, what: &str, ct: &Ciphertext, want: &[Complex64], tolerance: f64) {
        let error = self.error(ct, want);
        assert!(
            error < tolerance,
            "{what}: error {error:e}, at most {tolerance:e}"
        );
    }
}

/// Deterministic values in the unit disc.
pub fn values(count: usize, salt: u64) -> Vec<Complex64> {
    let mut bytes = vec![0u8; 8 * count];
    Seed::from_text("values").stream("v", salt).fill(&mut bytes);
    let unit =
        |b: &[u8]| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])) / f64::from(u32::MAX);
    bytes
        .chunks_exact(8)
        .map(|b| Complex64::from_polar(unit(b).sqrt(), std::f64::consts::TAU * unit(&b[4..])))
        .collect()
}

/// Deterministic reals in [-1, 1].
pub fn reals(count: usize, salt: u64) -> Vec<Complex64> {
    values(count, salt)
        .iter()
        .map(|z| Complex64::new(z.re, 0.0))
        .collect()
}

pub fn zip(
    a: &[Complex64],
    b: &[Complex64],
    f: impl Fn(Complex64, Complex64) -> Complex64,
) -> Vec<Complex64> {
    a.iter().zip(b).map(|(x, y)| f(*x, *y)).collect()
}

/// Slots rotated left.
pub fn rotated(a: &[Complex64], steps: i64) -> Vec<Complex64> {
    let mut out = a.to_vec();
    out.rotate_left(steps.rem_euclid(a.len() as i64) as usize);
    out
}
