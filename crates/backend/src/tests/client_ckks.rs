// SPDX-License-Identifier: Apache-2.0
//! A CKKS client on co-processors: the bytes and answers of the processor, and what the device did of it.

use super::coprocessor::{ALL, Plain, build, engine};
use super::moves::moves;
use crate::lower::client;
use crate::{Backend, Unobserved};
use ckks::{
    CkksParams, CkksParamsLiteral, Decryptor, Encoder, EncryptionKey, Encryptor, Evaluator,
    Plaintext, Publication,
};
use isa::{BuildInfo, Reduction};
use offload::Usage;
use rlwe::{KeyGenerator, PublicKey, RlweParamsLiteral, SecretKey, SecurityPolicy, Seed};
use zq::primes::{Direction, ntt_primes};

/// Keys of all kinds over data primes of these bits and a special one of the last, and a message at each level.
struct Client {
    params: CkksParams,
    secret: SecretKey<u64>,
    public: [PublicKey<u64>; 2],
    encryptor: Encryptor,
    messages: Vec<Plaintext>,
}

impl Client {
    fn new(n: usize, bits: &[u32]) -> Self {
        let mut q: Vec<u64> = Vec::new();
        for &width in bits {
            q.extend(ntt_primes(width, 2 * n as u64, 1, Direction::Down, &q).unwrap());
        }
        let p = q.split_off(bits.len() - 1);
        let rlwe = RlweParamsLiteral {
            n,
            q,
            p,
            ..Default::default()
        };
        let scale = 15_f64.exp2();
        let literal = CkksParamsLiteral { rlwe, scale };
        let params = CkksParams::new(&literal, SecurityPolicy::insecure()).unwrap();
        let generator = KeyGenerator::new(&params, Seed::from_text("keys"));
        let secret = generator.secret_key().unwrap();
        let encoder = Encoder::new(&params);
        let message = |level| encoder.encode_real(&[0.5, -1.0, 0.25], level, scale);
        Self {
            public: [
                generator.public_key(&secret).unwrap(),
                generator.extended_public_key(&secret).unwrap(),
            ],
            encryptor: Encryptor::new(&params, Seed::from_text("messages")),
            messages: (0..bits.len() - 1).map(|l| message(l).unwrap()).collect(),
            secret,
            params,
        }
    }

    fn keys(&self) -> [EncryptionKey<'_>; 3] {
        let [public, extended] = &self.public;
        [
            EncryptionKey::Public(public),
            EncryptionKey::Public(extended),
            EncryptionKey::Secret(&self.secret),
        ]
    }

    fn encrypt(&self, key: EncryptionKey<'_>, message: &Plaintext) -> ckks::Ciphertext {
        match key {
            EncryptionKey::Public(key) => self.encryptor.encrypt(message, key, 5),
            EncryptionKey::Secret(key) => self.encryptor.encrypt_secret(message, key, 5),
        }
        .unwrap()
    }
}

/// Encryptions under three kinds of key, and decryptions of two and three parts, at each level; and how many of each.
fn agrees(info: &BuildInfo, operations: &[&str], n: usize, bits: &[u32]) -> (Usage, [u64; 2]) {
    let client = Client::new(n, bits);
    let device = engine(info.clone(), operations);
    let decryptor = Decryptor::new(&client.params, &client.secret).unwrap();
    let evaluator = Evaluator::new(&client.params);
    let mut counts = [0, 0];
    for message in &client.messages {
        for key in client.keys() {
            let here = client.encrypt(key, message);
            let there = device.client().unwrap().encrypt_ckks(
                &client.encryptor,
                message,
                key,
                5,
                &Unobserved,
            );
            let there = there.unwrap();
            assert!(there.to_bytes() == here.to_bytes(), "n = {n} on {info:?}");
            let product = evaluator.multiply(&here, &here).unwrap();
            for ciphertext in [&here, &product] {
                let opened =
                    device
                        .client()
                        .unwrap()
                        .decrypt_ckks(&decryptor, ciphertext, &Unobserved);
                let expected = decryptor.decrypt(ciphertext).unwrap();
                assert!(
                    opened.unwrap().poly().data() == expected.poly().data(),
                    "n = {n} on {info:?}"
                );
                counts[1] += 1;
            }
            counts[0] += 1;
        }
    }
    (device.take_usage(), counts)
}

