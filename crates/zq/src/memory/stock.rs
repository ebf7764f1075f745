// SPDX-License-Identifier: Apache-2.0
//! Buffers of dropped arrays, kept for the next ones.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard};

use zeroize::DefaultIsZeroes;

use super::huge_pages::Buffer;
use super::zeroed::Zeroed;
use crate::fork::{self, Taken};

/// A word whose arrays are used again. Not part of the interface.
#[doc(hidden)]
pub trait Stored: Zeroed + Eq + Debug + DefaultIsZeroes {
    /// Runs `f` on this thread's stock of reusable buffers; `None` when the thread is ending.
    fn with_stock<R>(f: impl FnOnce(&mut Stock<Self>) -> R) -> Option<R>;
    /// Overflow of the stocks of all threads, locked; `None` after a panic with the lock held.
    fn depot() -> Option<MutexGuard<'static, Stock<Self>>>;
}

macro_rules! stored {
    ($word:ty, $depot:ident) => {
        static $depot: Mutex<Stock<$word>> = Mutex::new(Stock::shared());

        impl Stored for $word {
            fn with_stock<R>(f: impl FnOnce(&mut Stock<Self>) -> R) -> Option<R> {
                thread_local! {
                    static STOCK: RefCell<Stock<$word>> = const { RefCell::new(Stock::own()) };
                }
                STOCK.try_with(|stock| f(&mut stock.borrow_mut())).ok()
            }
            fn depot() -> Option<MutexGuard<'static, Stock<Self>>> {
                TAKEN.register();
                $depot.lock().ok()
            }
        }
    };
}

stored!(u64, DEPOT_64);
stored!(u128, DEPOT_128);

/// The locks of the depots: a depot that drops a buffer takes that of the regions after its own.
static TAKEN: Taken = Taken::new(0, || {
    Box::new((fork::locked(&DEPOT_64), fork::locked(&DEPOT_128)))
});

/// Buffers of dropped arrays, by length: those of one thread, or, as the depot, those of all. Not part of the
/// interface.
#[doc(hidden)]
pub struct Stock<W: Stored> {
    pub(super) buffers: Vec<Buffer<W>>,
    pub(super) bytes: usize,
    /// Most bytes kept.
    pub(super) most_bytes: usize,
}

impl<W: Stored> Stock<W> {
    /// Most buffers kept.
    pub(super) const MOST: usize = 96;
    /// Most bytes of a buffer that is kept.
    const BUFFER_BYTES: usize = 16 << 20;
    /// Smaller buffers are the allocator's business.
    pub(super) const LEAST_BYTES: usize = 1 << 13;

    /// An empty stock of one thread: small, or the thread that drops a batch's results would keep them from those that
    /// make the next ones.
    pub(crate) const fn own() -> Self {
        Self::of_bytes(8 << 20)
    }

    /// An empty stock of all threads.
    pub(crate) const fn shared() -> Self {
        Self::of_bytes(64 << 20)
    }

    const fn of_bytes(most_bytes: usize) -> Self {
        Self {
            buffers: Vec::new(),
            bytes: 0,
            most_bytes,
        }
    }

    /// The youngest buffer of this length: it is the warmest.
    pub(super) fn take(&mut self, words: usize) -> Option<Buffer<W>> {
        let at = self.buffers.iter().rposition(|b| b.len() == words)?;
        self.bytes -= words * size_of::<W>();
        Some(self.buffers.remove(at))
    }

    /// Keeps a buffer; the oldest ones that it displaces go to `spill`.
    pub(super) fn put(&mut self, buffer: Buffer<W>, mut spill: impl FnMut(Buffer<W>)) {
        let bytes = buffer.len() * size_of::<W>();
        if !(Self::LEAST_BYTES..=Self::BUFFER_BYTES).contains(&bytes) {
            return;
        }
        while !self.buffers.is_empty()
            && (self.buffers.len() >= Self::MOST || self.bytes + bytes > self.most_bytes)
        {
            let oldest = self.buffers.remove(0);
            self.bytes -= oldest.len() * size_of::<W>();
            spill(oldest);
        }
        self.bytes += bytes;
        self.buffers.push(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stock_spills_its_oldest_buffers() {
        let mut stock = Stock::<u64>::shared();
        let mut spilled = Vec::new();
        for i in 0..Stock::<u64>::MOST as u64 + 2 {
            stock.put(Buffer::Heap(vec![i; 2048]), |oldest| {
                spilled.push(oldest[0])
            });
        }
        assert_eq!(spilled, [0, 1]);
        assert_eq!(stock.take(2048).unwrap()[0], Stock::<u64>::MOST as u64 + 1);
    }
}
