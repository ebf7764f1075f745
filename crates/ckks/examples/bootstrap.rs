// SPDX-License-Identifier: Apache-2.0
//! A refresh with 128 bits of security: keys, their bytes, time by phase, precision.
//!
//! ```text
//! cargo run --release -p ringsmith-ckks --example bootstrap -- \
//!     [--degree 32768|65536] [--slots SLOTS] [--threads THREADS] [--memory MIB of keys] [--wire MIB of keys] \
//!     [--bits BITS] [--levels LEVELS] [--stated] [--file] [--lattigo] [--twice] \
//!     [--repeats TIMES] [--json]
//! ```
//!
//! `--bits` plans a set ([`BootstrapGoal`]) that states an error of 2^-BITS at most for every message; random messages
//! err less. It leaves `--levels`, or without that as many as make a level cheapest, 10 at least. Without `--bits` the
//! degree has a set written down here.
//!
//! `--lattigo` takes the primes and secrets of Lattigo's N16QP1546H192H32, which has 26.6 bits there for random
//! messages; its secret of weight 192 is below 128 bits by today's tables. Messages become coefficients before the
//! modulus is raised, not their transform, which is 2^7 times smaller if they are random: the ratio is 2^-15 in place
//! of 2^-8, and the cosine takes degree 62 and two double angles, with as many levels as 30 and three.
//! `--twice` refreshes in two passes, `--repeats` each message so often: the least time counts. `--json` prints what
//! was measured as one JSON object in the last line.
//!
//! `--stated` ends before keys are made; `--file` refreshes once more with the keys of the transforms in a file.
//! Without a memory limit all keys are kept: 3 GiB at 2^15, 8 GiB at 2^16.

use ckks::bootstrap::{
    BootstrapGoal, BootstrapKeys, BootstrapLiteral, BootstrapParams, Bootstrapper, KeyFile,
    KeyOptions, KeySource, Message, Phase,
};
use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Error};
use num_complex::Complex64;
use rlwe::{
    KeyGenerator, RlweParamsLiteral, SecretDistribution, SecretKey, SecurityPolicy, Seed, Threads,
};
use std::time::Instant;
use zq::primes::{Direction, ntt_primes};

/// Primes as (bits, how many). From below: q[0] (whose square is the sparse secret's modulus), slots to coefficients,
/// application, reduction, coefficients to slots; special primes.
struct Chain {
    degree: usize,
    q: [(u32, usize); 5],
    p: (u32, usize),
    log2_scale: i32,
    secret: SecretDistribution,
    log2_ratio: f64,
    /// Degree of the cosine, double angles.
    reduction: (usize, u32),
    message: Message,
}

const CHAINS: [Chain; 3] = [
    Chain {
        degree: 1 << 15,
        q: [(41, 1), (32, 2), (33, 3), (50, 8), (49, 3)],
        p: (50, 2),
        log2_scale: 33,
        secret: SecretDistribution::Ternary,
        // The sine bends 2^-15.3 for a message at its bound, and noise counts half as much as with 2^-10.
        log2_ratio: 9.0,
        reduction: (30, 3),
        message: Message::Real,
    },
    Chain {
        degree: 1 << 16,
        q: [(50, 1), (40, 3), (40, 15), (50, 8), (49, 4)],
        p: (50, 7),
        log2_scale: 40,
        secret: SecretDistribution::Ternary,
        log2_ratio: 9.0,
        reduction: (30, 3),
        message: Message::Real,
    },
    Chain {
        degree: 1 << 16,
        q: [(60, 1), (39, 3), (40, 9), (60, 8), (56, 4)],
        p: (61, 5),
        log2_scale: 40,
        secret: SecretDistribution::FixedWeight { weight: 192 },
        log2_ratio: 15.0,
        reduction: (62, 2),
        message: Message::Complex,
    },
];

/// Levels that a planned set leaves unless asked, at least and at most.
const LEVELS: (usize, usize) = (10, 64);

impl Chain {
    fn policy(&self) -> SecurityPolicy {
        match self.secret {
            SecretDistribution::FixedWeight { .. } => SecurityPolicy::insecure(),
            _ => SecurityPolicy::default(),
        }
    }

