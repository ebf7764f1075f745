// SPDX-License-Identifier: Apache-2.0
//! Key switches against the reference, bit for bit.

use super::inner_product::{
    Add, Divide, Permuted, PostProcessing, Products, dot_pair, operand_bound,
};
use super::*;
use crate::{
    KeyGenerator, KeySwitchKey, RlweContext, RlweParams, RlweParamsLiteral, SecurityPolicy, Seed,
    Threads, sampling,
};
use rns::{Coeff, Eval, RnsPoly};
use zq::Word;
use zq::primes::{Direction, ntt_primes};

pub(super) fn params<W: Word>(n: usize, q: &[u32], p: &[u32], dnum: usize) -> RlweContext<W> {
    let mut used: Vec<W> = Vec::new();
    let mut pick = |bits: &u32| {
        let prime = ntt_primes::<W>(*bits, 2 * n as u64, 1, Direction::Down, &used).unwrap()[0];
        used.push(prime);
        prime
    };
    let (q, p) = (
        q.iter().map(&mut pick).collect(),
        p.iter().map(&mut pick).collect(),
    );
    let literal = RlweParamsLiteral {
        n,
        q,
        p,
        dnum,
        ..RlweParamsLiteral::default()
    };
    let params = RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    RlweContext::new(params)
}

pub(super) fn random<W: Word>(basis: &rns::RnsBasis<W>, salt: u64) -> RnsPoly<W, Eval> {
    let mut out = RnsPoly::zeros(basis);
    for (i, m) in basis.moduli().iter().enumerate() {
        sampling::uniform(
            &mut Seed::from_text("fused").stream("t", salt * 100 + i as u64),
            m,
            out.limb_mut(i),
        );
    }
    out
}

/// Digits, products and division one after another.
fn plain_switch<W: Word>(
    params: &RlweContext<W>,
    c: &RnsPoly<W, Coeff>,
    key: &KeySwitchKey<W>,
) -> [RnsPoly<W, Coeff>; 2] {
    let level = params.level(c.limb_count()).unwrap();
    let digits = HoistedDigits::new(&level, c);
    let sums = digits.inner_product(key).unwrap();
    sums.map(|sum| level.mod_down(sum.to_coeff()))
}

/// Two sources, with relinearisation and two rotations each, at every level, against the plain path.
fn check<W: Word>(params: &RlweContext<W>) {
    let generator = KeyGenerator::new(params, Seed::from_text("keys"));
    let secret = generator.secret_key().unwrap();
    let limbs = params.data_primes();
    let relin = generator.relin_key(&secret, limbs).unwrap();
    let elements = [5, 2 * params.n() as u64 - 1];
    let galois = generator.galois_keys(&secret, &elements, limbs).unwrap();
    for limbs in 1..=limbs {
        let level = params.level(limbs).unwrap();
        let values: Vec<_> = (0..2).map(|k| random(level.q(), k)).collect();
        let coefficients: Vec<RnsPoly<W, Coeff>> =
            values.iter().map(|v| v.clone().to_coeff()).collect();
        let add = random(level.q(), 7);
        let sources: Vec<_> = [0, 1]
            .map(|k| Source {
                coefficients: coefficients[k].data(),
                values: (k == 0).then(|| values[k].data()),
            })
            .to_vec();
        // From coefficients to coefficients.
        let c = &coefficients[1];
        let want = plain_switch(params, c, relin.key());
        for threads in [Threads::ONE, Threads::new(3).unwrap()] {
            let got = level.switch_coeff(c, relin.key(), &threads).unwrap();
            assert_eq!(got, want, "coefficients, {limbs} limbs");
        }
        // Several switches of one source, against one after another.
        let rotations = elements.map(|g| galois.get(g).unwrap());
        let uses = rotations.map(|(auto, key)| (Some(auto), key));
        let uses = [&uses[..], &[(None, relin.key())]].concat();
        let many = level
            .switch_coeff_many(c, &uses, &Threads::new(3).unwrap())
            .unwrap();
        for ((auto, key), got) in uses.into_iter().zip(many) {
            let source = auto.map_or_else(|| c.clone(), |auto| c.automorphism(auto));
            assert_eq!(got, plain_switch(params, &source, key), "{limbs} limbs");
        }
        let mut requests = Vec::new();
        for source in 0..2 {
            let add = [Some(add.data()), (source == 1).then(|| add.data())];
            requests.push(SwitchRequest {
                source,
                key: relin.key(),
                automorphism: None,
                add,
            });
            for g in elements {
                let (auto, key) = galois.get(g).unwrap();
                requests.push(SwitchRequest {
                    source,
                    key,
                    automorphism: Some(auto),
                    add,
                });
            }
        }
        let got = level
            .switch_eval(&sources, &requests, &Threads::ONE)
            .unwrap();
        assert_eq!(
            got,
            level
                .switch_eval(&sources, &requests, &Threads::new(3).unwrap())
                .unwrap(),
            "threads"
        );
        for (request, got) in requests.iter().zip(got) {
            let mut digits = HoistedDigits::new(&level, &coefficients[request.source]);
            let mut add = add.clone();
            if let Some(auto) = request.automorphism {
                digits = digits.automorphism(auto);
                add = add.automorphism(auto);
            }
            let want = digits
                .inner_product(request.key)
                .unwrap()
                .map(|k| level.mod_down_eval(k));
            for (component, (got, mut want)) in got.into_iter().zip(want).enumerate() {
                if request.add[component].is_some() {
                    want.add_assign(&add);
                }
                assert_eq!(
                    got, want,
                    "{limbs} limbs, source {}, component {component}",
                    request.source
                );
            }
        }
    }
}

