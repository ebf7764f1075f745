// SPDX-License-Identifier: Apache-2.0
//! Work space of key switches: one for each switch under way, and in it one for each thread.

use crate::Threads;
use rns::Scratch;
use zq::{Pool, Word};

/// Work space of one key switch; reused, nothing but the results is allocated after the first of a size.
#[derive(Default)]
pub(crate) struct SwitchScratch<W: Word> {
    /// Digits of several primes, lifted to all primes but their own, after the outer stages of their transforms.
    pub(super) lifted: Scratch<W>,
    /// The sums modulo the primes that are divided away, both components of every request.
    pub(super) dropped: Scratch<W>,
    /// Their centred representatives modulo the kept primes, where several are divided away.
    pub(super) corrections: Scratch<W>,
    /// The sums of a linear transform that are rotated, and the coefficients of their second parts.
    pub(super) sums: Scratch<W>,
    pub(super) coefficients: Scratch<W>,
    /// The sum of all of them.
    pub(super) total: Scratch<W>,
    /// One for each thread at work.
    pub(super) buffers: Pool<Buffers<W>>,
}

/// Work space of one thread.
#[derive(Default)]
pub(super) struct Buffers<W: Word> {
    pub(super) transforms: Scratch<W>,
    pub(super) convert: Scratch<W>,
    /// Limbs that are converted together.
    pub(super) together: Scratch<W>,
    /// Rotations of a ciphertext modulo one prime.
    pub(super) rotations: Scratch<W>,
}

/// Runs `f` on every item with buffers of its own.
pub(super) fn for_each<W: Word, T: Send>(
    threads: &Threads,
    pool: &Pool<Buffers<W>>,
    items: impl Iterator<Item = T>,
    f: impl Fn(T, &mut Buffers<W>) + Send + Sync,
) {
    threads.for_each(items, |item| pool.lend(|buffers| f(item, buffers)));
}
