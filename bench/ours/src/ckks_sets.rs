// SPDX-License-Identifier: Apache-2.0
//! CKKS at chains of 45-bit primes.

use crate::batch::{Pools, batch_len};
use crate::measure::{measure, report};
use ckks::{
    Ciphertext, CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Error, Evaluator,
    Plaintext, prime_chain,
};
use num_complex::Complex64;
use rlwe::{
    GaloisKeys, KeyGenerator, PublicKey, RelinKey, RlweParamsLiteral, SecretKey, SecurityPolicy,
    Seed, Threads,
};

/// Bits of every prime, but where more special primes would leave less than 128 bits of security.
pub const WIDTH: u32 = 45;
const LOG_SCALE: i32 = 40;
/// Largest error of a slot that counts as correct.
pub const TOLERANCE: f64 = 1e-3;

/// n, data primes, special primes, dnum, bits of every prime.
pub type Set = (usize, usize, usize, usize, u32);

/// The sets.
pub const SETS: [Set; 5] = [
    (8192, 3, 1, 3, WIDTH),
    (16384, 7, 1, 7, WIDTH),
    (16384, 7, 3, 3, 43),
    (32768, 14, 1, 14, WIDTH),
    (32768, 12, 3, 4, WIDTH),
];

/// Everything one set needs.
pub struct Kit {
    pub n: usize,
    pub bits: Vec<u32>,
    pub public: PublicKey<u64>,
    pub relin: RelinKey<u64>,
    pub galois: GaloisKeys<u64>,
    params: CkksParams,
    secret: SecretKey<u64>,
    encoder: Encoder,
    encryptor: Encryptor,
    evaluator: Evaluator,
    x: Vec<Complex64>,
    y: Vec<Complex64>,
    product: Vec<Complex64>,
}

impl Kit {
    /// Keys and two messages.
    pub fn new(set: Set) -> Result<Self, Error> {
        let (n, data, special, _, width) = set;
        let params = params(set)?;
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
        let secret = generator.secret_key()?;
        let wave = |f: fn(f64) -> f64| -> Vec<Complex64> {
            (0..n / 2)
                .map(|i| Complex64::new(f(i as f64), 0.0))
                .collect()
        };
        let (x, y) = (wave(f64::sin), wave(f64::cos));
        Ok(Self {
            n,
            bits: vec![width; data + special],
            public: generator.public_key(&secret)?,
            relin: generator.relin_key(&secret, data)?,
            galois: generator.galois_keys(&secret, &params.galois_elements(&[1], false), data)?,
            encoder: Encoder::new(&params),
            encryptor: Encryptor::new(&params, Seed::from_text("messages")),
            evaluator: Evaluator::new(&params),
            secret,
            product: x.iter().zip(&y).map(|(a, b)| a * b).collect(),
            x,
            y,
            params,
        })
    }

    fn near(&self, ct: &Ciphertext, want: &[Complex64]) -> Result<bool, Error> {
        let got = Decryptor::new(&self.params, &self.secret)?.decrypt_slots(ct)?;
        let close = |(a, b): (&Complex64, &Complex64)| (a - b).norm() < TOLERANCE;
        Ok(got.iter().zip(want).all(close))
    }

    fn encode(&self, values: &[Complex64]) -> Result<Plaintext, Error> {
        self.encoder
            .encode(values, self.params.max_level(), self.params.scale())
    }

    /// Two fresh encryptions.
    fn pair(&self) -> Result<(Ciphertext, Ciphertext), Error> {
        let fresh = |v, index| {
            self.encryptor
                .encrypt(&self.encode(v)?, &self.public, index)
        };
        Ok((fresh(&self.x, 0)?, fresh(&self.y, 1)?))
    }

    /// The first message moved by one slot.
    fn rotated(&self) -> Vec<Complex64> {
        [&self.x[1..], &self.x[..1]].concat()
    }

    /// One pass over what an application does: encrypt, multiply, relinearise, decrypt. Whether the product is right,
    /// and a fresh ciphertext.
    pub fn workload(&self) -> Result<(bool, Ciphertext), Error> {
        let (cx, cy) = self.pair()?;
        let tensor = self.evaluator.multiply(&cx, &cy)?;
        let out = self.evaluator.relinearize(&tensor, &self.relin)?;
        Ok((self.near(&out, &self.product)?, cx))
    }

