// SPDX-License-Identifier: Apache-2.0
//! Bad operands, keys and parameters, each refused with its own error.

use super::*;
use rlwe::Error as Rlwe;

#[test]
fn operands_of_other_parameters_keys_and_levels() {
    let kit = Kit::new(params::<u64>(16, &[50, 51], &[52], 97));
    let other = Kit::new(params::<u64>(16, &[50, 51], &[52], 193));
    let second = KeyGenerator::new(kit.params.rlwe(), Seed::from_text("second"));
    let secret = Arc::new(second.secret_key().unwrap());
    let public = Arc::new(second.public_key(&secret).unwrap());
    let plain = Plaintext::from_coefficients(&kit.params, &[1]).unwrap();
    let stranger = Encryptor::new(&kit.params, public, Seed::from_text("x"))
        .unwrap()
        .encrypt(&plain)
        .unwrap();
    let (ct, ev) = (kit.encrypt(&[1, 2]), &kit.evaluator);
    let foreign = other.encrypt(&[1]);
    for result in [
        ev.add(&ct, &foreign),
        ev.sub(&foreign, &ct),
        ev.multiply(&ct, &foreign),
        ev.negate(&foreign),
    ] {
        assert!(matches!(
            result,
            Err(Error::Rlwe(Rlwe::ParameterMismatch { .. }))
        ));
    }
    for result in [
        ev.add(&ct, &stranger),
        ev.multiply(&ct, &stranger),
        ev.relinearize(&stranger, &kit.relin),
    ] {
        assert!(matches!(result, Err(Error::Rlwe(Rlwe::KeyMismatch { .. }))));
    }
    assert!(matches!(
        kit.decryptor.decrypt(&stranger),
        Err(Error::Rlwe(Rlwe::KeyMismatch { .. }))
    ));
    assert!(matches!(
        ev.rotate_rows(&stranger, 1, &kit.galois),
        Err(Error::Rlwe(Rlwe::KeyMismatch { .. }))
    ));
    let low = ev.mod_switch(&ct).unwrap();
    assert!(matches!(
        ev.add(&ct, &low),
        Err(Error::LevelMismatch { left: 2, right: 1 })
    ));
    assert!(matches!(
        ev.mod_switch(&low),
        Err(Error::LevelsExhausted {
            left: 1,
            needed: 2,
            ..
        })
    ));
    assert!(matches!(
        ev.mod_switch_to(&low, 2),
        Err(Error::LevelsExhausted {
            left: 1,
            needed: 2,
            ..
        })
    ));
    assert!(matches!(
        ev.mod_switch_to(&low, 0),
        Err(Error::LevelsExhausted { .. })
    ));
    let multiplier = ev.prepare(&plain, 2).unwrap();
    assert!(matches!(
        ev.multiply_prepared(&low, &multiplier),
        Err(Error::LevelMismatch { .. })
    ));
    assert!(matches!(
        ev.prepare(&plain, 3),
        Err(Error::Rlwe(Rlwe::Shape {
            got: 3,
            expected: 2,
            ..
        }))
    ));
    let foreign_plain = Plaintext::from_coefficients(&other.params, &[1]).unwrap();
    for result in [
        ev.add_plain(&ct, &foreign_plain),
        ev.multiply_plain(&ct, &foreign_plain),
        ev.trivial(&foreign_plain),
    ] {
        assert!(matches!(
            result,
            Err(Error::Rlwe(Rlwe::ParameterMismatch { .. }))
        ));
    }
}

#[test]
fn missing_and_truncated_keys() {
    let kit = Kit::new(params::<u64>(16, &[50, 51], &[52], 97));
    let (ct, ev) = (kit.encrypt(&[1, 2]), &kit.evaluator);
    let missing = ev.rotate_rows(&ct, 5, &kit.galois).unwrap_err();
    assert!(matches!(
        missing,
        Error::Rlwe(Rlwe::MissingGaloisKey { .. })
    ));
    assert!(missing.to_string().contains("the set holds"), "{missing}");
    let short = kit.generator.relin_key(&kit.secret, 1).unwrap();
    let square = ev.square(&ct).unwrap();
    assert!(matches!(
        ev.relinearize(&square, &short),
        Err(Error::Rlwe(Rlwe::Shape {
            got: 2,
            expected: 1,
            ..
        }))
    ));
    let even = kit.generator.galois_keys(&kit.secret, &[4], 2);
    assert!(matches!(even, Err(Rlwe::Rns(_))));
    assert!(matches!(
        kit.generator.relin_key(&kit.secret, 3),
        Err(Rlwe::Shape { .. })
    ));
}

