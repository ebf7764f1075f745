// SPDX-License-Identifier: Apache-2.0
//! The byte format: round trips, and every kind of damage.

use super::{Bench, SMALL, Shape, values};
use crate::{Ciphertext, CkksParams, Plaintext};
use rlwe::SecurityPolicy;
use rlwe::mutate;

fn objects(b: &Bench) -> (Plaintext, Ciphertext, Ciphertext, Ciphertext) {
    let plaintext = b
        .encoder
        .encode(&values(4, 1), 1, b.params.scale())
        .unwrap();
    let ct = b.encryptor.encrypt(&plaintext, &b.public, 0).unwrap();
    let seeded = b
        .encryptor
        .encrypt_secret(&plaintext, &b.secret, 0)
        .unwrap();
    let wide = b.evaluator.multiply(&ct, &ct).unwrap();
    (plaintext, ct, seeded, wide)
}

#[test]
fn objects_survive_bytes() {
    let b = Bench::new(SMALL);
    let (plaintext, ct, seeded, wide) = objects(&b);
    assert_eq!(
        Plaintext::from_bytes(&b.params, &plaintext.to_bytes()).unwrap(),
        plaintext
    );
    for ct in [&ct, &seeded, &wide] {
        let bytes = ct.to_bytes();
        assert_eq!(bytes.len(), ct.byte_len());
        let back = Ciphertext::from_bytes(&b.params, &bytes).unwrap();
        assert_eq!(back.parts(), ct.parts());
        assert_eq!(
            (back.scale(), back.slots(), back.size()),
            (ct.scale(), ct.slots(), ct.size())
        );
        assert_eq!(
            (back.key_id(), back.is_seeded()),
            (ct.key_id(), ct.is_seeded())
        );
        assert_eq!(back.to_bytes(), bytes);
    }
    assert!(seeded.byte_len() < ct.byte_len() * 6 / 10);
    let params = CkksParams::from_bytes(&b.params.to_bytes(), SecurityPolicy::insecure()).unwrap();
    assert_eq!(params, b.params);
    assert!(CkksParams::from_bytes(&b.params.to_bytes(), SecurityPolicy::default()).is_err());
}

#[test]
fn damage_is_refused_wherever_it_is() {
    let b = Bench::new(Shape {
        log_n: 3,
        levels: 1,
        ..SMALL
    });
    let (plaintext, ct, seeded, _) = objects(&b);
    for bytes in [ct.to_bytes(), seeded.to_bytes()] {
        for len in 0..bytes.len() {
            assert!(
                Ciphertext::from_bytes(&b.params, &bytes[..len]).is_err(),
                "truncated to {len}"
            );
        }
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(
                Ciphertext::from_bytes(&b.params, &flipped).is_err(),
                "bit {bit}"
            );
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Ciphertext::from_bytes(&b.params, &longer).is_err());
        assert!(
            Plaintext::from_bytes(&b.params, &bytes).is_err(),
            "another kind of object"
        );
    }
    assert!(Ciphertext::from_bytes(&b.params, &plaintext.to_bytes()).is_err());
}

/// The payload of an object with one byte replaced, sealed again with a right checksum.
fn resealed(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let (header, payload) = rlwe::wire::open(bytes).unwrap();
    let mut payload = payload.to_vec();
    payload[at] = value;
    rlwe::wire::seal(header.tag, header.params, &payload)
}

#[test]
fn well_sealed_nonsense_is_refused() {
    let b = Bench::new(SMALL);
    let (_, ct, seeded, wide) = objects(&b);
    let (scale, slots, limbs, parts, flag) = (16, 24, 25, 29, 30);
    let bad = |bytes: Vec<u8>| Ciphertext::from_bytes(&b.params, &bytes).is_err();
    assert!(!bad(resealed(&ct.to_bytes(), slots, 5)));
    assert!(
        bad(resealed(&ct.to_bytes(), slots, 6)),
        "more slots than n/2"
    );
    assert!(
        bad(resealed(&ct.to_bytes(), scale + 7, 0xff)),
        "scale not finite"
    );
    assert!(
        bad(resealed(&ct.to_bytes(), scale + 7, 0xc0)),
        "negative scale"
    );
    for count in [0, 1, 3, 5, 255] {
        assert!(bad(resealed(&ct.to_bytes(), limbs, count)), "{count} limbs");
        assert!(bad(resealed(&ct.to_bytes(), parts, count)), "{count} parts");
    }
    assert!(bad(resealed(&ct.to_bytes(), flag, 2)));
    assert!(bad(resealed(&ct.to_bytes(), flag, 1)));
    assert!(bad(resealed(&seeded.to_bytes(), flag, 0)));
    assert!(bad(resealed(&wide.to_bytes(), flag, 1)), "a seeded product");
}

/// Decodes and encodes again.
fn recode(params: &CkksParams, kind: &str, bytes: &[u8]) -> Result<Vec<u8>, crate::Error> {
    Ok(match kind {
        "params" => CkksParams::from_bytes(bytes, SecurityPolicy::insecure())?.to_bytes(),
        "plaintext" => Plaintext::from_bytes(params, bytes)?.to_bytes(),
        _ => Ciphertext::from_bytes(params, bytes)?.to_bytes(),
    })
}

#[test]
fn mutated_objects_never_panic_and_what_decodes_is_canonical() {
    let b = Bench::new(Shape { log_n: 4, ..SMALL });
    let (plaintext, ct, seeded, wide) = objects(&b);
    let ciphertexts = [&ct, &seeded, &wide].map(|c| ("ciphertext", c.to_bytes()));
    let others = [
        ("params", b.params.to_bytes()),
        ("plaintext", plaintext.to_bytes()),
    ];
    for (kind, bytes) in others.into_iter().chain(ciphertexts) {
        mutate::for_each_mutation(&bytes, 3000, |bad| {
            if let Ok(again) = recode(&b.params, kind, bad) {
                assert_eq!(again, bad, "{kind}: two byte strings for one object");
            }
        });
    }
}

#[test]
fn every_byte_of_a_parameter_set_counts() {
    let b = Bench::new(Shape { log_n: 4, ..SMALL });
    let bytes = b.params.to_bytes();
    // The length field (24 to 31) is not tried: `repair` puts the right one there.
    for at in (0..24).chain(32..bytes.len() - rlwe::wire::CHECKSUM_LEN) {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << bit;
            mutate::repair(&mut bad);
            if let Ok(again) = CkksParams::from_bytes(&bad, SecurityPolicy::insecure()) {
                assert_eq!(again.to_bytes(), bad, "byte {at}");
                assert_ne!(again, b.params, "byte {at}");
            }
        }
    }
}

#[test]
fn objects_of_another_set_are_refused() {
    let (b, other) = (Bench::new(SMALL), Bench::new(Shape { levels: 4, ..SMALL }));
    let (plaintext, ct, ..) = objects(&b);
    let message = Ciphertext::from_bytes(&other.params, &ct.to_bytes())
        .unwrap_err()
        .to_string();
    assert!(message.contains("parameter set"), "{message}");
    assert!(Plaintext::from_bytes(&other.params, &plaintext.to_bytes()).is_err());
}
