// SPDX-License-Identifier: Apache-2.0
//! Every operation on several parameter shapes.

use super::{Bench, SMALL, Shape, rotated, values, zip};
use num_complex::Complex64;
use proptest::prelude::*;
use rlwe::SecurityPolicy;

const TOLERANCE: f64 = 1e-7;

/// Sets with different digits, special primes (none included), widths and degrees.
fn shapes() -> Vec<Shape> {
    vec![
        Shape { log_n: 3, ..SMALL },
        SMALL,
        Shape {
            log_n: 8,
            levels: 5,
            special: 2,
            dnum: 3,
            ..SMALL
        },
        Shape {
            levels: 4,
            special: 3,
            dnum: 2,
            ..SMALL
        },
        Shape {
            levels: 2,
            special: 3,
            dnum: 1,
            ..SMALL
        },
        Shape {
            scale_bits: 45,
            ..SMALL
        },
        Shape {
            scale_bits: 48,
            ..SMALL
        },
        Shape { log_n: 11, ..SMALL },
    ]
}

#[test]
fn encryption_round_trips_under_both_keys() {
    for shape in shapes() {
        let b = Bench::new(shape);
        let z = values(b.params.slots(), 1);
        let plaintext = b
            .encoder
            .encode(&z, b.params.max_level(), b.params.scale())
            .unwrap();
        b.expect("public", &b.encrypt(&z, 0), &z, TOLERANCE);
        let secret = b
            .encryptor
            .encrypt_secret(&plaintext, &b.secret, 0)
            .unwrap();
        assert!(secret.is_seeded());
        b.expect("secret", &secret, &z, TOLERANCE);
        for level in 0..=b.params.max_level() {
            let plaintext = b.encoder.encode(&z, level, b.params.scale()).unwrap();
            let ct = b.encryptor.encrypt(&plaintext, &b.public, 1).unwrap();
            assert_eq!(ct.level(), level);
            b.expect("lower level", &ct, &z, TOLERANCE);
        }
    }
}

#[test]
fn the_same_seed_and_index_give_the_same_ciphertext() {
    let b = Bench::new(SMALL);
    let z = values(8, 2);
    assert_eq!(b.encrypt(&z, 5).parts(), b.encrypt(&z, 5).parts());
    assert_ne!(b.encrypt(&z, 5).parts(), b.encrypt(&z, 6).parts());
}

#[test]
fn sums_and_constants() {
    for shape in shapes() {
        let b = Bench::new(shape);
        let (x, y) = (values(b.params.slots(), 1), values(b.params.slots(), 2));
        let (cx, cy) = (b.encrypt(&x, 0), b.encrypt(&y, 1));
        let e = &b.evaluator;
        b.expect(
            "add",
            &e.add(&cx, &cy).unwrap(),
            &zip(&x, &y, |a, b| a + b),
            TOLERANCE,
        );
        b.expect(
            "sub",
            &e.sub(&cx, &cy).unwrap(),
            &zip(&x, &y, |a, b| a - b),
            TOLERANCE,
        );
        b.expect(
            "negate",
            &e.negate(&cx).unwrap(),
            &zip(&x, &x, |a, _| -a),
            TOLERANCE,
        );
        let plain = b
            .encoder
            .encode(&y, b.params.max_level(), b.params.scale())
            .unwrap();
        b.expect(
            "add_plain",
            &e.add_plain(&cx, &plain).unwrap(),
            &zip(&x, &y, |a, b| a + b),
            TOLERANCE,
        );
        b.expect(
            "sub_plain",
            &e.sub_plain(&cx, &plain).unwrap(),
            &zip(&x, &y, |a, b| a - b),
            TOLERANCE,
        );
        let c = Complex64::new(-0.75, 2.5);
        b.expect(
            "add_constant",
            &e.add_constant(&cx, c).unwrap(),
            &zip(&x, &x, |a, _| a + c),
            TOLERANCE,
        );
        let times = e.rescale(&e.multiply_constant(&cx, c).unwrap()).unwrap();
        assert_eq!(times.scale(), cx.scale());
        b.expect(
            "multiply_constant",
            &times,
            &zip(&x, &x, |a, _| a * c),
            TOLERANCE,
        );
        b.expect(
            "multiply_integer",
            &e.multiply_integer(&cx, -3).unwrap(),
            &zip(&x, &x, |a, _| a * -3.0),
            TOLERANCE,
        );
        let low = e.drop_to(&cy, 0).unwrap();
        b.expect(
            "different levels",
            &e.add(&cx, &low).unwrap(),
            &zip(&x, &y, |a, b| a + b),
            TOLERANCE,
        );
    }
}

