// SPDX-License-Identifier: Apache-2.0
//! One seed for several sets, keys and kinds of encryption: no two messages share their randomness.

use super::*;
use rlwe::Randomness;
use std::collections::HashSet;

/// The first words of c_1 of zeros under both public keys, and of the seeded ones under the secret key.
fn drawn(params: &BfvParams<u64>, generator: &KeyGenerator<u64>) -> Vec<Vec<u64>> {
    let secret = Arc::new(generator.secret_key().unwrap());
    let public = Arc::new(generator.public_key(&secret).unwrap());
    let extended = Arc::new(generator.extended_public_key(&secret).unwrap());
    let seed = || Seed::from_text("one");
    let encryptors = [
        Encryptor::new(params, public, seed()).unwrap(),
        Encryptor::new(params, extended, seed()).unwrap(),
        Encryptor::symmetric(params, secret, seed()).unwrap(),
    ];
    let head = |e: &Encryptor<u64>, i| e.zero_at(i).unwrap().parts()[1].limb(0)[..8].to_vec();
    let each = |e| [head(e, 0), head(e, 1)];
    encryptors.iter().flat_map(each).collect()
}

#[test]
fn no_two_sets_keys_or_numbers_share_randomness() {
    let mut all = Vec::new();
    for t in [97, 113] {
        let params = params::<u64>(16, &[36, 36], &[37], t);
        // Keys of the ring alone are the same for both plaintext moduli; what is encrypted under them is not.
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
    let params = params::<u64>(16, &[36, 36], &[37], 97);
    let generator = KeyGenerator::new(&params, Randomness::SYSTEM);
    let secret = Arc::new(generator.secret_key().unwrap());
    let encryptor = Encryptor::symmetric(&params, secret, Randomness::SYSTEM).unwrap();
    let zeros = [(); 2].map(|()| encryptor.zero_at(0).unwrap().to_bytes());
    assert_ne!(zeros[0], zeros[1]);
}
