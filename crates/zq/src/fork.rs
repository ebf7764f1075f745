// SPDX-License-Identifier: Apache-2.0
//! `fork` copies memory, locks included, but only the thread that calls it.
//!
//! [`generation`] tells a process from its copies. Locks that a [`Taken`] names are taken while a fork happens, so the
//! copy finds them free; [`hold`] does the same for a lock elsewhere, and [`once`] for a table that is made on first
//! use.

use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

/// Forks between the first process that asked and this one.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// The process that last looked; a fork that the C library does not know of leaves it behind.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static GATE: Mutex<()> = Mutex::new(());

/// Takes locks and returns what releases them when dropped.
type Take = fn() -> Box<dyn Any>;
/// In the order in which they are taken.
static TAKEN: Mutex<Vec<&'static Taken>> = Mutex::new(Vec::new());

/// The locks, from the moment before a fork to the one after it.
struct Held {
    _gate: MutexGuard<'static, ()>,
    _list: MutexGuard<'static, Vec<&'static Taken>>,
    _others: Vec<Box<dyn Any>>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// The lock, also after a panic with it held.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn prepare() {
    let (gate, list) = (locked(&GATE), locked(&TAKEN));
    let held = Held {
        _others: list.iter().map(|locks| (locks.take)()).collect(),
        _gate: gate,
        _list: list,
    };
    let _ = HELD.try_with(|slot| slot.replace(Some(held)));
}

extern "C" fn release() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn child() {
    GENERATION.fetch_add(1, Ordering::Release);
    PROCESS.store(std::process::id(), Ordering::Release);
    release();
}

/// Notices forks from now on. The other functions call it; a library may do so when it is loaded.
pub fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::Release);
        #[cfg(all(unix, not(miri)))]
        // SAFETY: the three functions live as long as the program, and do not unwind.
        unsafe {
            libc::pthread_atfork(Some(prepare), Some(release), Some(child));
        }
    });
}

/// A number that a process keeps and that is another one in every process forked from it.
pub fn generation() -> u64 {
    watch();
    let process = std::process::id();
    if PROCESS.load(Ordering::Acquire) != process {
        // Forked behind the C library's back. Twice counted by two threads at once is as good as once.
        GENERATION.fetch_add(1, Ordering::Release);
        PROCESS.store(process, Ordering::Release);
    }
    GENERATION.load(Ordering::Acquire)
}

/// No fork happens while the guard lives: to be held as long as a lock that the child may need, never across real work.
#[must_use]
pub fn hold() -> impl Drop {
    watch();
    locked(&GATE)
}

/// Locks of a module that are taken before every fork and released after it, in both processes, with the gate of
/// [`hold`] closed meanwhile.
pub(crate) struct Taken {
    registered: AtomicBool,
    order: u8,
    take: Take,
}

impl Taken {
    /// `take` returns the guards. A thread that needs several locks takes those of a lower `order` first.
    pub(crate) const fn new(order: u8, take: Take) -> Self {
        Self {
            registered: AtomicBool::new(false),
            order,
            take,
        }
    }

    /// Has them taken from now on; to be called before any of the locks is.
    pub(crate) fn register(&'static self) {
        if self.registered.load(Ordering::Acquire) {
            return;
        }
        // A child forked now would find it half done.
        let _whole = hold();
        if !self.registered.swap(true, Ordering::AcqRel) {
            let mut taken = locked(&TAKEN);
            let at = taken.partition_point(|other| other.order <= self.order);
            taken.insert(at, self);
        }
    }
}

/// The slot's value, made on first use. `make` may run in several threads at once; one result is kept. A child that is
/// forked during that finds the slot full or empty and never waits for a thread that it lacks.
pub fn once<T>(slot: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    if let Some(value) = slot.get() {
        return value;
    }
    let value = make();
    let _whole = hold();
    slot.get_or_init(|| value)
}

#[cfg(all(test, unix, not(miri)))]
mod tests {
    use super::*;
    use crate::AlignedVec;
    use crate::memory::{Stored, huge_pages};

    /// Runs `f` in a forked process; fails unless it returns true within ten seconds.
    fn in_child(f: impl FnOnce() -> bool) {
        // A child forked while another test is inside the first `watch` would wait for it for ever.
        watch();
        // SAFETY: the child runs `f` and ends without unwinding or running the parent's destructors.
        unsafe {
            match libc::fork() {
                0 => {
                    libc::alarm(10);
                    libc::_exit(i32::from(!f()));
                }
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                    assert_eq!(status, 0, "14 is a child that hung");
                }
            }
        }
    }

    #[test]
    fn each_process_has_its_own_generation() {
        let mine = generation();
        in_child(|| {
            let own = generation();
            own != mine && own == generation()
        });
        assert_eq!(generation(), mine);
    }

    #[test]
    fn a_fork_that_the_c_library_does_not_see_counts() {
        in_child(|| {
            let mine = generation();
            PROCESS.store(std::process::id() ^ 1, Ordering::Release);
            generation() > mine && generation() == generation()
        });
    }

    /// Forks while another thread holds a lock for some milliseconds, and takes it in the child.
    fn while_locked<G>(lock: impl Fn() -> G + Sync) {
        let (locked, taken) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _guard = lock();
                locked.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(50));
            });
            taken.recv().unwrap();
            in_child(|| {
                drop(lock());
                true
            });
        });
    }

    #[test]
    fn a_child_never_waits_for_a_thread_of_its_parent() {
        watch();
        drop(AlignedVec::<u64>::zeros(1 << 15));
        while_locked(hold);
        while_locked(u64::depot);
        while_locked(u128::depot);
        while_locked(huge_pages::freeze);
    }

    #[test]
    fn a_value_is_made_once_and_kept() {
        let slot = OnceLock::new();
        assert_eq!((once(&slot, || 3), once(&slot, || 4)), (&3, &3));
    }
}