#[test]
fn products_relinearised_and_rescaled() {
    for shape in shapes() {
        let b = Bench::new(shape);
        let (x, y) = (values(b.params.slots(), 3), values(b.params.slots(), 4));
        let (cx, cy) = (b.encrypt(&x, 0), b.encrypt(&y, 1));
        let e = &b.evaluator;
        let xy = zip(&x, &y, |a, b| a * b);
        let wide = e.multiply(&cx, &cy).unwrap();
        assert_eq!((wide.size(), wide.scale()), (3, cx.scale() * cy.scale()));
        b.expect("three parts", &wide, &xy, TOLERANCE);
        let relinearised = e.relinearize(&wide, &b.relin).unwrap();
        assert_eq!(relinearised.size(), 2);
        b.expect("relinearize", &relinearised, &xy, TOLERANCE);
        let narrow = e.rescale(&relinearised).unwrap();
        assert_eq!(narrow.level(), b.params.max_level() - 1);
        b.expect("rescale", &narrow, &xy, TOLERANCE);
        b.expect(
            "rescale before relinearize",
            &e.rescale(&wide).unwrap(),
            &xy,
            1e-6,
        );
        let square = e.square(&cx).unwrap();
        assert_eq!(square.parts(), e.multiply(&cx, &cx).unwrap().parts());
        b.expect("square", &square, &zip(&x, &x, |a, _| a * a), TOLERANCE);
        let sum = e.add(&wide, &square).unwrap();
        b.expect(
            "sum of products",
            &sum,
            &zip(&x, &y, |a, b| a * b + a * a),
            TOLERANCE,
        );
        let mixed = e.sub(&relinearised, &square).unwrap();
        b.expect(
            "sizes 2 and 3",
            &mixed,
            &zip(&x, &y, |a, b| a * b - a * a),
            TOLERANCE,
        );
        let plain = b
            .encoder
            .encode(&y, b.params.max_level(), b.params.scale())
            .unwrap();
        b.expect(
            "multiply_plain",
            &e.multiply_plain(&cx, &plain).unwrap(),
            &xy,
            TOLERANCE,
        );
    }
}

#[test]
fn rotations_conjugation_and_inner_sums() {
    for shape in shapes() {
        let b = Bench::new(shape);
        let z = values(b.params.slots(), 5);
        let ct = b.encrypt(&z, 0);
        let e = &b.evaluator;
        for steps in [0, 1, 2, 5, -1, -3] {
            b.expect(
                "rotate",
                &e.rotate(&ct, steps, &b.galois).unwrap(),
                &rotated(&z, steps),
                TOLERANCE,
            );
        }
        b.expect(
            "conjugate",
            &e.conjugate(&ct, &b.galois).unwrap(),
            &zip(&z, &z, |a, _| a.conj()),
            TOLERANCE,
        );
        let g = crate::slot_rotation_element(b.params.n(), 2);
        let image = e.automorphism(&ct, g, &b.galois).unwrap();
        assert_eq!(image.parts(), e.rotate(&ct, 2, &b.galois).unwrap().parts());
        assert!(e.automorphism(&ct, g + 1, &b.galois).is_err());
        let many = e.rotate_many(&ct, &[1, 4, -3], &b.galois).unwrap();
        for (ct, steps) in many.iter().zip([1, 4, -3]) {
            assert_eq!(
                ct.parts(),
                e.rotate(&b.encrypt(&z, 0), steps, &b.galois)
                    .unwrap()
                    .parts()
            );
        }
        let low = e.drop_to(&ct, 1).unwrap();
        b.expect(
            "rotate at level 1",
            &e.rotate(&low, 2, &b.galois).unwrap(),
            &rotated(&z, 2),
            TOLERANCE,
        );
        for count in [1usize, 2, 3, 4] {
            let want: Vec<Complex64> = (0..z.len())
                .map(|i| (0..count).map(|k| z[(i + k) % z.len()]).sum())
                .collect();
            b.expect(
                "inner_sum",
                &e.inner_sum(&ct, count, &b.galois).unwrap(),
                &want,
                TOLERANCE,
            );
        }
    }
}

#[test]
fn inner_sums_ask_for_the_keys_they_use() {
    let steps = |count| crate::inner_sum_steps(count);
    assert_eq!(steps(1), Vec::<i64>::new());
    assert_eq!(steps(8), vec![1, 2, 4]);
    assert_eq!(steps(6), vec![1, 2]);
    assert_eq!(steps(7), vec![1, 2, 3]);
}

