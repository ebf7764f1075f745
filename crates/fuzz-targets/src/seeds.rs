// SPDX-License-Identifier: Apache-2.0
//! Objects to start from: what each target accepts.

use crate::program;
use crate::sets::{ckks, params};
use ::program::{Message, Role, Section};
use rlwe::wire::{CHECKSUM_LEN, HEADER_LEN};
use rlwe::{KeyGenerator, PublicKey, SecretKey, Seed};
use std::sync::Arc;

/// Objects that the target of that name accepts, as they are sent; of programs the inputs of that target.
pub(crate) fn objects(name: &str) -> Vec<Vec<u8>> {
    match name {
        "rlwe_params" => vec![params().rlwe().to_bytes()],
        "bfv_params" => vec![params().to_bytes()],
        "ckks_params" => vec![ckks().to_bytes()],
        "bfv_plaintext" | "bfv_ciphertext" => bfv_data(name),
        "ckks_plaintext" | "ckks_ciphertext" => ckks_data(name),
        "program" => program::seeds(),
        "message" => vec![message()],
        _ => keys(name),
    }
}

/// Inputs for a fuzzer, which cannot guess checksums: what stands between envelope and checksum.
pub fn seeds(name: &str) -> Vec<Vec<u8>> {
    let objects = objects(name);
    match name {
        "program" => objects,
        _ => objects
            .iter()
            .map(|bytes| bytes[HEADER_LEN..bytes.len() - CHECKSUM_LEN].to_vec())
            .collect(),
    }
}

fn generator() -> (KeyGenerator<u64>, SecretKey<u64>, PublicKey<u64>) {
    let generator = KeyGenerator::new(params().rlwe(), Seed::from_text("fuzz keys"));
    let secret = generator.secret_key().expect("a key");
    let public = generator.public_key(&secret).expect("a key");
    (generator, secret, public)
}

fn keys(name: &str) -> Vec<Vec<u8>> {
    let (generator, secret, public) = generator();
    let extended = || generator.extended_public_key(&secret).expect("a key");
    match name {
        "secret_key" => vec![secret.to_bytes().to_vec()],
        "public_key" => vec![public.to_bytes(), extended().to_bytes()],
        "relin_key" => vec![generator.relin_key(&secret, 2).expect("a key").to_bytes()],
        "galois_keys" => {
            let made = generator.galois_keys(&secret, &[3, 31], 2);
            vec![made.expect("keys").to_bytes()]
        }
        other => panic!("no objects of {other}"),
    }
}

fn bfv_data(name: &str) -> Vec<Vec<u8>> {
    let plain = bfv::Plaintext::from_coefficients(params(), &[1, 2, 96]).expect("coefficients");
    if name == "bfv_plaintext" {
        return vec![plain.to_bytes()];
    }
    let (_, secret, public) = generator();
    let seed = || Seed::from_text("fuzz messages");
    let by_public = bfv::Encryptor::new(params(), Arc::new(public), seed());
    let by_secret = bfv::Encryptor::symmetric(params(), Arc::new(secret), seed());
    [by_public, by_secret]
        .into_iter()
        .map(|by| by.and_then(|by| by.encrypt(&plain)))
        .map(|made| made.expect("a ciphertext").to_bytes())
        .collect()
}

fn ckks_data(name: &str) -> Vec<Vec<u8>> {
    let encoder = ckks::Encoder::new(ckks());
    let plain = encoder.encode_real(&[0.5, -0.25], ckks().max_level(), ckks().scale());
    let plain = plain.expect("values");
    if name == "ckks_plaintext" {
        return vec![plain.to_bytes()];
    }
    let (_, secret, public) = generator();
    let encryptor = ckks::Encryptor::new(ckks(), Seed::from_text("fuzz messages"));
    let made = [
        encryptor.encrypt(&plain, &public, 0),
        encryptor.encrypt_secret(&plain, &secret, 1),
    ];
    let bytes = |one: Result<ckks::Ciphertext, ckks::Error>| one.expect("a ciphertext").to_bytes();
    made.into_iter().map(bytes).collect()
}

fn message() -> Vec<u8> {
    let section = |name: &str| Section {
        name: name.into(),
        hash: [7; 16],
    };
    let message = Message {
        role: Role::Arguments,
        program: vec![section("parameters"), section("steps")],
        key: "0123".into(),
        parts: vec![b"one object", b"", b"another"],
    };
    message.to_bytes().expect("a message")
}