    fn params(&self) -> Result<CkksParams, Error> {
        let mut primes: Vec<u64> = Vec::new();
        for (bits, count) in self.q.into_iter().chain([self.p]) {
            let more = ntt_primes(
                bits,
                2 * self.degree as u64,
                count,
                Direction::Down,
                &primes,
            );
            primes.extend(more.map_err(|e| Error::Rns(e.into()))?);
        }
        let p = primes.split_off(primes.len() - self.p.1);
        let literal = CkksParamsLiteral {
            rlwe: RlweParamsLiteral {
                n: self.degree,
                dnum: primes.len().div_ceil(p.len()),
                q: primes,
                p,
                secret: self.secret,
                ..Default::default()
            },
            scale: 2f64.powi(self.log2_scale),
        };
        CkksParams::new(&literal, self.policy())
    }
}

struct Arguments {
    chain: &'static Chain,
    slots: usize,
    /// Of the error that a planned set states, and its levels, at least and at most.
    bits: Option<usize>,
    levels: (usize, usize),
    threads: usize,
    memory: Option<usize>,
    wire: Option<usize>,
    stated: bool,
    file: bool,
    passes: u32,
    repeats: usize,
    json: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut values = std::collections::BTreeMap::new();
    let mut flags = std::collections::BTreeSet::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if ["--stated", "--file", "--lattigo", "--twice", "--json"].contains(&word.as_str()) {
            flags.insert(word);
            continue;
        }
        let known = [
            "--degree",
            "--slots",
            "--threads",
            "--memory",
            "--wire",
            "--repeats",
            "--bits",
            "--levels",
        ];
        let value = words.next().and_then(|value| value.parse::<usize>().ok());
        match value {
            Some(value) if known.contains(&word.as_str()) => values.insert(word, value),
            _ => {
                return Err(format!(
                    "{word}: one of {known:?} and a number, --stated, --file, --lattigo, --twice or --json"
                ));
            }
        };
    }
    let lattigo = flags.contains("--lattigo");
    let bits = values.get("--bits").copied();
    if bits.is_some() && lattigo {
        return Err("--bits plans a set of its own: leave out --lattigo".into());
    }
    if bits.is_none() && values.contains_key("--levels") {
        return Err("--levels is for a planned set: name --bits".into());
    }
    let degree = values.get("--degree").copied();
    let degree = degree.unwrap_or(if lattigo { 1 << 16 } else { 1 << 15 });
    let mut chains = CHAINS.iter();
    let chain =
        chains.find(|own| own.degree == degree && (own.message == Message::Complex) == lattigo);
    let chain = chain.ok_or(format!("--degree {degree}: 32768 or 65536"))?;
    Ok(Arguments {
        chain,
        slots: values.get("--slots").copied().unwrap_or(degree / 2),
        bits,
        levels: values.get("--levels").map_or(LEVELS, |own| (*own, *own)),
        threads: values.get("--threads").copied().unwrap_or(1),
        memory: values.get("--memory").map(|mib| mib << 20),
        wire: values.get("--wire").map(|mib| mib << 20),
        stated: flags.contains("--stated"),
        file: flags.contains("--file"),
        repeats: values.get("--repeats").copied().unwrap_or(1).max(1),
        json: flags.contains("--json"),
        passes: 1 + u32::from(flags.contains("--twice")),
    })
}

fn messages(slots: usize) -> [(&'static str, Vec<Complex64>); 4] {
    let mut bytes = vec![0u8; 4 * slots];
    Seed::from_text("messages").stream("v", 0).fill(&mut bytes);
    let unit = |b: &[u8; 4]| f64::from(i32::from_le_bytes(*b)) / 2f64.powi(31);
    let random = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|b| unit(b).into())
        .collect();
    let of = |f: fn(usize) -> f64| (0..slots).map(|j| f(j).into()).collect();
    [
        ("random", random),
        ("constant", of(|_| 1.0)),
        ("one slot", of(|j| f64::from(u8::from(j == 5)))),
        ("alternating", of(|j| if j % 2 == 0 { 1.0 } else { -1.0 })),
    ]
}

/// Minor page faults, user and system time in hundredths of a second of this process so far, as Linux tells them.
fn usage() -> Option<[u64; 3]> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let field = |number: usize| fields.get(number)?.parse().ok();
    Some([field(7)?, field(11)?, field(12)?])
}

