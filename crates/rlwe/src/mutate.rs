// SPDX-License-Identifier: Apache-2.0
//! Deterministic damage for tests of decoders: the same mutations on every run, checksums repaired so that the
//! decoders behind the envelope are reached. The coverage-guided counterpart is in `fuzz/`.

use crate::sampling::Seed;
use crate::wire::envelope::checksum;
use crate::wire::{CHECKSUM_LEN, HEADER_LEN};

/// Replaces length field and checksum by the right ones.
pub fn repair(bytes: &mut [u8]) {
    if bytes.len() < HEADER_LEN + CHECKSUM_LEN {
        return;
    }
    let end = bytes.len() - CHECKSUM_LEN;
    bytes[24..32].copy_from_slice(&((end - HEADER_LEN) as u64).to_le_bytes());
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum);
}

/// Calls `try_it` with `count` damaged copies of `bytes`: bits flipped, extreme bytes, cuts, insertions, repeats.
pub fn for_each_mutation(bytes: &[u8], count: u64, mut try_it: impl FnMut(&[u8])) {
    let seed = Seed::from_text("ringsmith mutations");
    for round in 0..count {
        let mut random = [0; 32];
        seed.stream("mutation", round).fill(&mut random);
        let mut bad = bytes.to_vec();
        for action in random[..24]
            .chunks_exact(6)
            .take(1 + random[24] as usize % 4)
        {
            mutate(&mut bad, action.try_into().expect("6 bytes"));
        }
        // One in eight keeps its wrong length or checksum.
        if random[25] % 8 != 0 {
            repair(&mut bad);
        }
        try_it(&bad);
    }
}

fn mutate(bad: &mut Vec<u8>, [action, a, b, c, value, span]: [u8; 6]) {
    let random = u32::from_le_bytes([a, b, c, 0]) as usize;
    // Half of the hits go to the first 128 bytes, where the counts are.
    let reach = if action & 0x80 == 0 {
        bad.len().min(128)
    } else {
        bad.len()
    };
    let at = if reach == 0 { return } else { random % reach };
    match action % 6 {
        0 => bad[at] ^= 1 << (value % 8),
        1 => bad[at] = value,
        2 => bad[at] = if value & 1 == 0 { 0xff } else { 0 },
        3 => bad.truncate(at),
        4 => bad.insert(at, value),
        _ => {
            let end = bad.len().min(at + span as usize);
            let copy = bad[at..end].to_vec();
            bad.splice(at..at, copy);
        }
    }
}
