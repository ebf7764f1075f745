// SPDX-License-Identifier: Apache-2.0
//! One seed for several sets, keys and kinds of encryption: no two messages share their randomness.

use super::{SMALL, literal};
use crate::{CkksParams, Encoder, Encryptor};
use rlwe::{KeyGenerator, Randomness, SecurityPolicy, Seed};
use std::collections::HashSet;

fn set(scale: f64) -> CkksParams {
    let literal = crate::CkksParamsLiteral {
        scale,
        ..literal(SMALL)
    };
    CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// The first words of c_1 of zeros under each key, for two numbers.
fn drawn(params: &CkksParams, generator: &KeyGenerator<u64>) -> Vec<Vec<u64>> {
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    let extended = generator.extended_public_key(&secret).unwrap();
    let encryptor = Encryptor::new(params, Seed::from_text("one"));
    let zero = Encoder::new(params)
        .encode_real(&[], 1, params.scale())
        .unwrap();
    let both = |i| {
        [
            encryptor.encrypt(&zero, &public, i).unwrap(),
            encryptor.encrypt(&zero, &extended, i).unwrap(),
            encryptor.encrypt_secret(&zero, &secret, i).unwrap(),
        ]
    };
    let head = |ct: crate::Ciphertext| ct.parts()[1].limb(0)[..8].to_vec();
    [0, 1].into_iter().flat_map(both).map(head).collect()
}

#[test]
fn no_two_sets_keys_or_numbers_share_randomness() {
    let mut all = Vec::new();
    for scale in [40, 41].map(|bits| f64::exp2(f64::from(bits))) {
        let params = set(scale);
        let ring = KeyGenerator::new(params.rlwe(), Seed::from_text("ring"));
        let own = KeyGenerator::new(&params, Seed::from_text("one"));
        let other = KeyGenerator::new(&params, Seed::from_text("two"));
        [ring, own, other]
            .iter()
            .for_each(|g| all.extend(drawn(&params, g)));
    }
    assert_eq!(all.len(), 36);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[test]
fn without_a_seed_no_number_comes_twice() {
    let params = set(f64::exp2(40.0));
    let secret = KeyGenerator::new(&params, Randomness::SYSTEM)
        .secret_key()
        .unwrap();
    let encryptor = Encryptor::new(&params, Randomness::SYSTEM);
    let zero = Encoder::new(&params)
        .encode_real(&[], 1, params.scale())
        .unwrap();
    let bytes = [(); 2].map(|()| {
        encryptor
            .encrypt_secret(&zero, &secret, 0)
            .unwrap()
            .to_bytes()
    });
    assert_ne!(bytes[0], bytes[1]);
}
