// SPDX-License-Identifier: Apache-2.0
//! Refreshes in small rings, explicitly insecure.

use super::*;
use crate::tests::{reals, values};
use crate::{
    Ciphertext, CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Error, Evaluator,
};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecretKey, SecurityPolicy, Seed, Threads};
use zq::primes::{Direction as Search, ntt_primes};

/// Application levels of the test chains.
const FREE: usize = 2;
pub(super) const WEIGHT: u32 = 16;

pub(super) struct Bench {
    pub boot: Bootstrapper,
    keys: BootstrapKeys,
    secret: SecretKey<u64>,
}

/// 50-bit primes throughout: q[0], both transforms, `reduction` levels and two of the application.
pub(super) fn chain(log_n: u32, levels: usize) -> CkksParams {
    let n = 1usize << log_n;
    let primes = ntt_primes::<u64>(50, 2 * n as u64, levels + 5, Search::Down, &[]).unwrap();
    let (q, p) = primes.split_at(levels + 1);
    let literal = CkksParamsLiteral {
        rlwe: RlweParamsLiteral {
            n,
            q: q.to_vec(),
            p: p.to_vec(),
            dnum: q.len().div_ceil(4),
            ..Default::default()
        },
        scale: 2f64.powi(40),
    };
    CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

fn small(slots: usize) -> BootstrapLiteral {
    BootstrapLiteral {
        slots,
        slots_to_coeffs: 2,
        coeffs_to_slots: 2,
        weight: WEIGHT,
        ..Default::default()
    }
}

fn depth(l: &BootstrapLiteral) -> usize {
    let arcsine = [0, 2, 3, 3][l.arcsine as usize / 2];
    let cosine = (l.degree + 1).next_power_of_two().trailing_zeros() as usize;
    cosine + l.doublings as usize + arcsine
}

impl Bench {
    fn new(log_n: u32, literal: &BootstrapLiteral, threads: Threads) -> Self {
        let passes = literal.passes as usize - 1;
        let levels =
            literal.slots_to_coeffs + literal.coeffs_to_slots + depth(literal) + FREE + passes;
        Self::of(chain(log_n, levels), literal, threads)
    }

    fn of(main: CkksParams, literal: &BootstrapLiteral, threads: Threads) -> Self {
        let params = BootstrapParams::new(&main, literal, SecurityPolicy::insecure()).unwrap();
        assert_eq!(params.output_level(), params.input_level() + FREE);
        Self::with(&params, threads)
    }

    pub fn with(params: &BootstrapParams, threads: Threads) -> Self {
        let generator = KeyGenerator::new(params.main().rlwe(), Seed::from_text("boot"));
        let secret = generator.secret_key().unwrap();
        Self {
            keys: BootstrapKeys::generate(params, &generator, &secret).unwrap(),
            boot: Bootstrapper::new(params, threads).unwrap(),
            secret,
        }
    }

    fn main(&self) -> &CkksParams {
        self.boot.params().main()
    }

    fn encrypt(&self, values: &[Complex64], level: usize, index: u64) -> Ciphertext {
        let (main, slots) = (self.main(), self.boot.params().literal().slots);
        let plaintext = Encoder::new(main)
            .encode_sparse(values, slots, level, main.scale())
            .unwrap();
        let encryptor = Encryptor::new(main, Seed::from_text("messages"));
        encryptor
            .encrypt_secret(&plaintext, &self.secret, index)
            .unwrap()
    }

    fn decrypt(&self, ct: &Ciphertext) -> Vec<Complex64> {
        Decryptor::new(self.main(), &self.secret)
            .unwrap()
            .decrypt_slots(ct)
            .unwrap()
    }

    /// The largest error of a refreshed message.
    pub fn refreshed(&self, values: &[Complex64], index: u64) -> f64 {
        let ct = self.encrypt(values, self.boot.params().input_level(), index);
        let out = self.boot.refresh(&ct, &self.keys).unwrap();
        assert_eq!(out.level(), self.boot.params().output_level());
        assert_eq!(out.scale(), self.main().scale());
        let got = self.decrypt(&out);
        got.iter()
            .zip(values)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max)
    }
}

