// SPDX-License-Identifier: Apache-2.0
//! BFV at the published sets: data primes and one special prime.

use std::sync::Arc;

use crate::batch::{Pools, batch_len};
use crate::measure::{measure, report, report_budget};
use bfv::{
    BatchEncoder, BfvParams, BfvParamsLiteral, Ciphertext, Decryptor, Encryptor, Error, Evaluator,
    Plaintext,
};
use rlwe::{
    GaloisKeys, KeyGenerator, PublicKey, RelinKey, RlweParamsLiteral, SecretKey, SecurityPolicy,
    Seed,
};
use zq::primes::{Direction, ntt_primes};

const PLAIN_MODULUS: u64 = 65537;

/// One operation of a batch.
type Operation<'a> = dyn Fn(&Evaluator<u64>) -> Result<Ciphertext<u64>, Error> + Sync + 'a;

/// The sets: n, data primes, special prime.
///
/// The last two hold the same 180 bits of data in six primes and in four.
pub const SETS: [(usize, &[u32], u32); 4] = [
    (4096, &[36, 36], 37),
    (8192, &[43, 43, 44, 44], 44),
    (4096, &[30; 6], 30),
    (4096, &[45; 4], 45),
];

/// Everything one set needs.
pub struct Kit {
    pub n: usize,
    pub bits: Vec<u32>,
    pub public: Arc<PublicKey<u64>>,
    pub relin: RelinKey<u64>,
    pub galois: GaloisKeys<u64>,
    params: BfvParams<u64>,
    generator: KeyGenerator<u64>,
    secret: Arc<SecretKey<u64>>,
    encoder: BatchEncoder<u64>,
    encryptor: Encryptor<u64>,
    decryptor: Decryptor<u64>,
    evaluator: Evaluator<u64>,
    x: Vec<u64>,
    y: Vec<u64>,
    product: Vec<u64>,
}

impl Kit {
    /// Keys and two messages.
    pub fn new(n: usize, data: &[u32], special: u32) -> Result<Self, Error> {
        let params = params(n, data, special)?;
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
        let secret = Arc::new(generator.secret_key()?);
        let public = Arc::new(generator.public_key(&secret)?);
        let element = rlwe::rotation_element(n, 1);
        let t = PLAIN_MODULUS;
        let x: Vec<u64> = (0..n as u64).map(|i| (3 * i + 1) % t).collect();
        let y: Vec<u64> = (0..n as u64).map(|i| (7 * i + 2) % t).collect();
        Ok(Self {
            n,
            bits: widths(data, special).collect(),
            relin: generator.relin_key(&secret, data.len())?,
            galois: generator.galois_keys(&secret, &[element], data.len())?,
            encoder: BatchEncoder::new(&params)?,
            encryptor: Encryptor::new(&params, public.clone(), Seed::from_text("messages"))?,
            decryptor: Decryptor::new(&params, secret.clone())?,
            evaluator: Evaluator::new(&params),
            public,
            params,
            generator,
            secret,
            product: x.iter().zip(&y).map(|(a, b)| a * b % t).collect(),
            x,
            y,
        })
    }

    fn read(&self, ct: &Ciphertext<u64>) -> Result<Vec<u64>, Error> {
        self.encoder.decode(&self.decryptor.decrypt(ct)?)
    }

    /// A fresh encryption.
    pub fn fresh(&self, values: &[u64]) -> Result<Ciphertext<u64>, Error> {
        self.encryptor.encrypt(&self.encoder.encode(values)?)
    }

    /// One pass over what an application does: encrypt, multiply, relinearise, decrypt. Whether the product is right,
    /// and a fresh ciphertext.
    pub fn workload(&self) -> Result<(bool, Ciphertext<u64>), Error> {
        let (cx, cy) = (self.fresh(&self.x)?, self.fresh(&self.y)?);
        let out = self.evaluator.multiply_relin(&cx, &cy, &self.relin)?;
        Ok((self.read(&out)? == self.product, cx))
    }

