// SPDX-License-Identifier: Apache-2.0
//! Every operation decrypts to the clear result, for every width of modulus and kind of plaintext modulus.

use super::*;

/// Element by element modulo t.
fn zip(a: &[u64], b: &[u64], t: u64, f: impl Fn(u128, u128, u128) -> u128) -> Vec<u64> {
    let op = |(x, y): (&u64, &u64)| f(u128::from(*x), u128::from(*y), u128::from(t)) as u64;
    a.iter().zip(b).map(op).collect()
}

/// Coefficient-wise operations and both products on random polynomials.
fn check_arithmetic<W: Word>(kit: &Kit<W>) {
    let (n, t) = (kit.params.n(), kit.params.plain_modulus());
    let (a, b) = (values("a", n, t), values("b", n, t));
    let (ca, cb) = (kit.encrypt(&a), kit.encrypt(&b));
    let pb = Plaintext::from_coefficients(&kit.params, &b).unwrap();
    let ev = &kit.evaluator;
    let add = zip(&a, &b, t, |x, y, t| (x + y) % t);
    let sub = zip(&a, &b, t, |x, y, t| (x + t - y) % t);
    let product = negacyclic(&a, &b, t);
    assert_eq!(kit.decrypt(&ca), a);
    assert_eq!(kit.decrypt(&ev.add(&ca, &cb).unwrap()), add);
    assert_eq!(kit.decrypt(&ev.sub(&ca, &cb).unwrap()), sub);
    assert_eq!(
        kit.decrypt(&ev.negate(&ca).unwrap()),
        zip(&a, &a, t, |x, _, t| (t - x) % t)
    );
    assert_eq!(kit.decrypt(&ev.add_plain(&ca, &pb).unwrap()), add);
    assert_eq!(kit.decrypt(&ev.sub_plain(&ca, &pb).unwrap()), sub);
    assert_eq!(kit.decrypt(&ev.multiply_plain(&ca, &pb).unwrap()), product);
    for algorithm in [MultiplyAlgorithm::Hps, MultiplyAlgorithm::HpsOverQ] {
        let ev = ev.clone().with_algorithm(algorithm);
        let long = ev.multiply(&ca, &cb).unwrap();
        assert_eq!(long.size(), 3);
        assert_eq!(kit.decrypt(&long), product, "{algorithm:?}");
        assert_eq!(
            kit.decrypt(&ev.relinearize(&long, &kit.relin).unwrap()),
            product,
            "{algorithm:?}"
        );
        assert_eq!(
            kit.decrypt(&ev.square(&ca).unwrap()),
            negacyclic(&a, &a, t),
            "{algorithm:?}"
        );
        // Sums of ciphertexts of different sizes.
        assert_eq!(
            kit.decrypt(&ev.add(&long, &ca).unwrap()),
            zip(&product, &a, t, |x, y, t| (x + y) % t)
        );
        assert_eq!(
            kit.decrypt(&ev.sub(&ca, &long).unwrap()),
            zip(&a, &product, t, |x, y, t| (x + t - y) % t)
        );
    }
    let sum = ev.add_many(&vec![ca.clone(); 5]).unwrap();
    assert_eq!(kit.decrypt(&sum), zip(&a, &a, t, |x, _, t| 5 * x % t));
    let trivial = ev.trivial(&pb).unwrap();
    assert_eq!(kit.decrypt(&ev.add(&ca, &trivial).unwrap()), add);
    assert_eq!(kit.decrypt(&ev.multiply(&ca, &trivial).unwrap()), product);
}

fn check_levels<W: Word>(kit: &Kit<W>) {
    let (n, t) = (kit.params.n(), kit.params.plain_modulus());
    let (a, b) = (values("a", n, t), values("b", n, t));
    let (ca, cb) = (kit.encrypt(&a), kit.encrypt(&b));
    let ev = &kit.evaluator;
    let low = |ct| ev.mod_switch(ct).unwrap();
    assert_eq!(kit.decrypt(&low(&ca)), a);
    let product = negacyclic(&a, &b, t);
    let low_product = ev.multiply_relin(&low(&ca), &low(&cb), &kit.relin).unwrap();
    assert_eq!(low_product.limbs(), kit.params.rlwe().data_primes() - 1);
    assert_eq!(kit.decrypt(&low_product), product);
    let plain = Plaintext::from_coefficients(&kit.params, &b).unwrap();
    assert_eq!(
        kit.decrypt(&ev.multiply_plain(&low(&ca), &plain).unwrap()),
        product
    );
}

