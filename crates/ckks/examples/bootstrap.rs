// SPDX-License-Identifier: Apache-2.0
//! A refresh of 16,384 real slots at n = 2^15 with 128 bits of security: keys, time, precision.
//!
//! `cargo run --release -p ringsmith-ckks --example bootstrap [THREADS]`. Takes about 4 GiB of memory.

use ckks::bootstrap::{BootstrapKeys, BootstrapLiteral, BootstrapParams, Bootstrapper};
use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Error};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecretKey, SecurityPolicy, Seed, Threads};
use std::time::Instant;
use zq::primes::{Direction, ntt_primes};

const N: usize = 1 << 15;

/// From below: q[0] (whose square is the sparse secret's modulus), slots to coefficients, application, reduction,
/// coefficients to slots; special primes. 841 bits of the 868 that ternary secrets allow.
const Q: [(u32, usize); 5] = [(41, 1), (30, 2), (31, 3), (50, 8), (49, 3)];
const P: (u32, usize) = (50, 2);

fn params() -> Result<CkksParams, Error> {
    let mut primes: Vec<u64> = Vec::new();
    for (bits, count) in Q.into_iter().chain([P]) {
        let more = ntt_primes(bits, 2 * N as u64, count, Direction::Down, &primes);
        primes.extend(more.map_err(|e| Error::Rns(e.into()))?);
    }
    let p = primes.split_off(primes.len() - P.1);
    let literal = CkksParamsLiteral {
        rlwe: RlweParamsLiteral {
            n: N,
            dnum: primes.len().div_ceil(p.len()),
            q: primes,
            p,
            ..Default::default()
        },
        scale: 2f64.powi(31),
    };
    CkksParams::new(&literal, SecurityPolicy::default())
}

fn messages() -> [(&'static str, Vec<Complex64>); 4] {
    let mut bytes = vec![0u8; 4 * N / 2];
    Seed::from_text("messages").stream("v", 0).fill(&mut bytes);
    let unit = |b: &[u8; 4]| f64::from(i32::from_le_bytes(*b)) / 2f64.powi(31);
    let random = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| unit(b).into())
        .collect();
    let of = |f: fn(usize) -> f64| (0..N / 2).map(|j| f(j).into()).collect();
    [
        ("random", random),
        ("constant", of(|_| 1.0)),
        ("one slot", of(|j| f64::from(u8::from(j == 5)))),
        ("alternating", of(|j| if j % 2 == 0 { 1.0 } else { -1.0 })),
    ]
}

/// (mean, largest) error of a refreshed message in bits below 1, and the time.
fn refresh(
    boot: &Bootstrapper,
    keys: &BootstrapKeys,
    secret: &SecretKey<u64>,
    message: &[Complex64],
) -> Result<(f64, f64, f64), Error> {
    let main = boot.params().main();
    let plaintext =
        Encoder::new(main).encode(message, boot.params().input_level(), main.scale())?;
    let encryptor = Encryptor::new(main, Seed::from_text("encryptor"));
    let ct = encryptor.encrypt_secret(&plaintext, secret, 0)?;
    let start = Instant::now();
    let out = boot.refresh(&ct, keys)?;
    let seconds = start.elapsed().as_secs_f64();
    let slots = Decryptor::new(main, secret)?.decrypt_slots(&out)?;
    let errors = slots.iter().zip(message).map(|(a, b)| (a - b).norm());
    let (sum, largest) = errors.fold((0.0, 0f64), |(sum, max), e| (sum + e, max.max(e)));
    Ok((
        -(sum / message.len() as f64).log2(),
        -largest.log2(),
        seconds,
    ))
}

fn main() -> Result<(), Error> {
    let threads: usize = std::env::args()
        .nth(1)
        .map_or(1, |t| t.parse().expect("a number of threads"));
    let main = params()?;
    let literal = BootstrapLiteral {
        slots: N / 2,
        slots_to_coeffs: 2,
        coeffs_to_slots: 3,
        ..Default::default()
    };
    let params = BootstrapParams::new(&main, &literal, SecurityPolicy::default())?;
    println!(
        "n = 2^15, {} + {} primes, log2(QP) = {:.0} (at most {:?}), levels {} -> {}",
        main.max_level() + 1,
        P.1,
        main.rlwe().security().log2_qp,
        main.rlwe().security().max_log2_qp,
        params.input_level(),
        params.output_level(),
    );
    println!(
        "|I| <= {}, fails with 2^{:.1}; error of the reduction 2^{:.1} at most",
        params.reduction().overflow(),
        params.log2_failure()?,
        params.approximation_error().log2(),
    );
    let start = Instant::now();
    let generator = KeyGenerator::new(&main, Seed::from_text("bootstrap"));
    let secret = generator.secret_key()?;
    let keys = BootstrapKeys::generate(&params, &generator, &secret)?;
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    println!(
        "{} keys, {:.0} MiB, in {:.1} s",
        keys.count(),
        mib(keys.memory()),
        start.elapsed().as_secs_f64()
    );
    let start = Instant::now();
    let boot = Bootstrapper::new(&params, Threads::new(threads)?)?;
    println!(
        "matrices: {:.0} MiB, in {:.1} s",
        mib(boot.memory()),
        start.elapsed().as_secs_f64()
    );
    let estimator = main.estimator();
    let fresh = estimator.encode(1.0, params.input_level(), main.scale());
    let fresh = estimator.slot_error(&estimator.encrypt_secret(&fresh));
    println!(
        "stated: {:.1} bits for every message",
        -boot.error_bound(fresh)?.log2()
    );
    for (name, message) in messages() {
        let (mean, least, seconds) = refresh(&boot, &keys, &secret, &message)?;
        println!("{name:12} {seconds:6.2} s, {mean:.1} bits on average, {least:.1} at worst");
    }
    Ok(())
}
