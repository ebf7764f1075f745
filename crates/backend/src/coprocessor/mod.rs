// SPDX-License-Identifier: Apache-2.0
//! A co-processor: the polynomial operations of a whole program, planned at once.

mod predict;

use crate::lower::{Engine, Planned, Shape};
use crate::{Error, Observer};
use ::polynomial::{Graph, Host, Memory};
use offload::{BatchStatistics, Ended, Offer, OffloadError, Progress, Ran, Session, Usage};
pub use predict::Build;
use predict::{MOST_RUNS, shape_of};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zq::Word;

/// Runs programs on a co-processor, and the polynomial part of a client; unsupported operations, and those of the
/// schemes, stay on this machine's processor. The result is the same to the byte. Clones share the device.
#[derive(Clone)]
pub struct Coprocessor {
    device: Arc<Device>,
    offer: Arc<Offer>,
    /// See [`Coprocessor::digit_major`].
    digit_major: bool,
}

struct Device {
    name: String,
    /// Of its first core.
    session: Mutex<Session>,
    /// Of its other cores, which take their part where a program has several; taken after the first.
    others: Mutex<Vec<Session>>,
}

impl Coprocessor {
    /// A device named for reports (`rtl:cofhee`) that takes the operations named (`tensor`, `zero-encrypt`, …).
    pub fn new(
        name: impl Into<String>,
        session: Session,
        operations: impl IntoIterator<Item = String>,
    ) -> Self {
        let device = Device {
            name: name.into(),
            session: Mutex::new(session),
            others: Mutex::default(),
        };
        Self {
            device: Arc::new(device),
            offer: Arc::new(Offer::new(operations)),
            digit_major: false,
        }
    }

    /// The same device with further cores: outputs of a program or of a batch are shared out to all.
    #[must_use]
    pub fn with_cores(self, others: Vec<Session>) -> Self {
        *self.others() = others;
        self
    }

    /// The same device with key switches in the order of HEAX: one digit after another, and one half of the sum after
    /// the other. Otherwise all digits at a time, and both halves where there are lanes for both. Same bytes.
    #[must_use]
    pub fn digit_major(mut self, is_wanted: bool) -> Self {
        self.digit_major = is_wanted;
        self
    }

    /// The same device without the host: a run of which the host would do something with ciphertexts is refused, with
    /// what the build lacks. What it would do before, an encryption of zero say, it still does.
    #[must_use]
    pub fn alone(mut self, is_wanted: bool) -> Self {
        Arc::make_mut(&mut self.offer).alone = is_wanted;
        self
    }

    /// The session; waits while another thread uses it.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        // A panic elsewhere leaves counters behind at worst; the driver checks every program anew.
        let session = self.device.session.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> MutexGuard<'_, Vec<Session>> {
        let others = self.device.others.lock();
        others.unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the device's host buffers that programs use, with what stays for the next requests of opened ones.
    pub fn memory_in_use(&self) -> u64 {
        self.session().memory_in_use()
    }

    /// Device and host usage since the last call, all cores.
    pub fn take_usage(&self) -> Usage {
        let mut usage = self.session().take_usage();
        for other in self.others().iter_mut() {
            usage.add(&other.take_usage());
        }
        usage
    }

    /// Keeps what each core runs from now on; see [`Session::keep_timeline`].
    pub fn keep_timeline(&self) {
        self.session().keep_timeline();
        self.others().iter_mut().for_each(Session::keep_timeline);
    }

    /// Of each core what it ran since it was asked to keep it, or since the last call.
    pub fn take_timeline(&self) -> Vec<Vec<Ran>> {
        let mut all = vec![self.session().take_timeline()];
        all.extend(self.others().iter_mut().map(Session::take_timeline));
        all
    }

    /// Time breakdown of the cores' batches since the last call.
    pub fn take_shift(&self) -> BatchStatistics {
        self.session().take_shift()
    }
}

/// Shows a stream's progress to the observer of the run.
struct Shown<'a>(&'a dyn Observer);

impl Progress for Shown<'_> {
    fn tell(&self, done: usize, total: usize) -> bool {
        self.0.progress(done, total);
        !self.0.cancelled()
    }

    fn stopped(&self) -> bool {
        self.0.cancelled()
    }
}

impl Coprocessor {
    fn why(&self, ended: Ended<Error>) -> Error {
        match ended {
            Ended::Host(error) => error,
            Ended::Stopped => Error::Cancelled,
            Ended::Device(error) => self.failed(error),
        }
    }

    fn failed(&self, error: OffloadError) -> Error {
        Error::Device {
            name: self.device.name.clone(),
            message: error.to_string(),
        }
    }
}

impl Planned for offload::Planned {
    fn bytes(&self) -> usize {
        self.bytes()
    }
}

impl Engine for Coprocessor {
    type Plan = offload::Planned;

    fn name(&self) -> &str {
        &self.device.name
    }

    fn shape(&self, n: usize) -> Shape {
        let session = self.session();
        Shape {
            digit_major: self.digit_major,
            ..shape_of(session.info(), &self.offer, n)
        }
    }

    fn cores(&self) -> usize {
        1 + self.others().len()
    }

    fn batch_size(&self) -> usize {
        self.cores() * MOST_RUNS
    }

    fn plan<W: Word>(&self, graphs: &[&Graph<W>]) -> Result<Self::Plan, Error> {
        let session = self.session();
        let planned = offload::Planned::new(session.info(), &self.offer, graphs.iter().copied());
        planned.map_err(|error| self.failed(error))
    }

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        let mut memories = self.compute_all(&self.plan(&[graph])?, &[(graph, host)], observer)?;
        Ok(memories.swap_remove(0))
    }

    fn compute_all<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        plan: &Self::Plan,
        jobs: &[(&'g Graph<W>, &H)],
        observer: &dyn Observer,
    ) -> Result<Vec<Memory<'g, W>>, Error> {
        if observer.cancelled() {
            return Err(Error::Cancelled);
        }
        let (mut first, mut others) = (self.session(), self.others());
        let mut sessions: Vec<&mut Session> = std::iter::once(&mut *first)
            .chain(others.iter_mut())
            .collect();
        sessions.truncate(jobs.len());
        Session::run_together(&mut sessions, plan, jobs, &Shown(observer))
            .map_err(|ended| self.why(ended))
    }
}
