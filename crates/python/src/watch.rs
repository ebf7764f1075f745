// SPDX-License-Identifier: Apache-2.0
//! Long work that Ctrl-C ends, and that tells its progress.

use crate::work::{Failure, finished};
use ::backend::Observer;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use zq::memory::attempt;

/// Interval at which a caller looks for signals and tells progress.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does `work` without the interpreter's lock. `progress` is told of it;
/// what that raises and what a signal raises ends the work.
pub fn watched<T, E>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl Send + FnOnce(&dyn Observer) -> Result<T, E>,
) -> PyResult<T>
where
    T: Send,
    E: Failure + Send,
{
    let watch = Watch::new(progress);
    let done = py.detach(|| attempt(|| work(&watch)));
    watch.end(py)?;
    finished(done)
}

/// State shared by the caller and the run: progress and cancellation. The caller's own thread is the run's first
/// worker: between steps it looks for signals and tells progress, which takes the interpreter's lock for a moment.
struct Watch<'a> {
    caller: ThreadId,
    progress: Option<&'a Py<PyAny>>,
    done: AtomicUsize,
    total: AtomicUsize,
    cancelled: AtomicBool,
    looked: Mutex<Looked>,
}

/// The last look at signals and progress.
struct Looked {
    at: Instant,
    /// Steps that were told to be done.
    told: usize,
    raised: PyResult<()>,
}

impl Observer for Watch<'_> {
    fn progress(&self, done: usize, total: usize) {
        self.done.fetch_max(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        if thread::current().id() == self.caller {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            if looked.at.elapsed() >= INTERVAL {
                Python::attach(|py| self.look(py, &mut looked));
            }
        }
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl<'a> Watch<'a> {
    fn new(progress: Option<&'a Py<PyAny>>) -> Self {
        let looked = Looked {
            at: Instant::now(),
            told: 0,
            raised: Ok(()),
        };
        Self {
            caller: thread::current().id(),
            progress,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            looked: Mutex::new(looked),
        }
    }

    /// Looks for signals and tells progress. What is raised cancels the run, and is kept until its end.
    fn look(&self, py: Python<'_>, looked: &mut Looked) {
        if looked.raised.is_ok() {
            let told = &mut looked.told;
            looked.raised = py.check_signals().and_then(|()| self.tell(py, told));
            let stop = looked.raised.is_err();
            self.cancelled.fetch_or(stop, Ordering::Relaxed);
        }
        looked.at = Instant::now();
    }

    fn tell(&self, py: Python<'_>, told: &mut usize) -> PyResult<()> {
        let (done, total) = (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        );
        match self.progress {
            Some(progress) if done > *told => {
                *told = done;
                progress.call1(py, (done, total)).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Reports the last progress; fails with the exception that a callback raised.
    fn end(self, py: Python<'_>) -> PyResult<()> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        self.look(py, &mut looked);
        let raised = std::mem::replace(&mut looked.raised, Ok(()));
        drop(looked);
        raised
    }
}