/// Seconds of a refresh, bits below 1 of the mean and the largest error.
struct Measured {
    seconds: f64,
    average: f64,
    least: f64,
}

/// Refreshes a message; prints the time of each phase and the bits below 1 of the mean and the largest error.
fn refresh(
    boot: &Bootstrapper,
    keys: KeySource<'_>,
    secret: &SecretKey<u64>,
    (name, message): (&str, &[Complex64]),
) -> Result<Measured, Error> {
    let (main, params) = (boot.params().main(), boot.params());
    let (slots, level) = (params.literal().slots, params.input_level());
    let plaintext = Encoder::new(main).encode_sparse(message, slots, level, main.scale())?;
    let encryptor = Encryptor::new(main, Seed::from_text("encryptor"));
    let ct = encryptor.encrypt_secret(&plaintext, secret, 0)?;
    let (start, mut phases, mut last) = (Instant::now(), Vec::new(), 0.0);
    let before = usage();
    let out = boot.refresh_observed(&ct, keys, &mut |phase: Phase| {
        let now = start.elapsed().as_secs_f64();
        phases.push(format!("{phase:?} {:.2}", now - last));
        last = now;
    })?;
    let after = usage();
    let got = Decryptor::new(main, secret)?.decrypt_slots(&out)?;
    let errors = got.iter().zip(message).map(|(a, b)| (a - b).norm());
    let (sum, largest) = errors.fold((0.0, 0f64), |(sum, max), e| (sum + e, max.max(e)));
    let [average, least] = [sum / slots as f64, largest].map(|error| -error.log2());
    println!(
        "{name:12} {last:6.2} s ({}), {average:.1} bits on average, {least:.1} at worst",
        phases.join(", "),
    );
    if let (Some(before), Some(after)) = (before, after) {
        let [faults, user, system] = [0, 1, 2].map(|i| after[i] - before[i]);
        println!(
            "{:12} {faults} page faults, {user} and {system} cs of user's and system's time",
            ""
        );
    }
    Ok(Measured {
        seconds: last,
        average,
        least,
    })
}

/// Most bytes that this process has had in memory at a time, as Linux tells them.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? << 10)
}

/// One JSON object, as the programs of other libraries print it (bench/peers).
fn json(boot: &Bootstrapper, all: &[Measured], key_seconds: f64) -> Result<String, Error> {
    let params = boot.params();
    let least = |of: fn(&Measured) -> f64| all.iter().map(of).fold(f64::INFINITY, f64::min);
    Ok(format!(
        "{{\"library\": \"ringsmith\", \"set\": \"bits {:.0}\", \"n\": {}, \"slots\": {}, \"levels\": {}, \"seconds\": \
         {:.4}, \"key_seconds\": {key_seconds:.3}, \"average_bits\": {:.2}, \"least_bits\": {:.2}, \"stated_bits\": \
         {:.2}, \"wire_bytes\": {}, \"peak_bytes\": {}}}",
        params.main().rlwe().security().log2_qp,
        params.main().n(),
        params.literal().slots,
        params.output_level() - params.input_level(),
        least(|one| one.seconds),
        all[0].average,
        least(|one| one.least),
        -stated(params)?.log2(),
        params.key_bytes(),
        peak().unwrap_or(0),
    ))
}

/// Bound on the error of every refreshed message that was freshly encrypted.
fn stated(params: &BootstrapParams) -> Result<f64, Error> {
    let (main, estimator) = (params.main(), params.main().estimator());
    let fresh = estimator.encode(1.0, params.input_level(), main.scale());
    params.error_bound(estimator.slot_error(&estimator.encrypt_secret(&fresh)))
}

fn mib(bytes: usize) -> usize {
    bytes >> 20
}

