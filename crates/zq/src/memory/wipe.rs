// SPDX-License-Identifier: Apache-2.0
//! Wiping at the speed of `memset`.

use zeroize::DefaultIsZeroes;

/// Zeros all of `words`, also those that are not read again.
///
/// As `words.zeroize()`, whose single volatile stores cannot become vectors: on secrets of a few thousand words they
/// took a third of an encryption's time.
pub fn wipe<T: DefaultIsZeroes>(words: &mut [T]) {
    words.fill(T::default());
    keep_stores(words);
}

/// An empty instruction that may read all memory `words` points to, so that stores before it cannot be left out.
#[cfg(all(
    not(miri),
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
fn keep_stores<T>(words: &mut [T]) {
    // SAFETY: no instruction at all; nothing is read, written or clobbered in truth.
    unsafe {
        core::arch::asm!("/* {} */", in(reg) words.as_mut_ptr(), options(nostack, preserves_flags))
    };
}

/// Volatile stores, for processors without such an instruction here and for interpreters.
#[cfg(not(all(
    not(miri),
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
fn keep_stores<T: DefaultIsZeroes>(words: &mut [T]) {
    zeroize::Zeroize::zeroize(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wipes_words_of_every_width() {
        let (mut bytes, mut wide) = ([7u8; 13], [u128::MAX; 5]);
        wipe(&mut bytes[1..]);
        wipe(&mut wide);
        wipe::<u64>(&mut []);
        assert_eq!((bytes[0], &bytes[1..], wide), (7, &[0; 12][..], [0; 5]));
    }
}
