// SPDX-License-Identifier: Apache-2.0
//! Computing the tasks of a plan: independent ones side by side, each as soon as its operands are there, the first in
//! program order first. Ciphertexts are freed after their last use. What is computed depends on no thread.

use super::state::Snapshot;
use crate::scheme::interface::{Scheme, Spread};
use crate::scheme::plaintexts::Plaintexts;
use crate::scheme::plan::{Plan, Task};
use crate::scheme::value::Value;
use crate::{Error, Keeper, Observer, Seconds};
use program::Program;
use rlwe::KeyId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many tasks beyond the first unfinished one may start, for each worker: enough to work beside a chain of steps,
/// few enough that little more memory is taken than in a walk one by one.
const AHEAD: usize = 8;

/// How long a worker without work waits before it asks its observer again.
const WAIT: Duration = Duration::from_millis(50);

/// Mutable state of a plan's execution.
struct State<'a, C> {
    values: Vec<Option<Value<'a, C>>>,
    uses: Vec<u32>,
    waits_for: Vec<usize>,
    ready: BinaryHeap<Reverse<usize>>,
    finished: Vec<bool>,
    /// The first task that is not finished.
    first: usize,
    running: usize,
    /// Steps done.
    done: usize,
    /// The failed step with the lowest number, or what else ended the walk.
    failure: Option<(u32, Error)>,
    /// Nothing more is started.
    stopped: bool,
    seconds: Seconds,
}

impl<C> State<'_, C> {
    fn fail(&mut self, number: u32, error: Error) {
        self.stopped = true;
        if self.failure.as_ref().is_none_or(|(at, _)| number < *at) {
            self.failure = Some((number, error));
        }
    }

    /// The next task that may start, and how many threads it gets.
    fn start(&mut self, ahead: usize) -> Option<(usize, Spread)> {
        let within = self.first + ahead;
        let startable =
            |ready: &BinaryHeap<Reverse<usize>>| ready.peek().is_some_and(|next| next.0 < within);
        if !startable(&self.ready) {
            return None;
        }
        let Reverse(task) = self.ready.pop()?;
        // Alone now is alone to its end: until then nothing becomes ready.
        let alone = self.running == 0 && !startable(&self.ready);
        self.running += 1;
        Some((task, if alone { Spread::All } else { Spread::Single }))
    }
}

/// A plan being computed.
pub struct Walk<'a, S: Scheme> {
    program: &'a Program,
    plan: &'a Plan,
    scheme: &'a S,
    plaintexts: &'a Plaintexts<'a, S>,
    zeros: &'a S::Zeros,
    observer: &'a dyn Observer,
    keeper: Option<&'a dyn Keeper>,
    ahead: usize,
    state: Mutex<State<'a, S::Ciphertext>>,
    changed: Condvar,
}

/// Ciphertexts by step.
type Numbered<'a, C> = Vec<(u32, Value<'a, C>)>;

/// The result of a task, or the step that failed.
type Made<'a, C> = Result<Numbered<'a, C>, (u32, Error)>;

/// The outputs, and the time each kind of operation took.
type Ended<'a, C> = Result<(Vec<Value<'a, C>>, Seconds), Error>;

/// Ends the walk when its worker unwinds, so that no other waits for the lost task.
struct Unwinding<'w, 'a, S: Scheme>(&'w Walk<'a, S>);

impl<S: Scheme> Drop for Unwinding<'_, '_, S> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().stopped = true;
            self.0.changed.notify_all();
        }
    }
}

