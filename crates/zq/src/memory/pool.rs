// SPDX-License-Identifier: Apache-2.0
//! Work spaces of one object: a free one is reused, a new one is created when all are in use.

use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::thread;

/// Most free work spaces kept: one for each thread at work at the same time.
const LIMIT: usize = 64;

/// Times the lock is tried. It is held for as long as a push takes; held longer, its holder may be a thread that stayed
/// behind when the process forked.
const TRIES: usize = 64;

/// The free work spaces; a new one is created when all are in use.
#[derive(Default)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> fmt::Debug for Pool<T> {
    /// Names the type alone: work spaces may hold what was computed with secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl<T: Default> Pool<T> {
    /// Runs `f` with a work space of its own: a free one, or a new one when all are in use.
    pub fn lend<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let lent = self.spaces().and_then(|mut spaces| spaces.pop());
        let mut space = lent.unwrap_or_default();
        let out = f(&mut space);
        if let Some(mut spaces) = self.spaces()
            && spaces.len() < LIMIT
        {
            spaces.push(space);
        }
        out
    }

    /// The free work spaces, unless the lock is stuck: then nothing is taken and nothing is kept.
    fn spaces(&self) -> Option<MutexGuard<'_, Vec<T>>> {
        let attempt = |_| self.0.try_lock().map_err(|_| thread::yield_now()).ok();
        (0..TRIES).find_map(attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_is_lent_to_one_at_a_time_and_comes_back() {
        let pool = Pool::<Vec<u8>>::default();
        pool.lend(|outer| {
            outer.push(1);
            pool.lend(|inner| assert!(inner.is_empty()));
        });
        let seen = pool.lend(|first| {
            let own = first.len();
            own + pool.lend(|second| second.len())
        });
        assert_eq!(seen, 1, "both came back, one of them used");
        assert_eq!(pool.0.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_lock_that_is_never_freed_stops_nobody() {
        let pool = Pool::<Vec<u8>>::default();
        let _stuck = pool.0.lock().unwrap();
        assert_eq!(pool.lend(|space| space.len()), 0);
    }

    #[test]
    fn no_more_than_the_limit_are_kept() {
        fn nested(pool: &Pool<u8>, depth: usize) {
            if depth > 0 {
                pool.lend(|_| nested(pool, depth - 1));
            }
        }
        let pool = Pool::default();
        nested(&pool, LIMIT + 3);
        assert_eq!(pool.0.lock().unwrap().len(), LIMIT);
    }
}
