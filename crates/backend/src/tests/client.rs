// SPDX-License-Identifier: Apache-2.0
//! A BFV client on co-processors: the bytes and answers of the processor, and what the device did of it.

use super::conformance::backends;
use super::coprocessor::{ALL, Plain, build, engine};
use crate::lower::client;
use crate::{Backend, ClientWord, Unobserved};
use bfv::{BfvParams, BfvParamsLiteral, Decryptor, Encryptor, Evaluator, Plaintext, Publication};
use isa::{BuildInfo, Reduction};
use offload::Usage;
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::Arc;
use zq::Word;
use zq::primes::{Direction, ntt_primes};

fn params<W: Word>(n: usize, bits: &[u32]) -> BfvParams<W> {
    let mut q: Vec<W> = Vec::new();
    for &width in bits {
        q.extend(ntt_primes::<W>(width, 2 * n as u64, 1, Direction::Down, &q).unwrap());
    }
    let literal = BfvParamsLiteral {
        rlwe: RlweParamsLiteral {
            n,
            q,
            ..Default::default()
        },
        plain_modulus: 17,
        auxiliary: vec![],
    };
    BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap()
}

/// The sides of a client, and a message.
struct Client<W: Word> {
    params: BfvParams<W>,
    encryptors: [Encryptor<W>; 2],
    decryptor: Decryptor<W>,
    message: Plaintext,
}

impl<W: Word> Client<W> {
    fn new(n: usize, bits: &[u32]) -> Self {
        let params = params::<W>(n, bits);
        let generator = KeyGenerator::new(&params, Seed::from_text("keys"));
        let secret = Arc::new(generator.secret_key().unwrap());
        let public = Arc::new(generator.public_key(&secret).unwrap());
        let seed = || Seed::from_text("messages");
        Self {
            encryptors: [
                Encryptor::new(&params, public, seed()).unwrap(),
                Encryptor::symmetric(&params, secret.clone(), seed()).unwrap(),
            ],
            decryptor: Decryptor::new(&params, secret).unwrap(),
            message: Plaintext::from_signed(&params, &[3, -1, 4]).unwrap(),
            params,
        }
    }
}

/// Six operations on a co-processor.
fn agrees<W: ClientWord>(info: &BuildInfo, operations: &[&str], n: usize, bits: &[u32]) -> Usage {
    let device = engine(info.clone(), operations);
    serves::<W>(&device, n, bits);
    device.take_usage()
}

/// Both kinds of encryption, an encryption of zero, decryption of two and of three parts, with the processor's bytes.
fn serves<W: ClientWord>(device: &dyn Backend, n: usize, bits: &[u32]) {
    let client = Client::<W>::new(n, bits);
    let place = format!("n = {n} on {}", device.name());
    let decryptor = &client.decryptor;
    let mut ciphertexts = Vec::new();
    for encryptor in &client.encryptors {
        let here = encryptor.encrypt_at(&client.message, 5).unwrap();
        let there = device
            .client()
            .unwrap()
            .encrypt(encryptor, &client.message, 5, &Unobserved)
            .unwrap();
        assert!(there.to_bytes() == here.to_bytes(), "{place}");
        ciphertexts.push(here);
    }
    let zero = device
        .client()
        .unwrap()
        .zero(&client.encryptors[0], 6, &Unobserved)
        .unwrap();
    let expected = client.encryptors[0].zero_at(6).unwrap();
    assert!(zero.to_bytes() == expected.to_bytes(), "{place}");
    let square = Evaluator::new(&client.params).square(&ciphertexts[0]);
    ciphertexts.push(square.unwrap());
    for ciphertext in &ciphertexts {
        let phase = device
            .client()
            .unwrap()
            .phase(decryptor, ciphertext, &Unobserved)
            .unwrap();
        let opened = decryptor.rounded(&phase);
        assert_eq!(opened, decryptor.decrypt(ciphertext), "{place}");
        assert_eq!(
            decryptor.noise_budget_of(&phase),
            decryptor.noise_budget(ciphertext)
        );
    }
}

#[test]
fn every_backend_that_serves_clients_gives_the_processor_s_bytes() {
    let serving = backends().into_iter().filter(|one| one.client().is_some());
    let names = serving.map(|backend| {
        serves::<u64>(&*backend, 32, &[30, 40, 61]);
        serves::<u128>(&*backend, 64, &[109, 120]);
        backend.name().to_owned()
    });
    let names: Vec<String> = names.collect();
    assert_eq!(names, ["model:test", "model:test", "plain", "skeleton"]);
}

