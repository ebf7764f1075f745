// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets: every decoder, on parameter sets small enough to be fast. `fuzz/` runs them under libFuzzer; the tests
//! here are a short fuzz, the same at every run: damaged objects, and programs changed as programs.
//!
//! A decoder must not panic, and whatever it accepts must encode to the same bytes. A fuzzer cannot guess checksums, so
//! each input is also tried with length, fingerprint and checksum repaired; it starts from [`seeds`].

mod check;
mod dice;
mod program;
mod seeds;
mod sets;
#[cfg(test)]
mod tests;

pub use seeds::seeds;

use ::program::Message;
use bfv::BfvParams;
use check::check;
use ckks::CkksParams;
use rlwe::wire::{Fingerprint, Tag};
use rlwe::{GaloisKeys, PublicKey, RelinKey, RlweParams, SecretKey, SecurityPolicy};
use sets::{ckks, params};

/// A decoder under test: panics where it breaks its promises.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: [(&str, Target); 13] = [
    ("rlwe_params", rlwe_params),
    ("secret_key", secret_key),
    ("public_key", public_key),
    ("relin_key", relin_key),
    ("galois_keys", galois_keys),
    ("bfv_params", bfv_params),
    ("bfv_plaintext", bfv_plaintext),
    ("bfv_ciphertext", bfv_ciphertext),
    ("ckks_params", ckks_params),
    ("ckks_plaintext", ckks_plaintext),
    ("ckks_ciphertext", ckks_ciphertext),
    ("program", program::program),
    ("message", message),
];

/// The target of that name.
///
/// # Panics
/// If there is none.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no fuzz target {name}")).1
}

/// Another input for the target `program` in place of `data`: a program changed as one, the same for a `number`.
pub fn mutated_program(data: &[u8], number: u64) -> Vec<u8> {
    program::mutated(data, &mut dice::Dice::new(number))
}

fn rlwe_params(data: &[u8]) {
    check(data, Tag::RlweParams, Fingerprint::default(), |bytes| {
        RlweParams::<u64>::from_bytes(bytes, SecurityPolicy::insecure()).map(|x| x.to_bytes())
    });
}

fn secret_key(data: &[u8]) {
    let rlwe = params().rlwe();
    check(data, Tag::SecretKey, rlwe.fingerprint(), |bytes| {
        SecretKey::from_bytes(rlwe, bytes).map(|x| x.to_bytes().to_vec())
    });
}

fn public_key(data: &[u8]) {
    let rlwe = params().rlwe();
    for tag in [
        Tag::PublicKey,
        Tag::ExtendedPublicKey,
        Tag::WholePublicKey,
        Tag::WholeExtendedPublicKey,
    ] {
        check(data, tag, rlwe.fingerprint(), |bytes| {
            PublicKey::from_bytes(rlwe, bytes).map(|x| x.to_bytes())
        });
    }
}

fn relin_key(data: &[u8]) {
    let rlwe = params().rlwe();
    for tag in [Tag::RelinKey, Tag::WholeRelinKey] {
        check(data, tag, rlwe.fingerprint(), |bytes| {
            RelinKey::from_bytes(rlwe, bytes).map(|x| x.to_bytes())
        });
    }
}

fn galois_keys(data: &[u8]) {
    let rlwe = params().rlwe();
    for tag in [Tag::GaloisKeys, Tag::WholeGaloisKeys] {
        check(data, tag, rlwe.fingerprint(), |bytes| {
            GaloisKeys::from_bytes(rlwe, bytes).map(|x| x.to_bytes())
        });
    }
}

fn bfv_params(data: &[u8]) {
    check(data, Tag::BfvParams, Fingerprint::default(), |bytes| {
        BfvParams::<u64>::from_bytes(bytes, SecurityPolicy::insecure()).map(|x| x.to_bytes())
    });
}

fn bfv_plaintext(data: &[u8]) {
    check(data, Tag::BfvPlaintext, params().fingerprint(), |bytes| {
        bfv::Plaintext::from_bytes(params(), bytes).map(|x| x.to_bytes())
    });
}

fn bfv_ciphertext(data: &[u8]) {
    check(data, Tag::BfvCiphertext, params().fingerprint(), |bytes| {
        bfv::Ciphertext::from_bytes(params(), bytes).map(|x| x.to_bytes())
    });
}

fn ckks_params(data: &[u8]) {
    check(data, Tag::CkksParams, Fingerprint::default(), |bytes| {
        CkksParams::from_bytes(bytes, SecurityPolicy::insecure()).map(|x| x.to_bytes())
    });
}

fn ckks_plaintext(data: &[u8]) {
    check(data, Tag::CkksPlaintext, ckks().fingerprint(), |bytes| {
        ckks::Plaintext::from_bytes(ckks(), bytes).map(|x| x.to_bytes())
    });
}

fn ckks_ciphertext(data: &[u8]) {
    check(data, Tag::CkksCiphertext, ckks().fingerprint(), |bytes| {
        ckks::Ciphertext::from_bytes(ckks(), bytes).map(|x| x.to_bytes())
    });
}

fn message(data: &[u8]) {
    check(data, Tag::Message, Fingerprint::default(), |bytes| {
        Message::from_bytes(bytes)?.to_bytes()
    });
}
