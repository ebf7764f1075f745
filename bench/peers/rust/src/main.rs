// SPDX-License-Identifier: Apache-2.0
//! Times tfhe-ntt and fhe.rs and prints one JSON line per operation. fhe.rs has no special prime: its relinearisation
//! decomposes over the ciphertext moduli, so a set named `36+36+37` elsewhere is `36+36` ciphertext bits here too.
//!
//! Without the feature `vectors` it is fhe.rs with its own portable transforms, and those alone instead of tfhe-ntt.
//! The rows do not say of which build they are: the command knows.

use std::time::{Duration, Instant};

use fhe::bfv::{
    BfvParametersBuilder, Encoding, EvaluationKeyBuilder, Multiplicator, Plaintext, PublicKey,
    RelinearizationKey, SecretKey,
};
use fhe_traits::{FheDecoder, FheDecrypter, FheEncoder, FheEncrypter};

/// Median in µs and relative interquartile spread over at least 0.4 s or 400 runs, after a warm-up.
fn measure(mut op: impl FnMut()) -> (f64, f64) {
    measure_on(|| (), |()| op())
}

/// [`measure`] of an operation on what `prepare` makes for each run, which is not timed.
fn measure_on<T>(prepare: impl Fn() -> T, mut op: impl FnMut(T)) -> (f64, f64) {
    op(prepare());
    let mut micros = Vec::new();
    let begin = Instant::now();
    while micros.len() < 7 || (micros.len() < 400 && begin.elapsed() < Duration::from_millis(400)) {
        let input = prepare();
        let start = Instant::now();
        op(input);
        micros.push(start.elapsed().as_secs_f64() * 1e6);
    }
    micros.sort_by(f64::total_cmp);
    let median = micros[micros.len() / 2];
    (
        median,
        (micros[micros.len() * 3 / 4] - micros[micros.len() / 4]) / median,
    )
}

fn report(
    library: &str,
    operation: &str,
    n: usize,
    bits: &[usize],
    timing: (f64, f64),
    correct: bool,
) {
    println!(
        "{{\"operation\":\"{operation}\",\"n\":{n},\"moduli_bits\":{bits:?},\"library\":\"{library}\",\"median_us\":{:.3},\"spread\":{:.4},\"correct\":{correct}}}",
        timing.0, timing.1
    );
}

/// The largest prime below 2^bits that is 1 mod 2n.
fn ntt_prime(bits: usize, n: usize) -> u64 {
    let step = 2 * n as u64;
    let mut candidate = ((1u64 << bits) - 2) / step * step + 1;
    while !is_prime(candidate) {
        candidate -= step;
    }
    candidate
}

/// Deterministic Miller–Rabin for 64-bit integers.
fn is_prime(value: u64) -> bool {
    let power = |mut base: u64, mut exponent: u64| {
        let mut result = 1u64;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = (result as u128 * base as u128 % value as u128) as u64;
            }
            base = (base as u128 * base as u128 % value as u128) as u64;
            exponent >>= 1;
        }
        result
    };
    let (shift, odd) = (
        (value - 1).trailing_zeros(),
        (value - 1) >> (value - 1).trailing_zeros(),
    );
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
        .iter()
        .all(|&witness| {
            let mut x = power(witness, odd);
            if x == 1 || x == value - 1 {
                return true;
            }
            (1..shift).any(|_| {
                x = (x as u128 * x as u128 % value as u128) as u64;
                x == value - 1
            })
        })
}

/// The library that the BFV rows, and without vectors all rows, belong to.
const FHE: &str = "fhe.rs 0.1.1";

/// The library that the transforms belong to.
const NTT: &str = if cfg!(feature = "vectors") {
    "tfhe-ntt 0.7.1"
} else {
    FHE
};

/// A transform of one length: forward, inverse, and inverse with the factor n^-1.
struct Plan {
    #[cfg(feature = "vectors")]
    plan: tfhe_ntt::prime64::Plan,
    #[cfg(not(feature = "vectors"))]
    plan: fhe_math::ntt::NttOperator,
}

#[cfg(feature = "vectors")]
impl Plan {
    fn new(n: usize, prime: u64) -> Self {
        let plan = tfhe_ntt::prime64::Plan::try_new(n, prime).expect("an NTT-friendly prime");
        Self { plan }
    }
    fn forward(&self, values: &mut [u64]) {
        self.plan.fwd(values);
    }
    fn inverse(&self, values: &mut [u64]) {
        self.plan.inv(values);
    }
    fn undo(&self, values: &mut [u64]) {
        self.plan.inv(values);
        self.plan.normalize(values);
    }
}

