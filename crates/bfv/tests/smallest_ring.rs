// SPDX-License-Identifier: Apache-2.0
//! The whole scheme in the smallest ring, n = 8: short enough for an interpreter (`tools/sanitize.sh miri-schemes`).

use bfv::{BatchEncoder, BfvParams, BfvParamsLiteral, Ciphertext, Decryptor, Encryptor, Evaluator};
use rlwe::{KeyGenerator, PublicKey, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

const N: usize = 8;
const T: u64 = 97;

#[test]
fn every_operation_round_trips() {
    let primes = ntt_primes::<u64>(40, 2 * N as u64, 3, Direction::Down, &[]).unwrap();
    let rlwe = RlweParamsLiteral {
        n: N,
        q: primes[..2].to_vec(),
        p: primes[2..].to_vec(),
        dnum: 2,
        ..Default::default()
    };
    let literal = BfvParamsLiteral {
        rlwe,
        plain_modulus: T,
        auxiliary: vec![],
    };
    let params = BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("small"));
    let secret = Arc::new(generator.secret_key().unwrap());
    let public = generator.public_key(&secret).unwrap();
    let public = Arc::new(PublicKey::from_bytes(params.rlwe(), &public.to_bytes()).unwrap());
    let relin = generator.relin_key(&secret, 2).unwrap();
    let element = rlwe::rotation_element(N, 1);
    let galois = generator.galois_keys(&secret, &[element], 2).unwrap();
    let encoder = BatchEncoder::new(&params).unwrap();
    let values: Vec<u64> = (0..N as u64).map(|i| 11 * i + 5).collect();
    let encryptor = Encryptor::new(&params, public, Seed::from_text("m")).unwrap();
    let ct = encryptor
        .encrypt(&encoder.encode(&values).unwrap())
        .unwrap();
    let ct = Ciphertext::from_bytes(&params, &ct.to_bytes()).unwrap();
    let evaluator = Evaluator::new(&params);
    let product = evaluator.multiply_relin(&ct, &ct, &relin).unwrap();
    let turned = evaluator.rotate_rows(&product, 1, &galois).unwrap();
    let lower = evaluator.mod_switch(&turned).unwrap();
    let decryptor = Decryptor::new(&params, secret).unwrap();
    let read = |ct| encoder.decode(&decryptor.decrypt(ct).unwrap()).unwrap();
    let squares: Vec<u64> = values.iter().map(|v| v * v % T).collect();
    assert_eq!(read(&product), squares);
    // Two rows of n/2 slots turn to the left.
    let row = |r: usize| (0..N / 2).map(move |i| r * N / 2 + (i + 1) % (N / 2));
    let want: Vec<u64> = row(0).chain(row(1)).map(|i| squares[i]).collect();
    assert_eq!(read(&lower), want);
}
