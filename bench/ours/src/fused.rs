// SPDX-License-Identifier: Apache-2.0
//! Fused operations beside the single ones they replace, on one thread. They take turns; the lowest times of the
//! thread's own are printed with the medians, since what disturbs a run only ever adds.

use crate::measure::alternately;
use bfv::{BatchEncoder, BfvParams, BfvParamsLiteral};
use ckks::linear_transform::{ExtendedPlaintext, Giant, LinearTransform, Term};
use ckks::{Ciphertext, CkksParams, CkksParamsLiteral, Encoder, Encryptor, Evaluator, prime_chain};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::error::Error;
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

type Done = Result<(), Box<dyn Error>>;

/// n, data primes, special primes, digits, bits of a prime.
const SETS: [(usize, usize, usize, usize, u32); 4] = [
    (16384, 7, 1, 7, 45),
    (16384, 7, 2, 4, 45),
    (16384, 7, 3, 3, 43),
    (32768, 14, 5, 3, 45),
];

/// Rotations that are summed.
const ROTATIONS: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

struct Kit {
    params: CkksParams,
    generator: KeyGenerator<u64>,
    secret: rlwe::SecretKey<u64>,
    evaluator: Evaluator,
    ct: Ciphertext,
    name: String,
}

impl Kit {
    fn new(
        (n, data, special, dnum, bits): (usize, usize, usize, usize, u32),
    ) -> Result<Self, ckks::Error> {
        let (q, p) = prime_chain(n, bits, bits, data - 1, bits, special)?;
        let rlwe = RlweParamsLiteral {
            n,
            q,
            p,
            dnum,
            ..RlweParamsLiteral::default()
        };
        let literal = CkksParamsLiteral {
            rlwe,
            scale: 2f64.powi(40),
        };
        let params = CkksParams::new(&literal, SecurityPolicy::insecure())?;
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
        let secret = generator.secret_key()?;
        let values: Vec<f64> = (0..n / 2).map(|i| (i as f64).sin()).collect();
        let plain = Encoder::new(&params).encode_real(&values, data - 1, params.scale())?;
        let public = generator.public_key(&secret)?;
        let ct = Encryptor::new(&params, Seed::from_text("m")).encrypt(&plain, &public, 0)?;
        Ok(Self {
            evaluator: Evaluator::new(&params),
            name: format!("n={n} {data}+{special} primes of {bits} bits, {dnum} digits"),
            params,
            generator,
            secret,
            ct,
        })
    }

    fn row<const N: usize>(&self, names: [&str; N], ops: [&mut dyn FnMut(); N]) {
        for (name, (lowest, median)) in names.iter().zip(alternately(ops)) {
            print_row(&self.name, name, lowest, median);
        }
    }

    fn galois(&self, steps: &[i64]) -> Result<rlwe::GaloisKeys<u64>, ckks::Error> {
        let elements = self.params.galois_elements(steps, false);
        let limbs = self.params.max_level() + 1;
        Ok(self.generator.galois_keys(&self.secret, &elements, limbs)?)
    }

    fn relinearize_rescale(&self) -> Done {
        let limbs = self.params.max_level() + 1;
        let (e, ct) = (&self.evaluator, &self.ct);
        let relin = self.generator.relin_key(&self.secret, limbs)?;
        let product = e.multiply(ct, ct)?;
        let wide = e.relinearize(&product, &relin)?;
        self.row(
            ["multiply", "relinearize", "rescale", "relinearize_rescale"],
            [
                &mut || drop(e.multiply(ct, ct)),
                &mut || drop(e.relinearize(&product, &relin)),
                &mut || drop(e.rescale(&wide)),
                &mut || drop(e.relinearize_rescale(&product, &relin)),
            ],
        );
        Ok(())
    }

    fn sum_of_rotations(&self) -> Done {
        let keys = self.galois(&ROTATIONS)?;
        let (e, ct) = (&self.evaluator, &self.ct);
        let terms = ROTATIONS.map(|rotation| Term {
            rotation,
            plaintext: None,
        });
        let t = LinearTransform {
            giants: vec![Giant {
                rotation: 0,
                terms: terms.to_vec(),
            }],
        };
        self.row(
            ["rotate", "rotate_many of 8", "sum of 8 rotations"],
            [
                &mut || drop(e.rotate(ct, 1, &keys)),
                &mut || drop(e.rotate_many(ct, &ROTATIONS, &keys)),
                &mut || drop(e.linear_transform(ct, &t, &keys)),
            ],
        );
        Ok(())
    }