#[test]
fn sparse_vectors_rotate_within_their_slots() {
    let b = Bench::new(SMALL);
    let z = values(4, 6);
    let plaintext = b
        .encoder
        .encode_sparse(&z, 4, b.params.max_level(), b.params.scale())
        .unwrap();
    let ct = b.encryptor.encrypt(&plaintext, &b.public, 0).unwrap();
    b.expect("sparse", &ct, &z, TOLERANCE);
    b.expect(
        "rotate",
        &b.evaluator.rotate(&ct, 1, &b.galois).unwrap(),
        &rotated(&z, 1),
        TOLERANCE,
    );
    b.expect(
        "rotate past the end",
        &b.evaluator.rotate(&ct, 5, &b.galois).unwrap(),
        &rotated(&z, 1),
        TOLERANCE,
    );
    // With a full vector the sparse one counts as repeated.
    let full = values(b.params.slots(), 7);
    let product = b.evaluator.multiply(&ct, &b.encrypt(&full, 1)).unwrap();
    let repeated: Vec<Complex64> = (0..full.len()).map(|i| z[i % 4] * full[i]).collect();
    b.expect("times a full vector", &product, &repeated, TOLERANCE);
}

#[test]
fn keys_truncated_to_a_level_serve_that_level() {
    let b = Bench::new(Shape {
        levels: 4,
        special: 2,
        dnum: 2,
        ..SMALL
    });
    let generator = rlwe::KeyGenerator::new(b.params.rlwe(), rlwe::Seed::from_text("bench"));
    let short = generator.relin_key(&b.secret, 3).unwrap();
    let (x, y) = (values(8, 8), values(8, 9));
    let low = |z: &[Complex64], i| b.evaluator.drop_to(&b.encrypt(z, i), 2).unwrap();
    let product = b.evaluator.multiply(&low(&x, 0), &low(&y, 1)).unwrap();
    let mut want = zip(&x, &y, |a, b| a * b);
    want.resize(b.params.slots(), Complex64::ZERO);
    b.expect(
        "relinearize",
        &b.evaluator.relinearize(&product, &short).unwrap(),
        &want,
        TOLERANCE,
    );
    let top = b
        .evaluator
        .multiply(&b.encrypt(&x, 0), &b.encrypt(&y, 1))
        .unwrap();
    assert!(b.evaluator.relinearize(&top, &short).is_err());
}

#[test]
fn scales_can_be_brought_together() {
    let b = Bench::new(SMALL);
    let x = values(b.params.slots(), 10);
    let ct = b.encrypt(&x, 0);
    let product = b
        .evaluator
        .relinearize(&b.evaluator.square(&ct).unwrap(), &b.relin)
        .unwrap();
    let low = b.evaluator.rescale(&product).unwrap();
    assert_ne!(low.scale(), ct.scale());
    let matched = b.evaluator.set_scale_by_constant(&ct, low.scale()).unwrap();
    assert_eq!(
        (matched.scale(), matched.level()),
        (low.scale(), low.level())
    );
    b.expect(
        "sum",
        &b.evaluator.add(&low, &matched).unwrap(),
        &zip(&x, &x, |a, _| a * a + a),
        TOLERANCE,
    );
}

#[test]
fn the_default_policy_accepts_a_real_set() {
    let shape = Shape {
        log_n: 13,
        levels: 2,
        scale_bits: 40,
        special: 1,
        dnum: 0,
    };
    let params = crate::CkksParams::new(&super::literal(shape), SecurityPolicy::default()).unwrap();
    assert!(params.rlwe().security().estimated_bits >= 128.0);
}

#[test]
fn evaluators_may_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<crate::Evaluator>();
    shared::<crate::Encoder>();
    shared::<crate::Encryptor>();
    shared::<crate::Decryptor<'static>>();
    shared::<crate::Ciphertext>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn encoding_is_linear_and_multiplicative(seed in any::<u64>(), log_n in 3u32..9, bits in 30u32..50) {
        let n = 1usize << log_n;
        let (q, p) = crate::prime_chain(n, 60, bits, 1, 60, 0).unwrap();
        let rlwe = rlwe::RlweParamsLiteral { n, q, p, ..Default::default() };
        let literal = crate::CkksParamsLiteral { rlwe, scale: f64::from(bits).exp2() };
        let params = crate::CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap();
        let encoder = crate::Encoder::new(&params);
        let (x, y) = (values(n / 2, seed), values(n / 2, seed ^ 1));
        let encode = |z: &[Complex64]| encoder.encode(z, 1, params.scale()).unwrap();
        let (px, py) = (encode(&x), encode(&y));
        let sum = crate::Plaintext { poly: px.poly.add(&py.poly).into(), ..px.clone() };
        let product = crate::Plaintext { poly: px.poly.mul(&py.poly).into(), scale: px.scale * py.scale, ..px.clone() };
        let tolerance = 4.0 * n as f64 / params.scale();
        for (plaintext, want) in [(sum, zip(&x, &y, |a, b| a + b)), (product, zip(&x, &y, |a, b| a * b))] {
            let got = encoder.decode(&plaintext).unwrap();
            for (a, b) in got.iter().zip(&want) {
                prop_assert!((a - b).norm() < tolerance, "{a} {b}");
            }
        }
    }
}

