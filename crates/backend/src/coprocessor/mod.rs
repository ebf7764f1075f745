// SPDX-License-Identifier: Apache-2.0
//! A co-processor: the polynomial operations of a whole program, planned at once.

mod client;
mod predict;

use crate::lower::{Engine, Shape, run};

use crate::{Backend, Error, Inputs, Observer, Outcome, Request};
use ::polynomial::{Graph, Host, Memory};
use bfv::Ciphertext;
use offload::{Ended, Offer, Progress, Ran, Session, Shift, Usage};
pub use predict::Build;
use predict::{MOST_RUNS, shape_of};
use program::Program;
use rlwe::Threads;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zq::Word;

/// Runs programs on a co-processor, and the polynomial part of a client; unsupported operations, and those of the
/// schemes, stay on this machine's processor. The result is the same to the byte. Clones share the device.
#[derive(Clone)]
pub struct Coprocessor {
    device: Arc<Device>,
    offer: Arc<Offer>,
    threads: Threads,
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
            threads: Threads::ONE,
            digit_major: false,
        }
    }

    /// The same device with further cores: outputs of a program or of a batch are shared out to all.
    #[must_use]
    pub fn with_cores(self, others: Vec<Session>) -> Self {
        *self.others() = others;
        self
    }

    /// The same device, with threads for what stays here.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
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

    /// The session; waits for whoever uses it.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        // A panic elsewhere leaves counters behind at worst; the driver checks every program anew.
        let session = self.device.session.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    fn others(&self) -> MutexGuard<'_, Vec<Session>> {
        let others = self.device.others.lock();
        others.unwrap_or_else(PoisonError::into_inner)
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
    pub fn take_shift(&self) -> Shift {
        self.session().take_shift()
    }

    /// Requests for all cores, which share out what they give.
    fn run_round(
        &self,
        requests: &[Request<'_>],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Error> {
        let round = Round::new(requests);
        let outcome = run(self, &self.threads, &round.request(), observer)?;
        let each = round.first.program.outputs.len().max(1);
        let outcomes = outcome.outputs.chunks(each).map(|outputs| Outcome {
            outputs: outputs.to_vec(),
            seconds: outcome.seconds.clone(),
        });
        Ok(outcomes.collect())
    }
}

/// A round of a batch: the program on several sets of ciphertexts.
struct Round<'a> {
    first: &'a Request<'a>,
    program: Program,
    bytes: Vec<&'a [u8]>,
    bfv: Vec<&'a Ciphertext<u64>>,
    bfv_wide: Vec<&'a Ciphertext<u128>>,
    ckks: Vec<&'a ckks::Ciphertext>,
}

impl<'a> Round<'a> {
    /// Of requests that differ in their ciphertexts only, at least one.
    fn new(requests: &'a [Request<'a>]) -> Self {
        let first = &requests[0];
        let mut round = Self {
            first,
            program: first.program.repeated(requests.len()),
            bytes: Vec::new(),
            bfv: Vec::new(),
            bfv_wide: Vec::new(),
            ckks: Vec::new(),
        };
        for request in requests {
            match request.inputs {
                Inputs::Bytes(all) => round.bytes.extend(all),
                Inputs::Bfv(all) => round.bfv.extend(all),
                Inputs::BfvWide(all) => round.bfv_wide.extend(all),
                Inputs::Ckks(all) => round.ckks.extend(all),
            }
        }
        round
    }

    fn request(&self) -> Request<'_> {
        Request {
            program: &self.program,
            keys: self.first.keys,
            inputs: match self.first.inputs {
                Inputs::Bytes(_) => Inputs::Bytes(&self.bytes),
                Inputs::Bfv(_) => Inputs::Bfv(&self.bfv),
                Inputs::BfvWide(_) => Inputs::BfvWide(&self.bfv_wide),
                Inputs::Ckks(_) => Inputs::Ckks(&self.ckks),
            },
            plain: self.first.plain,
            seed: self.first.seed.clone(),
        }
    }
}

/// Shows a stream's progress to whoever waits for the run.
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
            Ended::Device(error) => Error::Device {
                name: self.name().into(),
                message: error.to_string(),
            },
        }
    }
}

impl Engine for Coprocessor {
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

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        let mut memories = self.compute_all(&[(graph, host)], observer)?;
        Ok(memories.swap_remove(0))
    }

    fn compute_all<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
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
        Session::run_together(&mut sessions, &self.offer, jobs, &Shown(observer))
            .map_err(|ended| self.why(ended))
    }
}

impl Backend for Coprocessor {
    fn name(&self) -> &str {
        &self.device.name
    }

    fn run(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error> {
        run(self, &self.threads, request, observer)
    }

    fn batch_size(&self) -> usize {
        self.cores() * MOST_RUNS
    }

    /// Outputs are shared out to all cores; a core moves the data of one while it works on another.
    fn run_batch(
        &self,
        requests: &[Request<'_>],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Error> {
        let Some(first) = requests.first() else {
            return Ok(Vec::new());
        };
        let same = |r: &Request<'_>| {
            std::ptr::eq(r.keys, first.keys)
                && r.plain == first.plain
                && (std::ptr::eq(r.program, first.program) || r.program == first.program)
        };
        if let Some(odd) = requests.iter().position(|request| !same(request)) {
            return Err(Error::Input(format!(
                "run {odd} of the batch has another program, other keys or other plain arguments than run 0; run those as a \
                 batch of their own"
            )));
        }
        if !first.program.can_repeat() {
            return requests
                .iter()
                .map(|request| self.run(request, observer))
                .collect();
        }
        let mut outcomes = Vec::with_capacity(requests.len());
        for round in requests.chunks(self.batch_size()) {
            outcomes.extend(self.run_round(round, observer)?);
        }
        Ok(outcomes)
    }
}
