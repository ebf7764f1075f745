// SPDX-License-Identifier: Apache-2.0
//! One seed in several parameter sets, for several keys and in a fork: nothing that is drawn from it comes twice.

use crate::tests::params;
use crate::*;
use std::collections::HashSet;

/// Small sets that differ in one field each; the first primes are the same where they can be.
fn sets() -> Vec<RlweParams<u64>> {
    let base = params::<u64>(64, &[36, 36, 36], &[37], 0).literal();
    let more = params::<u64>(64, &[36, 36, 36, 36], &[37, 37], 0).literal();
    let with = |change: &dyn Fn(&mut RlweParamsLiteral<u64>)| {
        let mut literal = base.clone();
        change(&mut literal);
        RlweParams::new(&literal, SecurityPolicy::insecure()).unwrap()
    };
    vec![
        with(&|_| ()),
        with(&|set| set.q = more.q.clone()),
        with(&|set| set.q.swap(1, 2)),
        with(&|set| set.p = more.p.clone()),
        with(&|set| set.p.clear()),
        with(&|set| set.dnum = 1),
        with(&|set| set.secret = SecretDistribution::Binary),
        with(&|set| set.secret = SecretDistribution::Gaussian { sigma: 3.2 }),
        with(&|set| set.error = ErrorDistribution::Gaussian { sigma: 3.2 }),
        params(128, &[36, 36, 36], &[37], 0).params().clone(),
    ]
}

/// The first words of every uniform half of every key, and the secret's coefficients.
fn drawn(generator: &KeyGenerator<u64>, secret: &SecretKey<u64>, limbs: usize) -> Vec<Vec<u64>> {
    let head = |words: &[u64]| words[..8].to_vec();
    let public = generator.public_key(secret).unwrap();
    let relin = generator.relin_key(secret, limbs).unwrap();
    let galois = generator.galois_keys(secret, &[3, 5], limbs).unwrap();
    let mut all = vec![head(public.parts()[1].limb(0))];
    if let Ok(extended) = generator.extended_public_key(secret) {
        all.push(head(extended.parts()[1].limb(0)));
    }
    let switching = [3, 5].map(|g| galois.get(g).unwrap().1);
    for key in [relin.key()].into_iter().chain(switching) {
        all.extend(key.uniform().unwrap().iter().map(|a| head(a.limb(0))));
    }
    all
}

fn assert_all_differ<T: std::hash::Hash + Eq>(all: impl IntoIterator<Item = T>) {
    let mut seen = HashSet::new();
    assert!(
        all.into_iter()
            .enumerate()
            .all(|(i, x)| seen.insert((x, ())) || panic!("{i}"))
    );
}

#[test]
fn one_seed_in_two_sets_shares_nothing() {
    let (mut halves, mut secrets, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for set in sets() {
        let generator = KeyGenerator::new(&set, Seed::from_text("one"));
        let secret = generator.secret_key().unwrap();
        halves.extend(drawn(&generator, &secret, set.data_primes()));
        secrets.push(secret.coefficients()[..64].to_vec());
        ids.push(secret.id().0);
    }
    assert_all_differ(halves);
    assert_all_differ(secrets);
    assert_all_differ(ids);
}

#[test]
fn one_seed_for_two_secrets_shares_nothing() {
    // b − b' = −a·(s − s') would tell the difference of the secrets if a and e were the same.
    let set = params::<u64>(64, &[36, 36], &[37], 0);
    let generator = KeyGenerator::new(&set, Seed::from_text("one"));
    let other = KeyGenerator::new(&set, Seed::from_text("two"));
    let secrets = [&generator, &other].map(|g| g.secret_key().unwrap());
    assert_all_differ(secrets.iter().flat_map(|s| drawn(&generator, s, 2)));
}

#[test]
fn a_relinearisation_key_for_fewer_primes_is_the_same_key_cut() {
    // The one place where a seed gives something twice: the same words, of which no difference tells anything.
    let set = params::<u64>(64, &[36, 36, 36], &[37], 0);
    let generator = KeyGenerator::new(&set, Seed::from_text("one"));
    let secret = generator.secret_key().unwrap();
    let [long, short] = [3, 2].map(|limbs| generator.relin_key(&secret, limbs).unwrap());
    for d in 0..2 {
        for part in 0..2 {
            assert!(
                long.key()
                    .limbs_at(d, part, 2)
                    .eq(short.key().limbs_at(d, part, 2))
            );
        }
    }
}

#[test]
fn without_a_seed_every_key_is_new() {
    let set = params::<u64>(64, &[36, 36], &[37], 0);
    let generator = KeyGenerator::new(&set, Randomness::SYSTEM);
    let secrets = [(); 2].map(|()| generator.secret_key().unwrap());
    assert_ne!(secrets[0].id(), secrets[1].id());
    assert_all_differ(
        [0, 0, 1]
            .iter()
            .flat_map(|i| drawn(&generator, &secrets[*i], 2)),
    );
}
