// SPDX-License-Identifier: Apache-2.0
//! Thread pools, and the number of threads that share one task.

use crate::Error;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};
use std::{iter, mem};
use zq::fork;

/// Most threads a pool may have: more than any machine has cores, few enough that the system gives them.
pub const MAX_THREADS: usize = 1024;

/// Words from which on sharing simple work takes less time than waking another thread.
const WORTH_SHARING: usize = 1 << 16;

/// The calling thread alone.
static ALONE: Threads = Threads::ONE;

/// A number of threads: the calling one, and a pool of the others. What is computed never depends on it.
#[derive(Clone, Debug, Default)]
pub struct Threads(Option<Arc<Helpers>>);

/// The other threads. A forked process has none of its parent's: it starts its own at their first use.
#[derive(Debug)]
struct Helpers {
    count: usize,
    pool: Mutex<Living>,
}

/// A pool, and the process that its threads are in.
#[derive(Debug)]
struct Living {
    pool: Option<Arc<ThreadPool>>,
    generation: u64,
}

impl Living {
    fn start(count: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = ThreadPoolBuilder::new().num_threads(count).build()?;
        Ok(Self {
            pool: Some(Arc::new(pool)),
            generation: fork::generation(),
        })
    }
}

impl Drop for Living {
    /// To end a pool is to tell its threads, which are not there in a fork: what the pool holds is left alone.
    fn drop(&mut self) {
        if self.generation != fork::generation() {
            mem::forget(self.pool.take());
        }
    }
}

impl Helpers {
    /// The pool of this process; none when the system has no threads for it.
    fn pool(&self) -> Option<Arc<ThreadPool>> {
        let _whole = fork::hold();
        let mut living = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if living.generation != fork::generation() {
            *living = Living::start(self.count).ok()?;
        }
        living.pool.clone()
    }
}

impl Threads {
    /// The calling thread alone.
    pub const ONE: Self = Self(None);

    /// `count` threads, from 1 to [`MAX_THREADS`]: the caller of each operation and `count - 1` that help it.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another count, [`Error::Threads`] when the system gives no threads.
    pub fn new(count: usize) -> Result<Self, Error> {
        match count {
            1 => Ok(Self::ONE),
            2..=MAX_THREADS => {
                let failed = |e: ThreadPoolBuildError| Error::Threads {
                    count,
                    message: e.to_string(),
                };
                let (count, pool) = (count - 1, Living::start(count - 1).map_err(failed)?);
                let pool = Mutex::new(pool);
                Ok(Self(Some(Arc::new(Helpers { count, pool }))))
            }
            _ => Err(Error::Parameter {
                what: "the number of threads",
                got: count.to_string(),
                allowed: format!("1..={MAX_THREADS}"),
            }),
        }
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        1 + self.0.as_ref().map_or(0, |helpers| helpers.count)
    }

    /// These threads for work on `words` words, or the calling one alone where it is over before another is awake.
    pub fn worth(&self, words: usize) -> &Self {
        match words {
            0..WORTH_SHARING => &ALONE,
            _ => self,
        }
    }

    /// In how many parts each of `tasks` pieces of work is cut, so that no thread waits long for the last one.
    pub(crate) fn cuts(&self, tasks: usize) -> usize {
        match tasks.is_multiple_of(self.count()) || tasks >= 4 * self.count() {
            true => 1,
            false => self.count(),
        }
    }

    /// Runs `f` on every item. The caller starts at once; helpers take items as soon as they are awake.
    pub fn for_each<T: Send>(&self, items: impl Iterator<Item = T>, f: impl Fn(T) + Sync + Send) {
        let Some(helpers) = self.0.as_ref().and_then(|helpers| helpers.pool()) else {
            return items.for_each(f);
        };
        let items: Vec<T> = items.collect();
        let wanted = helpers
            .current_num_threads()
            .min(items.len().saturating_sub(1));
        let queue = Mutex::new(items.into_iter());
        // A quarter of one's due at a time: few locks at first, little to wait for at the end.
        let share = || {
            queue.lock().map_or(Vec::new(), |mut items| {
                let count = items.len().div_ceil(4 * (wanted + 1));
                items.by_ref().take(count).collect()
            })
        };
        let work = || {
            iter::repeat_with(share)
                .take_while(|share| !share.is_empty())
                .flatten()
                .for_each(&f);
        };
        helpers.in_place_scope(|scope| {
            for _ in 0..wanted {
                scope.spawn(|_| work());
            }
            work();
        });
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
        if self.0.is_none() {
            return items.iter().map(f).collect();
        }
        let mut results: Vec<Option<Result<R, E>>> = Vec::new();
        results.resize_with(items.len(), || None);
        self.for_each(items.iter().zip(&mut results), |(item, result)| {
            *result = Some(f(item));
        });
        results.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU32, Ordering};

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

    #[test]
    fn work_is_cut_where_threads_would_wait() {
        let [one, two, three] = [1, 2, 3].map(|count| Threads::new(count).unwrap());
        assert_eq!([1, 2, 5].map(|tasks| one.cuts(tasks)), [1; 3]);
        assert_eq!(
            [1, 2, 5, 7, 9].map(|tasks| two.cuts(tasks)),
            [2, 1, 2, 2, 1]
        );
        assert_eq!([1, 3, 12].map(|tasks| three.cuts(tasks)), [3, 1, 1]);
        assert_eq!(three.worth(WORTH_SHARING - 1).count(), 1);
        assert_eq!(three.worth(WORTH_SHARING).count(), 3);
    }

    #[test]
    fn work_may_start_more_work_on_the_same_threads() {
        for count in 1..=4 {
            let threads = Threads::new(count).unwrap();
            let total = AtomicU32::new(0);
            threads.for_each(0..20u32, |outer| {
                threads.for_each(0..20u32, |inner| {
                    total.fetch_add(20 * outer + inner, Ordering::Relaxed);
                });
            });
            assert_eq!(total.into_inner(), (0..400).sum(), "{count}");
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_threads_serve_on() {
        let threads = Threads::new(2).unwrap();
        for bad in [0, 7, 15] {
            let run = || threads.for_each(0..16, |i| assert!(i != bad, "planted"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        }
        let doubled = threads.try_map(&[1, 2, 3], |x| Ok::<_, ()>(2 * x));
        assert_eq!(doubled, Ok(vec![2, 4, 6]));
    }
}