/// fhe.rs's variable-time transforms: its fastest.
#[cfg(not(feature = "vectors"))]
impl Plan {
    fn new(n: usize, prime: u64) -> Self {
        let modulus = fhe_math::zq::Modulus::new(prime).expect("a modulus");
        let plan = fhe_math::ntt::NttOperator::new(&modulus, n).expect("an NTT-friendly prime");
        Self { plan }
    }
    fn forward(&self, values: &mut [u64]) {
        // SAFETY: as many words as the plan's length.
        unsafe { self.plan.forward_vt(values.as_mut_ptr()) }
    }
    fn inverse(&self, values: &mut [u64]) {
        // SAFETY: as `forward`.
        unsafe { self.plan.backward_vt(values.as_mut_ptr()) }
    }
    fn undo(&self, values: &mut [u64]) {
        self.inverse(values);
    }
}

fn bench_ntt(n: usize, bits: usize) {
    let prime = ntt_prime(bits, n);
    let plan = Plan::new(n, prime);
    // On a cache line, as ours are: 6 % faster than where an allocator puts it.
    let mut storage = vec![0u64; n + 7];
    let start = storage.as_ptr().align_offset(64);
    let values = &mut storage[start..start + n];
    for (i, x) in values.iter_mut().enumerate() {
        *x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) % prime;
    }
    let original = values.to_vec();
    plan.forward(values);
    plan.undo(values);
    let correct = values == original;
    report(
        NTT,
        "ntt",
        n,
        &[bits],
        measure(|| plan.forward(values)),
        correct,
    );
    report(
        NTT,
        "intt",
        n,
        &[bits],
        measure(|| plan.inverse(values)),
        correct,
    );
}

fn bench_bfv(n: usize, bits: &[usize], shown: &[usize]) {
    let library = FHE;
    let t = 65537u64;
    let par = BfvParametersBuilder::new()
        .set_degree(n)
        .set_plaintext_modulus(t)
        .set_moduli_sizes(bits)
        .build_arc()
        .expect("parameters");
    let mut rng = rand::rng();
    let sk = SecretKey::random(&par, &mut rng);
    let pk = PublicKey::new(&sk, &mut rng);
    let rk = RelinearizationKey::new(&sk, &mut rng).expect("relinearisation key");
    let mut builder = EvaluationKeyBuilder::new(&sk).expect("builder");
    builder.enable_column_rotation(1).expect("rotation by one");
    let ek = builder.build(&mut rng).expect("rotation key");
    let x: Vec<u64> = (0..n as u64).map(|i| (3 * i + 1) % t).collect();
    let y: Vec<u64> = (0..n as u64).map(|i| (7 * i + 2) % t).collect();
    let product: Vec<u64> = x.iter().zip(&y).map(|(a, b)| a * b % t).collect();
    let encode = |v: &[u64]| Plaintext::try_encode(v, Encoding::simd(), &par).expect("encodes");
    let decode = |ct: &fhe::bfv::Ciphertext| {
        Vec::<u64>::try_decode(&sk.try_decrypt(ct).expect("decrypts"), Encoding::simd())
            .expect("decodes")
    };
    let cx = pk.try_encrypt(&encode(&x), &mut rng).expect("encrypts");
    let cy = pk.try_encrypt(&encode(&y), &mut rng).expect("encrypts");

    let mut out = cx.clone();
    let timing = measure(|| out = pk.try_encrypt(&encode(&x), &mut rng).expect("encrypts"));
    report(library, "bfv-encrypt", n, shown, timing, decode(&out) == x);
    report(
        library,
        "bfv-decrypt",
        n,
        shown,
        measure(|| drop(decode(&cx))),
        decode(&cx) == x,
    );
    report(
        library,
        "bfv-decrypt-only",
        n,
        shown,
        measure(|| drop(sk.try_decrypt(&cx).expect("decrypts"))),
        decode(&cx) == x,
    );
    let timing = measure(|| out = &cx * &cy);
    report(
        library,
        "bfv-multiply",
        n,
        shown,
        timing,
        decode(&out) == product,
    );
    let tensor = out.clone();
    let multiplicator = Multiplicator::default(&rk).expect("multiplicator");
    let timing = measure(|| out = multiplicator.multiply(&cx, &cy).expect("multiplies"));
    report(
        library,
        "bfv-multiply-relinearize",
        n,
        shown,
        timing,
        decode(&out) == product,
    );
    let timing = measure_on(
        || tensor.clone(),
        |mut ct| {
            rk.relinearizes(&mut ct).expect("relinearises");
            out = ct;
        },
    );
    report(
        library,
        "bfv-relinearize",
        n,
        shown,
        timing,
        decode(&out) == product,
    );
    let timing = measure(|| out = ek.rotates_columns_by(&cx, 1).expect("rotates"));
    report(
        library,
        "bfv-rotate",
        n,
        shown,
        timing,
        decode(&out)[0] == x[1],
    );
}

fn main() {
    for n in [4096, 8192, 16384, 32768] {
        for bits in [36, 45, 50, 60] {
            bench_ntt(n, bits);
        }
    }
    bench_bfv(4096, &[36, 36], &[36, 36, 37]);
    bench_bfv(8192, &[43, 43, 44, 44], &[43, 43, 44, 44, 44]);
    bench_bfv(4096, &[30; 6], &[30; 7]);
    bench_bfv(4096, &[45; 4], &[45; 5]);
}