#[test]
fn sizes_that_do_not_fit() {
    let kit = Kit::new(params::<u64>(16, &[60, 60, 60], &[61], 97));
    let (ct, ev) = (kit.encrypt(&[1, 2]), &kit.evaluator);
    let square = ev.square(&ct).unwrap();
    let fourth = ev.square(&square).unwrap();
    assert_eq!(fourth.size(), 5);
    assert_eq!(kit.decrypt(&fourth), {
        let mut a = vec![0; 16];
        a[..2].copy_from_slice(&[1, 2]);
        let s = negacyclic(&a, &a, 97);
        negacyclic(&s, &s, 97)
    });
    assert!(matches!(
        ev.relinearize(&fourth, &kit.relin),
        Err(Error::Size { got: 5, .. })
    ));
    assert!(matches!(
        ev.rotate_rows(&square, 1, &kit.galois),
        Err(Error::Size {
            got: 3,
            expected: "2",
            ..
        })
    ));
    let ninth = ev.multiply(&fourth, &fourth).unwrap();
    assert!(matches!(
        ev.multiply(&ninth, &ninth),
        Err(Error::Size { got: 17, .. })
    ));
    assert!(matches!(ev.add_many(&[]), Err(Error::EmptySum)));
    let parts = vec![
        ct.parts()[0].clone(),
        ev.mod_switch(&ct).unwrap().parts()[1].clone(),
    ];
    assert!(Ciphertext::from_parts(&kit.params, ct.key_id(), parts).is_err());
    assert!(Ciphertext::from_parts(&kit.params, ct.key_id(), vec![ct.parts()[0].clone()]).is_err());
}

#[test]
fn parameters_that_cannot_work() {
    let good = params::<u64>(16, &[50, 51], &[52], 97);
    let with_t = |t| {
        let literal = BfvParamsLiteral {
            plain_modulus: t,
            ..good.literal()
        };
        BfvParams::new(&literal, SecurityPolicy::insecure())
    };
    for t in [0, 1, 1 << 60, u64::MAX] {
        assert!(matches!(with_t(t), Err(Error::PlainModulus { .. })), "{t}");
    }
    assert!(matches!(
        with_t(good.rlwe().q().values()[1]),
        Err(Error::PlainModulus { .. })
    ));
    let one = params::<u64>(16, &[20], &[], 97).literal();
    let large = BfvParamsLiteral {
        plain_modulus: 1 << 19,
        ..one
    };
    assert!(matches!(
        BfvParams::new(&large, SecurityPolicy::insecure()),
        Err(Error::PlainModulus { .. })
    ));
    let mut small = good.literal();
    small.auxiliary = primes(16, &[40]);
    let refused = BfvParams::new(&small, SecurityPolicy::insecure()).unwrap_err();
    assert!(refused.to_string().contains("too small"), "{refused}");
    for far in [
        BfvParamsLiteral {
            auxiliary: primes(16, &[60, 60, 20]),
            ..good.literal()
        },
        BfvParamsLiteral {
            rlwe: rlwe::RlweParamsLiteral {
                q: primes(16, &[61, 20]),
                ..good.literal().rlwe
            },
            ..good.literal()
        },
    ] {
        let refused = BfvParams::new(&far, SecurityPolicy::insecure()).unwrap_err();
        assert!(refused.to_string().contains("20 to 6"), "{refused}");
    }
    assert!(matches!(
        BfvParams::new(&good.literal(), SecurityPolicy::default()),
        Err(Error::Rlwe(Rlwe::Insecure { .. }))
    ));
    let foreign = KeyGenerator::new(
        params::<u64>(16, &[50], &[], 97).rlwe(),
        Seed::from_text("f"),
    );
    let secret = Arc::new(foreign.secret_key().unwrap());
    assert!(Decryptor::new(&good, secret.clone()).is_err());
    assert!(Encryptor::symmetric(&good, secret.clone(), Seed::from_text("f")).is_err());
    let public = Arc::new(foreign.public_key(&secret).unwrap());
    assert!(Encryptor::new(&good, public, Seed::from_text("f")).is_err());
}

/// The error of an external backend that computes the polynomial part is returned unchanged.
#[test]
fn a_failure_of_what_computes_elsewhere_is_reported() {
    #[derive(Debug)]
    struct NoAnswer;
    impl From<Error> for NoAnswer {
        fn from(error: Error) -> Self {
            panic!("no error of the scheme: {error}")
        }
    }
    let kit = Kit::new(params::<u64>(16, &[50, 51], &[52], 97));
    let ct = kit.encrypt(&[1]);
    assert!(kit.decryptor.phase_by(&ct, |_, _| Err(NoAnswer)).is_err());
    assert!(kit.encryptor.zero_by(0, |_| Err(NoAnswer)).is_err());
}

/// Parts and phases computed by others are taken as they are: the same bytes, the same answers.
#[test]
fn what_is_computed_elsewhere_gives_the_same_ciphertexts() {
    let kit = Kit::new(params::<u64>(16, &[50, 51], &[52], 97));
    let seed = || Seed::from_text("elsewhere");
    let public = Encryptor::new(&kit.params, kit.public.clone(), seed()).unwrap();
    let symmetric = Encryptor::symmetric(&kit.params, kit.secret.clone(), seed()).unwrap();
    let message = Plaintext::from_coefficients(&kit.params, &[5, 6]).unwrap();
    for encryptor in [public, symmetric] {
        let here = encryptor.encrypt_at(&message, 3).unwrap();
        let there = encryptor.encrypt_by(&message, 3, |draw| {
            let [c0, c1] = draw.parts()?;
            Ok::<_, Error>([c0.neg().neg(), c1])
        });
        assert_eq!(there.unwrap().to_bytes(), here.to_bytes());
        let phase = kit
            .decryptor
            .phase_by(&here, |parts, key| Ok::<_, Error>(rlwe::phase(parts, key)?));
        let phase = phase.unwrap();
        assert_eq!(kit.decryptor.rounded(&phase).unwrap(), message);
        let budget = kit.decryptor.noise_budget(&here).unwrap();
        assert_eq!(kit.decryptor.noise_budget_of(&phase), Ok(budget));
    }
}
