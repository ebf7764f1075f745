// SPDX-License-Identifier: Apache-2.0
//! CKKS linear transforms: a product with a plain matrix of many diagonals, and the sum of eight rotations.

use crate::ckks_sets::{self, Set, TOLERANCE, WIDTH};
use crate::measure::{measure, report};
use ckks::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use ckks::{Ciphertext, CkksParams, Decryptor, Encoder, Encryptor, Error, Evaluator};
use rlwe::{GaloisKeys, KeyGenerator, SecretKey, Seed};

/// The sets, all of 128 bits of security.
const SETS: [Set; 3] = [
    (16384, 7, 1, 7, WIDTH),
    (16384, 7, 2, 4, WIDTH),
    (16384, 7, 3, 3, 43),
];

/// Diagonals, and the splits into baby and giant steps of which the fastest stands.
const DIAGONALS: [(usize, [(usize, usize); 2]); 2] =
    [(128, [(16, 8), (32, 4)]), (512, [(32, 16), (64, 8)])];

/// Rotations that are summed.
const ROTATIONS: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

struct Kit {
    bits: Vec<u32>,
    params: CkksParams,
    generator: KeyGenerator<u64>,
    secret: SecretKey<u64>,
    evaluator: Evaluator,
    x: Vec<f64>,
    ct: Ciphertext,
}

/// Entry i of diagonal d of a matrix, by its number of diagonals.
fn weight(count: usize, d: usize, i: usize) -> f64 {
    ((d * i + d) as f64).cos() / count as f64
}

impl Kit {
    fn new(set: Set) -> Result<Self, Error> {
        let (n, data, special, _, width) = set;
        let params = ckks_sets::params(set)?;
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
        let secret = generator.secret_key()?;
        let x: Vec<f64> = (0..n / 2).map(|i| (i as f64).sin()).collect();
        let plain = Encoder::new(&params).encode_real(&x, data - 1, params.scale())?;
        let encryptor = Encryptor::new(&params, Seed::from_text("messages"));
        Ok(Self {
            bits: vec![width; data + special],
            evaluator: Evaluator::new(&params),
            ct: encryptor.encrypt_secret(&plain, &secret, 0)?,
            generator,
            secret,
            x,
            params,
        })
    }

    fn galois(&self, steps: &[i64]) -> Result<GaloisKeys<u64>, Error> {
        let elements = self.params.galois_elements(steps, false);
        let limbs = self.params.max_level() + 1;
        Ok(self.generator.galois_keys(&self.secret, &elements, limbs)?)
    }

    /// Times a transform whose result has to be `want`; its median, spread and whether it is right.
    fn timed(
        &self,
        transform: &LinearTransform<'_>,
        keys: &GaloisKeys<u64>,
        want: impl Fn(usize) -> f64,
    ) -> Result<((f64, f64), bool), Error> {
        let apply = || self.evaluator.linear_transform(&self.ct, transform, keys);
        let mut out = apply()?;
        let timing = measure(|| out = apply().expect("transforms"));
        let got = Decryptor::new(&self.params, &self.secret)?.decrypt_slots(&out)?;
        let near = |(i, z): (usize, &num_complex::Complex64)| (z.re - want(i)).abs() < TOLERANCE;
        Ok((timing, got.iter().enumerate().all(near)))
    }

    fn sum_of_rotations(&self) -> Result<(), Error> {
        let keys = self.galois(&ROTATIONS)?;
        let terms = ROTATIONS.map(|rotation| Term {
            rotation,
            plaintext: None,
        });
        let giant = Giant {
            rotation: 0,
            terms: terms.to_vec(),
        };
        let transform = LinearTransform {
            giants: vec![giant],
        };
        let slots = self.x.len();
        let want = |i: usize| {
            let moved = ROTATIONS.map(|k| self.x[(i + k as usize) % slots]);
            moved.iter().sum()
        };
        let (timing, right) = self.timed(&transform, &keys, want)?;
        report(
            "ckks-sum-of-8-rotations",
            self.params.n(),
            &self.bits,
            timing,
            right,
        );
        Ok(())
    }

    /// A matrix with this number of diagonals, by the faster of the splits.
    fn diagonals(&self, count: usize, splits: &[(usize, usize)]) -> Result<(), Error> {
        let slots = self.x.len();
        let want = |i: usize| {
            let entry = |d: usize| weight(count, d, i) * self.x[(i + d) % slots];
            (0..count).map(entry).sum()
        };
        let mut best: Option<((f64, f64), bool)> = None;
        for &(babies, giants) in splits {
            let inner = (1..babies).map(|k| k as i64);
            let outer = (1..giants).map(|g| (g * babies) as i64);
            let keys = self.galois(&inner.chain(outer).collect::<Vec<_>>())?;
            let plain = self.encoded(count, babies)?;
            let mut plain = plain.iter();
            let mut giant = |g: usize| Giant {
                rotation: (g * babies) as i64,
                terms: (0..babies)
                    .map(|k| Term {
                        rotation: k as i64,
                        plaintext: plain.next(),
                    })
                    .collect(),
            };
            let transform = LinearTransform {
                giants: (0..giants).map(&mut giant).collect(),
            };
            let (timing, right) = self.timed(&transform, &keys, want)?;
            let (fastest, all_right) = best.unwrap_or((timing, true));
            let faster = if timing.0 < fastest.0 {
                timing
            } else {
                fastest
            };
            best = Some((faster, right && all_right));
        }
        if let Some((timing, right)) = best {
            let name = format!("ckks-linear-{count}");
            report(&name, self.params.n(), &self.bits, timing, right);
        }
        Ok(())
    }

    /// The diagonals in order, each moved back by the giant step that it is under.
    fn encoded(&self, count: usize, babies: usize) -> Result<Vec<ExtendedPlaintext>, Error> {
        let (encoder, slots) = (Encoder::new(&self.params), self.x.len());
        let encode = |d: usize| {
            let back = slots - d / babies * babies;
            let values: Vec<f64> = (0..slots)
                .map(|i| weight(count, d, (i + back) % slots))
                .collect();
            encoder.encode_real_extended(&values, self.params.max_level(), self.params.scale())
        };
        (0..count).map(encode).collect()
    }
}

/// Every row.
pub fn run() -> Result<(), Error> {
    for set in SETS {
        let kit = Kit::new(set)?;
        kit.sum_of_rotations()?;
        for (count, splits) in DIAGONALS {
            kit.diagonals(count, &splits)?;
        }
    }
    Ok(())
}