/// Decompositions of every kind: prime by prime and in groups, with special primes and without, mixed widths.
pub(crate) fn narrow_shapes() -> [RlweContext<u64>; 8] {
    [
        params(128, &[50, 50, 49, 50, 40], &[50, 50], 3),
        params(32, &[62, 30, 61, 20], &[62, 62], 2),
        params(16, &[30, 30, 30], &[], 0),
        params(8, &[40, 40], &[45, 45], 1),
        // Transforms in blocks, lazy and not.
        params(512, &[46, 45, 45], &[46], 0),
        params(256, &[50, 49, 50, 40], &[50, 50], 2),
        params(1024, &[46, 45, 45], &[46, 46], 2),
        params(1024, &[60, 45, 30], &[58], 0),
    ]
}

/// The same of moduli of two words.
pub(crate) fn wide_shapes() -> [RlweContext<u128>; 2] {
    [
        params(32, &[109, 100, 80], &[110], 0),
        params(16, &[70, 70, 70, 70], &[100, 100], 2),
    ]
}

#[test]
fn equals_the_plain_path_for_every_shape() {
    check(&params::<u64>(64, &[46, 45, 45, 45], &[46], 0));
    check(&params::<u64>(64, &[60, 45, 45], &[60], 0));
    narrow_shapes().iter().for_each(check);
    wide_shapes().iter().for_each(check);
}

#[test]
fn many_digits_of_the_widest_vector_modulus_do_not_overflow() {
    check(&params::<u64>(32, &[50; 18], &[50], 0));
    // Too many for lazy digits, but not for lazy corrections.
    check(&params::<u64>(512, &[48; 31], &[48], 0));
}

#[test]
fn extreme_operands_are_summed_exactly() {
    for bits in [46u32, 49, 50, 58, 62] {
        let q = ntt_primes::<u64>(bits, 64, 1, Direction::Down, &[]).unwrap()[0];
        let m = zq::Modulus::new(q).unwrap();
        for terms in [1usize, 4, 15, 40] {
            let top = vec![q - 1; 32];
            let rows: Vec<&[u64]> = vec![&top; terms];
            let (mut a, mut b) = (vec![0; 32], vec![0; 32]);
            let products = Products {
                digits: &rows,
                bound: 1,
                keys: [&rows, &rows],
                permuted: Permuted::default(),
                streamed: false,
            };
            dot_pair(
                &m,
                products,
                [PostProcessing {
                    divide: None,
                    add: None,
                    onto: false,
                }; 2],
                [&mut a, &mut b],
            );
            // (-1)^2 summed.
            assert!(
                a == b && a.iter().all(|x| *x == terms as u64 % q),
                "{bits} bits, {terms} terms"
            );
        }
    }
}

