// SPDX-License-Identifier: Apache-2.0
//! CKKS at chains of 45-bit primes.

use crate::measure::{measure, report};
use ckks::{
    Ciphertext, CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Error, Evaluator,
    prime_chain,
};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};

const WIDTH: u32 = 45;
const LOG_SCALE: i32 = 40;
const TOLERANCE: f64 = 1e-3;

/// Every CKKS operation of the comparison at `data` data and `special` special primes in `dnum` digits.
pub fn run(n: usize, data: usize, special: usize, dnum: usize) -> Result<(), Error> {
    let bits = vec![WIDTH; data + special];
    let params = params(n, data, special, dnum)?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
    let secret = generator.secret_key()?;
    let public = generator.public_key(&secret)?;
    let relin = generator.relin_key(&secret, data)?;
    let galois = generator.galois_keys(&secret, &params.galois_elements(&[1], false), data)?;
    let encoder = Encoder::new(&params);
    let encryptor = Encryptor::new(&params, Seed::from_text("messages"));
    let decryptor = Decryptor::new(&params, &secret)?;
    let evaluator = Evaluator::new(&params);

    let slots = n / 2;
    let x: Vec<Complex64> = (0..slots)
        .map(|i| Complex64::new((i as f64).sin(), 0.0))
        .collect();
    let y: Vec<Complex64> = (0..slots)
        .map(|i| Complex64::new((i as f64).cos(), 0.0))
        .collect();
    let product: Vec<Complex64> = x.iter().zip(&y).map(|(a, b)| a * b).collect();
    let rotated: Vec<Complex64> = (0..slots).map(|i| x[(i + 1) % slots]).collect();
    let near = |ct: &Ciphertext, want: &[Complex64]| -> Result<bool, Error> {
        let got = decryptor.decrypt_slots(ct)?;
        Ok(got
            .iter()
            .zip(want)
            .all(|(a, b)| (a - b).norm() < TOLERANCE))
    };
    let encode = |v: &[Complex64]| encoder.encode(v, params.max_level(), params.scale());
    let px = encode(&x)?;
    let (cx, cy) = (
        encryptor.encrypt(&px, &public, 0)?,
        encryptor.encrypt(&encode(&y)?, &public, 1)?,
    );

    let timing = measure(|| drop(encode(&x).expect("encodes")));
    report("ckks-encode", n, &bits, timing, near(&cx, &x)?);
    let mut out = cx.clone();
    let timing = measure(|| out = encryptor.encrypt(&px, &public, 2).expect("encrypts"));
    report("ckks-encrypt", n, &bits, timing, near(&out, &x)?);
    let timing = measure(|| out = evaluator.multiply(&cx, &cy).expect("multiplies"));
    report("ckks-multiply", n, &bits, timing, near(&out, &product)?);
    let tensor = out.clone();
    let timing = measure(|| {
        out = evaluator
            .relinearize(&tensor, &relin)
            .expect("relinearises")
    });
    report("ckks-relinearize", n, &bits, timing, near(&out, &product)?);
    let mut lower = out.clone();
    let timing = measure(|| lower = evaluator.rescale(&out).expect("rescales"));
    report("ckks-rescale", n, &bits, timing, near(&lower, &product)?);
    let timing = measure(|| out = evaluator.rotate(&cx, 1, &galois).expect("rotates"));
    report("ckks-rotate", n, &bits, timing, near(&out, &rotated)?);
    Ok(())
}

fn params(n: usize, data: usize, special: usize, dnum: usize) -> Result<CkksParams, Error> {
    let (q, p) = prime_chain(n, WIDTH, WIDTH, data - 1, WIDTH, special)?;
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