/// Messages chosen to hurt: all of the scale in one coefficient, in one slot, alternating, at the bound.
pub(super) fn adversarial(slots: usize, bound: f64) -> Vec<(&'static str, Vec<Complex64>)> {
    let of = |f: &dyn Fn(usize) -> f64| {
        (0..slots)
            .map(|j| Complex64::new(bound * f(j), 0.0))
            .collect()
    };
    vec![
        ("constant", of(&|_| 1.0)),
        ("negative", of(&|_| -1.0)),
        ("one slot", of(&|j| f64::from(u8::from(j == 3)))),
        ("alternating", of(&|j| if j % 2 == 0 { 1.0 } else { -1.0 })),
        ("halves", of(&|j| if j < slots / 2 { 1.0 } else { -1.0 })),
        ("zero", of(&|_| 0.0)),
        (
            "random",
            reals(slots, 7).iter().map(|z| z * bound).collect(),
        ),
    ]
}

/// Bound on the slots of a fresh encryption.
pub(super) fn fresh(bench: &Bench) -> f64 {
    let (main, level) = (bench.main(), bench.boot.params().input_level());
    let estimator = main.estimator();
    estimator.slot_error(&estimator.encrypt_secret(&estimator.encode(1.0, level, main.scale())))
}

fn within_the_bound(
    bench: &Bench,
    messages: impl IntoIterator<Item = (&'static str, Vec<Complex64>)>,
) {
    let stated = bench.boot.params().error_bound(fresh(bench)).unwrap();
    for (index, (name, message)) in messages.into_iter().enumerate() {
        let error = bench.refreshed(&message, index as u64);
        assert!(error < stated, "{name}: {error:e}, stated {stated:e}");
    }
}

#[test]
fn full_slots_are_refreshed_within_the_bound() {
    let bench = Bench::new(8, &small(128), Threads::ONE);
    let stated = bench.boot.params().approximation_error();
    assert!((-17.5..-17.0).contains(&stated.log2()), "{}", stated.log2());
    within_the_bound(&bench, adversarial(128, 1.0));
    // The bound is no looser than it has to be: a message at it errs by as much.
    let constant = vec![Complex64::ONE; 128];
    assert!(bench.refreshed(&constant, 9) > 0.8 * stated);
}

/// Scale and lowest prime as small as those of a set for n = 2^15, so that noise is most of the error.
fn noisy(log_n: u32) -> Bench {
    let sizes = [(41, 1), (30, 2), (31, FREE), (50, 8), (49, 2), (50, 5)];
    of_sizes(1 << log_n, &sizes, 31, &small(1 << (log_n - 1)))
}

/// A set of primes of these lengths, the last five special, at a scale of 2^`log2_scale`.
fn of_sizes(
    n: usize,
    sizes: &[(u32, usize)],
    log2_scale: i32,
    literal: &BootstrapLiteral,
) -> Bench {
    let mut primes: Vec<u64> = Vec::new();
    for &(bits, count) in sizes {
        let more = ntt_primes(bits, 2 * n as u64, count, Search::Down, &primes).unwrap();
        primes.extend(more);
    }
    let (q, p) = primes.split_at(primes.len() - 5);
    let rlwe = RlweParamsLiteral {
        n,
        q: q.to_vec(),
        p: p.to_vec(),
        dnum: q.len().div_ceil(5),
        ..Default::default()
    };
    let scale = 2f64.powi(log2_scale);
    let main = CkksParams::new(
        &CkksParamsLiteral { rlwe, scale },
        SecurityPolicy::insecure(),
    );
    Bench::of(main.unwrap(), literal, Threads::ONE)
}

/// The primes of Lattigo's N16QP1546H192H32, whose refreshes keep 26.6 bits of random messages.
#[test]
fn reductions_over_primes_of_sixty_bits_keep_as_many_bits_as_published() {
    let literal = BootstrapLiteral {
        message: Message::Complex,
        slots_to_coeffs: 3,
        coeffs_to_slots: 4,
        log2_ratio: 15.0,
        degree: 62,
        doublings: 2,
        ..small(128)
    };
    let sizes = [(60, 1), (39, 3), (40, FREE), (60, 8), (56, 4), (61, 5)];
    let bench = of_sizes(256, &sizes, 40, &literal);
    let error = bench.refreshed(&values(128, 4), 0);
    assert!(error.log2() < -25.6, "{}", error.log2());
    within_the_bound(
        &bench,
        [
            ("random", values(128, 5)),
            ("corner", vec![Complex64::new(-1.0, 1.0); 128]),
        ],
    );
}

/// The largest error of `count` messages, random ones and those chosen to hurt in turn.
fn worst_of(bench: &Bench, count: u64) -> f64 {
    let slots = bench.boot.params().literal().slots;
    let messages = adversarial(slots, 1.0);
    let refreshed = |index: u64| {
        let chosen = &messages[index as usize % 8 % 6].1;
        match index % 8 {
            6 | 7 => bench.refreshed(&reals(slots, index), index),
            _ => bench.refreshed(chosen, index),
        }
    };
    (0..count).map(refreshed).fold(0.0, f64::max)
}

#[test]
fn a_hundred_noisy_refreshes_stay_within_the_bound() {
    let bench = noisy(6);
    let stated = bench.boot.params().error_bound(fresh(&bench)).unwrap();
    let worst = worst_of(&bench, 104);
    assert!(worst < stated, "{worst:e}, stated {stated:e}");
    // Sure to 2^-128, and still close.
    assert!(stated < 32.0 * worst, "{worst:e}, stated {stated:e}");
}

#[test]
#[ignore = "minutes: a thousand of them"]
fn a_thousand_noisy_refreshes_stay_within_the_bound() {
    let bench = noisy(7);
    let stated = bench.boot.params().error_bound(fresh(&bench)).unwrap();
    let worst = worst_of(&bench, 1000);
    assert!(worst < stated, "{worst:e}, stated {stated:e}");
    println!("largest error: {:.3} of the bound", worst / stated);
}

#[test]
fn a_second_pass_takes_the_error_of_the_first_back() {
    let once = Bench::new(8, &small(128), Threads::ONE);
    let literal = BootstrapLiteral {
        passes: 2,
        ..small(128)
    };
    let twice = Bench::new(8, &literal, Threads::ONE);
    within_the_bound(&twice, adversarial(128, 1.0));
    let stated = [&once, &twice].map(|bench| bench.boot.params().error_bound(0.0).unwrap());
    // The noise of ciphertexts at a scale of 2^40 is left.
    assert!(stated[1] < 2f64.powi(-8) * stated[0], "{stated:?}");
    let effort = [&once, &twice].map(|bench| bench.boot.params().effort());
    assert_eq!(2 * effort[0].switches.len(), effort[1].switches.len());
    assert_eq!(effort[0].keys.len(), effort[1].keys.len());
    // Read at another scale than the set's, as programs may.
    let (main, level) = (twice.main(), twice.boot.params().input_level());
    let message = reals(128, 9).iter().map(|z| z * 0.5).collect::<Vec<_>>();
    let ct = twice.encrypt(&message, level + 1, 3);
    let near = Evaluator::new(main)
        .set_scale_by_constant(&ct, 0.9 * main.scale())
        .unwrap();
    let got = twice.decrypt(&twice.boot.refresh(&near, &twice.keys).unwrap());
    let errors = got.iter().zip(&message).map(|(a, b)| (a - b).norm());
    assert!(errors.fold(0.0, f64::max) < 2.0 * stated[1] + fresh(&twice));
}

#[test]
fn fewer_slots_and_other_bounds() {
    for (slots, bound) in [(16, 4.0), (64, 0.25)] {
        let literal = BootstrapLiteral {
            bound,
            ..small(slots)
        };
        let bench = Bench::new(8, &literal, Threads::ONE);
        let [constant, .., random] = &adversarial(slots, bound)[..] else {
            unreachable!()
        };
        within_the_bound(&bench, [constant.clone(), random.clone()]);
    }
}

#[test]
fn complex_messages_and_the_arcsine() {
    let literal = BootstrapLiteral {
        message: Message::Complex,
        log2_ratio: 6.0,
        degree: 62,
        arcsine: 5,
        slots_to_coeffs: 1,
        coeffs_to_slots: 1,
        ..small(32)
    };
    let bench = Bench::new(7, &literal, Threads::ONE);
    // 2^-6 bends the sine by 2^-9.3; with the arcsine hardly anything is left.
    assert!(bench.boot.params().approximation_error().log2() < -22.0);
    let corner = Complex64::new(1.0, -1.0);
    let messages = [("random", values(32, 5)), ("corner", vec![corner; 32])];
    within_the_bound(&bench, messages);
}

#[test]
fn a_refresh_gives_the_same_bytes_on_two_threads_and_what_it_gives_can_be_computed_with() {
    let bench = Bench::new(8, &small(128), Threads::ONE);
    let message = reals(128, 3);
    let ct = bench.encrypt(&message, bench.main().max_level(), 1);
    let out = bench.boot.refresh(&ct, &bench.keys).unwrap();
    let two = Bootstrapper::new(bench.boot.params(), Threads::new(2).unwrap()).unwrap();
    let again = two.refresh(&ct, &bench.keys).unwrap();
    assert_eq!(out.to_bytes(), again.to_bytes());
    // Two levels are left: a square, and another refresh.
    let evaluator = Evaluator::new(bench.main());
    let square = evaluator.square(&out).unwrap();
    let square = evaluator
        .relinearize_rescale(&square, &bench.keys.relin)
        .unwrap();
    let square = evaluator
        .set_scale_by_constant(&square, bench.main().scale())
        .unwrap();
    let out = bench.decrypt(&bench.boot.refresh(&square, &bench.keys).unwrap());
    let error = out.iter().zip(&message).map(|(a, b)| (a - b * b).norm());
    assert!(error.fold(0.0, f64::max) < 4.0 * bench.boot.params().approximation_error());
}

#[test]
fn foreign_ciphertexts_and_keys_are_refused() {
    let bench = Bench::new(6, &small(16), Threads::ONE);
    let (main, boot) = (bench.main(), &bench.boot);
    let refuse =
        |ct: &Ciphertext, keys: &BootstrapKeys| boot.refresh(ct, keys).unwrap_err().to_string();
    let message = reals(16, 1);
    let low = bench.encrypt(&message, 1, 0);
    assert!(refuse(&low, &bench.keys).contains("2 levels needed"));
    let good = bench.encrypt(&message, 2, 1);
    let scaled =
        Evaluator::new(main).multiply_constant_to_scale(&good, Complex64::ONE, 2.0 * main.scale());
    assert!(refuse(&scaled.unwrap(), &bench.keys).contains("scales differ"));
    let full = Encoder::new(main)
        .encode(&message, 2, main.scale())
        .unwrap();
    let full = Encryptor::new(main, Seed::from_text("m"))
        .encrypt_secret(&full, &bench.secret, 2)
        .unwrap();
    assert!(refuse(&full, &bench.keys).contains("slots of the ciphertext"));
    let generator = KeyGenerator::new(main.rlwe(), Seed::from_text("another"));
    let other = generator.secret_key().unwrap();
    let keys = BootstrapKeys::generate(boot.params(), &generator, &other).unwrap();
    assert!(matches!(
        boot.refresh(&good, &keys),
        Err(Error::Rlwe(rlwe::Error::KeyMismatch { .. }))
    ));
}

#[test]
fn what_fails_too_often_or_does_not_fit_is_refused() {
    let main = chain(8, 14);
    let new = |l: &BootstrapLiteral| BootstrapParams::new(&main, l, SecurityPolicy::insecure());
    let good = small(128);
    assert!(new(&good).is_ok());
    let with = |edit: &dyn Fn(&mut BootstrapLiteral)| {
        let mut literal = good.clone();
        edit(&mut literal);
        new(&literal).unwrap_err().to_string()
    };
    // A secret that wraps further than the cosine reaches: seen when it is built, not when it fails.
    for weight in [64, 128] {
        let heavy = with(&|l| l.weight = weight);
        assert!(
            heavy.contains("degree") && heavy.contains("errs by"),
            "{heavy}"
        );
    }
    assert!(with(&|l| l.slots = 256).contains("slots"));
    assert!(with(&|l| l.slots = 100).contains("slots"));
    assert!(with(&|l| l.coeffs_to_slots = 0).contains("levels"));
    assert!(with(&|l| l.coeffs_to_slots = 8).contains("levels"));
    assert!(with(&|l| l.bound = f64::NAN).contains("bound"));
    assert!(with(&|l| l.log2_ratio = 1.0).contains("log2_ratio"));
    assert!(with(&|l| l.log2_failure = -20.0).contains("log2_failure"));
    assert!(with(&|l| l.passes = 3).contains("number of passes"));
    assert!(with(&|l| l.weight = 0).contains("weight"));
    assert!(with(&|l| (l.degree, l.doublings) = (62, 5)).contains("levels of the chain"));
    assert!(with(&|l| l.degree = 8).contains("errs by"));
    // Without the opt-in the sparse secret's own set is judged.
    let judged = BootstrapParams::new(&main, &good, SecurityPolicy::default());
    assert!(matches!(
        judged,
        Err(Error::Rlwe(rlwe::Error::Insecure { .. }))
    ));
}

#[test]
fn the_failure_is_what_the_overflow_says() {
    let main = chain(8, 14);
    let params = |weight, log2_failure| {
        let literal = BootstrapLiteral {
            weight,
            log2_failure,
            ..small(128)
        };
        BootstrapParams::new(&main, &literal, SecurityPolicy::insecure()).unwrap()
    };
    let rare = params(32, -128.0);
    assert!(rare.log2_failure().unwrap() <= -128.0 && rare.reduction().overflow() < 16);
    let never = params(32, -1000.0);
    assert_eq!(
        (never.log2_failure().unwrap(), never.reduction().overflow()),
        (f64::NEG_INFINITY, 16)
    );
}

#[test]
fn keys_are_those_used_each_at_its_level() {
    let bench = Bench::new(8, &small(64), Threads::ONE);
    let (keys, params) = (&bench.keys, bench.boot.params());
    let top = bench.main().max_level();
    let limbs: Vec<usize> = keys
        .slots_to_coeffs
        .iter()
        .chain(&keys.coeffs_to_slots)
        .map(|k| k.limbs())
        .collect();
    assert_eq!(limbs, [3, 2, top + 1, top]);
    assert_eq!(keys.conjugation.limbs(), top - 1);
    assert_eq!(params.trace_steps(), [64]);
    let whole = keys.relin.key().memory() * keys.count();
    assert!(keys.memory() < whole && bench.boot.memory() > 0);
}

#[test]
fn keys_within_a_limit_give_the_same_bytes() {
    let bench = Bench::new(6, &small(16), Threads::ONE);
    let params = bench.boot.params();
    let [least, whole] = params.key_memory();
    assert_eq!(bench.keys.memory(), whole);
    let ct = bench.encrypt(&reals(16, 1), 2, 0);
    let refreshed = bench.boot.refresh(&ct, &bench.keys).unwrap().to_bytes();
    let (generator, calls) = (
        KeyGenerator::new(bench.main().rlwe(), Seed::from_text("boot")),
        std::sync::Mutex::new(Vec::new()),
    );
    let progress = |done, all| calls.lock().unwrap().push((done, all));
    let options = |memory| KeyOptions {
        memory: Some(memory),
        threads: Threads::new(2).unwrap(),
        progress: Some(&progress),
    };
    for memory in [least, (least + whole) / 2, whole] {
        let options = options(memory);
        let made =
            BootstrapKeys::generate_with(params, &generator, &bench.secret, &options).unwrap();
        assert!(made.memory() <= memory && made.memory() >= least);
        assert_eq!(made.to_bytes(), bench.keys.to_bytes());
        assert_eq!(
            bench.boot.refresh(&ct, &made).unwrap().to_bytes(),
            refreshed
        );
        let read =
            BootstrapKeys::from_bytes_within(params, &made.to_bytes(), Some(memory)).unwrap();
        assert_eq!(read.memory(), made.memory());
        let mut calls = calls.lock().unwrap();
        calls.sort_unstable();
        let all = made.count();
        assert!(calls.drain(..).eq((1..=all).map(|done| (done, all))));
    }
    let low = BootstrapKeys::generate_with(params, &generator, &bench.secret, &options(least - 1));
    let error = low.unwrap_err().to_string();
    assert!(
        error.contains("memory limit") && error.contains(&format!("{least} bytes or more")),
        "{error}"
    );
    assert!(calls.lock().unwrap().is_empty());
}

#[test]
fn keys_survive_bytes_and_those_of_another_bootstrapping_are_refused() {
    let bench = Bench::new(6, &small(16), Threads::ONE);
    let params = bench.boot.params();
    let bytes = bench.keys.to_bytes();
    let read = BootstrapKeys::from_bytes(params, &bytes).unwrap();
    assert_eq!(read.to_bytes(), bytes);
    // Seeds in place of the uniform halves.
    assert!(bytes.len() < bench.keys.memory() / 2);
    let ct = bench.encrypt(&reals(16, 1), 2, 0);
    let [a, b] = [&read, &bench.keys].map(|keys| bench.boot.refresh(&ct, keys).unwrap().to_bytes());
    assert_eq!(a, b);
    for len in (0..bytes.len()).step_by(997) {
        assert!(
            BootstrapKeys::from_bytes(params, &bytes[..len]).is_err(),
            "{len}"
        );
    }
    let other = BootstrapLiteral {
        slots_to_coeffs: 3,
        coeffs_to_slots: 1,
        ..small(16)
    };
    let other = BootstrapParams::new(bench.main(), &other, SecurityPolicy::insecure()).unwrap();
    let error = BootstrapKeys::from_bytes(&other, &bytes)
        .unwrap_err()
        .to_string();
    assert!(error.contains("this very bootstrapping"), "{error}");
}

#[test]
fn fewer_keys_within_a_limit_of_bytes_refresh_within_the_bound() {
    let of = |key_bytes| BootstrapLiteral {
        key_bytes,
        ..small(128)
    };
    let fast = Bench::new(8, &of(None), Threads::ONE);
    let whole = fast.boot.params().key_bytes();
    assert_eq!(fast.keys.to_bytes().len(), whole);
    let limit = whole * 7 / 8;
    let few = Bench::new(8, &of(Some(limit)), Threads::ONE);
    let bytes = few.keys.to_bytes();
    assert!(bytes.len() == few.boot.params().key_bytes() && bytes.len() <= limit);
    assert!(few.keys.count() < fast.keys.count());
    let switches = |bench: &Bench| bench.boot.params().effort().switches.len();
    assert!(switches(&few) >= switches(&fast));
    within_the_bound(&few, adversarial(128, 1.0));
    // The keys of one limit are none for another.
    assert!(!few.keys.serve(fast.boot.params()) && few.keys.serve(few.boot.params()));
    let main = chain(8, fast.main().max_level());
    let low = BootstrapParams::new(&main, &of(Some(whole / 8)), SecurityPolicy::insecure());
    let error = low.unwrap_err().to_string();
    assert!(error.contains("limit on the bytes of keys"), "{error}");
}

#[test]
fn keys_in_a_file_give_the_same_bytes_and_damaged_ones_are_refused() {
    let bench = Bench::new(6, &small(16), Threads::ONE);
    let (params, bytes) = (bench.boot.params(), bench.keys.to_bytes());
    let folder = std::env::temp_dir().join(format!("ringsmith-key-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let path = write("keys", &bytes);
    let file = KeyFile::open(params, &path).unwrap();
    assert!(file.memory() < bench.keys.memory() / 2);
    let ct = bench.encrypt(&reals(16, 1), 2, 0);
    let refreshed = bench.boot.refresh(&ct, &bench.keys).unwrap().to_bytes();
    assert_eq!(
        bench.boot.refresh(&ct, &file).unwrap().to_bytes(),
        refreshed
    );
    for damage in [&bytes[..bytes.len() / 2], &[&[1], &bytes[1..]].concat()] {
        assert!(KeyFile::open(params, write("damaged", damage)).is_err());
    }
    // A part that is read later is checked then.
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let flipped = KeyFile::open(params, write("flipped", &flipped)).unwrap();
    assert!(bench.boot.refresh(&ct, &flipped).is_err());
    let other = BootstrapLiteral {
        slots_to_coeffs: 3,
        coeffs_to_slots: 1,
        ..small(16)
    };
    let other = BootstrapParams::new(bench.main(), &other, SecurityPolicy::insecure()).unwrap();
    let error = KeyFile::open(&other, &path).unwrap_err().to_string();
    assert!(error.contains("this very bootstrapping"), "{error}");
    // Cut short while it is open: an error.
    write("keys", &bytes[..bytes.len() / 4]);
    assert!(matches!(
        bench.boot.refresh(&ct, &file),
        Err(Error::KeyFile { .. })
    ));
    let missing = KeyFile::open(params, folder.join("none"));
    assert!(matches!(missing, Err(Error::KeyFile { .. })));
    std::fs::remove_dir_all(&folder).unwrap();
}