#[test]
fn a_client_on_a_device_gives_the_processor_s_bytes() {
    let whole = [
        agrees::<u64>(&build(62, 1, 6), &ALL, 32, &[30, 40, 61]),
        agrees::<u128>(&build(128, 1, 6), &ALL, 64, &[109, 128]),
        agrees::<u64>(&build(40, 3, 6), &ALL, 16, &[36, 36, 37]),
        agrees::<u64>(&build(40, 3, 6), &ALL, 16, &[36, 37]),
    ];
    for usage in whole {
        assert_eq!(usage.offloaded["zero-encrypt"], 3);
        assert_eq!(usage.offloaded["delta-m-decrypt"], 3);
        assert!(usage.on_host.is_empty() && usage.compute_cycles > 0);
        assert!(usage.send.bytes > usage.receive.bytes);
    }
}

/// The sums over Q·P are the device's, the division by P is the host's.
fn agrees_under_an_extended_key<W: ClientWord>(info: &BuildInfo, n: usize, bits: &[u32]) -> Usage {
    let mut literal = params::<W>(n, bits).literal();
    literal.rlwe.p = literal.rlwe.q.split_off(1);
    literal.rlwe.dnum = 0;
    let params = BfvParams::new(&literal, SecurityPolicy::insecure()).unwrap();
    let generator = KeyGenerator::new(&params, Seed::from_text("keys"));
    let secret = Arc::new(generator.secret_key().unwrap());
    let key = Arc::new(generator.extended_public_key(&secret).unwrap());
    let encryptor = Encryptor::new(&params, key, Seed::from_text("messages")).unwrap();
    let message = Plaintext::from_signed(&params, &[3, -1, 4]).unwrap();
    let device = engine(info.clone(), &ALL);
    let here = encryptor.encrypt_at(&message, 5).unwrap();
    let there = device
        .client()
        .unwrap()
        .encrypt(&encryptor, &message, 5, &Unobserved)
        .unwrap();
    assert!(there.to_bytes() == here.to_bytes(), "n = {n} on {info:?}");
    let zero = device
        .client()
        .unwrap()
        .zero(&encryptor, 6, &Unobserved)
        .unwrap();
    let expected = encryptor.zero_at(6).unwrap();
    assert!(
        zero.to_bytes() == expected.to_bytes(),
        "n = {n} on {info:?}"
    );
    let opened = Decryptor::new(&params, secret).unwrap().decrypt(&there);
    assert_eq!(opened, Ok(message));
    device.take_usage()
}

#[test]
fn an_extended_key_on_a_device_gives_the_processor_s_bytes() {
    for usage in [
        agrees_under_an_extended_key::<u64>(&build(62, 1, 6), 32, &[40, 41]),
        agrees_under_an_extended_key::<u64>(&build(40, 3, 6), 16, &[36, 36, 37]),
        agrees_under_an_extended_key::<u128>(&build(128, 1, 6), 64, &[109, 128]),
    ] {
        assert_eq!(usage.offloaded["zero-encrypt"], 2);
        assert!(usage.on_host.is_empty() && usage.compute_cycles > 0);
    }
    // A special prime that the build's words do not hold.
    let usage = agrees_under_an_extended_key::<u64>(&build(40, 1, 6), 32, &[40, 41]);
    assert_eq!(usage.on_host["zero-encrypt"], 2);
    assert!(usage.offloaded.is_empty());
}

#[test]
fn builds_with_montgomery_reduction_and_rings_in_halves_agree_too() {
    let montgomery = BuildInfo {
        reduction: Reduction::Montgomery,
        montgomery_bits: 7,
        ..build(40, 2, 6)
    };
    for (info, n) in [
        (&montgomery, 64),
        (&montgomery, 128),
        (&build(62, 1, 6), 128),
    ] {
        let usage = agrees::<u64>(info, &ALL, n, &[36, 36, 37]);
        assert!(usage.on_host.is_empty() && usage.offloaded["zero-encrypt"] == 3);
    }
}

/// A degree or a modulus beyond the build, and operations that its preset does not name.
#[test]
fn what_a_build_cannot_take_stays_on_the_processor() {
    for (info, n) in [(build(62, 1, 6), 256), (build(32, 1, 6), 32)] {
        let usage = agrees::<u64>(&info, &ALL, n, &[40, 41]);
        assert!(usage.offloaded.is_empty() && usage.instructions == 0);
        assert_eq!(usage.on_host["zero-encrypt"], 3);
        assert_eq!(usage.on_host["delta-m-decrypt"], 3);
    }
    let usage = agrees::<u64>(&build(62, 1, 6), &["zero-encrypt"], 32, &[40, 41]);
    assert_eq!(usage.offloaded["zero-encrypt"], 3);
    assert_eq!(usage.on_host["delta-m-decrypt"], 3);
}

