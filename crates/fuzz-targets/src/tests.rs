// SPDX-License-Identifier: Apache-2.0
use super::*;
use rlwe::Seed;

/// Bytes of any length up to 512, the same at every run.
fn inputs(count: u64) -> impl Iterator<Item = Vec<u8>> {
    let seed = Seed::from_text("ringsmith fuzz targets");
    (0..count).map(move |round| {
        let mut bytes = vec![0; 514];
        seed.stream("input", round).fill(&mut bytes);
        let length = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]) % 513);
        // Counts and lengths are small numbers where anything is to be accepted.
        let most = bytes[2] | 1;
        bytes[2..2 + length]
            .iter()
            .map(|byte| byte % most)
            .collect()
    })
}

#[test]
fn no_input_breaks_a_decoder() {
    let inputs: Vec<Vec<u8>> = inputs(1000).collect();
    for (_, target) in TARGETS {
        inputs.iter().for_each(|input| target(input));
    }
}

#[test]
fn a_decoder_that_takes_two_encodings_is_found() {
    let lenient = |bytes: &[u8]| Ok::<_, ()>(bytes[..bytes.len() / 2].to_vec());
    let found =
        std::panic::catch_unwind(|| check(&[1; 8], Tag::Message, Fingerprint::default(), lenient));
    assert!(found.is_err());
}

#[test]
fn every_target_has_its_fuzzer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/fuzz_targets");
    for (name, _) in TARGETS {
        let path = format!("{folder}/{name}.rs");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(text.contains(&format!("target(\"{name}\")")), "{path}");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), TARGETS.len());
}
