// SPDX-License-Identifier: Apache-2.0
//! BFV at the published sets: data primes and one special prime.

use std::sync::Arc;

use crate::measure::{measure, report};
use bfv::{
    BatchEncoder, BfvParams, BfvParamsLiteral, Ciphertext, Decryptor, Encryptor, Error, Evaluator,
};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use zq::primes::{Direction, ntt_primes};

const PLAIN_MODULUS: u64 = 65537;

/// Every BFV operation of the comparison at one set.
pub fn run(n: usize, data: &[u32], special: u32) -> Result<(), Error> {
    let bits: Vec<u32> = data.iter().copied().chain([special]).collect();
    let params = params(n, data, special)?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("bench"));
    let secret = Arc::new(generator.secret_key()?);
    let public = Arc::new(generator.public_key(&secret)?);
    let relin = generator.relin_key(&secret, data.len())?;
    let element = rlwe::rotation_element(n, 1);
    let galois = generator.galois_keys(&secret, &[element], data.len())?;
    let encoder = BatchEncoder::new(&params)?;
    let encryptor = Encryptor::new(&params, public, Seed::from_text("messages"))?;
    let decryptor = Decryptor::new(&params, secret)?;
    let evaluator = Evaluator::new(&params);

    let t = PLAIN_MODULUS;
    let x: Vec<u64> = (0..n as u64).map(|i| (3 * i + 1) % t).collect();
    let y: Vec<u64> = (0..n as u64).map(|i| (7 * i + 2) % t).collect();
    let product: Vec<u64> = x.iter().zip(&y).map(|(a, b)| a * b % t).collect();
    let read = |ct: &Ciphertext<u64>| -> Result<Vec<u64>, Error> {
        encoder.decode(&decryptor.decrypt(ct)?)
    };
    let (cx, cy) = (
        encryptor.encrypt(&encoder.encode(&x)?)?,
        encryptor.encrypt(&encoder.encode(&y)?)?,
    );

    let mut out = cx.clone();
    let timing = measure(|| {
        out = encryptor
            .encrypt(&encoder.encode(&x).expect("fits"))
            .expect("encrypts")
    });
    report("bfv-encrypt", n, &bits, timing, read(&out)? == x);
    let timing = measure(|| drop(read(&cx).expect("decrypts")));
    report("bfv-decrypt", n, &bits, timing, read(&cx)? == x);
    let timing = measure(|| out = evaluator.multiply(&cx, &cy).expect("multiplies"));
    report("bfv-multiply", n, &bits, timing, read(&out)? == product);
    let tensor = out.clone();
    let timing = measure(|| {
        out = evaluator
            .multiply_relin(&cx, &cy, &relin)
            .expect("multiplies")
    });
    report(
        "bfv-multiply-relinearize",
        n,
        &bits,
        timing,
        read(&out)? == product,
    );
    let timing = measure(|| {
        out = evaluator
            .relinearize(&tensor, &relin)
            .expect("relinearises")
    });
    report("bfv-relinearize", n, &bits, timing, read(&out)? == product);
    let timing = measure(|| out = evaluator.rotate_rows(&cx, 1, &galois).expect("rotates"));
    report("bfv-rotate", n, &bits, timing, read(&out)?[0] == x[1]);
    Ok(())
}

/// Data primes and the special prime, largest first below each width, none twice. Insecure sets are run on purpose.
fn params(n: usize, data: &[u32], special: u32) -> Result<BfvParams<u64>, Error> {
    let mut taken: Vec<u64> = Vec::new();
    for &bits in data.iter().chain([&special]) {
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
