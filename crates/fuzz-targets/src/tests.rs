// SPDX-License-Identifier: Apache-2.0
use super::*;
use rlwe::Seed;
use rlwe::mutate;

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
fn no_damaged_object_breaks_a_decoder() {
    for (name, target) in TARGETS {
        for object in seeds::objects(name) {
            target(&object);
            mutate::for_each_mutation(&object, 500, target);
        }
    }
}

/// Changes parts of programs, of those that were accepted before too; most inputs get past the decoder's first checks.
#[test]
fn no_changed_program_breaks_the_decoder() {
    let mut program = program::seeds().remove(0);
    let (mut accepted, mut refusals) = (0, std::collections::BTreeSet::new());
    for number in 0..3000 {
        if number % 50 == 0 {
            program = program::seeds().swap_remove(number as usize / 50 % program::seeds().len());
        }
        let changed = mutated_program(&program, number);
        target("program")(&changed);
        match program::judged(&changed) {
            Ok(_) => (accepted, program) = (accepted + 1, changed),
            // The words of a refusal without its numbers.
            Err(error) => {
                let text = error.to_string();
                refusals.insert(text.replace(|c: char| !c.is_alphabetic(), ""));
            }
        }
    }
    assert!(accepted > 300, "{accepted}");
    assert!(refusals.len() > 100, "{}", refusals.len());
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
