// SPDX-License-Identifier: Apache-2.0
//! Encoders, in the clear and through encryption.

use super::*;

#[test]
fn batching_is_slotwise() {
    let params = params::<u64>(64, &[50], &[], 257);
    let encoder = BatchEncoder::new(&params).unwrap();
    let (a, b) = (values("a", 64, 257), values("b", 64, 257));
    let (pa, pb) = (encoder.encode(&a).unwrap(), encoder.encode(&b).unwrap());
    assert_eq!(encoder.decode(&pa).unwrap(), a);
    let product = negacyclic(pa.coefficients(), pb.coefficients(), 257);
    let product = Plaintext::from_coefficients(&params, &product).unwrap();
    let expected: Vec<u64> = a.iter().zip(&b).map(|(x, y)| x * y % 257).collect();
    assert_eq!(encoder.decode(&product).unwrap(), expected);
    let signed: Vec<i64> = (-32..32).collect();
    assert_eq!(
        encoder
            .decode_signed(&encoder.encode_signed(&signed).unwrap())
            .unwrap(),
        signed
    );
    assert_eq!(
        encoder.decode(&encoder.encode(&[5, 6]).unwrap()).unwrap()[..3],
        [5, 6, 0]
    );
    assert_eq!(
        encoder
            .decode_signed(&encoder.encode_signed(&[-128, 128]).unwrap())
            .unwrap()[..2],
        [-128, 128]
    );
}

#[test]
fn integers_add_and_multiply() {
    for (t, base) in [(2, 2), (33, 2), (33, 3), (65537, 10), (1 << 40, 2)] {
        let kit = Kit::new(params::<u64>(128, &[60, 60, 60], &[61], t));
        let encoder = IntegerEncoder::new(&kit.params, base).unwrap();
        let numbers: &[i64] = if t == 2 {
            &[0, 1, 5]
        } else {
            &[0, 1, -1, 12, -345, 9999]
        };
        for &x in numbers {
            assert_eq!(
                encoder.decode(&encoder.encode(x).unwrap()).unwrap(),
                x,
                "t {t} base {base}"
            );
        }
        if t > 100 {
            let ct = |x| kit.encryptor.encrypt(&encoder.encode(x).unwrap()).unwrap();
            let read =
                |ct: &Ciphertext<u64>| encoder.decode(&kit.decryptor.decrypt(ct).unwrap()).unwrap();
            assert_eq!(
                read(&kit.evaluator.add(&ct(-345), &ct(9999)).unwrap()),
                9654
            );
            assert_eq!(
                read(&kit.evaluator.multiply(&ct(-345), &ct(9999)).unwrap()),
                -345 * 9999
            );
        }
    }
}

#[test]
fn fractions_add_and_multiply() {
    let kit = Kit::new(params::<u64>(128, &[60, 60, 60], &[61], 65537));
    let encoder = FractionalEncoder::new(&kit.params, 3, 12, 64).unwrap();
    let unit = 3f64.powi(-12);
    for x in [0.0, 1.0, -1.5, 3.25, -0.001, 1234.5678] {
        assert!(
            (encoder.decode(&encoder.encode(x).unwrap()).unwrap() - x).abs() <= unit / 2.0 + 1e-12,
            "{x}"
        );
    }
    let ct = |x| kit.encryptor.encrypt(&encoder.encode(x).unwrap()).unwrap();
    let read = |ct: &Ciphertext<u64>| encoder.decode(&kit.decryptor.decrypt(ct).unwrap()).unwrap();
    assert!((read(&kit.evaluator.add(&ct(1.25), &ct(-3.5)).unwrap()) + 2.25).abs() < 2.0 * unit);
    assert!(
        (read(&kit.evaluator.multiply(&ct(1.25), &ct(-3.5)).unwrap()) + 4.375).abs() < 5.0 * unit
    );
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let params = params::<u64>(16, &[50], &[], 97);
    let encoder = BatchEncoder::new(&params).unwrap();
    assert!(matches!(
        encoder.encode(&[97]),
        Err(Error::ValueRange { index: 0, .. })
    ));
    assert!(matches!(
        encoder.encode_signed(&[0, 49]),
        Err(Error::ValueRange { index: 1, .. })
    ));
    assert!(matches!(
        encoder.encode_signed(&[i64::MIN]),
        Err(Error::ValueRange { .. })
    ));
    assert!(matches!(
        encoder.encode(&[0; 17]),
        Err(Error::TooManyValues { got: 17, max: 16 })
    ));
    assert!(matches!(
        Plaintext::from_coefficients(&params, &[97]),
        Err(Error::ValueRange { .. })
    ));
    assert!(matches!(
        IntegerEncoder::new(&params, 1),
        Err(Error::Encoder {
            what: "the base",
            ..
        })
    ));
    assert!(matches!(
        IntegerEncoder::new(&params, 98),
        Err(Error::Encoder { .. })
    ));
    let integers = IntegerEncoder::new(&params, 2).unwrap();
    assert!(matches!(
        integers.encode(1 << 20),
        Err(Error::TooManyValues { got: 21, max: 16 })
    ));
    let full = Plaintext::from_coefficients(&params, &[48; 16]).unwrap();
    assert!(matches!(
        IntegerEncoder::new(&params, 97).unwrap().decode(&full),
        Err(Error::DecodedRange(_))
    ));
    assert!(matches!(
        FractionalEncoder::new(&params, 3, 10, 8),
        Err(Error::Encoder { .. })
    ));
    assert!(matches!(
        FractionalEncoder::new(&params, 3, 0, 17),
        Err(Error::Encoder { .. })
    ));
    let fractions = FractionalEncoder::new(&params, 3, 4, 8).unwrap();
    for bad in [f64::NAN, f64::INFINITY, 1e30] {
        assert!(
            matches!(fractions.encode(bad), Err(Error::ValueRange { .. })),
            "{bad}"
        );
    }
    assert!(matches!(
        fractions.encode(1e5),
        Err(Error::TooManyValues { .. })
    ));
    let other = super::params::<u64>(16, &[50], &[], 193);
    assert!(
        encoder
            .decode(&Plaintext::from_coefficients(&other, &[1]).unwrap())
            .is_err()
    );
}

#[test]
fn moduli_without_slots_are_named() {
    for t in [2, 33, 65536, 101] {
        let params = params::<u64>(64, &[50], &[], t);
        assert!(
            matches!(
                BatchEncoder::new(&params),
                Err(Error::NoBatching {
                    n: 64,
                    order: 128,
                    ..
                })
            ),
            "{t}"
        );
    }
}
