// SPDX-License-Identifier: Apache-2.0
//! Tests of the crate's parts together: keys, key switching, bytes.

mod bytes;
mod encapsulation;

use crate::*;
use rns::{Coeff, Eval, RnsPoly};
use zq::Word;
use zq::primes::{Direction, ntt_primes};

/// A set with these prime sizes; `K` of them special.
pub(crate) fn params<W: Word>(
    n: usize,
    q_bits: &[u32],
    p_bits: &[u32],
    dnum: usize,
) -> RlweContext<W> {
    let mut all: Vec<W> = Vec::new();
    for bits in q_bits.iter().chain(p_bits) {
        all.extend(ntt_primes::<W>(*bits, 2 * n as u64, 1, Direction::Down, &all.clone()).unwrap());
    }
    let p = all.split_off(q_bits.len());
    let literal = RlweParamsLiteral {
        n,
        q: all,
        p,
        dnum,
        ..Default::default()
    };
    let params = RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    RlweContext::new(params)
}

/// The largest coefficient of k0 + k1·s − c·s' in bits.
fn switching_noise<W: Word>(
    params: &RlweContext<W>,
    c: &RnsPoly<W, Coeff>,
    source: &RnsPoly<W, Eval>,
    secret: &SecretKey<W>,
    switched: &[RnsPoly<W, Coeff>; 2],
) -> f64 {
    let limbs = c.limb_count();
    let basis = params.q_prefix(limbs).unwrap();
    let cut = |x: &RnsPoly<W, Eval>| {
        RnsPoly::<W, Eval>::from_limbs(&basis, &x.data()[..limbs * params.n()]).unwrap()
    };
    let mut wanted = c.clone().to_eval();
    wanted.mul_assign(&cut(source));
    let got = phase(switched, secret.eval()).unwrap();
    let difference = got.sub(&wanted.to_coeff());
    difference
        .compose_centered()
        .iter()
        .map(|x| x.bits())
        .max()
        .unwrap() as f64
}

fn random_poly<W: Word>(params: &RlweContext<W>, limbs: usize, text: &str) -> RnsPoly<W, Coeff> {
    let mut c = RnsPoly::zeros(&params.q_prefix(limbs).unwrap());
    uniform_residues(params, &Seed::from_text(text), limbs, false, c.data_mut());
    c
}

fn check_key_switching<W: Word>(params: &RlweContext<W>) {
    let generator = KeyGenerator::new(params, Seed::from_text("keys"));
    let secret = generator.secret_key().unwrap();
    let top = params.data_primes();
    let relin = generator.relin_key(&secret, top).unwrap();
    let source = secret.eval().mul(secret.eval());
    for limbs in 1..=top {
        let c = random_poly(params, limbs, "c");
        let switched = params.key_switch(&c, relin.key(), &Threads::ONE).unwrap();
        let noise = switching_noise(params, &c, &source, &secret, &switched);
        let level = params.level(limbs).unwrap();
        let model = params.noise_model();
        let bound = model.log2_bound(model.key_switch(&level.log2_digits(), level.log2_special()));
        assert!(
            noise <= bound,
            "{params:?} at {limbs}: noise 2^{noise} above the bound 2^{bound:.1}"
        );
        assert!(
            bound - noise < 12.0,
            "{params:?} at {limbs}: noise 2^{noise} far below 2^{bound:.1}"
        );
    }
}

#[test]
fn key_switching_meets_its_bound_for_every_shape() {
    check_key_switching(&params::<u64>(256, &[36, 36], &[37], 0));
    check_key_switching(&params::<u64>(64, &[30; 6], &[], 0));
    check_key_switching(&params::<u64>(128, &[45, 40, 40, 40, 40], &[45, 45], 3));
    check_key_switching(&params::<u64>(64, &[14, 15, 16], &[20], 0));
    check_key_switching(&params::<u64>(64, &[62, 61], &[62], 0));
    check_key_switching(&params::<u128>(64, &[107], &[107], 0));
    check_key_switching(&params::<u128>(32, &[128, 109], &[128], 0));
}