/// The set that is planned for the bits that are asked for.
fn planned(arguments: &Arguments, bits: usize) -> Result<(CkksParams, BootstrapLiteral), Error> {
    let own = BootstrapLiteral::default();
    let goal = BootstrapGoal {
        n: arguments.chain.degree,
        slots: arguments.slots,
        message: arguments.chain.message,
        bound: own.bound,
        levels: arguments.levels.0,
        most_levels: arguments.levels.1,
        log2_error: -(bits as f64),
        log2_failure: own.log2_failure,
        weight: own.weight,
        passes: arguments.passes,
    };
    let planned = goal.plan(arguments.chain.policy())?;
    let literal = BootstrapLiteral {
        key_bytes: arguments.wire,
        ..planned.literal().clone()
    };
    println!("{literal:?}");
    Ok((planned.main().clone(), literal))
}

/// The set that is written down for the degree.
fn named(arguments: &Arguments) -> Result<(CkksParams, BootstrapLiteral), Error> {
    let literal = BootstrapLiteral {
        slots: arguments.slots,
        slots_to_coeffs: arguments.chain.q[1].1,
        coeffs_to_slots: arguments.chain.q[4].1,
        message: arguments.chain.message,
        degree: arguments.chain.reduction.0,
        doublings: arguments.chain.reduction.1,
        passes: arguments.passes,
        log2_ratio: arguments.chain.log2_ratio,
        key_bytes: arguments.wire,
        ..Default::default()
    };
    Ok((arguments.chain.params()?, literal))
}

/// The bootstrapper, its matrices made, and what it promises.
fn bootstrapper(arguments: &Arguments, threads: &Threads) -> Result<Bootstrapper, Error> {
    let (main, literal) = match arguments.bits {
        Some(bits) => planned(arguments, bits)?,
        None => named(arguments)?,
    };
    let params = BootstrapParams::new(&main, &literal, arguments.chain.policy())?;
    println!(
        "n = {}, {} slots of {:?} numbers, {} + {} primes, log2(QP) = {:.0} (at most {:?}), levels {} -> {}",
        main.n(),
        literal.slots,
        literal.message,
        main.max_level() + 1,
        main.rlwe().params().special_primes(),
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
    let ([least, whole], effort) = (params.key_memory(), params.effort());
    println!(
        "{} key switches; keys: {} to {} MiB of memory, {} MiB on the wire",
        effort.switches.len(),
        mib(least),
        mib(whole),
        mib(params.key_bytes())
    );
    let start = Instant::now();
    let boot = Bootstrapper::new(&params, threads.clone())?;
    let seconds = start.elapsed().as_secs_f64();
    println!("matrices: {} MiB, in {seconds:.1} s", mib(boot.memory()));
    let stated = -stated(&params)?.log2();
    println!("stated: {stated:.1} bits for every message");
    Ok(boot)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let threads = Threads::new(arguments.threads)?;
    let boot = bootstrapper(&arguments, &threads)?;
    if arguments.stated {
        return Ok(());
    }
    let (start, main) = (Instant::now(), boot.params().main());
    let generator = KeyGenerator::new(main, Seed::from_text("bootstrap"));
    let secret = generator.secret_key()?;
    let options = KeyOptions {
        memory: arguments.memory,
        threads,
        progress: Some(&|done, all| eprint!("\rkey {done} of {all}")),
    };
    let keys = BootstrapKeys::generate_with(boot.params(), &generator, &secret, &options)?;
    let seconds = start.elapsed().as_secs_f64();
    let (count, memory) = (keys.count(), mib(keys.memory()));
    eprintln!();
    println!("{count} keys, {memory} MiB of memory, in {seconds:.1} s");
    let mut all = Vec::new();
    for (name, message) in messages(arguments.slots) {
        for _ in 0..arguments.repeats {
            all.push(refresh(&boot, (&keys).into(), &secret, (name, &message))?);
        }
    }
    if arguments.json {
        println!("{}", json(&boot, &all, seconds)?);
    }
    if arguments.file {
        let path = std::env::temp_dir().join(format!("bootstrap-{}.keys", std::process::id()));
        std::fs::write(&path, keys.to_bytes())?;
        drop(keys);
        let file = KeyFile::open(boot.params(), &path);
        // Open files stay readable.
        std::fs::remove_file(&path)?;
        let file = file?;
        println!(
            "keys in a file, {} MiB of them in memory",
            mib(file.memory())
        );
        let [message, ..] = messages(arguments.slots);
        refresh(&boot, (&file).into(), &secret, (message.0, &message.1))?;
    }
    Ok(())
}
