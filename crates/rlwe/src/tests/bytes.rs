// SPDX-License-Identifier: Apache-2.0
//! Parameters and keys as bytes: round trips, damage, limits.

use super::*;

/// Every decoder with its valid bytes.
fn objects(params: &RlweParams<u64>) -> Vec<(&'static str, Vec<u8>)> {
    let generator = KeyGenerator::new(params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let mut all = vec![
        ("params", params.to_bytes()),
        ("secret", secret.to_bytes().to_vec()),
        ("public", generator.public_key(&secret).unwrap().to_bytes()),
        (
            "public",
            generator.extended_public_key(&secret).unwrap().to_bytes(),
        ),
        ("relin", generator.relin_key(&secret, 2).unwrap().to_bytes()),
        (
            "galois",
            generator
                .galois_keys(&secret, &[3, 15], 1)
                .unwrap()
                .to_bytes(),
        ),
    ];
    all.extend(whole_objects(params, &generator, &secret));
    all
}

/// The same keys by their halves, without seeds.
fn whole_objects(
    params: &RlweParams<u64>,
    generator: &KeyGenerator<u64>,
    secret: &SecretKey<u64>,
) -> Vec<(&'static str, Vec<u8>)> {
    let public = |key: PublicKey<u64>| {
        let halves = key.parts().map(Clone::clone);
        PublicKey::from_halves(params, key.id(), halves)
            .unwrap()
            .to_bytes()
    };
    let switch = |key: &KeySwitchKey<u64>| {
        let (b, a) = (key.masked().to_vec(), key.uniform().unwrap().to_vec());
        KeySwitchKey::from_halves(params, key.id(), key.limbs(), b, a).unwrap()
    };
    let relin = RelinKey::from(switch(generator.relin_key(secret, 2).unwrap().key()));
    let galois = generator.galois_keys(secret, &[3, 15], 1).unwrap();
    let keys = galois.elements().zip(galois.keys().map(switch));
    let galois = GaloisKeys::from_keys(params, secret.id(), 1, keys).unwrap();
    vec![
        ("public", public(generator.public_key(secret).unwrap())),
        (
            "public",
            public(generator.extended_public_key(secret).unwrap()),
        ),
        ("relin", relin.to_bytes()),
        ("galois", galois.to_bytes()),
    ]
}

#[test]
fn keys_with_and_without_seeds_unite_without_them() {
    let params = params::<u64>(16, &[20, 21], &[22], 0);
    let generator = KeyGenerator::new(&params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let seeded = generator.galois_keys(&secret, &[5], 1).unwrap();
    let [.., (_, whole)] = &whole_objects(&params, &generator, &secret)[..] else {
        unreachable!("there are several");
    };
    let whole = GaloisKeys::from_bytes(&params, whole).unwrap();
    let both = seeded.united(&whole).unwrap();
    let back = GaloisKeys::from_bytes(&params, &both.to_bytes()).unwrap();
    assert_eq!(back.elements().collect::<Vec<_>>(), [3, 5, 15]);
    let (own, read) = (seeded.get(5).unwrap().1, back.get(5).unwrap().1);
    assert_eq!(own.masked(), read.masked());
    assert_eq!(own.uniform(), read.uniform());
}

#[test]
fn halves_of_other_primes_and_keys_of_nobody_are_refused() {
    let params = params::<u64>(16, &[20, 21], &[22], 0);
    let generator = KeyGenerator::new(&params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let relin = generator.relin_key(&secret, 2).unwrap();
    let (b, a) = (
        relin.key().masked().to_vec(),
        relin.key().uniform().unwrap().to_vec(),
    );
    let make = |id, limbs, b, a| KeySwitchKey::from_halves(&params, id, limbs, b, a);
    assert!(matches!(
        make(KeyId::NONE, 2, b.clone(), a.clone()),
        Err(Error::Wire(_))
    ));
    assert!(matches!(
        make(secret.id(), 1, b.clone(), a.clone()),
        Err(Error::Shape { .. })
    ));
    assert!(matches!(
        make(secret.id(), 2, b[..1].to_vec(), a),
        Err(Error::Shape { .. })
    ));
    let key = make(secret.id(), 2, b.clone(), b).unwrap();
    let other = GaloisKeys::from_keys(&params, secret.id(), 1, [(3, key)]);
    assert!(matches!(other, Err(Error::Shape { .. })));
}

/// Decodes and encodes again.
fn recode(params: &RlweParams<u64>, kind: &str, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    match kind {
        "params" => {
            Ok(RlweParams::<u64>::from_bytes(bytes, SecurityPolicy::insecure())?.to_bytes())
        }
        "secret" => Ok(SecretKey::from_bytes(params, bytes)?.to_bytes().to_vec()),
        "public" => Ok(PublicKey::from_bytes(params, bytes)?.to_bytes()),
        "relin" => Ok(RelinKey::from_bytes(params, bytes)?.to_bytes()),
        _ => Ok(GaloisKeys::from_bytes(params, bytes)?.to_bytes()),
    }
}

#[test]
fn keys_round_trip_as_bytes() {
    let params = params::<u64>(16, &[20, 21], &[22], 0);
    for (kind, bytes) in objects(&params) {
        assert_eq!(recode(&params, kind, &bytes).unwrap(), bytes, "{kind}");
    }
    let wide = tests::params::<u128>(16, &[107], &[107], 0);
    let generator = KeyGenerator::new(&wide, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let relin = generator.relin_key(&secret, 1).unwrap();
    let back = RelinKey::from_bytes(&wide, &relin.to_bytes()).unwrap();
    assert_eq!(back.key().masked(), relin.key().masked());
    assert_eq!(back.key().uniform(), relin.key().uniform());
    assert_eq!(
        SecretKey::from_bytes(&wide, &secret.to_bytes())
            .unwrap()
            .coefficients(),
        secret.coefficients()
    );
    assert_eq!(word_bits_of(&wide.to_bytes()), Ok(128));
    assert_eq!(word_bits_of(&params.to_bytes()), Ok(64));
}

/// Damages payloads but repairs the checksum, so that the decoders behind it are reached.
#[test]
fn mutated_payloads_never_panic_and_what_decodes_is_canonical() {
    let params = params::<u64>(16, &[20, 21], &[22], 0);
    for (kind, bytes) in objects(&params) {
        mutate::for_each_mutation(&bytes, 4000, |bad| {
            if let Ok(again) = recode(&params, kind, bad) {
                assert_eq!(again, bad, "{kind}: two byte strings for one object");
            }
        });
    }
}

/// A set's bytes with every byte replaced by every other, checksum repaired.
fn for_each_replaced_byte(bytes: &[u8], mut try_it: impl FnMut(&[u8])) {
    for at in 0..bytes.len() - wire::CHECKSUM_LEN {
        for value in 0..=u8::MAX {
            let mut bad = bytes.to_vec();
            bad[at] = value;
            mutate::repair(&mut bad);
            try_it(&bad);
        }
    }
}

#[test]
fn a_parameter_set_has_one_encoding() {
    let params = params::<u64>(16, &[20, 21, 22, 23], &[24], 0);
    for_each_replaced_byte(&params.to_bytes(), |bad| {
        if let Ok(again) = RlweParams::<u64>::from_bytes(bad, SecurityPolicy::insecure()) {
            assert_eq!(again.to_bytes(), bad);
        }
    });
    // Three digits of four primes are two digits, and written so.
    let mut three = params.to_bytes();
    three[wire::HEADER_LEN + 20] = 3;
    mutate::repair(&mut three);
    let refused = RlweParams::<u64>::from_bytes(&three, SecurityPolicy::insecure());
    let at = wire::HEADER_LEN + 20;
    assert_eq!(
        refused.err(),
        Some(Error::Wire(wire::WireError::NotCanonical { at }))
    );
}

#[test]
fn parameters_beyond_the_limits_are_refused_before_anything_is_built() {
    // A thousand bytes that ask for half a gigabyte; the numbers need not even be primes.
    let (n, policy) = (1 << 17, SecurityPolicy::insecure());
    let small = params::<u64>(16, &[20], &[], 0);
    let mut bytes = small.to_bytes();
    bytes[wire::HEADER_LEN + 1] = 17;
    mutate::repair(&mut bytes);
    let refused = RlweParams::<u64>::from_bytes(&bytes, policy);
    assert!(
        matches!(refused, Err(Error::Limit { what: "degree", got, limit: 65536, .. }) if got == n)
    );
    let tight = Limits {
        degree: 16,
        memory: Limits::table_bytes(16, 1) - 1,
    };
    let refused = RlweParams::<u64>::from_bytes_within(&small.to_bytes(), policy, &tight);
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("max_memory"), "{message}");
    let enough = Limits {
        memory: Limits::table_bytes(16, 1),
        ..tight
    };
    assert!(RlweParams::<u64>::from_bytes_within(&small.to_bytes(), policy, &enough).is_ok());
}

#[test]
fn keys_that_would_go_with_every_ciphertext_are_refused() {
    let params = params::<u64>(16, &[20, 21], &[22], 0);
    for (kind, mut bytes) in objects(&params).into_iter().skip(1) {
        bytes[wire::HEADER_LEN..][..16].fill(0);
        mutate::repair(&mut bytes);
        let message = recode(&params, kind, &bytes).unwrap_err().to_string();
        assert!(message.contains("belongs to no key"), "{kind}: {message}");
    }
}