    /// Every operation of the comparison, one after another.
    pub fn run(&self) -> Result<(), Error> {
        let row =
            |operation: &str, timing, right| report(operation, self.n, &self.bits, timing, right);
        let left = |operation: &str, timing, right, ct: &Ciphertext<u64>| {
            let budget = self.decryptor.noise_budget(ct)?;
            report_budget(operation, self.n, &self.bits, timing, right, budget);
            Ok::<_, Error>(())
        };
        let (cx, cy) = (self.fresh(&self.x)?, self.fresh(&self.y)?);
        let evaluator = &self.evaluator;
        let mut out = cx.clone();
        let timing = measure(|| out = self.fresh(&self.x).expect("encrypts"));
        left("bfv-encrypt", timing, self.read(&out)? == self.x, &out)?;
        if let Ok(key) = self.generator.extended_public_key(&self.secret) {
            let encryptor =
                Encryptor::new(&self.params, Arc::new(key), Seed::from_text("extended"))?;
            let fresh = || encryptor.encrypt(&self.encoder.encode(&self.x)?);
            let timing = measure(|| out = fresh().expect("encrypts"));
            let right = self.read(&out)? == self.x;
            left("bfv-encrypt-extended", timing, right, &out)?;
        }
        let timing = measure(|| drop(self.read(&cx).expect("decrypts")));
        row("bfv-decrypt", timing, self.read(&cx)? == self.x);
        let timing = measure(|| drop(self.decryptor.decrypt(&cx).expect("decrypts")));
        row("bfv-decrypt-only", timing, self.read(&cx)? == self.x);
        let timing = measure(|| out = evaluator.multiply(&cx, &cy).expect("multiplies"));
        row("bfv-multiply", timing, self.read(&out)? == self.product);
        let tensor = out.clone();
        let timing = measure(|| {
            out = evaluator
                .multiply_relin(&cx, &cy, &self.relin)
                .expect("multiplies")
        });
        left(
            "bfv-multiply-relinearize",
            timing,
            self.read(&out)? == self.product,
            &out,
        )?;
        let timing = measure(|| {
            out = evaluator
                .relinearize(&tensor, &self.relin)
                .expect("relinearises")
        });
        row("bfv-relinearize", timing, self.read(&out)? == self.product);
        let timing = measure(|| {
            out = evaluator
                .rotate_rows(&cx, 1, &self.galois)
                .expect("rotates")
        });
        row("bfv-rotate", timing, self.read(&out)?[0] == self.x[1]);
        Ok(())
    }

    /// Every operation on batches, on several threads.
    pub fn run_batches(&self, pools: &Pools) -> Result<(), Error> {
        let set = pools.of(self.n, &self.bits, batch_len(self.n));
        let (cx, cy) = (self.fresh(&self.x)?, self.fresh(&self.y)?);
        let tensor = self.evaluator.multiply(&cx, &cy)?;
        let message: Plaintext = self.encoder.encode(&self.x)?;
        let right = |want: &[u64]| {
            let want = want.to_vec();
            move |ct: &Ciphertext<u64>| self.read(ct).is_ok_and(|got| got == want)
        };
        let each = |threads: &rlwe::Threads, op: &Operation<'_>| {
            self.evaluator
                .batch(threads, &set.items(), |e, _| op(e))
                .expect("a batch")
        };
        let alone = |threads: &rlwe::Threads| self.evaluator.clone().with_threads(threads.clone());
        set.run(
            "bfv-encrypt",
            |t| each(t, &|_| self.encryptor.encrypt(&message)),
            right(&self.x),
        );
        set.run(
            "bfv-multiply",
            |t| each(t, &|e| e.multiply(&cx, &cy)),
            right(&self.product),
        );
        set.run(
            "bfv-multiply-relinearize",
            |t| each(t, &|e| e.multiply_relin(&cx, &cy, &self.relin)),
            right(&self.product),
        );
        set.run(
            "bfv-relinearize",
            |t| each(t, &|e| e.relinearize(&tensor, &self.relin)),
            right(&self.product),
        );
        let moved = |ct: &Ciphertext<u64>| self.read(ct).is_ok_and(|got| got[0] == self.x[1]);
        set.run(
            "bfv-rotate",
            |t| each(t, &|e| e.rotate_rows(&cx, 1, &self.galois)),
            moved,
        );
        let decrypt = |t: &rlwe::Threads| {
            t.try_map(&set.items(), |_| self.read(&cx))
                .expect("decrypts")
        };
        set.run("bfv-decrypt", decrypt, |values| *values == self.x);
        set.alone(
            "bfv-multiply-relinearize",
            |t| {
                let evaluator = alone(t);
                move || {
                    evaluator
                        .multiply_relin(&cx, &cy, &self.relin)
                        .expect("multiplies")
                }
            },
            right(&self.product),
        );
        Ok(())
    }
}

/// Widths of the data primes and of the special prime; 0 is none.
fn widths(data: &[u32], special: u32) -> impl Iterator<Item = u32> {
    data.iter().copied().chain((special > 0).then_some(special))
}

/// Data primes and the special prime, largest first below each width, none twice. Insecure sets are run on purpose.
fn params(n: usize, data: &[u32], special: u32) -> Result<BfvParams<u64>, Error> {
    let mut taken: Vec<u64> = Vec::new();
    for bits in widths(data, special) {
        let prime =
            ntt_primes(bits, 2 * n as u64, 1, Direction::Down, &taken).expect("such primes exist");
        taken.extend(prime);
    }
    let literal = BfvParamsLiteral {
        rlwe: RlweParamsLiteral {
            n,
            q: taken[..data.len()].to_vec(),
            p: taken[data.len()..].to_vec(),
            dnum: data.len(),
            ..RlweParamsLiteral::default()
        },
        plain_modulus: PLAIN_MODULUS,
        auxiliary: Vec::new(),
    };
    BfvParams::new(&literal, SecurityPolicy::insecure())
}
