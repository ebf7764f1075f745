// SPDX-License-Identifier: Apache-2.0
//! One seed gives the same bytes under every instruction set, and one that cannot be had is refused.
//!
//! The level is fixed once per process, so each is forced in a child: this binary, running [`digests`] alone.

#[path = "../../rlwe/tests/levels/mod.rs"]
mod levels;

use ckks::linear_transform::{Giant, LinearTransform, Term};
use ckks::{CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Evaluator, Plaintext};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use zq::primes::{Direction, ntt_primes};

const N: usize = 2048;
/// Chains for each arithmetic of the transforms and slices, one that mixes them, and two with digits of two primes.
const SETS: [&[u32]; 7] = [
    &[36, 36, 37],
    &[46, 46, 46],
    &[50, 50, 50],
    &[60, 55, 61],
    &[60, 45, 47, 50, 61],
    &[46, 45, 45, 45, 46, 46],
    &[60, 45, 47, 50, 61, 62],
];

/// Special primes at the end of a chain.
fn special(bits: &[u32]) -> usize {
    if bits.len() < 6 { 1 } else { 2 }
}

fn params(bits: &[u32]) -> CkksParams {
    let mut primes: Vec<u64> = Vec::new();
    for &b in bits {
        primes.extend(ntt_primes::<u64>(b, 2 * N as u64, 1, Direction::Down, &primes).unwrap());
    }
    let data = bits.len() - special(bits);
    let rlwe = RlweParamsLiteral {
        n: N,
        q: primes[..data].to_vec(),
        p: primes[data..].to_vec(),
        dnum: data / special(bits),
        ..Default::default()
    };
    let scale = 2f64.powi(bits[1] as i32 - 6);
    CkksParams::new(
        &CkksParamsLiteral { rlwe, scale },
        SecurityPolicy::insecure(),
    )
    .unwrap()
}

/// Everything a client and a server make from one seed, as bytes.
fn objects(bits: &[u32]) -> Vec<(&'static str, Vec<u8>)> {
    let params = params(bits);
    let limbs = bits.len() - special(bits);
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("every path"));
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    let relin = generator.relin_key(&secret, limbs).unwrap();
    let galois = generator
        .galois_keys(&secret, &params.galois_elements(&[1], false), limbs)
        .unwrap();
    let values: Vec<Complex64> = (0..N / 2)
        .map(|i| Complex64::new((i as f64).sin(), 0.25))
        .collect();
    let encoder = Encoder::new(&params);
    let plain: Plaintext = encoder
        .encode(&values, params.max_level(), params.scale())
        .unwrap();
    let encryptor = Encryptor::new(&params, Seed::from_text("messages"));
    let fresh = encryptor.encrypt(&plain, &public, 0).unwrap();
    let evaluator = Evaluator::new(&params);
    let product = evaluator.multiply(&fresh, &fresh).unwrap();
    let short = evaluator.relinearize(&product, &relin).unwrap();
    let rotated = evaluator.rotate(&short, 1, &galois).unwrap();
    let rescaled = evaluator.rescale(&rotated).unwrap();
    let both = evaluator.relinearize_rescale(&product, &relin).unwrap();
    let real: Vec<f64> = values.iter().map(|z| z.re).collect();
    let factor = encoder
        .encode_real_extended(&real, params.max_level(), params.scale())
        .unwrap();
    let transform = |rotation, plaintext| {
        let terms = [0, 1].map(|rotation| Term {
            rotation,
            plaintext,
        });
        let giants = [0, rotation].map(|rotation| Giant {
            rotation,
            terms: terms.to_vec(),
        });
        LinearTransform {
            giants: giants.to_vec(),
        }
    };
    let transformed = [transform(1, Some(&factor)), transform(0, None)]
        .map(|t| evaluator.linear_transform(&fresh, &t, &galois).unwrap());
    let opened = Decryptor::new(&params, &secret)
        .unwrap()
        .decrypt_slots(&rescaled)
        .unwrap();
    let expected = |i: usize| values[(i + 1) % values.len()] * values[(i + 1) % values.len()];
    assert!((0..opened.len()).all(|i| (opened[i] - expected(i)).norm() < 1e-3));
    let bits_of = |z: &Complex64| [z.re.to_le_bytes(), z.im.to_le_bytes()].concat();
    vec![
        ("secret key", secret.to_bytes().to_vec()),
        ("public key", public.to_bytes()),
        ("relinearisation key", relin.to_bytes()),
        ("rotation key", galois.to_bytes()),
        ("plaintext", plain.to_bytes()),
        ("ciphertext", fresh.to_bytes()),
        ("product", product.to_bytes()),
        ("rotated product", rotated.to_bytes()),
        ("rescaled product", rescaled.to_bytes()),
        ("product rescaled at once", both.to_bytes()),
        ("linear transform", transformed[0].to_bytes()),
        ("sum of rotations", transformed[1].to_bytes()),
        ("decoded values", opened.iter().flat_map(bits_of).collect()),
    ]
}

#[test]
#[ignore = "run in children by the other tests"]
fn digests() {
    levels::print(&SETS, objects);
}

#[test]
fn one_seed_gives_the_same_bytes_under_every_level() {
    levels::assert_same_under_every_level(SETS.len() * 13);
}

#[test]
fn what_cannot_be_had_ends_with_a_message() {
    levels::assert_refused_with_a_message();
}
