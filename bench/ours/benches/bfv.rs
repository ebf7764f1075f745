// SPDX-License-Identifier: Apache-2.0
//! Times of the main operations on this machine:
//! `cargo bench -p ringsmith-bench --bench bfv [-- PART OF A SET'S NAME]`.
//! Lower quartile of wall time over many calls, so that other load counts little. Every product is decrypted and
//! checked.

use bfv::{
    BatchEncoder, BfvParams, BfvParamsLiteral, Decryptor, Encryptor, Evaluator, MultiplyAlgorithm,
};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed, Threads};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use zq::Word;
use zq::primes::{Direction, ntt_primes};

/// Lower quartile of a call's time in microseconds, over half a second.
fn quartile<T>(mut call: impl FnMut() -> T) -> f64 {
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 20 || begin.elapsed().as_millis() < 500 {
        let start = Instant::now();
        black_box(call());
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 4]
}

/// Ciphertext pairs in a batch.
const BATCH: usize = 16;

type Failure = Box<dyn std::error::Error>;

fn params<W: Word>(n: usize, q: &[u32], p: &[u32], t: u64) -> Result<BfvParams<W>, Failure> {
    let mut primes: Vec<W> = Vec::new();
    for bits in q.iter().chain(p) {
        primes.extend(ntt_primes::<W>(
            *bits,
            2 * n as u64,
            1,
            Direction::Down,
            &primes.clone(),
        )?);
    }
    let special = primes.split_off(q.len());
    let rlwe = RlweParamsLiteral {
        n,
        q: primes,
        p: special,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: t,
        auxiliary: vec![],
    };
    Ok(BfvParams::new(&literal, SecurityPolicy::insecure())?)
}

fn measure<W: Word>(name: &str, n: usize, q: &[u32], p: &[u32], t: u64) -> Result<(), Failure> {
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    if wanted.is_some_and(|wanted| !name.contains(&wanted)) {
        return Ok(());
    }
    let params = params::<W>(n, q, p, t)?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("speed"));
    let secret = Arc::new(generator.secret_key()?);
    let relin = generator.relin_key(&secret, q.len())?;
    let galois = generator.galois_keys(&secret, &[3], q.len())?;
    let public = Arc::new(generator.public_key(&secret)?);
    let encryptor = Encryptor::new(&params, public, Seed::from_text("messages"))?;
    let extended = generator.extended_public_key(&secret).ok();
    let decryptor = Decryptor::new(&params, secret)?;
    let encoder = BatchEncoder::new(&params)?;
    let values: Vec<u64> = (0..n as u64).map(|i| i % t).collect();
    let plain = encoder.encode(&values)?;
    let (a, b) = (encryptor.encrypt(&plain)?, encryptor.encrypt(&plain)?);
    println!(
        "{name}; relinearisation key {} bytes",
        relin.to_bytes().len()
    );
    let line = |what: &str, us: f64| println!("  {what:<32} {us:>10.1} us");
    line("encrypt", quartile(|| encryptor.encrypt(&plain)));
    if let Some(key) = extended {
        let encryptor = Encryptor::new(&params, Arc::new(key), Seed::from_text("extended"))?;
        line(
            "encrypt under an extended key",
            quartile(|| encryptor.encrypt(&plain)),
        );
    }
    line(
        "decrypt + decode",
        quartile(|| decryptor.decrypt(&a).map(|p| encoder.decode(&p))),
    );
    for algorithm in [MultiplyAlgorithm::Hps, MultiplyAlgorithm::HpsOverQ] {
        let evaluator = Evaluator::new(&params).with_algorithm(algorithm);
        let squares: Vec<u64> = values.iter().map(|v| v * v % t).collect();
        let product = evaluator.multiply_relin(&a, &b, &relin)?;
        assert_eq!(
            encoder.decode(&decryptor.decrypt(&product)?)?,
            squares,
            "the product is wrong"
        );
        line(
            &format!("multiply {algorithm:?}"),
            quartile(|| evaluator.multiply(&a, &b)),
        );
        line(
            "multiply and relinearise",
            quartile(|| evaluator.multiply_relin(&a, &b, &relin)),
        );
    }
    let evaluator = Evaluator::new(&params);
    let product = evaluator.multiply(&a, &b)?;
    line(
        "relinearise",
        quartile(|| evaluator.relinearize(&product, &relin)),
    );
    line("rotate", quartile(|| evaluator.rotate_rows(&a, 1, &galois)));
    for count in [1, 2] {
        let (threads, pairs) = (Threads::new(count)?, vec![(&a, &b); BATCH]);
        let batch = || {
            evaluator.batch(&threads, &pairs, |ev, (x, y)| {
                ev.multiply_relin(x, y, &relin)
            })
        };
        line(
            &format!("batch of {BATCH}, each, {count} threads"),
            quartile(batch) / BATCH as f64,
        );
        let split = evaluator.clone().with_threads(threads.clone());
        line(
            &format!("one alone, {count} threads"),
            quartile(|| split.multiply_relin(&a, &b, &relin)),
        );
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    measure::<u64>("n=4096 {36,36}+37", 4096, &[36, 36], &[37], 65537)?;
    measure::<u64>(
        "n=8192 {43,43,44,44}+44",
        8192,
        &[43, 43, 44, 44],
        &[44],
        65537,
    )?;
    measure::<u64>(
        "n=4096 six 30-bit primes, no special prime",
        4096,
        &[30; 6],
        &[],
        40961,
    )?;
    measure::<u128>(
        "n=8192 {107}+107, two-word towers",
        8192,
        &[107],
        &[107],
        65537,
    )?;
    Ok(())
}