/// n = 16 over data primes of `bits` bits, enough of them for one multiplication at any level used.
fn check_width<W: Word>(bits: u32, t: u64) {
    let count = 100usize.div_ceil(bits as usize) + 1;
    let kit = Kit::new(params::<W>(16, &vec![bits; count], &[bits], t));
    check_arithmetic(&kit);
    check_levels(&kit);
}

#[test]
fn every_width_of_one_word() {
    (14..=62).for_each(|bits| check_width::<u64>(bits, 97));
}

#[test]
fn wide_towers() {
    for bits in [62, 64, 80, 107, 109, 126, 127, 128] {
        check_width::<u128>(bits, 97);
    }
}

#[test]
fn any_plaintext_modulus() {
    for t in [
        2,
        3,
        4,
        33,
        97,
        65537,
        (1 << 30) - 35,
        1 << 40,
        (1 << 60) - 1,
        batching_prime(16, 60),
    ] {
        let kit = Kit::new(params::<u64>(16, &[60, 60, 60, 60], &[61], t));
        check_arithmetic(&kit);
        check_levels(&kit);
    }
}

#[test]
fn published_shapes() {
    // Six 30-bit primes without a special prime, seven given auxiliary ones, t = 33.
    let all = primes::<u64>(64, &[30; 13]);
    let rlwe = RlweParamsLiteral {
        n: 64,
        q: all[..6].to_vec(),
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: 33,
        auxiliary: all[6..].to_vec(),
    };
    check_arithmetic(&Kit::new(
        BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap(),
    ));
    // One wide tower with one special prime, and none.
    check_arithmetic(&Kit::new(params::<u128>(32, &[107], &[107], 65537)));
    check_arithmetic(&Kit::new(params::<u64>(256, &[36, 36], &[37], 257)));
    // Digits of two primes, two special primes.
    let mut literal = params::<u64>(32, &[40, 40, 40], &[41, 42], 257).literal();
    literal.rlwe.dnum = 2;
    let kit = Kit::new(BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap());
    check_arithmetic(&kit);
    check_levels(&kit);
}

/// The slots after rotating both rows left.
fn rotated(slots: &[u64], steps: i64) -> Vec<u64> {
    let half = slots.len() / 2;
    let at = |row: usize, i: usize| {
        slots[row * half + (i as i64 + steps).rem_euclid(half as i64) as usize]
    };
    (0..2)
        .flat_map(|row| (0..half).map(move |i| (row, i)))
        .map(|(row, i)| at(row, i))
        .collect()
}

fn check_rotations<W: Word>(kit: &Kit<W>) {
    let encoder = BatchEncoder::new(&kit.params).unwrap();
    let (n, t) = (kit.params.n(), kit.params.plain_modulus());
    let slots = values("slots", n, t);
    let ct = kit
        .encryptor
        .encrypt(&encoder.encode(&slots).unwrap())
        .unwrap();
    let read = |ct: &Ciphertext<W>| encoder.decode(&kit.decryptor.decrypt(ct).unwrap()).unwrap();
    let ev = &kit.evaluator;
    for steps in [0, 1, -1, 2, 3] {
        assert_eq!(
            read(&ev.rotate_rows(&ct, steps, &kit.galois).unwrap()),
            rotated(&slots, steps),
            "{steps}"
        );
    }
    let swapped = [&slots[n / 2..], &slots[..n / 2]].concat();
    assert_eq!(read(&ev.swap_rows(&ct, &kit.galois).unwrap()), swapped);
    let many = ev.rotate_rows_many(&ct, &[1, 0, 2], &kit.galois).unwrap();
    for (hoisted, steps) in many.iter().zip([1, 0, 2]) {
        assert_eq!(hoisted, &ev.rotate_rows(&ct, steps, &kit.galois).unwrap());
    }
    let total = (slots.iter().map(|x| u128::from(*x)).sum::<u128>() % u128::from(t)) as u64;
    assert_eq!(
        read(&ev.inner_sum(&ct, &kit.galois).unwrap()),
        vec![total; n]
    );
    // Truncated keys serve lower levels.
    // (A single digit needs a special prime.)
    let limbs = if kit.params.rlwe().special_primes() == 0 {
        2
    } else {
        1
    };
    let keys = kit.generator.galois_keys(&kit.secret, &[3], limbs).unwrap();
    let low = ev.mod_switch_to(&ct, limbs).unwrap();
    assert_eq!(
        read(&ev.rotate_rows(&low, 1, &keys).unwrap()),
        rotated(&slots, 1)
    );
}

