// SPDX-License-Identifier: Apache-2.0
//! Parameters and keys as bytes: round trips, damage, limits.

use super::*;

/// Every decoder with its valid bytes.
fn objects(params: &RlweParams<u64>) -> Vec<(&'static str, Vec<u8>)> {
    let generator = KeyGenerator::new(params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    vec![
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
    ]
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