/// At every level, for one special prime and for several.
#[test]
fn an_extended_key_gains_four_to_five_bits() {
    for special in [1, 2] {
        let b = Bench::new(Shape {
            log_n: 12,
            special,
            dnum: 2,
            ..SMALL
        });
        let (key, e) = (b.extended_key().unwrap(), b.params.estimator());
        assert!(key.is_extended());
        let z = values(b.params.slots(), 1);
        for level in 0..=b.params.max_level() {
            let plain = b.encoder.encode(&z, level, b.params.scale()).unwrap();
            let public = b.encryptor.encrypt(&plain, &b.public, 0).unwrap();
            let less = b.encryptor.encrypt(&plain, &key, 0).unwrap();
            assert_eq!((less.level(), less.is_seeded()), (level, false));
            let gained = (b.error(&public, &z) / b.error(&less, &z)).log2();
            let encoded = e.encode_rounded(1.0, level, b.params.scale(), e.log2_random_rounding());
            let bounds = [
                e.encrypt_public(&encoded),
                e.encrypt_extended(&encoded).unwrap(),
            ];
            let [before, after] = bounds.map(|bound| e.log2_slot_error(&bound));
            println!(
                "level {level}: {gained:.2} bits measured, {:.2} sure",
                before - after
            );
            assert!(
                (3.0..5.5).contains(&gained),
                "level {level}: {gained:.2} bits"
            );
            assert!((gained - before + after).abs() < 1.5, "level {level}");
        }
    }
    let b = Bench::new(Shape {
        special: 0,
        ..SMALL
    });
    let encoded = b.params.estimator().encode(1.0, 1, b.params.scale());
    let refused = b.params.estimator().encrypt_extended(&encoded);
    let text =
        "encryption under an extended public key needs special primes, the parameter set has none";
    assert_eq!(refused.unwrap_err().to_string(), text);
    assert!(b.extended_key().is_err());
}

#[test]
fn threads_and_batches_change_nothing() {
    let b = Bench::new(Shape {
        log_n: 8,
        levels: 4,
        special: 2,
        dnum: 3,
        ..SMALL
    });
    let threaded = crate::Evaluator::new(&b.params).with_threads(rlwe::Threads::new(3).unwrap());
    let plain = &b.evaluator;
    let fresh: Vec<_> = (0..11)
        .map(|i| b.encrypt(&values(b.params.slots(), i), i))
        .collect();
    let mut products: Vec<_> = fresh.iter().map(|c| plain.square(c).unwrap()).collect();
    products[4] = fresh[4].clone();
    products[7] = plain.drop_to(&products[7], 2).unwrap();
    for e in [plain, &threaded] {
        let relinearised = e.relinearize_batch(&products, &b.relin).unwrap();
        let rotated = e.rotate_batch(&fresh, 2, &b.galois).unwrap();
        let squares = plain.relinearize_batch(&products[8..], &b.relin).unwrap();
        let rescaled = e.rescale_batch(&squares).unwrap();
        for (got, want) in rescaled.iter().zip(&squares) {
            assert_eq!(got.parts(), plain.rescale(want).unwrap().parts(), "rescale");
        }
        let multiplied = e.multiply_batch(&fresh, &fresh).unwrap();
        for (i, (p, c)) in products.iter().zip(&fresh).enumerate() {
            let same = |what: &str, a: &crate::Ciphertext, b: crate::Ciphertext| {
                assert_eq!(a.parts(), b.parts(), "{what} {i}");
                assert_eq!(a.scale(), b.scale());
            };
            same(
                "relinearize",
                &relinearised[i],
                plain.relinearize(p, &b.relin).unwrap(),
            );
            same(
                "rotate",
                &rotated[i],
                plain.rotate(c, 2, &b.galois).unwrap(),
            );
            same("multiply", &multiplied[i], plain.multiply(c, c).unwrap());
            same(
                "one",
                &threaded.rotate(c, 2, &b.galois).unwrap(),
                rotated[i].clone(),
            );
        }
    }
    assert!(plain.multiply_batch(&fresh, &fresh[1..]).is_err());
    assert!(plain.relinearize_batch(&[], &b.relin).unwrap().is_empty());
}