#[test]
fn a_ckks_client_on_a_device_gives_the_processor_s_bytes() {
    let montgomery = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 7,
        ..build(40, 2, 6)
    };
    for (info, n, bits) in [
        (build(62, 1, 6), 32, &[40, 30, 61][..]),
        (build(40, 3, 6), 16, &[36, 36, 37]),
        (build(40, 3, 6), 16, &[36, 37, 36, 38, 39]),
        (moves(40, 6, 6), 64, &[36, 36, 37]),
        (montgomery.clone(), 64, &[36, 37]),
        // A ring of twice the build's degree, in halves.
        (montgomery, 128, &[36, 36, 37]),
        (build(62, 1, 6), 128, &[40, 41]),
    ] {
        let (usage, [encrypted, decrypted]) = agrees(&info, &ALL, n, bits);
        assert_eq!(usage.offloaded["zero-encrypt"], encrypted);
        assert_eq!(usage.offloaded["decrypt"], decrypted);
        assert!(usage.on_host.is_empty() && usage.compute_cycles > 0);
    }
}

/// A degree or a prime beyond the build, and operations that its preset does not name.
#[test]
fn what_a_build_cannot_take_of_a_ckks_client_stays_on_the_processor() {
    for (info, n) in [(build(62, 1, 6), 256), (build(32, 1, 6), 32)] {
        let (usage, [encrypted, decrypted]) = agrees(&info, &ALL, n, &[40, 41]);
        assert!(usage.offloaded.is_empty() && usage.instructions == 0);
        assert_eq!(usage.on_host["zero-encrypt"], encrypted);
        assert_eq!(usage.on_host["decrypt"], decrypted);
    }
    let (usage, counts) = agrees(&build(62, 1, 6), &["decrypt"], 32, &[40, 41]);
    assert_eq!(usage.offloaded["decrypt"], counts[1]);
    assert_eq!(usage.on_host["zero-encrypt"], counts[0]);
}

/// Of one message over one prime u, both errors and both halves of the key go to the device, and both parts come back;
/// the message is added on the host. Of a decryption c_0, c_1 and the secret go there, the sum comes back.
#[test]
fn a_message_never_leaves_the_host() {
    let client = Client::new(32, &[40, 41]);
    let device = engine(build(62, 1, 6), &ALL);
    let data = |usage: &Usage| usage.send.polynomials - usage.tables;
    let [key, ..] = client.keys();
    let ciphertext = device.client().unwrap().encrypt_ckks(
        &client.encryptor,
        &client.messages[0],
        key,
        0,
        &Unobserved,
    );
    let usage = device.take_usage();
    assert_eq!((data(&usage), usage.receive.polynomials), (5, 2));
    let decryptor = Decryptor::new(&client.params, &client.secret).unwrap();
    let opened =
        device
            .client()
            .unwrap()
            .decrypt_ckks(&decryptor, &ciphertext.unwrap(), &Unobserved);
    assert!(opened.is_ok());
    let usage = device.take_usage();
    assert_eq!((data(&usage), usage.receive.polynomials), (3, 1));
}

#[test]
fn a_published_result_does_not_depend_on_who_decrypts() {
    let client = Client::new(32, &[60, 60, 61]);
    let device = engine(build(62, 1, 6), &ALL);
    let decryptor = Decryptor::new(&client.params, &client.secret).unwrap();
    let ciphertext = client.encrypt(client.keys()[0], &client.messages[1]);
    let publication = Publication::with_slot_error(2_f64.powi(-10));
    let seed = Seed::from_text("publish");
    let here = decryptor.decrypt_for_publication(&ciphertext, &publication, &seed);
    let opened = device
        .client()
        .unwrap()
        .decrypt_ckks(&decryptor, &ciphertext, &Unobserved);
    let there = decryptor.publish(&ciphertext, opened.unwrap(), &publication, &seed);
    assert!(there.unwrap().poly().data() == here.unwrap().poly().data());
}

/// A key of too few primes and a ciphertext without parts are refused.
#[test]
fn keys_and_parts_are_checked() {
    let client = Client::new(32, &[40, 41, 42]);
    let parts = client.encrypt(client.keys()[0], &client.messages[1]);
    let key = client.secret.eval();
    let short = rns::RnsPoly::zeros(&key.basis().prefix(1).unwrap());
    let phase = |parts, key| client::ckks::phase(&Plain, parts, key, &Unobserved);
    assert_eq!(
        phase(parts.parts(), &short).unwrap_err().to_string(),
        "primes of a factor: 1 given, 2 expected"
    );
    assert_eq!(
        phase(&[], key).unwrap_err().to_string(),
        "a ciphertext without parts"
    );
}
