// SPDX-License-Identifier: Apache-2.0
//! How many threads work on one thing.

use crate::Error;
use rayon::prelude::*;
use std::sync::Arc;

/// A number of threads: one, or a pool of its own. What is computed never depends on it.
#[derive(Clone, Debug, Default)]
pub struct Threads(Option<Arc<rayon::ThreadPool>>);

impl Threads {
    /// The calling thread alone.
    pub const ONE: Self = Self(None);

    /// `count` threads, at least one.
    ///
    /// # Errors
    /// [`Error::Parameter`] for 0, [`Error::Engine`] when the system gives no threads.
    pub fn new(count: usize) -> Result<Self, Error> {
        match count {
            0 => Err(Error::Parameter {
                what: "the number of threads",
                got: "0".into(),
                allowed: "1 or more".into(),
            }),
            1 => Ok(Self::ONE),
            _ => {
                let failed = |e: rayon::ThreadPoolBuildError| Error::Engine {
                    engine: "cpu".into(),
                    message: e.to_string(),
                };
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(count)
                    .build()
                    .map_err(failed)?;
                Ok(Self(Some(Arc::new(pool))))
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |p| p.current_num_threads())
    }

    /// Runs `f` on every item.
    pub fn for_each<T: Send>(&self, items: impl Iterator<Item = T>, f: impl Fn(T) + Sync + Send) {
        match &self.0 {
            None => items.for_each(f),
            Some(pool) => {
                let items: Vec<T> = items.collect();
                pool.install(|| items.into_par_iter().for_each(f));
            }
        }
    }

    /// The results of `f`, in the order of the items; of several errors the first item's.
    ///
    /// # Errors
    /// Those of `f`.
    pub fn try_map<T: Sync, R: Send, E: Send>(
        &self,
        items: &[T],
        f: impl Fn(&T) -> Result<R, E> + Sync + Send,
    ) -> Result<Vec<R>, E> {
        match &self.0 {
            None => items.iter().map(f).collect(),
            Some(pool) => {
                let results: Vec<Result<R, E>> = pool.install(|| items.par_iter().map(f).collect());
                results.into_iter().collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_first_error_do_not_depend_on_the_count() {
        let items: Vec<u32> = (0..100).collect();
        for count in [1, 2, 3] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count);
            let squares = threads.try_map(&items, |x| Ok::<_, u32>(x * x)).unwrap();
            assert!(
                squares
                    .iter()
                    .enumerate()
                    .all(|(i, s)| *s == (i * i) as u32)
            );
            assert_eq!(
                threads.try_map(&items, |x| if x % 7 == 6 { Err(*x) } else { Ok(()) }),
                Err(6)
            );
        }
        assert!(Threads::new(0).is_err());
    }
}