    /// Every operation of the comparison, one after another.
    pub fn run(&self) -> Result<(), Error> {
        let row =
            |operation: &str, timing, right| report(operation, self.n, &self.bits, timing, right);
        let evaluator = &self.evaluator;
        let (cx, cy) = self.pair()?;
        let px = self.encode(&self.x)?;
        let timing = measure(|| drop(self.encode(&self.x).expect("encodes")));
        row("ckks-encode", timing, self.near(&cx, &self.x)?);
        let mut out = cx.clone();
        let timing = measure(|| {
            out = self
                .encryptor
                .encrypt(&px, &self.public, 2)
                .expect("encrypts")
        });
        row("ckks-encrypt", timing, self.near(&out, &self.x)?);
        let timing = measure(|| out = evaluator.multiply(&cx, &cy).expect("multiplies"));
        row("ckks-multiply", timing, self.near(&out, &self.product)?);
        let tensor = out.clone();
        let timing = measure(|| {
            out = evaluator
                .relinearize(&tensor, &self.relin)
                .expect("relinearises")
        });
        row("ckks-relinearize", timing, self.near(&out, &self.product)?);
        let mut lower = out.clone();
        let timing = measure(|| lower = evaluator.rescale(&out).expect("rescales"));
        row("ckks-rescale", timing, self.near(&lower, &self.product)?);
        let timing = measure(|| {
            lower = evaluator
                .relinearize_rescale(&tensor, &self.relin)
                .expect("relinearises")
        });
        let right = self.near(&lower, &self.product)?;
        row("ckks-relinearize-rescale", timing, right);
        let timing = measure(|| {
            let tensor = evaluator.multiply(&cx, &cy).expect("multiplies");
            lower = evaluator
                .relinearize_rescale(&tensor, &self.relin)
                .expect("relinearises");
        });
        let right = self.near(&lower, &self.product)?;
        row("ckks-multiply-relinearize-rescale", timing, right);
        let timing = measure(|| out = evaluator.rotate(&cx, 1, &self.galois).expect("rotates"));
        row("ckks-rotate", timing, self.near(&out, &self.rotated())?);
        Ok(())
    }

    /// Every operation on batches, on several threads.
    pub fn run_batches(&self, pools: &Pools) -> Result<(), Error> {
        let set = pools.of(self.n, &self.bits, batch_len(self.n));
        let (cx, cy) = self.pair()?;
        let px = self.encode(&self.x)?;
        let copies = |ct: &Ciphertext| vec![ct.clone(); set.items().len()];
        let (cxs, cys) = (copies(&cx), copies(&cy));
        let tensors = copies(&self.evaluator.multiply(&cx, &cy)?);
        let products = self.evaluator.relinearize_batch(&tensors, &self.relin)?;
        let on = |t: &Threads| Evaluator::new(&self.params).with_threads(t.clone());
        let right = |want: &[Complex64]| {
            let want = want.to_vec();
            move |ct: &Ciphertext| self.near(ct, &want).unwrap_or(false)
        };
        let encode = |t: &Threads| {
            t.try_map(&set.items(), |_| self.encode(&self.x))
                .expect("encodes")
        };
        set.run("ckks-encode", encode, |plain| {
            plain.poly().data() == px.poly().data()
        });
        let encrypt = |t: &Threads| {
            t.try_map(&set.items(), |i| {
                self.encryptor.encrypt(&px, &self.public, *i as u64)
            })
            .expect("encrypts")
        };
        set.run("ckks-encrypt", encrypt, right(&self.x));
        set.run(
            "ckks-multiply",
            |t| on(t).multiply_batch(&cxs, &cys).expect("multiplies"),
            right(&self.product),
        );
        set.run(
            "ckks-relinearize",
            |t| {
                on(t)
                    .relinearize_batch(&tensors, &self.relin)
                    .expect("relinearises")
            },
            right(&self.product),
        );
        set.run(
            "ckks-rescale",
            |t| on(t).rescale_batch(&products).expect("rescales"),
            right(&self.product),
        );
        set.run(
            "ckks-rotate",
            |t| on(t).rotate_batch(&cxs, 1, &self.galois).expect("rotates"),
            right(&self.rotated()),
        );
        set.alone(
            "ckks-relinearize",
            |t| {
                let evaluator = on(t);
                let tensor = &tensors[0];
                move || {
                    evaluator
                        .relinearize(tensor, &self.relin)
                        .expect("relinearises")
                }
            },
            right(&self.product),
        );
        Ok(())
    }
}

/// The set with this number of primes.
pub fn params((n, data, special, dnum, width): Set) -> Result<CkksParams, Error> {
    let (q, p) = prime_chain(n, width, width, data - 1, width, special)?;
    let rlwe = RlweParamsLiteral {
        n,
        q,
        p,
        dnum,
        ..RlweParamsLiteral::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(LOG_SCALE),
    };
    CkksParams::new(&literal, SecurityPolicy::insecure())
}
