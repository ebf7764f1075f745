// SPDX-License-Identifier: Apache-2.0
//! What a decoder promises.

use rlwe::mutate;
use rlwe::wire::{Fingerprint, Tag};

/// Tries `data` as it is, and as an object of this tag and set with a right envelope.
pub(crate) fn check<E>(
    data: &[u8],
    tag: Tag,
    owner: Fingerprint,
    recode: impl Fn(&[u8]) -> Result<Vec<u8>, E>,
) {
    let same = |bytes: &[u8]| {
        if let Ok(again) = recode(bytes) {
            assert_eq!(again, bytes, "two byte strings for one object");
        }
    };
    same(data);
    let mut repaired = rlwe::wire::seal(tag, owner, data);
    mutate::repair(&mut repaired);
    same(&repaired);
}