impl<'a, S: Scheme> Walk<'a, S> {
    pub fn new(
        (program, plan): (&'a Program, &'a Plan),
        scheme: &'a S,
        plaintexts: &'a Plaintexts<'a, S>,
        zeros: &'a S::Zeros,
        inputs: Vec<Value<'a, S::Ciphertext>>,
        observer: &'a dyn Observer,
    ) -> Self {
        let mut values: Vec<_> = inputs.into_iter().map(Some).collect();
        values.resize_with(program.steps.len(), || None);
        let waits_for: Vec<usize> = plan.tasks.iter().map(|task| task.waits_for).collect();
        let free = (0..plan.tasks.len()).filter(|&task| waits_for[task] == 0);
        let state = State {
            values,
            uses: plan.uses.clone(),
            ready: free.map(Reverse).collect(),
            waits_for,
            finished: vec![false; plan.tasks.len()],
            first: 0,
            running: 0,
            done: 0,
            failure: None,
            stopped: false,
            seconds: Seconds::default(),
        };
        Self {
            program,
            plan,
            scheme,
            plaintexts,
            zeros,
            observer,
            keeper: None,
            ahead: AHEAD,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Goes on from what an earlier walk left with `keeper`, and leaves there what it has made after each refresh.
    pub fn kept_by(&mut self, keeper: &'a dyn Keeper, owner: Option<KeyId>) -> Result<(), Error> {
        self.keeper = Some(keeper);
        let Some(bytes) = keeper.kept() else {
            return Ok(());
        };
        let order = (self.program, self.plan);
        let (snapshot, uses) = Snapshot::from_bytes(bytes, order, self.scheme, owner)?;
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.uses = uses;
        for (value, uses) in state.values.iter_mut().zip(&state.uses) {
            value.take_if(|_| *uses == 0);
        }
        for (number, value) in snapshot.values {
            state.values[number as usize] = Some(value);
        }
        state.finished = snapshot.finished;
        let done = |task: &usize| state.finished[*task];
        for task in (0..self.plan.tasks.len()).filter(done) {
            let Task { steps, users, .. } = &self.plan.tasks[task];
            state.done += steps.len();
            users
                .iter()
                .for_each(|&user| state.waits_for[user as usize] -= 1);
        }
        let free = (0..self.plan.tasks.len()).filter(|task| !done(task));
        let free = free.filter(|&task| state.waits_for[task] == 0);
        state.ready = free.map(Reverse).collect();
        state.first = state
            .finished
            .iter()
            .position(|done| !done)
            .unwrap_or(self.plan.tasks.len());
        Ok(())
    }

    fn snapshot(&self, state: &State<'a, S::Ciphertext>) -> Snapshot<'a, S::Ciphertext> {
        let inputs = self.program.input_count() as u32;
        let made = (0..)
            .zip(&state.values)
            .filter(|(number, _)| *number >= inputs);
        Snapshot {
            finished: state.finished.clone(),
            values: made
                .filter_map(|(number, value)| Some((number, value.clone()?)))
                .collect(),
        }
    }

    /// Leaves what is made with the keeper.
    fn keep(&self, snapshot: &Snapshot<'a, S::Ciphertext>) {
        let kept = self
            .keeper
            .map_or(Ok(()), |keeper| keeper.keep(snapshot.to_bytes(self.scheme)));
        if let Err(error) = kept {
            self.lock().fail(u32::MAX, error);
            self.changed.notify_all();
        }
    }

    /// Computes everything with that many workers.
    pub fn run(mut self, workers: usize) -> Ended<'a, S::Ciphertext> {
        let workers = workers.min(self.plan.width());
        self.ahead = AHEAD * workers;
        // Threads of this run alone: in a shared pool, runs side by side would wait for one another's ends.
        thread::scope(|scope| {
            let spawn = |_| {
                let worker = thread::Builder::new().name("ringsmith-step".into());
                // Fewer threads than asked for are slower, nothing else.
                worker.spawn_scoped(scope, || self.work()).ok()
            };
            let others: Vec<_> = (1..workers).filter_map(spawn).collect();
            self.work();
            for other in others {
                if let Err(payload) = other.join() {
                    resume_unwind(payload);
                }
            }
        });
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some((_, error)) = state.failure {
            return Err(error);
        }
        let of = |&output: &u32| state.values[output as usize].clone();
        let outputs: Option<Vec<_>> = self.program.outputs.iter().map(of).collect();
        let unfinished = || Error::Input("the program has steps that wait for each other".into());
        Ok((outputs.ok_or_else(unfinished)?, state.seconds))
    }

    fn lock(&self) -> MutexGuard<'_, State<'a, S::Ciphertext>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes tasks until none is left.
    fn work(&self) {
        let _unwinding = Unwinding(self);
        while let Some((task, spread)) = self.next() {
            let mut seconds = Seconds::default();
            let made = self.compute(task, spread, &mut seconds);
            self.finish(task, made, &seconds);
        }
    }

    fn next(&self) -> Option<(usize, Spread)> {
        loop {
            // Outside the lock: an observer may take its time.
            let cancelled = self.observer.cancelled();
            let mut state = self.lock();
            if state.stopped || state.first == self.plan.tasks.len() {
                return None;
            }
            if cancelled {
                state.fail(u32::MAX, Error::Cancelled);
                self.changed.notify_all();
                return None;
            }
            if let Some(next) = state.start(self.ahead) {
                return Some(next);
            }
            if state.running == 0 {
                return None;
            }
            drop(self.changed.wait_timeout(state, WAIT));
        }
    }

    fn compute(
        &self,
        task: usize,
        spread: Spread,
        seconds: &mut Seconds,
    ) -> Made<'a, S::Ciphertext> {
        let steps = &self.plan.tasks[task].steps;
        let number = steps[0];
        let failed = |error: Error| (number, error.at(self.program, number));
        let step = &self.program.steps[number as usize];
        let operands = self.operands(number);
        let start = Instant::now();
        let plaintext = self.plaintexts.of_step(step).map_err(failed)?;
        let of_terms = self.plaintexts.of_transform(spread, step).map_err(failed)?;
        if plaintext.is_some() || !of_terms.is_empty() {
            seconds.add("encode", start);
        }
        let start = Instant::now();
        let own = |value| vec![(number, Value::Own(Arc::new(value)))];
        let made = match operands.as_slice() {
            [a] if !step.operation.facts().runs => vec![(number, a.clone())],
            [a] if steps.len() > 1 => self.turn(spread, a, steps).map_err(failed)?,
            operands => {
                let operands: Vec<&S::Ciphertext> = operands.iter().map(|a| &**a).collect();
                let value = match (self.program.transform(step), operands.as_slice()) {
                    (Some(transform), [a]) => {
                        self.scheme.transform(spread, a, transform, &of_terms)
                    }
                    (_, [a]) if step.operation.refreshes() => {
                        let stopped = || self.observer.cancelled();
                        self.scheme.refresh(spread, a, &stopped)
                    }
                    (_, []) => self
                        .scheme
                        .zero(self.zeros, self.plan.zero_index(number), step),
                    (_, operands) => {
                        self.scheme
                            .apply(spread, step, operands, plaintext.as_deref())
                    }
                };
                own(value.map_err(failed)?)
            }
        };
        seconds.add(step.operation.name(), start);
        Ok(made)
    }

    fn operands(&self, number: u32) -> Vec<Value<'a, S::Ciphertext>> {
        let (operands, count) = self.program.steps[number as usize].operation.operands();
        let state = self.lock();
        operands[..count]
            .iter()
            .filter_map(|&a| state.values[a as usize].clone())
            .collect()
    }

