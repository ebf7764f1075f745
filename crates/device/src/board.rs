// SPDX-License-Identifier: Apache-2.0
//! State shared by the cores of a device: what it is reached by with the host memory, command queues to be filled.

use crate::controller::{Controller, Round};
use crate::controller_registers as c;
use crate::info_block::{bit, field};
use crate::registers as r;
use crate::transport::{Ending, RawEvent, Transport};
use crate::{DeviceError, Stop};

/// log2 of the bytes of a core's registers.
const WINDOW: u32 = 12;
/// Polling interval of the cores' queues, in cycles.
const STEP: u64 = 64;
/// Most cycles that a data port takes to end its transfer when a core is reset.
const DRAIN: u64 = 1_000_000;

/// The program of a core.
#[derive(Default)]
struct Feed {
    /// Words not yet pushed into the command queue.
    pending: Vec<u64>,
    running: bool,
    /// Feeds the program in the host's place.
    controller: Option<Controller>,
    /// The controller's memory holds the next part of the program, which has not been started.
    loaded: bool,
    round: Round,
    ending: Option<Ending>,
    /// Since the round began.
    events: Vec<RawEvent>,
}

/// A device.
pub struct Board {
    pub transport: Box<dyn Transport>,
    /// Host buffers given out.
    pub buffers: u32,
    feeds: Vec<Feed>,
}

impl Board {
    /// A device with `cores` cores.
    pub fn new(transport: Box<dyn Transport>, cores: usize) -> Self {
        Self {
            transport,
            buffers: 0,
            feeds: (0..cores).map(|_| Feed::default()).collect(),
        }
    }

    /// Gives a core its controller.
    pub fn control(&mut self, core: usize, controller: Controller) {
        self.feeds[core].controller = Some(controller);
    }

    /// What the last program of a core took of the host.
    pub fn round(&self, core: usize) -> Round {
        self.feeds[core].round
    }

    /// Register accesses and frames, and cycles, until now.
    fn spent(&self) -> Result<(u64, u64), DeviceError> {
        Ok((self.transport.link()?.frames, self.transport.cycles()?))
    }

    /// Fills the memory of a core's controller, if it has one, with the next part of the program.
    fn load(&mut self, core: usize) -> Result<(), DeviceError> {
        let feed = &mut self.feeds[core];
        if let Some(controller) = &mut feed.controller {
            let accesses = controller.take(&mut feed.pending);
            feed.loaded = true;
            for (address, value) in accesses {
                self.write_register(core, address, value)?;
            }
        }
        Ok(())
    }

    pub fn read_register(&mut self, core: usize, address: u32) -> Result<u32, DeviceError> {
        self.transport
            .read_register((core as u32) << WINDOW | address)
    }

    pub fn write_register(
        &mut self,
        core: usize,
        address: u32,
        value: u32,
    ) -> Result<(), DeviceError> {
        self.transport
            .write_register((core as u32) << WINDOW | address, value)
    }

    /// Starts a program on a core. Programs that are started before one of them is waited for are a round: their cycles
    /// count from the first start of all.
    pub fn submit(&mut self, core: usize, words: &[u64]) -> Result<(), DeviceError> {
        if self.feeds.iter().all(|feed| !feed.running) {
            self.transport.events()?;
            self.feeds.iter_mut().for_each(|feed| feed.events.clear());
        }
        let feed = &mut self.feeds[core];
        (feed.pending, feed.running, feed.ending) = (words.to_vec(), true, None);
        let before = self.spent()?;
        self.load(core)?;
        let after = self.spent()?;
        self.feeds[core].round = Round {
            load_transactions: after.0.saturating_sub(before.0),
            load_cycles: after.1.saturating_sub(before.1),
            ..Round::default()
        };
        Ok(())
    }

    /// Fills the command queues, a word for each core in turn, so that all begin at about the same time; has
    /// controllers do it.
    fn push(&mut self) -> Result<(), DeviceError> {
        let mut words = Vec::new();
        for core in 0..self.feeds.len() {
            if self.feeds[core].controller.is_some() {
                if std::mem::take(&mut self.feeds[core].loaded) {
                    let (address, value) = Controller::start();
                    self.write_register(core, address, value)?;
                }
            } else if !self.feeds[core].pending.is_empty() {
                let status = self.read_register(core, r::STATUS)?;
                let pending = &mut self.feeds[core].pending;
                let room = pending.len().min(field(status, r::STATUS_FREE) as usize);
                words.extend(pending.drain(..room).enumerate().map(|word| (word, core)));
            }
        }
        words.sort_by_key(|&((place, _), core)| (place, core));
        for ((_, word), core) in words {
            self.write_register(core, r::COMMAND_LO, word as u32)?;
            self.write_register(core, r::COMMAND_HI, (word >> 32) as u32)?;
        }
        Ok(())
    }