#[test]
fn rotations_move_the_slots() {
    check_rotations(&Kit::new(params::<u64>(32, &[40, 40, 41], &[42], 193)));
    check_rotations(&Kit::new(params::<u64>(
        16,
        &[30; 4],
        &[],
        batching_prime(16, 20),
    )));
    check_rotations(&Kit::new(params::<u128>(16, &[107, 90], &[108], 97)));
}

#[test]
fn symmetric_encryption_decrypts_and_evaluates() {
    let kit = Kit::new(params::<u64>(32, &[45, 45], &[46], 193));
    let encryptor =
        Encryptor::symmetric(&kit.params, kit.secret.clone(), Seed::from_text("s")).unwrap();
    let a = values("a", 32, 193);
    let ct = encryptor
        .encrypt(&Plaintext::from_coefficients(&kit.params, &a).unwrap())
        .unwrap();
    assert_eq!(kit.decrypt(&ct), a);
    let square = kit.evaluator.multiply_relin(&ct, &ct, &kit.relin).unwrap();
    assert_eq!(kit.decrypt(&square), negacyclic(&a, &a, 193));
    assert!(ct.to_bytes().len() * 10 < kit.encrypt(&a).to_bytes().len() * 7);
    assert_ne!(
        encryptor
            .encrypt_at(&Plaintext::from_coefficients(&kit.params, &a).unwrap(), 1)
            .unwrap(),
        ct
    );
}

#[test]
fn other_secrets_and_errors_work() {
    use rlwe::{ErrorDistribution, SecretDistribution};
    let secrets = [
        SecretDistribution::Binary,
        SecretDistribution::Binomial { eta: 21 },
        SecretDistribution::Gaussian { sigma: 3.2 },
    ];
    for secret in secrets {
        let mut literal = params::<u64>(32, &[50, 50], &[51], 97).literal();
        literal.rlwe.secret = secret;
        literal.rlwe.error = ErrorDistribution::Gaussian { sigma: 102.0 };
        check_arithmetic(&Kit::new(
            BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap(),
        ));
    }
}

#[test]
fn residues_do_not_depend_on_the_number_of_threads() {
    let kit = Kit::new(params::<u64>(64, &[45, 45, 45], &[46], 257));
    let (a, b) = (
        kit.encrypt(&values("a", 64, 257)),
        kit.encrypt(&values("b", 64, 257)),
    );
    let all = |ev: &Evaluator<u64>| {
        let product = ev.multiply(&a, &b).unwrap();
        let short = ev.relinearize(&product, &kit.relin).unwrap();
        let rotated = ev.rotate_rows(&short, 1, &kit.galois).unwrap();
        (product, ev.square(&a).unwrap(), short, rotated)
    };
    for algorithm in [MultiplyAlgorithm::Hps, MultiplyAlgorithm::HpsOverQ] {
        let one = kit.evaluator.clone().with_algorithm(algorithm);
        let expected = all(&one);
        for count in [1, 2, 3] {
            let threads = rlwe::Threads::new(count).unwrap();
            assert_eq!(
                all(&one.clone().with_threads(threads.clone())),
                expected,
                "{count} threads"
            );
            let batch = one.batch(&threads, &[(&a, &b); 9], |ev, (x, y)| {
                ev.multiply_relin(x, y, &kit.relin)
            });
            assert!(batch.unwrap().iter().all(|ct| *ct == expected.2));
        }
    }
    let threads = rlwe::Threads::new(2).unwrap();
    let failed = kit.evaluator.batch(&threads, &[1, 7, 5], |ev, steps| {
        ev.rotate_rows(&a, *steps, &kit.galois)
    });
    let missing = rotation_element(64, 7);
    let is_it = matches!(failed, Err(Error::Rlwe(rlwe::Error::MissingGaloisKey { element, .. })) if element == missing);
    assert!(is_it, "the first item that fails decides");
}