/// Transfers for one message over one prime: u and both keys to the device, both products back; c_1 and the secret to
/// the device, one product back. Errors and c_0 are added on the host.
#[test]
fn errors_never_leave_the_host() {
    let client = Client::<u64>::new(32, &[40]);
    let device = engine(build(62, 1, 6), &ALL);
    let data = |usage: &Usage| usage.send.polynomials - usage.tables;
    let ciphertext =
        device
            .client()
            .unwrap()
            .encrypt(&client.encryptors[0], &client.message, 0, &Unobserved);
    let usage = device.take_usage();
    assert_eq!((data(&usage), usage.receive.polynomials), (3, 2));
    device
        .client()
        .unwrap()
        .phase(&client.decryptor, &ciphertext.unwrap(), &Unobserved)
        .unwrap();
    let usage = device.take_usage();
    assert_eq!((data(&usage), usage.receive.polynomials), (2, 1));
}

#[test]
fn a_published_result_does_not_depend_on_who_computes_the_phase() {
    let client = Client::<u64>::new(32, &[60, 60]);
    let device = engine(build(62, 1, 6), &ALL);
    let ciphertext = client.encryptors[0].encrypt_at(&client.message, 0).unwrap();
    let (publication, seed) = (Publication::with_budget(60.0), Seed::from_text("publish"));
    let decryptor = &client.decryptor;
    let here = decryptor.decrypt_for_publication(&ciphertext, &publication, &seed);
    let phase = device
        .client()
        .unwrap()
        .phase(decryptor, &ciphertext, &Unobserved)
        .unwrap();
    let there = decryptor.publish(&ciphertext, phase, &publication, &seed);
    assert_eq!(here, Ok(client.message));
    assert_eq!(there, here);
}

/// The same operations one after another, without a device; a key of too few primes is refused.
#[test]
fn the_graphs_are_the_schemes_own_sums() {
    let client = Client::<u64>::new(32, &[40, 41]);
    for encryptor in &client.encryptors {
        let here = encryptor.zero_at(0).unwrap();
        let there = encryptor.zero_by(0, |draw| client::bfv::zero_parts(&Plain, draw, &Unobserved));
        assert!(there.unwrap().to_bytes() == here.to_bytes());
    }
    let mut ciphertext = client.encryptors[0].encrypt_at(&client.message, 0).unwrap();
    let evaluator = Evaluator::new(&client.params);
    for size in 2..6 {
        assert_eq!(ciphertext.size(), size);
        let phase = client.decryptor.phase_by(&ciphertext, |parts, key| {
            let phase = client::bfv::phase(&Plain, parts, key, &Unobserved)?;
            assert_eq!(Ok(&phase), rlwe::phase(parts, key).as_ref(), "{size} parts");
            let short = rns::RnsPoly::zeros(&key.basis().prefix(1)?);
            let refused = client::bfv::phase(&Plain, parts, &short, &Unobserved).unwrap_err();
            assert_eq!(
                refused.to_string(),
                "primes of a factor: 1 given, 2 expected"
            );
            Ok::<_, crate::Error>(phase)
        });
        assert!(phase.is_ok());
        let fresh = client.encryptors[0].encrypt_at(&client.message, 9).unwrap();
        ciphertext = evaluator.multiply(&ciphertext, &fresh).unwrap();
    }
}

/// A device that hangs is an error of its own, and serves on after its reset.
#[test]
fn a_device_that_fails_is_reported() {
    let client = Client::<u64>::new(32, &[40]);
    let device = engine(build(62, 1, 6), &ALL);
    let stall = |on| {
        let mut session = device.session();
        session
            .driver()
            .inject(device::Injection::Stall(on))
            .unwrap();
    };
    stall(true);
    let hung = device
        .client()
        .unwrap()
        .zero(&client.encryptors[0], 0, &Unobserved)
        .unwrap_err();
    assert!(
        hung.to_string()
            .starts_with("model:test: instruction 0 (load "),
        "{hung}"
    );
    stall(false);
    let served = device
        .client()
        .unwrap()
        .zero(&client.encryptors[0], 0, &Unobserved)
        .unwrap();
    let expected = client.encryptors[0].zero_at(0).unwrap();
    assert_eq!(served.to_bytes(), expected.to_bytes());
}
