// SPDX-License-Identifier: Apache-2.0
//! A run in polynomial operations, whatever computes them.

use super::execute::{Around, Made, Sources};
use super::lowered::{Lowered, lower};
use super::lowering::Lower;
use super::on_engine::{Visitor, visit};
use super::shape::Shape;
use crate::scheme::inputs;
use crate::scheme::kept::Kept;
use crate::scheme::plaintexts::{Evaluated, Plaintexts};
use crate::scheme::plan::Plan;
use crate::{
    Backend, Client, Error, Input, Keys, Observer, Outcome, Request, Resources, Run, Seconds,
};
use ::polynomial::{Graph, Host, Limb, Memory, Room};
use program::Program;
use program::expression::Numbers;
use rlwe::{KeyId, Threads};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use zq::Word;

/// What an engine works out about programs alone, once for all requests.
pub trait Planned: Send + Sync {
    /// Bytes of memory that it takes, about.
    fn bytes(&self) -> usize;
}

/// Nothing.
impl Planned for () {
    fn bytes(&self) -> usize {
        0
    }
}

/// An engine for polynomial operations; every engine is a [`Backend`]. Clones share it.
pub trait Engine: Clone + Send + Sync + 'static {
    /// Its plans.
    type Plan: Planned;

    /// Its name in reports.
    fn name(&self) -> &str;

    /// The lowering target for rings of degree `n`.
    fn shape(&self, n: usize) -> Shape;

    /// Whether it can run a program, asked when one is opened.
    ///
    /// # Errors
    /// What it cannot do.
    fn accepts(&self, program: &Program) -> Result<(), Error> {
        let _ = program;
        Ok(())
    }

    /// Whether it does the polynomial part of clients too.
    fn serves_clients(&self) -> bool {
        true
    }

    /// Programs that it computes at the same time.
    fn cores(&self) -> usize {
        1
    }

    /// Most requests that it works on as one program.
    fn batch_size(&self) -> usize {
        1
    }

    /// Plans programs that it is to compute at the same time.
    fn plan<W: Word>(&self, graphs: &[&Graph<W>]) -> Result<Self::Plan, Error>;

    /// Computes a program of polynomial operations that runs once; its outputs are in the memory.
    fn compute<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        observer: &dyn Observer,
    ) -> Result<Memory<'g, W>, Error>;

    /// Computes programs as they are planned, at the same time if it can.
    fn compute_all<'g, W: Word, H: Host<W, Error = Error>>(
        &self,
        _plan: &Self::Plan,
        jobs: &[(&'g Graph<W>, &H)],
        observer: &dyn Observer,
    ) -> Result<Vec<Memory<'g, W>>, Error> {
        let one = |(graph, host): &(&'g Graph<W>, &H)| self.compute(graph, *host, observer);
        jobs.iter().map(one).collect()
    }
}

impl<E: Engine> Backend for E {
    fn name(&self) -> &str {
        Engine::name(self)
    }

    /// Outputs that have nothing in common are computed at the same time, as far as the engine can.
    #[inline(never)]
    fn open(
        &self,
        program: &Arc<Program>,
        keys: &Keys,
        resources: &Resources,
    ) -> Result<Box<dyn Run>, Error> {
        self.accepts(program)?;
        let shape = self.shape(program.parameters.n());
        let opening = Opening {
            engine: self.clone(),
            program: Arc::clone(program),
            resources: resources.clone(),
        };
        visit(program, keys, &resources.threads, shape, opening)
    }

    #[inline(never)]
    fn client(&self) -> Option<Arc<dyn Client>> {
        let client = || Arc::new(self.clone()) as Arc<dyn Client>;
        self.serves_clients().then(client)
    }
}

/// An engine and a program whose scheme is still to come.
struct Opening<E> {
    engine: E,
    program: Arc<Program>,
    resources: Resources,
}

impl<E: Engine> Visitor for Opening<E> {
    type Out = Box<dyn Run>;