    fn diagonals(&self, babies: i64, giants: i64) -> Done {
        let steps: Vec<i64> = (1..babies).chain((1..giants).map(|g| g * babies)).collect();
        let keys = self.galois(&steps)?;
        let encoder = Encoder::new(&self.params);
        let encode = |k: i64| {
            let values: Vec<f64> = (0..self.params.slots() as i64)
                .map(|i| ((i * k) as f64).cos())
                .collect();
            encoder.encode_real_extended(&values, self.params.max_level(), self.params.scale())
        };
        let plain: Vec<ExtendedPlaintext> =
            (0..babies * giants).map(encode).collect::<Result<_, _>>()?;
        let mut next = plain.iter();
        let mut giant = |g: i64| Giant {
            rotation: g * babies,
            terms: (0..babies)
                .map(|rotation| Term {
                    rotation,
                    plaintext: next.next(),
                })
                .collect(),
        };
        let t = LinearTransform {
            giants: (0..giants).map(&mut giant).collect(),
        };
        let name = format!(
            "linear_transform of {} diagonals, {babies} by {giants}",
            babies * giants
        );
        self.row(
            [&name],
            [&mut || drop(self.evaluator.linear_transform(&self.ct, &t, &keys))],
        );
        Ok(())
    }
}

fn bfv_rotations() -> Done {
    let (n, bits) = (8192, [43u32, 43, 44, 44, 44]);
    let mut primes: Vec<u64> = Vec::new();
    for width in bits {
        primes.extend(ntt_primes::<u64>(
            width,
            2 * n as u64,
            1,
            Direction::Down,
            &primes.clone(),
        )?);
    }
    let p = primes.split_off(4);
    let rlwe = RlweParamsLiteral {
        n,
        q: primes,
        p,
        ..RlweParamsLiteral::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: 65537,
        auxiliary: Vec::new(),
    };
    let params = BfvParams::new(&literal, SecurityPolicy::insecure())?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
    let secret = Arc::new(generator.secret_key()?);
    let elements = ROTATIONS.map(|k| rlwe::rotation_element(n, k));
    let keys = generator.galois_keys(&secret, &elements, 4)?;
    let encryptor = bfv::Encryptor::symmetric(&params, secret, Seed::from_text("m"))?;
    let ct = encryptor.encrypt(&BatchEncoder::new(&params)?.encode(&[1, 2, 3])?)?;
    let e = bfv::Evaluator::new(&params);
    let term = |rotation| bfv::linear_transform::Term {
        rotation,
        plaintext: None,
    };
    let giant = bfv::linear_transform::Giant {
        rotation: 0,
        terms: ROTATIONS.map(term).to_vec(),
    };
    let t = bfv::linear_transform::LinearTransform {
        giants: vec![giant],
    };
    let names = [
        "bfv: 8 single rotations",
        "bfv: rotate_rows_many of 8",
        "bfv: sum of 8 rotations",
    ];
    let times = alternately([
        &mut || {
            ROTATIONS
                .iter()
                .for_each(|k| drop(e.rotate_rows(&ct, *k, &keys)))
        },
        &mut || drop(e.rotate_rows_many(&ct, &ROTATIONS, &keys)),
        &mut || drop(e.linear_transform(&ct, &t, &keys)),
    ]);
    for (name, (lowest, median)) in names.iter().zip(times) {
        print_row("n=8192 4+1 primes", name, lowest, median);
    }
    Ok(())
}

fn print_row(set: &str, operation: &str, lowest: f64, median: f64) {
    println!(
        "{{\"set\":\"{set}\",\"operation\":\"{operation}\",\"lowest_us\":{lowest:.1},\"median_us\":{median:.1}}}"
    );
}

/// Every comparison whose name contains `only`.
pub fn run(only: &str) -> Result<(), String> {
    let wanted = |name: &str| name.contains(only);
    let all = || -> Done {
        for set in SETS.into_iter().filter(|_| wanted("rescale")) {
            Kit::new(set)?.relinearize_rescale()?;
        }
        if wanted("sum") {
            Kit::new(SETS[0])?.sum_of_rotations()?;
        }
        if wanted("bfv") {
            bfv_rotations()?;
        }
        if wanted("diagonals") {
            let kit = Kit::new(SETS[0])?;
            for (babies, giants) in [(16, 8), (32, 4), (32, 16), (64, 8), (128, 4)] {
                kit.diagonals(babies, giants)?;
            }
        }
        Ok(())
    };
    all().map_err(|e| e.to_string())
}