#[test]
fn sums_at_their_bounds_are_divided_exactly() {
    for bits in [14u32, 30, 45, 46, 49, 50, 58] {
        let q = ntt_primes::<u64>(bits, 2048, 1, Direction::Down, &[]).unwrap()[0];
        let m = zq::Modulus::new(q).unwrap();
        let plan = ntt::NttPlan::new(m, 1024).unwrap();
        // At 50 bits the vector kernel takes 11 terms and a division.
        for (terms, wide) in [1usize, 7, 8, 9, 11, 12, 14, 17]
            .into_iter()
            .flat_map(|terms| [(terms, false), (terms, true)])
        {
            let (lazy, fix_lazy) = (operand_bound(&plan, terms), operand_bound(&plan, 1));
            // Operands end at their bounds, by ones or far apart; where they are lazy, bits above the low 52 mean
            // nothing.
            let row = |bound: u64, salt: u64| -> Vec<u64> {
                let noise = |i: u64| if bound > 1 { (i * salt) << 52 } else { 0 };
                let top = bound * q - 1;
                let step = if wide { top / 32 } else { 1 };
                (0..32)
                    .map(|i| (top - i % (salt + 1) * step) | noise(i))
                    .collect()
            };
            let value = |x: u64, bound: u64| if bound > 1 { x & ((1 << 52) - 1) } else { x };
            let digits: Vec<_> = (0..terms as u64).map(|d| row(lazy, d + 1)).collect();
            let keys: Vec<_> = (0..terms as u64).map(|d| row(1, d + 2)).collect();
            let (fix, add) = (row(fix_lazy, 3), row(1, 5));
            let digit_rows: Vec<&[u64]> = digits.iter().map(Vec::as_slice).collect();
            let key_rows: Vec<&[u64]> = keys.iter().map(Vec::as_slice).collect();
            for factor in [0, 1, q / 2, q - 1] {
                let divide = Divide {
                    correction: &fix,
                    bound: fix_lazy,
                    factor: m.shoup(factor),
                };
                let products = Products {
                    digits: &digit_rows,
                    bound: lazy,
                    keys: [&key_rows, &key_rows],
                    permuted: Permuted::default(),
                    streamed: false,
                };
                let (mut a, mut b) = (vec![0; 32], vec![0; 32]);
                let plus = Add {
                    words: &add[..],
                    factor: None,
                };
                let finish = [Some(plus), None].map(|add| PostProcessing {
                    divide: Some(divide),
                    add,
                    onto: false,
                });
                dot_pair(&m, products, finish, [&mut a, &mut b]);
                // One component is divided, the other not.
                let (mut c, mut d) = (vec![0; 32], vec![0; 32]);
                let whole = PostProcessing {
                    divide: None,
                    add: Some(plus),
                    onto: false,
                };
                dot_pair(&m, products, [whole, finish[1]], [&mut c, &mut d]);
                assert_eq!(d, b, "{bits} bits, {terms} terms");
                // The addend has a factor, and the sum is accumulated onto the output.
                let times = Add {
                    words: &add[..],
                    factor: Some(m.shoup(factor)),
                };
                let onto = PostProcessing {
                    divide: None,
                    add: Some(times),
                    onto: true,
                };
                let divided = PostProcessing {
                    divide: Some(divide),
                    add: Some(times),
                    onto: false,
                };
                let (mut e, mut f) = (add.clone(), vec![0; 32]);
                dot_pair(&m, products, [onto, divided], [&mut e, &mut f]);
                for i in 0..32 {
                    let more = m.mul(add[i], factor);
                    assert_eq!(e[i], m.add(c[i], more), "{bits} bits, {terms} terms");
                    assert_eq!(f[i], m.add(b[i], more), "{bits} bits, {terms} terms");
                }
                for i in 0..32 {
                    let big = num_bigint::BigInt::from;
                    let sum: num_bigint::BigInt = (digits.iter().zip(&keys))
                        .map(|(d, k)| big(value(d[i], lazy)) * big(k[i]))
                        .sum();
                    let reduced = |x: num_bigint::BigInt| ((x % big(q)) + big(q)) % big(q);
                    let whole = reduced(sum.clone() + big(add[i]));
                    assert_eq!(big(c[i]), whole, "{bits} bits, {terms} terms");
                    let divided = (sum - big(value(fix[i], fix_lazy))) * big(factor);
                    assert_eq!(
                        big(b[i]),
                        reduced(divided.clone()),
                        "{bits} bits, {terms} terms"
                    );
                    assert_eq!(
                        big(a[i]),
                        reduced(divided + big(add[i])),
                        "{bits} bits, {terms} terms"
                    );
                }
            }
        }
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let params = params::<u64>(16, &[40, 40], &[40], 0);
    let secret = KeyGenerator::new(&params, Seed::from_text("k"))
        .secret_key()
        .unwrap();
    let relin = KeyGenerator::new(&params, Seed::from_text("k"))
        .relin_key(&secret, 1)
        .unwrap();
    let (level, words) = (params.level(2).unwrap(), vec![0u64; 32]);
    let request = |source, add| SwitchRequest {
        source,
        key: relin.key(),
        automorphism: None,
        add: [add, None],
    };
    let run = |words: &[u64], request| {
        level.switch_eval(
            &[Source {
                coefficients: words,
                values: None,
            }],
            &[request],
            &Threads::ONE,
        )
    };
    assert!(
        run(&words, request(0, None)).is_err(),
        "key for a lower level"
    );
    assert!(run(&words[1..], request(0, None)).is_err());
    assert!(run(&words, request(1, None)).is_err());
    assert!(run(&words, request(0, Some(&words[1..]))).is_err());
}

#[test]
fn division_by_the_last_prime_equals_scaling() {
    for bits in [[46u32, 45, 45], [60, 30, 60], [50, 62, 61], [30, 45, 20]] {
        let params = params::<u64>(64, &bits, &[], 0);
        let x = random(params.q(), 3);
        let kept = params.q().prefix(2).unwrap();
        let drop = params.q().range(2..3).unwrap();
        let inverse =
            |m: &zq::Modulus<u64>| m.shoup(m.inv(m.reduce(drop.modulus(0).value())).unwrap());
        let inverses: Vec<_> = kept.moduli().iter().map(inverse).collect();
        let want = rns::ScaleRounder::new(&drop, &kept, 1)
            .unwrap()
            .scale_tail(&x.clone().to_coeff());
        assert_eq!(
            divide_by_last(&[x], &kept, &inverses, &Threads::ONE),
            [want.to_eval()],
            "{bits:?}"
        );
    }
}