    fn visit<S: Lower>(self, scheme: S, shape: Shape) -> Result<Box<dyn Run>, Error> {
        let [room, device_room] = [(); 2].map(|()| Room::new(self.resources.memory));
        Ok(Box::new(Opened {
            engine: self.engine,
            threads: self.resources.threads,
            owner: scheme.check_keys(&self.program)?,
            scheme,
            shape,
            program: self.program,
            keys: Made::new(&room, &device_room),
            room,
            device_room,
            last: Mutex::default(),
        }))
    }
}

/// A program opened on an engine; what the last request was computed with stays for the next.
struct Opened<E: Engine, S: Lower> {
    engine: E,
    threads: Threads,
    program: Arc<Program>,
    scheme: S,
    owner: Option<KeyId>,
    shape: Shape,
    room: Arc<Room>,
    /// Room in the memory of a device.
    device_room: Arc<Room>,
    /// Sources made of keys, whatever the number of requests and the scales.
    keys: Made<S::Word>,
    last: Mutex<Option<Arc<Prepared<E, S>>>>,
}

/// The program for a number of requests at a time, lowered for inputs of these scales, and its plans by the cores that
/// they are for.
struct Work<E: Engine, W: Word> {
    program: Arc<Program>,
    requests: usize,
    scales: Vec<f64>,
    plan: Plan,
    lowered: Lowered<W>,
    planned: Kept<usize, E::Plan>,
}

/// Work with the plaintexts of some plain arguments.
struct Prepared<E: Engine, S: Lower> {
    work: Arc<Work<E, S::Word>>,
    evaluated: Arc<Evaluated<S>>,
    /// Sources made of plaintexts.
    sources: Made<S::Word>,
}