#[test]
fn evaluation_form_and_coefficient_form_agree() {
    let params = params::<u64>(64, &[40, 40, 40, 40], &[41, 41], 2);
    let generator = KeyGenerator::new(&params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let key = generator.relin_key(&secret, 4).unwrap();
    for limbs in [4, 3, 1] {
        let c = random_poly(&params, limbs, "c");
        let direct = params.key_switch(&c, key.key(), &Threads::ONE).unwrap();
        let level = params.level(limbs).unwrap();
        let hoisted = HoistedDigits::new(&level, &c)
            .inner_product(key.key())
            .unwrap();
        let hoisted = hoisted.map(|x| level.mod_down_eval(x).to_coeff());
        assert_eq!(direct, hoisted);
    }
}

#[test]
fn hoisted_rotations_equal_plain_ones() {
    let params = params::<u64>(64, &[40, 40, 40], &[41], 0);
    let generator = KeyGenerator::new(&params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let g = rotation_element(64, 5);
    let keys = generator.galois_keys(&secret, &[g], 3).unwrap();
    let (auto, key) = keys.get(g).unwrap();
    let c = random_poly(&params, 3, "c");
    let level = params.level(3).unwrap();
    let plain = HoistedDigits::new(&level, &c.automorphism(auto));
    let hoisted = HoistedDigits::new(&level, &c).automorphism(auto);
    assert_eq!(plain.digits(), hoisted.digits());
    let image = secret.eval().automorphism(auto);
    let switched = params
        .key_switch(&c.automorphism(auto), key, &Threads::ONE)
        .unwrap();
    let noise = switching_noise(&params, &c.automorphism(auto), &image, &secret, &switched);
    assert!(noise < 20.0, "2^{noise}");
    assert!(matches!(
        keys.get(5),
        Err(Error::MissingGaloisKey { element: 5, .. })
    ));
}

#[test]
fn truncated_keys_are_prefixes_of_full_ones() {
    let params = params::<u64>(64, &[40, 40, 40, 40], &[41, 42], 2);
    let generator = KeyGenerator::new(&params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let (full, cut) = (
        generator.relin_key(&secret, 4).unwrap(),
        generator.relin_key(&secret, 2).unwrap(),
    );
    let c = random_poly(&params, 2, "c");
    let switch = |key: &RelinKey<u64>| params.key_switch(&c, key.key(), &Threads::ONE).unwrap();
    assert_eq!(switch(&full), switch(&cut));
    let long = random_poly(&params, 3, "c");
    assert!(matches!(
        params.key_switch(&long, cut.key(), &Threads::ONE),
        Err(Error::Shape {
            got: 3,
            expected: 2,
            ..
        })
    ));
}

/// The largest coefficient of an encryption of zero in bits: over Q, or over Q·P and divided by P.
fn zero_noise<W: Word>(params: &RlweContext<W>, extended: bool) -> f64 {
    let generator = KeyGenerator::new(params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let public = match extended {
        false => generator.public_key(&secret).unwrap(),
        true => generator.extended_public_key(&secret).unwrap(),
    };
    let basis = public.parts()[0].basis();
    let small = |sampler: &Sampler, label| {
        let mut out = vec![0; params.n()];
        sampler.fill(&mut Seed::from_text("s").stream(label, 0), &mut out);
        RnsPoly::from_i64(basis, &out).unwrap()
    };
    let e = ["e0", "e1"].map(|label| small(params.error_sampler(), label));
    let u = small(&Sampler::Ternary, "u");
    let mut ct = encrypt_zero(public.parts(), &u, [&e[0], &e[1]]).unwrap();
    if extended {
        let level = params.level(params.data_primes()).unwrap();
        let whole = ct
            .clone()
            .map(|part| level.mod_down_eval(part.to_eval()).to_coeff());
        ct = ct.map(|part| level.mod_down(part));
        assert_eq!(ct, whole);
    }
    let noise = phase(&ct, secret.eval()).unwrap().compose_centered();
    noise.iter().map(|x| x.bits()).max().unwrap() as f64
}

#[test]
fn public_keys_encrypt_zero_under_the_secret() {
    let params = params::<u64>(256, &[36, 36], &[37], 0);
    let model = params.noise_model();
    let special = params.level(2).unwrap().log2_special();
    for (extended, bound) in [
        (false, model.fresh_public()),
        (true, model.fresh_extended(special)),
    ] {
        let (noise, bound) = (zero_noise(&params, extended), model.log2_bound(bound));
        assert!(
            noise <= bound && bound - noise < 12.0,
            "extended: {extended}, 2^{noise} against 2^{bound:.1}"
        );
    }
}

#[test]
fn an_extended_key_leaves_what_rounding_leaves() {
    let several = params::<u64>(256, &[45, 40, 40, 40], &[45, 45], 2);
    let wide = tests::params::<u128>(64, &[107], &[107], 0);
    // A special prime of 14 bits divides less than the noise that a public key makes.
    let short = params::<u64>(1024, &[40, 40], &[14], 0);
    for (gained, least) in [
        (
            zero_noise(&several, false) - zero_noise(&several, true),
            3.0,
        ),
        (zero_noise(&wide, false) - zero_noise(&wide, true), 3.0),
        (zero_noise(&short, false) - zero_noise(&short, true), 3.0),
    ] {
        assert!(gained >= least, "{gained} bits");
    }
    let model = short.noise_model();
    let special = short.level(2).unwrap().log2_special();
    let bound = model.log2_bound(model.fresh_extended(special));
    assert!(zero_noise(&short, true) <= bound);
}

#[test]
fn a_set_without_special_primes_has_no_extended_key() {
    let (set, other) = (
        params::<u64>(16, &[20, 21], &[], 0),
        params::<u64>(16, &[20, 21], &[22], 0),
    );
    let generator = KeyGenerator::new(&set, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let refused = generator.extended_public_key(&secret).unwrap_err();
    let text = "an extended public key needs special primes, the parameter set has none";
    assert_eq!(refused.to_string(), text);
    // The same from bytes of another set, its fingerprint replaced.
    let generator = KeyGenerator::new(&other, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let mut bytes = generator.extended_public_key(&secret).unwrap().to_bytes();
    bytes[8..24].copy_from_slice(&set.fingerprint().0);
    mutate::repair(&mut bytes);
    assert_eq!(PublicKey::from_bytes(&set, &bytes).unwrap_err(), refused);
}

#[test]
fn a_public_key_of_the_other_kind_is_not_taken_for_one() {
    let params = params::<u64>(16, &[20, 21], &[22], 0);
    let generator = KeyGenerator::new(&params, Seed::from_text("k"));
    let secret = generator.secret_key().unwrap();
    let keys = [
        generator.public_key(&secret).unwrap(),
        generator.extended_public_key(&secret).unwrap(),
    ];
    assert_eq!(keys.each_ref().map(PublicKey::is_extended), [false, true]);
    assert_ne!(keys[0].stamp(), keys[1].stamp());
    for (key, tag) in keys.iter().zip([20u16, 17]) {
        let mut bytes = key.to_bytes();
        bytes[6..8].copy_from_slice(&tag.to_le_bytes());
        mutate::repair(&mut bytes);
        assert!(matches!(
            PublicKey::from_bytes(&params, &bytes),
            Err(Error::Wire(_))
        ));
    }
}

#[test]
fn errors_of_every_kind_of_bad_parameters() {
    let good = params::<u64>(1024, &[26], &[], 0).literal();
    let try_with = |change: &dyn Fn(&mut RlweParamsLiteral<u64>)| {
        let mut literal = good.clone();
        change(&mut literal);
        RlweParams::new(&literal, SecurityPolicy::insecure())
    };
    assert!(matches!(
        try_with(&|l| l.q.clear()),
        Err(Error::Parameter {
            what: "the number of data primes",
            ..
        })
    ));
    assert!(matches!(
        try_with(&|l| l.dnum = 2),
        Err(Error::Parameter { what: "dnum", .. })
    ));
    assert!(matches!(try_with(&|l| l.n = 1000), Err(Error::Rns(_))));
    assert!(matches!(try_with(&|l| l.q[0] = 97), Err(Error::Rns(_))));
    assert!(matches!(
        try_with(&|l| l.p = l.q.clone()),
        Err(Error::Rns(_))
    ));
    assert!(matches!(
        try_with(&|l| l.error = ErrorDistribution::Binomial { eta: 0 }),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        try_with(&|l| l.secret = SecretDistribution::Gaussian { sigma: 200.0 }),
        Err(Error::Parameter { what: "sigma", .. })
    ));
}

#[test]
fn security_is_judged_and_the_opt_in_is_needed() {
    let strict = SecurityPolicy::default();
    let set = |q: &[u32], p: &[u32]| params::<u64>(4096, q, p, 0).literal();
    let (small, seal) = (set(&[35, 35], &[36]), set(&[36, 36], &[37]));
    assert_eq!(
        RlweParams::new(&small, strict).unwrap().security().level,
        Some(128)
    );
    let Err(Error::Insecure {
        n: 4096,
        estimate,
        required: 128,
        max_log2_qp: 106,
        ..
    }) = RlweParams::new(&seal, strict)
    else {
        panic!("109 bits at n = 4096 must be refused by the 2024 table");
    };
    assert!((estimate - 125.0).abs() < 0.5);
    let old = SecurityPolicy {
        table: security::SecurityTable::Standard2018,
        ..strict
    };
    assert_eq!(
        RlweParams::new(&seal, old).unwrap().security().level,
        Some(128)
    );
    assert!(
        RlweParams::new(
            &small,
            SecurityPolicy {
                level: 192,
                ..strict
            }
        )
        .is_err()
    );
    let binary = RlweParamsLiteral {
        secret: SecretDistribution::Binary,
        ..small.clone()
    };
    assert!(matches!(
        RlweParams::new(&binary, strict),
        Err(Error::Insecure { .. })
    ));
    let narrow = RlweParamsLiteral {
        error: ErrorDistribution::Binomial { eta: 4 },
        ..small
    };
    assert!(matches!(
        RlweParams::new(&narrow, strict),
        Err(Error::Insecure { .. })
    ));
    assert_eq!(
        RlweParams::new(&narrow, SecurityPolicy::insecure())
            .unwrap()
            .security()
            .level,
        None
    );
}

#[test]
fn keys_of_other_sets_and_owners_are_refused() {
    let (a, b) = (
        params::<u64>(64, &[36, 36], &[37], 0),
        params::<u64>(64, &[36, 36], &[38], 0),
    );
    let secret = KeyGenerator::new(&a, Seed::from_text("1"))
        .secret_key()
        .unwrap();
    let other = KeyGenerator::new(&b, Seed::from_text("1"));
    assert!(matches!(
        other.public_key(&secret),
        Err(Error::ParameterMismatch { .. })
    ));
    assert!(matches!(
        SecretKey::from_bytes(&b, &secret.to_bytes()),
        Err(Error::ParameterMismatch { .. })
    ));
    let second = KeyGenerator::new(&a, Seed::from_text("2"))
        .secret_key()
        .unwrap();
    assert!(matches!(
        secret.id().join(second.id(), "x"),
        Err(Error::KeyMismatch { .. })
    ));
    assert_eq!(secret.id().join(KeyId::NONE, "x"), Ok(secret.id()));
    assert_eq!(KeyId::NONE.join(secret.id(), "x"), Ok(secret.id()));
}

/// Schoolbook sums of products, for operands of several sizes, in place and not, on several threads.
#[test]
fn tensors_are_sums_of_products() {
    let params = params::<u64>(32, &[40, 45, 61], &[], 0);
    let operand = |count: usize, text: &str| -> Polys<u64> {
        (0..count)
            .map(|i| random_poly(&params, 3, &format!("{text}{i}")))
            .collect()
    };
    for (left, right) in [(1, 1), (2, 2), (3, 2), (2, 4), (1, 3)] {
        let (a, b) = (operand(left, "a"), operand(right, "b"));
        let eval = |p: &RnsPoly<u64, Coeff>| p.clone().to_eval();
        let part = |k: usize| {
            let mut sum = RnsPoly::<u64, Eval>::zeros(params.q());
            for (i, x) in a.iter().enumerate() {
                if let Some(y) = k.checked_sub(i).and_then(|j| b.get(j)) {
                    sum.add_assign(&eval(x).mul(&eval(y)));
                }
            }
            sum.to_coeff()
        };
        let expected: Polys<u64> = (0..left + right - 1).map(part).collect();
        for threads in [1, 3] {
            let threads = Threads::new(threads).unwrap();
            let product = tensor(a.clone(), Some(b.clone()), &threads).unwrap();
            assert_eq!(product, expected);
        }
        let product = tensor(a.clone(), Some(a.clone()), &Threads::ONE).unwrap();
        let square = tensor(a.clone(), None, &Threads::ONE).unwrap();
        assert_eq!(square, product);
    }
    let short = random_poly(&params, 2, "s");
    for wrong in [vec![short], vec![]] {
        assert!(tensor(operand(2, "a"), Some(wrong), &Threads::ONE).is_err());
    }
}
