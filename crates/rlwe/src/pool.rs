// SPDX-License-Identifier: Apache-2.0
//! Work space that is lent and comes back, so that steady work allocates nothing.

use std::fmt;
use std::sync::Mutex;

/// Spaces kept at most: one for each thread at work at the same time.
const LIMIT: usize = 64;

/// Work spaces that are not in use: one comes into being when all are lent.
#[derive(Default)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> fmt::Debug for Pool<T> {
    /// Names the type alone: spaces may hold what was computed with secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl<T: Default> Pool<T> {
    /// Runs `f` with a space that nobody else uses meanwhile: one that came back, or a new one.
    pub fn lend<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let lent = self.0.lock().map_or(None, |mut spaces| spaces.pop());
        let mut space = lent.unwrap_or_default();
        let out = f(&mut space);
        if let Ok(mut spaces) = self.0.lock()
            && spaces.len() < LIMIT
        {
            spaces.push(space);
        }
        out
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