    /// Fills the queues of all cores that run, and notes who has come to an end.
    fn tend(&mut self) -> Result<(), DeviceError> {
        for core in 0..self.feeds.len() {
            if !self.feeds[core].running {
                continue;
            }
            let (register, failed, done) = match self.feeds[core].controller {
                None => (r::STATUS, r::STATUS_FAILED, r::STATUS_IDLE),
                Some(_) => (
                    c::CONTROLLER_STATUS,
                    c::CONTROLLER_STATUS_FAILED,
                    c::CONTROLLER_STATUS_DONE,
                ),
            };
            let status = self.read_register(core, register)?;
            let feed = &mut self.feeds[core];
            if field(status, failed) == 1 {
                feed.ending = Some(Ending::Failed);
            } else if feed.pending.is_empty() && !feed.loaded && field(status, done) == 1 {
                feed.ending = Some(Ending::Idle);
            } else if feed.controller.is_some() && field(status, done) == 1 {
                self.load(core)?;
            }
            let feed = &mut self.feeds[core];
            if feed.ending.is_some() {
                feed.running = false;
                feed.pending.clear();
            }
        }
        self.push()
    }

    /// Clocks until the program of a core has ended.
    pub fn wait(&mut self, core: usize, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError> {
        let before = self.spent()?;
        let ending = self.wait_for(core, limit, stop);
        let after = self.spent()?;
        let feed = &mut self.feeds[core];
        feed.round.transactions = after.0.saturating_sub(before.0);
        feed.round.cycles = after.1.saturating_sub(before.1);
        ending
    }

    fn wait_for(&mut self, core: usize, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError> {
        self.push()?;
        let deadline = self.transport.cycles()? + limit;
        let alone = self.feeds.len() == 1;
        while self.feeds[core].ending.is_none() {
            let left = deadline.saturating_sub(self.transport.cycles()?).max(1);
            if alone && self.feeds[core].controller.is_some() {
                let ending = self.transport.run_program(left, stop)?;
                if ending == Ending::Idle && !self.feeds[core].pending.is_empty() {
                    self.load(core)?;
                    self.push()?;
                    continue;
                }
                self.feeds[core].ending = Some(ending);
                break;
            }
            if alone && self.feeds[core].pending.is_empty() {
                let ending = self.transport.run(left, stop)?;
                self.feeds[core].ending = Some(ending);
                break;
            }
            if stop() {
                return Err(DeviceError::Interrupted);
            }
            if self.transport.cycles()? > deadline {
                self.feeds[core].ending = Some(Ending::Hung);
                break;
            }
            self.transport.step(STEP)?;
            self.tend()?;
        }
        self.feeds[core].running = false;
        Ok(self.feeds[core].ending.take().unwrap_or(Ending::Hung))
    }

    /// The events of a core in this round, and the cycle of the first start of all cores.
    pub fn take_events(&mut self, core: usize) -> Result<(u64, Vec<RawEvent>), DeviceError> {
        for event in self.transport.events()? {
            self.feeds[usize::from(event.core)].events.push(event);
        }
        let events = self.feeds.iter().flat_map(|feed| &feed.events);
        let starts = events.filter(|event| event.end == 0);
        let zero = starts.map(|event| event.cycle).min().unwrap_or(0);
        Ok((zero, self.feeds[core].events.clone()))
    }

    /// Resets a core; the only one by the device's own reset.
    pub fn reset(&mut self, core: usize) -> Result<(), DeviceError> {
        self.transport.inject_hang(false)?;
        self.transport.inject_fault(0, 0)?;
        let mut controller = self.feeds[core].controller.take();
        controller.iter_mut().for_each(Controller::forget);
        self.feeds[core] = Feed {
            controller,
            ..Feed::default()
        };
        if self.feeds.len() == 1 {
            self.transport.reset()?;
            return self.transport.events().map(drop);
        }
        if self.feeds[core].controller.is_some() {
            self.write_register(core, c::CONTROLLER_CONTROL, 0)?;
        }
        self.write_register(core, r::CONTROL, bit(r::CONTROL_RESET))?;
        let deadline = self.transport.cycles()? + DRAIN;
        while field(self.read_register(core, r::STATUS)?, r::STATUS_IDLE) == 0 {
            if self.transport.cycles()? > deadline {
                return Err(DeviceError::Foreign {
                    what: format!("core {core} does not come out of its reset"),
                });
            }
            self.transport.step(STEP)?;
        }
        Ok(())
    }
}
