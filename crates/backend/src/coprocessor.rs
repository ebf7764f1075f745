// SPDX-License-Identifier: Apache-2.0
//! A co-processor: the polynomial operations of a whole program, planned at once.

use crate::lower::{Engine, Shape, client, run};
use crate::{Backend, Capabilities, Error, Observer, Outcome, Request};
use ::polynomial::{Graph, Host, Memory};
use bfv::{Ciphertext, Decryptor, Encryptor, Phase, Plaintext};
use isa::{Op, Reduction};
use offload::{Ended, Progress, Session, Usage};
use rlwe::Threads;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zq::Word;

/// Runs programs on a co-processor, and the polynomial part of a BFV client; what it cannot do, and what only the schemes do,
/// stays on this machine's processor. The same bytes come out. Clones share the device.
#[derive(Clone)]
pub struct Coprocessor {
    device: Arc<Device>,
    threads: Threads,
}

struct Device {
    name: String,
    operations: BTreeSet<String>,
    session: Mutex<Session>,
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
            operations: operations.into_iter().collect(),
            session: Mutex::new(session),
        };
        Self {
            device: Arc::new(device),
            threads: Threads::ONE,
        }
    }

    /// The same device, with threads for what stays here.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// The session; waits for whoever uses it.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        // A panic elsewhere leaves counters behind at worst; the driver checks every program anew.
        let session = self.device.session.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    /// What ran where since the last call.
    pub fn take_usage(&self) -> Usage {
        self.session().take_usage()
    }

    /// [`Encryptor::encrypt_at`], its polynomial part on the device.
    ///
    /// # Errors
    /// The encryptor's, the device's, and [`Error::Cancelled`].
    pub fn encrypt<W: Word>(
        &self,
        encryptor: &Encryptor<W>,
        message: &Plaintext,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        encryptor.encrypt_by(message, index, |draw| {
            client::zero_parts(self, draw, observer)
        })
    }

    /// [`Encryptor::zero_at`], its polynomial part on the device.
    ///
    /// # Errors
    /// As [`Coprocessor::encrypt`].
    pub fn zero<W: Word>(
        &self,
        encryptor: &Encryptor<W>,
        index: u64,
        observer: &dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        encryptor.zero_by(index, |draw| client::zero_parts(self, draw, observer))
    }

    /// [`Decryptor::phase`] by the device.
    ///
    /// # Errors
    /// The decryptor's, the device's, and [`Error::Cancelled`].
    pub fn phase<W: Word>(
        &self,
        decryptor: &Decryptor<W>,
        ciphertext: &Ciphertext<W>,
        observer: &dyn Observer,
    ) -> Result<Phase<W>, Error> {
        decryptor.phase_by(ciphertext, |parts, key| {
            client::phase(self, parts, key, observer)
        })
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

impl Engine for Coprocessor {
    fn shape(&self, n: usize) -> Shape {
        let session = self.session();
        let info = session.info();
        let takes = |name: &str| self.device.operations.contains(name);
        // Lanes work on one limb each: fewer limbs would leave some idle.
        let is_wide = info.lanes == 1
            && info.reduction == Reduction::Barrett
            && n <= 2 * info.n_max()
            && takes("tensor")
            && takes("key-switch");
        Shape {
            lanes: info.lanes as usize,
            wide_bits: is_wide.then_some(info.word_bits),
            converts: info.has(Op::Lift) && n <= info.n_max() && takes("tensor"),
            moves: info.has(Op::Decomp) && n <= info.n_max() && takes("key-switch"),
        }
    }

    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error> {
        if observer.cancelled() {
            return Err(Error::Cancelled);
        }
        self.session()
            .run_program(&self.device.operations, graph, host, &Shown(observer))
            .map_err(|ended| match ended {
                Ended::Host(error) => error,
                Ended::Stopped => Error::Cancelled,
                Ended::Device(error) => Error::Device {
                    name: self.name().into(),
                    message: error.to_string(),
                },
            })
    }
}

impl Backend for Coprocessor {
    fn name(&self) -> &str {
        &self.device.name
    }

    /// Everything: the host does what the device cannot.
    fn capabilities(&self) -> Capabilities {
        Capabilities::everything()
    }

    fn run(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error> {
        self.capabilities().check(self.name(), request.program)?;
        run(self, &self.threads, request, observer)
    }
}
