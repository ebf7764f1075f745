// SPDX-License-Identifier: Apache-2.0
//! The whole scheme in the smallest ring, n = 8: short enough for an interpreter (`tools/sanitize.sh miri-schemes`).

use ckks::{
    Ciphertext, CkksParams, CkksParamsLiteral, Decryptor, Encoder, Encryptor, Evaluator,
    prime_chain,
};
use num_complex::Complex64;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};

const N: usize = 8;

#[test]
fn every_operation_round_trips() {
    let (q, p) = prime_chain(N, 45, 36, 1, 45, 1).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        dnum: q.len(),
        q,
        p,
        ..Default::default()
    };
    let literal = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(36),
    };
    let params = CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("small"));
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    let relin = generator.relin_key(&secret, 2).unwrap();
    let galois = generator
        .galois_keys(&secret, &params.galois_elements(&[1], false), 2)
        .unwrap();
    let values: Vec<_> = (0..N / 2)
        .map(|i| Complex64::new(i as f64 / 4.0, 0.5))
        .collect();
    let plain = Encoder::new(&params)
        .encode(&values, params.max_level(), params.scale())
        .unwrap();
    let encryptor = Encryptor::new(&params, Seed::from_text("m"));
    let ct = encryptor.encrypt(&plain, &public, 0).unwrap();
    let ct = Ciphertext::from_bytes(&params, &ct.to_bytes()).unwrap();
    let evaluator = Evaluator::new(&params);
    let product = evaluator
        .relinearize(&evaluator.multiply(&ct, &ct).unwrap(), &relin)
        .unwrap();
    let turned = evaluator
        .rotate(&evaluator.rescale(&product).unwrap(), 1, &galois)
        .unwrap();
    let opened = Decryptor::new(&params, &secret)
        .unwrap()
        .decrypt_slots(&turned)
        .unwrap();
    for (i, got) in opened.iter().enumerate() {
        let want = values[(i + 1) % values.len()];
        assert!((got - want * want).norm() < 1e-3, "slot {i}: {got}");
    }
}
