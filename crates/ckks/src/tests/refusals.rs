// SPDX-License-Identifier: Apache-2.0
//! Bad input: each a typed error with its numbers and one line of text.

use super::{Bench, SMALL, Shape, literal, values};
use crate::{CkksParams, Decryptor, Error};
use num_complex::Complex64;
use rlwe::SecurityPolicy;

fn one_line(error: &Error) -> String {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text}");
    text
}

#[test]
fn scale_mismatch_names_operation_scales_levels_and_remedy() {
    let b = Bench::new(SMALL);
    let ct = b.encrypt(&values(4, 1), 0);
    let product = b.evaluator.multiply(&ct, &ct).unwrap();
    let error = b.evaluator.add(&product, &ct).unwrap_err();
    let text = one_line(&error);
    assert!(matches!(
        error,
        Error::ScaleMismatch {
            operation: "add",
            levels_left: 3,
            ..
        }
    ));
    for part in ["add", "2^80.0", "2^40.0", "3 levels left", "rescale"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let drifted = b
        .evaluator
        .rescale(&b.evaluator.relinearize(&product, &b.relin).unwrap())
        .unwrap();
    let text = one_line(&b.evaluator.sub(&drifted, &ct).unwrap_err());
    assert!(text.contains("set_scale_by_constant"), "{text}");
    let plain = b.encoder.encode(&values(4, 1), 3, 1e6).unwrap();
    assert!(matches!(
        b.evaluator.add_plain(&ct, &plain),
        Err(Error::ScaleMismatch {
            operation: "add_plain",
            ..
        })
    ));
}

#[test]
fn levels_run_out_with_a_message() {
    let b = Bench::new(SMALL);
    let ct = b
        .evaluator
        .drop_to(&b.encrypt(&values(4, 1), 0), 0)
        .unwrap();
    assert!(matches!(
        b.evaluator.rescale(&ct),
        Err(Error::LevelsExhausted { levels_left: 0, .. })
    ));
    let error = b.evaluator.multiply(&ct, &ct).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Overflow {
                operation: "multiply",
                level: 0,
                ..
            }
        ),
        "{error}"
    );
    assert!(matches!(
        b.evaluator.drop_to(&ct, 1),
        Err(Error::Level {
            given: 1,
            max: 0,
            ..
        })
    ));
    assert!(matches!(
        b.encoder.encode(&values(4, 1), 4, 1e6),
        Err(Error::Level {
            given: 4,
            max: 3,
            ..
        })
    ));
    let fresh = b.encrypt(&values(4, 1), 0);
    let small = b.evaluator.rescale(&fresh).unwrap();
    assert!(matches!(
        b.evaluator.rescale(&small),
        Err(Error::Scale { .. })
    ));
}

#[test]
fn values_that_do_not_fit_are_refused_when_encoded() {
    let b = Bench::new(SMALL);
    let encode = |x: f64, level| b.encoder.encode_real(&[x], level, b.params.scale());
    assert!(encode(100.0, 0).is_ok());
    let error = encode(1e7, 0).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Overflow {
                operation: "encode",
                level: 0,
                ..
            }
        ),
        "{error}"
    );
    one_line(&error);
    assert!(encode(1e7, 3).is_ok());
    assert!(matches!(
        encode(f64::NAN, 0),
        Err(Error::NotFinite { index: 0, .. })
    ));
    let long = vec![Complex64::ONE; b.params.slots() + 1];
    assert!(matches!(
        b.encoder.encode(&long, 0, 1e6),
        Err(Error::TooManyValues {
            given: 33,
            slots: 32
        })
    ));
    let ct = b.encrypt(&values(4, 1), 0);
    assert!(matches!(
        b.evaluator.add_constant(&ct, f64::INFINITY.into()),
        Err(Error::NotFinite { .. })
    ));
    assert!(matches!(
        b.evaluator.multiply_constant(&ct, f64::NAN.into()),
        Err(Error::NotFinite { .. })
    ));
    assert!(matches!(
        b.evaluator.add_constant(&ct, 1e40.into()),
        Err(Error::Overflow { .. })
    ));
}

#[test]
fn products_must_be_relinearised_before_more() {
    let b = Bench::new(SMALL);
    let ct = b.encrypt(&values(4, 1), 0);
    let wide = b.evaluator.multiply(&ct, &ct).unwrap();
    for error in [
        b.evaluator.multiply(&wide, &ct).unwrap_err(),
        b.evaluator.square(&wide).unwrap_err(),
        b.evaluator.rotate(&wide, 1, &b.galois).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Size { given: 3, .. }));
        assert!(one_line(&error).contains("relinearize"));
    }
}

#[test]
fn missing_and_foreign_keys_are_named() {
    let (b, other) = (Bench::new(SMALL), Bench::seeded(SMALL, "someone else"));
    let ct = b.encrypt(&values(4, 1), 0);
    let text = one_line(&b.evaluator.rotate(&ct, 7, &b.galois).unwrap_err());
    assert!(text.contains("Galois key"), "{text}");
    let product = b.evaluator.multiply(&ct, &ct).unwrap();
    let text = one_line(&b.evaluator.relinearize(&product, &other.relin).unwrap_err());
    assert!(text.contains("key set"), "{text}");
    assert!(b.evaluator.rotate(&ct, 1, &other.galois).is_err());
    assert!(
        Decryptor::new(&b.params, &other.secret)
            .unwrap()
            .decrypt(&ct)
            .is_err()
    );
    assert!(
        b.evaluator
            .add(&ct, &other.encrypt(&values(4, 1), 0))
            .is_err()
    );
}

#[test]
fn objects_of_different_parameters_do_not_mix() {
    let (b, other) = (Bench::new(SMALL), Bench::new(Shape { levels: 2, ..SMALL }));
    let (ct, foreign) = (b.encrypt(&values(4, 1), 0), other.encrypt(&values(4, 1), 0));
    for result in [
        b.evaluator.add(&ct, &foreign),
        b.evaluator.multiply(&foreign, &ct),
        b.evaluator.rescale(&foreign),
        b.evaluator.rotate(&foreign, 1, &b.galois),
        b.evaluator.negate(&foreign),
    ] {
        assert!(one_line(&result.unwrap_err()).contains("parameter set"));
    }
    let plain = other.encoder.encode(&values(4, 1), 1, 1e6).unwrap();
    assert!(b.evaluator.multiply_plain(&ct, &plain).is_err());
    assert!(b.encryptor.encrypt(&plain, &b.public, 0).is_err());
    assert!(b.encoder.decode(&plain).is_err());
    assert!(Decryptor::new(&b.params, &other.secret).is_err());
}

#[test]
fn parameters_out_of_range_are_refused() {
    let good = literal(SMALL);
    let new = |l| CkksParams::new(&l, SecurityPolicy::insecure());
    assert!(new(good.clone()).is_ok());
    for scale in [f64::NAN, 0.0, 1.0, -2.0, f64::INFINITY, 1e80] {
        let mut l = good.clone();
        l.scale = scale;
        assert!(matches!(new(l), Err(Error::Scale { .. })), "{scale}");
    }
    let error = CkksParams::new(&good, SecurityPolicy::default()).unwrap_err();
    assert!(one_line(&error).contains("insecure"));
    assert!(crate::prime_chain(1 << 15, 17, 17, 3, 17, 0).is_err());
    assert!(crate::prime_chain(64, 50, 63, 1, 50, 1).is_err());
}
