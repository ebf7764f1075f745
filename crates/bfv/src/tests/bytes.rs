// SPDX-License-Identifier: Apache-2.0
//! Objects as bytes.

use super::*;
use rlwe::mutate;
use rlwe::wire::WireError;

fn objects(kit: &Kit<u64>) -> Vec<(&'static str, Vec<u8>)> {
    let plain = Plaintext::from_coefficients(&kit.params, &values("m", 16, 97)).unwrap();
    let symmetric =
        Encryptor::symmetric(&kit.params, kit.secret.clone(), Seed::from_text("s")).unwrap();
    let ct = kit.encryptor.encrypt_at(&plain, 7).unwrap();
    vec![
        ("params", kit.params.to_bytes()),
        ("plaintext", plain.to_bytes()),
        ("ciphertext", ct.to_bytes()),
        ("ciphertext", symmetric.encrypt(&plain).unwrap().to_bytes()),
        ("ciphertext", kit.evaluator.square(&ct).unwrap().to_bytes()),
        (
            "ciphertext",
            kit.evaluator.mod_switch(&ct).unwrap().to_bytes(),
        ),
    ]
}

fn recode(params: &BfvParams<u64>, kind: &str, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    match kind {
        "params" => Ok(BfvParams::<u64>::from_bytes(bytes, SecurityPolicy::insecure())?.to_bytes()),
        "plaintext" => Ok(Plaintext::from_bytes(params, bytes)?.to_bytes()),
        _ => Ok(Ciphertext::from_bytes(params, bytes)?.to_bytes()),
    }
}

#[test]
fn objects_round_trip() {
    let kit = Kit::new(params::<u64>(16, &[50, 51], &[52], 97));
    for (kind, bytes) in objects(&kit) {
        assert_eq!(recode(&kit.params, kind, &bytes).unwrap(), bytes, "{kind}");
    }
    let mut literal = kit.params.literal();
    literal.auxiliary = primes(16, &[60; 3]);
    let given = BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let back = BfvParams::<u64>::from_bytes(&given.to_bytes(), SecurityPolicy::insecure()).unwrap();
    assert_eq!(back.literal(), literal);
    assert_ne!(back, kit.params);
}

#[test]
fn wide_objects_round_trip() {
    let kit = Kit::new(params::<u128>(16, &[128, 107], &[109], 97));
    let ct = kit.encrypt(&values("m", 16, 97));
    assert_eq!(
        Ciphertext::from_bytes(&kit.params, &ct.to_bytes()).unwrap(),
        ct
    );
    let params =
        BfvParams::<u128>::from_bytes(&kit.params.to_bytes(), SecurityPolicy::insecure()).unwrap();
    assert_eq!(params, kit.params);
    assert_eq!(rlwe::word_bits_of(&kit.params.to_bytes()), Ok(128));
    assert!(
        BfvParams::<u64>::from_bytes(&kit.params.to_bytes(), SecurityPolicy::insecure()).is_err()
    );
}

#[test]
fn mutated_objects_never_panic_and_what_decodes_is_canonical() {
    let kit = Kit::new(params::<u64>(16, &[20, 21], &[22], 97));
    for (kind, bytes) in objects(&kit) {
        mutate::for_each_mutation(&bytes, 3000, |bad| {
            if let Ok(again) = recode(&kit.params, kind, bad) {
                assert_eq!(again, bad, "{kind}: two byte strings for one object");
            }
        });
    }
}

#[test]
fn damage_has_its_own_errors() {
    let kit = Kit::new(params::<u64>(16, &[50, 51], &[52], 97));
    let bytes = kit.encrypt(&[1]).to_bytes();
    let decode = |b: &[u8]| match Ciphertext::from_bytes(&kit.params, b) {
        Err(Error::Rlwe(rlwe::Error::Wire(e))) => e,
        other => panic!("{other:?}"),
    };
    assert!(matches!(decode(&bytes[..100]), WireError::Truncated { .. }));
    let mut flipped = bytes.clone();
    flipped[200] ^= 4;
    assert_eq!(decode(&flipped), WireError::Checksum);
    let mut version = bytes.clone();
    version[4] = 9;
    assert_eq!(decode(&version), WireError::Version(9));
    // A size beyond what is there, the checksum repaired: refused before memory for it is taken.
    let mut sized = bytes.clone();
    sized[rlwe::wire::HEADER_LEN + 20] = 16;
    mutate::repair(&mut sized);
    assert!(matches!(decode(&sized), WireError::Truncated { .. }));
    sized[rlwe::wire::HEADER_LEN + 20] = 17;
    mutate::repair(&mut sized);
    assert!(matches!(decode(&sized), WireError::Value { got: 17, .. }));
    assert!(matches!(
        decode(&kit.params.to_bytes()),
        WireError::Tag { .. }
    ));
    let other = params::<u64>(16, &[50, 51], &[52], 193);
    assert!(matches!(
        Ciphertext::from_bytes(&other, &bytes),
        Err(Error::Rlwe(rlwe::Error::ParameterMismatch { .. }))
    ));
    let insecure = BfvParams::<u64>::from_bytes(&kit.params.to_bytes(), SecurityPolicy::default());
    assert!(matches!(
        insecure,
        Err(Error::Rlwe(rlwe::Error::Insecure { .. }))
    ));
}
