// SPDX-License-Identifier: Apache-2.0
//! This machine's processor.

mod state;
mod walk;

use crate::scheme::inputs;
use crate::scheme::interface::Scheme;
use crate::scheme::plaintexts::{Evaluated, Plaintexts};
use crate::scheme::plan::Plan;
use crate::scheme::with_scheme;
use crate::{Backend, Error, Keeper, Keys, Observer, Outcome, Request, Resources, Run, Seconds};
use ::polynomial::Room;
use program::Program;
use program::expression::Numbers;
use rlwe::{KeyId, Threads};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use walk::Walk;

/// Runs programs on this machine's processor. Independent steps run side by side, each on one thread; a step that
/// nothing else can run beside has all threads. Results do not depend on their number.
#[derive(Clone, Copy)]
pub struct Cpu;

impl Cpu {
    fn opened<S: Scheme>(
        scheme: S,
        program: &Arc<Program>,
        resources: &Resources,
    ) -> Result<Box<dyn Run>, Error> {
        Ok(Box::new(Opened {
            owner: scheme.check_keys(program)?,
            scheme,
            plan: Plan::new(program),
            program: Arc::clone(program),
            threads: resources.threads.clone(),
            room: Room::new(resources.memory),
            evaluated: Mutex::default(),
        }))
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn open(
        &self,
        program: &Arc<Program>,
        keys: &Keys,
        resources: &Resources,
    ) -> Result<Box<dyn Run>, Error> {
        with_scheme!((program, keys, &resources.threads), scheme => {
            Self::opened(scheme, program, resources)
        })
    }
}

/// A program with its keys; the plaintexts of the last plain arguments stay.
struct Opened<S: Scheme> {
    program: Arc<Program>,
    scheme: S,
    owner: Option<KeyId>,
    plan: Plan,
    threads: Threads,
    room: Arc<Room>,
    evaluated: Mutex<Option<Arc<Evaluated<S>>>>,
}

impl<S: Scheme> Opened<S> {
    fn evaluated(&self, arguments: &[Numbers]) -> Result<Arc<Evaluated<S>>, Error> {
        let last = || {
            let last = self.evaluated.lock();
            last.unwrap_or_else(PoisonError::into_inner)
        };
        // Others leave their room before new ones take it.
        let known = last().take_if(|known| !known.is_of(arguments));
        drop(known);
        if let Some(known) = last().as_ref().filter(|known| known.is_of(arguments)) {
            return Ok(Arc::clone(known));
        }
        let made = Evaluated::new(&self.program, arguments, &self.threads, &self.room)?;
        let made = Arc::new(made);
        *last() = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl<S: Scheme> Run for Opened<S> {
    fn evaluate(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error> {
        self.computed(request, None, observer)
    }

    fn evaluate_kept(
        &self,
        request: &Request<'_>,
        keeper: &dyn Keeper,
        observer: &dyn Observer,
    ) -> Result<Outcome, Error> {
        self.computed(request, Some(keeper), observer)
    }
}

impl<S: Scheme> Opened<S> {
    fn computed(
        &self,
        request: &Request<'_>,
        keeper: Option<&dyn Keeper>,
        observer: &dyn Observer,
    ) -> Result<Outcome, Error> {
        let (program, scheme, threads) = (&*self.program, &self.scheme, &self.threads);
        let mut seconds = Seconds::default();
        let start = Instant::now();
        let inputs = inputs::read(scheme, request.inputs, threads)?;
        inputs::check(scheme, program, &inputs, self.owner)?;
        let owner = self
            .owner
            .or(inputs.first().map(|one| scheme.facts(one).key));
        seconds.add("read", start);
        let start = Instant::now();
        let evaluated = self.evaluated(request.plain)?;
        let plaintexts = Plaintexts::new(program, scheme, evaluated, threads);
        if !program.plaintexts.is_empty() {
            seconds.add("encode", start);
        }
        let zeros = scheme.zeros(request.seed.clone())?;
        let order = (program, &self.plan);
        let mut walk = Walk::new(order, scheme, &plaintexts, &zeros, inputs, observer);
        if let Some(keeper) = keeper {
            walk.kept_by(keeper, owner)?;
        }
        let (outputs, steps) = walk.run(threads.count())?;
        seconds.merge(&steps);
        let start = Instant::now();
        let outputs = threads.try_map(&outputs, |c| Ok::<_, Error>(scheme.write(c)))?;
        seconds.add("write", start);
        Ok(Outcome { outputs, seconds })
    }
}