impl<E: Engine, S: Lower> Opened<E, S> {
    fn last(&self) -> MutexGuard<'_, Option<Arc<Prepared<E, S>>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(
        &self,
        program: Arc<Program>,
        requests: usize,
        scales: Vec<f64>,
    ) -> Result<Work<E, S::Word>, Error> {
        Ok(Work {
            plan: Plan::new(&program),
            lowered: lower(&program, &self.scheme, &scales, self.shape)?,
            program,
            requests,
            scales,
            planned: Kept::new(&self.room),
        })
    }

    /// The last work and plaintexts where they fit the requests, otherwise new ones.
    fn prepared(
        &self,
        (program, requests): (Arc<Program>, usize),
        scales: Vec<f64>,
        plain: &[Numbers],
    ) -> Result<Arc<Prepared<E, S>>, Error> {
        let last = self.last().clone();
        let is_same = |work: &Work<E, S::Word>| work.requests == requests && work.scales == scales;
        let work = last
            .as_ref()
            .map(|last| &last.work)
            .filter(|work| is_same(work))
            .cloned();
        let evaluated = last.as_ref().map(|last| &last.evaluated);
        let evaluated = evaluated.filter(|known| known.is_of(plain)).cloned();
        if let (Some(last), Some(_), Some(_)) = (&last, &work, &evaluated) {
            return Ok(Arc::clone(last));
        }
        // What is not needed again leaves its room before anything new takes it.
        *self.last() = None;
        drop(last);
        let prepared = Arc::new(Prepared {
            evaluated: match evaluated {
                Some(evaluated) => evaluated,
                None => Evaluated::new(&self.program, plain, &self.threads, &self.room)?.into(),
            },
            work: match work {
                Some(work) => work,
                None => self.work(program, requests, scales)?.into(),
            },
            sources: Made::new(&self.room, &self.device_room),
        });
        *self.last() = Some(Arc::clone(&prepared));
        Ok(prepared)
    }

    /// The program for that many requests at a time.
    fn repeated(&self, requests: usize) -> Arc<Program> {
        if requests == 1 {
            return Arc::clone(&self.program);
        }
        let last = self.last();
        let last = last.as_ref().map(|last| &last.work);
        match last.filter(|work| work.requests == requests) {
            Some(work) => Arc::clone(&work.program),
            None => Arc::new(self.program.repeated(requests)),
        }
    }

    /// Outcomes of requests as one program; at least one, with the plain arguments of the first.
    fn round(
        &self,
        requests: &[Request<'_>],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Error> {
        let (scheme, threads) = (&self.scheme, &self.threads);
        let program = self.repeated(requests.len());
        let mut seconds = Seconds::default();
        let start = Instant::now();
        let inputs: Vec<Input<'_>> = requests
            .iter()
            .flat_map(|one| one.inputs)
            .copied()
            .collect();
        let inputs = inputs::read(scheme, &inputs, threads)?;
        inputs::check(scheme, &program, &inputs, self.owner)?;
        seconds.add("read", start);
        let start = Instant::now();
        let facts = |input| scheme.facts(input);
        let scales = inputs.iter().map(|i| facts(i).scale.unwrap_or(1.0));
        let prepared = self.prepared(
            (program, requests.len()),
            scales.collect(),
            requests[0].plain,
        )?;
        seconds.add("lower", start);
        let work = &*prepared.work;
        let evaluated = Arc::clone(&prepared.evaluated);
        let first = inputs.first().map(|input| facts(input).key);
        let around = Around {
            program: &work.program,
            plan: &work.plan,
            scheme,
            plaintexts: &Plaintexts::new(&work.program, scheme, evaluated, threads),
            inputs: &inputs,
            zeros: &scheme.zeros(requests[0].seed.clone())?,
            lowered: &work.lowered,
            kept: Sources {
                keys: &self.keys,
                plaintexts: &prepared.sources,
            },
            key: self.owner.or(first).unwrap_or(KeyId::NONE),
            observer,
        };
        let outputs = self.outputs(work, &around, observer, &mut seconds)?;
        let each = self.program.outputs.len().max(1);
        let outcomes = outputs.chunks(each).map(|outputs| Outcome {
            outputs: outputs.to_vec(),
            seconds: seconds.clone(),
        });
        Ok(outcomes.collect())
    }

    fn outputs(
        &self,
        work: &Work<E, S::Word>,
        around: &Around<'_, S>,
        observer: &dyn Observer,
        seconds: &mut Seconds,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let start = Instant::now();
        let cores = self.engine.cores();
        let parts = work.lowered.parts(cores);
        let graphs: Vec<_> = parts.iter().map(|part| &**part).collect();
        let plan = || self.engine.plan(&graphs);
        let planned = work.planned.get_or(cores, E::Plan::bytes, plan)?;
        seconds.add("lower", start);
        let start = Instant::now();
        let jobs: Vec<_> = parts.iter().map(|part| (&**part, around)).collect();
        let mut memories = self.engine.compute_all(&planned, &jobs, observer)?;
        seconds.add("compute", start);
        let start = Instant::now();
        let owners: HashMap<Limb, usize> = (parts.iter().enumerate())
            .flat_map(|(core, part)| part.outputs().iter().map(move |&limb| (limb, core)))
            .collect();
        let mut take = |limb| Ok(memories[owners[&limb]].take(limb, around)?.to_vec());
        let write = |output| around.write(output, &mut take);
        let outputs = work.lowered.outputs.iter().map(write);
        let outputs = outputs.collect::<Result<_, Error>>()?;
        seconds.add("write", start);
        Ok(outputs)
    }
}

impl<E: Engine, S: Lower> Run for Opened<E, S> {
    fn evaluate(&self, request: &Request<'_>, observer: &dyn Observer) -> Result<Outcome, Error> {
        let mut outcomes = self.round(std::slice::from_ref(request), observer)?;
        Ok(outcomes.swap_remove(0))
    }

    fn batch_size(&self) -> usize {
        self.engine.batch_size()
    }

    /// Outputs are shared out to all cores; a core moves the data of one while it works on another.
    fn evaluate_batch(
        &self,
        requests: &[Request<'_>],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Error> {
        let is_odd = |request: &Request<'_>| request.plain != requests[0].plain;
        if let Some(odd) = requests.iter().position(is_odd) {
            return Err(Error::Input(format!(
                "run {odd} of the batch has other plain arguments than run 0; run those as a batch of their own"
            )));
        }
        let size = match self.program.can_repeat() {
            true => self.batch_size(),
            false => 1,
        };
        let mut outcomes = Vec::with_capacity(requests.len());
        for round in requests.chunks(size) {
            outcomes.extend(self.round(round, observer)?);
        }
        Ok(outcomes)
    }
}
