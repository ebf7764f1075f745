// SPDX-License-Identifier: Apache-2.0
//! Times of the main operations on this machine: `cargo run --release -p ringsmith-bfv --example speed [-- PART OF A NAME]`.
//! Lower quartile of wall time over many calls, so that other load counts little.

use bfv::{
    BatchEncoder, BfvParams, BfvParamsLiteral, Decryptor, Encryptor, Evaluator, MultiplyAlgorithm,
};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
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

fn measure<W: Word>(
    name: &str,
    n: usize,
    q: &[u32],
    p: &[u32],
    t: u64,
) -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args()
        .nth(1)
        .is_some_and(|wanted| !name.contains(&wanted))
    {
        return Ok(());
    }
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
    let params = BfvParams::new(&literal, SecurityPolicy::insecure())?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("speed"));
    let secret = Arc::new(generator.secret_key()?);
    let relin = generator.relin_key(&secret, q.len())?;
    let public = Arc::new(generator.public_key(&secret)?);
    let encryptor = Encryptor::new(&params, public, Seed::from_text("messages"))?;
    let decryptor = Decryptor::new(&params, secret)?;
    let encoder = BatchEncoder::new(&params)?;
    let plain = encoder.encode(&(0..n as u64).map(|i| i % t).collect::<Vec<_>>())?;
    let (a, b) = (encryptor.encrypt(&plain)?, encryptor.encrypt(&plain)?);
    println!("{name}");
    let line = |what: &str, us: f64| println!("  {what:<28} {us:>10.1} us");
    line("encrypt", quartile(|| encryptor.encrypt(&plain)));
    line(
        "decrypt + decode",
        quartile(|| decryptor.decrypt(&a).map(|p| encoder.decode(&p))),
    );
    for algorithm in [MultiplyAlgorithm::Hps, MultiplyAlgorithm::HpsOverQ] {
        let evaluator = Evaluator::new(&params).with_algorithm(algorithm);
        let product = evaluator.multiply(&a, &b)?;
        line(
            &format!("multiply {algorithm:?}"),
            quartile(|| evaluator.multiply(&a, &b)),
        );
        line(
            "  and relinearise",
            quartile(|| evaluator.multiply_relin(&a, &b, &relin)),
        );
        line(
            "  relinearise alone",
            quartile(|| evaluator.relinearize(&product, &relin)),
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
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
