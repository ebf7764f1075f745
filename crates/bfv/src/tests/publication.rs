// SPDX-License-Identifier: Apache-2.0
//! Decryption for publication.

use super::*;
use crate::noise::{Estimator, log2_limit};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

const FEW: Publication = Publication {
    noise_budget: 0.0,
    security_bits: 10,
    queries: 4,
};

/// A product's ciphertext, what it decrypts to and the budget it is sure to leave.
fn product<W: Word>(kit: &Kit<W>) -> (Ciphertext<W>, Plaintext, f64) {
    let (n, t) = (kit.params.n(), kit.params.plain_modulus());
    let limbs = kit.params.rlwe().data_primes();
    let estimate = Estimator::new(&kit.params);
    let (a, b) = (
        kit.encrypt(&values("a", n, t)),
        kit.encrypt(&values("b", n, t)),
    );
    let ct = kit.evaluator.multiply(&a, &b).unwrap();
    let fresh = estimate.fresh_public();
    let noise = estimate.multiply(fresh, fresh, [2, 2], limbs).unwrap();
    let exact = kit.decryptor.decrypt(&ct).unwrap();
    (ct, exact, estimate.budget(noise, limbs).unwrap())
}

/// Deviation of what flooding adds to the phase.
fn added<W: Word>(kit: &Kit<W>, ct: &Ciphertext<W>, publication: &Publication) -> f64 {
    let seed = Seed::from_text("flood");
    let phase = || kit.decryptor.phase(ct).unwrap();
    let flooded = kit.decryptor.flooded(ct, phase(), publication, &seed);
    let mut flooded = flooded.unwrap().0;
    flooded.sub_assign(&phase().0);
    let square = |x: &BigInt| x.to_f64().unwrap().powi(2);
    let squares: f64 = flooded.compose_centered().iter().map(square).sum();
    (squares / kit.params.n() as f64).sqrt()
}

fn check<W: Word>(kit: &Kit<W>) {
    let (ct, exact, noise_budget) = product(kit);
    let publication = Publication {
        noise_budget,
        ..FEW
    };
    for seed in 0..5u64 {
        let seed = Seed::from_text("p").derive("try", seed);
        let shown = kit
            .decryptor
            .decrypt_for_publication(&ct, &publication, &seed);
        assert!(shown.unwrap() == exact);
    }
    // sqrt(12 · 4) · 2^5 · sqrt(n) times the bound.
    let bound = log2_limit(&kit.params, ct.limbs()).unwrap() - noise_budget;
    let n = kit.params.n() as f64;
    let sigma = publication.log2_sigma(kit.params.n(), bound).exp2();
    let want = (48.0 * n).sqrt() * 32.0 * (bound.exp2() + 0.5);
    assert!((sigma / want - 1.0).abs() < 1e-9);
    let deviation = added(kit, &ct, &publication);
    assert!(
        (deviation / sigma - 1.0).abs() < 0.2,
        "{deviation:e} {sigma:e}"
    );
}

#[test]
fn a_published_result_is_right_and_its_noise_is_the_promised_one() {
    check(&Kit::<u64>::new(params(
        256,
        &[50, 50],
        &[],
        batching_prime(256, 14),
    )));
    check(&Kit::<u128>::new(params(
        64,
        &[120],
        &[],
        batching_prime(64, 20),
    )));
}

#[test]
fn noise_at_its_bound_does_not_decide_whether_a_published_result_is_right() {
    let kit = Kit::<u64>::new(params(256, &[50, 50], &[], batching_prime(256, 14)));
    let publication = Publication {
        noise_budget: 40.0,
        ..FEW
    };
    let bound = (log2_limit(&kit.params, 2).unwrap() - 40.0).exp2() as i64;
    let plain = Plaintext::from_coefficients(&kit.params, &[5; 256]).unwrap();
    for sign in [-1, 1] {
        let mut ct = kit.encryptor.encrypt_at(&plain, 0).unwrap();
        let planted = vec![sign * bound; 256];
        ct.parts[0].add_assign(&rns::RnsPoly::from_i64(kit.params.rlwe().q(), &planted).unwrap());
        let seed = Seed::from_text("p");
        let shown = kit
            .decryptor
            .decrypt_for_publication(&ct, &publication, &seed);
        assert!(shown.unwrap() == plain);
        let sigma = added(&kit, &ct, &publication);
        assert!(sigma > 3000.0 * bound as f64, "{sigma:e} {bound}");
    }
}

#[test]
fn a_budget_without_room_is_refused() {
    let kit = Kit::<u64>::new(params(64, &[50], &[], 257));
    let ct = kit.encrypt(&[1]);
    let seed = Seed::from_text("p");
    let needed = FEW.budget_needed(64);
    assert!((needed - 17.0).abs() < 3.0, "{needed}");
    for noise_budget in [needed - 0.1, 0.0, -3.0, f64::NAN] {
        let publication = Publication {
            noise_budget,
            ..FEW
        };
        assert!(matches!(
            kit.decryptor
                .decrypt_for_publication(&ct, &publication, &seed),
            Err(Error::Flooding { .. })
        ));
    }
    let enough = Publication {
        noise_budget: needed + 0.1,
        ..FEW
    };
    assert!(
        kit.decryptor
            .decrypt_for_publication(&ct, &enough, &seed)
            .is_ok()
    );
}

#[test]
fn each_published_bit_of_security_and_query_costs_budget() {
    let needed = |security_bits, queries| {
        Publication {
            noise_budget: 0.0,
            security_bits,
            queries,
        }
        .budget_needed(4096)
    };
    assert!((needed(32, 1024) - needed(30, 1024) - 1.0).abs() < 1e-6);
    assert!((needed(30, 4096) - needed(30, 1024) - 1.0).abs() < 1e-6);
}