    /// Rotations of one ciphertext.
    fn turn(
        &self,
        spread: Spread,
        a: &S::Ciphertext,
        steps: &[u32],
    ) -> Result<Numbered<'a, S::Ciphertext>, Error> {
        let by = |&number: &u32| {
            let operation = self.program.steps[number as usize].operation;
            operation.attributes().rotation.map_or(0, i64::from)
        };
        let by: Vec<i64> = steps.iter().map(by).collect();
        let turned = self.scheme.rotate_many(spread, a, &by)?;
        let own = |(&number, value)| (number, Value::Own(Arc::new(value)));
        Ok(steps.iter().zip(turned).map(own).collect())
    }

    /// Keeps what a task made, forgets what it used last, and readies those that waited for it.
    fn finish(&self, task: usize, made: Made<'a, S::Ciphertext>, seconds: &Seconds) {
        let Task { steps, users, .. } = &self.plan.tasks[task];
        let mut freed = Vec::new();
        let mut snapshot = None;
        let mut state = self.lock();
        state.running -= 1;
        state.seconds.merge(seconds);
        match made {
            Err((number, error)) => state.fail(number, error),
            Ok(made) => {
                for (number, value) in made {
                    if state.uses[number as usize] > 0 {
                        state.values[number as usize] = Some(value);
                    }
                }
                state.done += steps.len();
                let (operands, count) = self.program.steps[steps[0] as usize].operation.operands();
                for &a in &operands[..count] {
                    state.uses[a as usize] -= 1;
                    if state.uses[a as usize] == 0 {
                        freed.extend(state.values[a as usize].take());
                    }
                }
                for &user in users {
                    state.waits_for[user as usize] -= 1;
                    if state.waits_for[user as usize] == 0 {
                        state.ready.push(Reverse(user as usize));
                    }
                }
                state.finished[task] = true;
                while state.finished.get(state.first) == Some(&true) {
                    state.first += 1;
                }
                let refreshes = self.program.steps[steps[0] as usize].operation.refreshes();
                if refreshes && self.keeper.is_some() {
                    snapshot = Some(self.snapshot(&state));
                }
            }
        }
        let done = state.done;
        drop(state);
        self.changed.notify_all();
        drop(freed);
        if let Some(snapshot) = snapshot {
            self.keep(&snapshot);
        }
        let inputs = self.program.input_count();
        self.observer
            .progress(done, self.program.steps.len() - inputs);
    }
}
