// SPDX-License-Identifier: Apache-2.0
//! The host of a board behind AXI: the core moves polynomials by itself, the host fills its queue and waits.

use std::time::{Duration, Instant};

use isa::{BuildInfo, Host};

use super::bus::{Bus, Done, Window};
use super::uio::{Uio, UioAddress};
use super::xdma::{Xdma, XdmaAddress};
use crate::error::DeviceError;
use crate::info_block::{bit, field, read_info};
use crate::interface::{LinkUse, PortUse, Stop};
use crate::progress::Progress;
use crate::registers as r;
use crate::transport::{Ending, Transport};

/// Host buffer 0 begins at a multiple of this.
const PAGE: u64 = 4096;
/// log2 of the bytes of a core's registers.
const CORE: u32 = 12;
/// Time that a reset may take.
const RESET: Duration = Duration::from_secs(2);
/// Time between two looks at a core whose interrupt is waited for.
const LOOK: Duration = Duration::from_millis(100);
/// Time that an interrupt may take to arrive.
const LATE: Duration = Duration::from_secs(1);
/// Shortest and longest time between two looks at a core without interrupts.
const PAUSE: (Duration, Duration) = (Duration::from_micros(10), Duration::from_millis(1));
/// Bytes that are cleared at a time.
const CHUNK: usize = 1 << 16;
/// What a bus gives where nothing answers.
const NOTHING: u32 = u32::MAX;

/// A board behind AXI.
pub struct AxiHost {
    bus: Box<dyn Bus>,
    name: String,
    done: Done,
    cores: u32,
    /// Host buffer 0 in the window and on the data port, and the bytes that the core reaches from there on.
    start: u64,
    base: u64,
    room: u64,
    /// Bytes given out.
    reserved: u64,
    progress: Progress,
    /// Memory was written that the core may not see yet.
    written: bool,
    used: LinkUse,
    spent: Duration,
}

impl AxiHost {
    /// Open a core behind UIO; `name` stands in messages.
    ///
    /// # Errors
    /// [`DeviceError::Port`]: no such device or buffer, another program has it, no core of this driver is behind it,
    /// or that does not reach the memory.
    pub fn uio(name: &str, address: &UioAddress) -> Result<Self, DeviceError> {
        Self::opened(name, address.done, || Ok(Box::new(Uio::open(address)?)))
    }

    /// Open a core on a card behind XDMA; `name` stands in messages.
    ///
    /// # Errors
    /// As [`AxiHost::uio`].
    pub fn xdma(name: &str, address: &XdmaAddress) -> Result<Self, DeviceError> {
        Self::opened(name, address.done, || Ok(Box::new(Xdma::open(address)?)))
    }

    fn opened(
        name: &str,
        done: Done,
        open: impl FnOnce() -> Result<Box<dyn Bus>, String>,
    ) -> Result<Self, DeviceError> {
        let fail = |what| DeviceError::Port {
            port: name.to_owned(),
            what,
        };
        let mut bus = open().map_err(fail)?;
        // Only what has the block of a co-processor is written to.
        let info = read_info(|address| bus.read(address).map_err(fail));
        let info = info.map_err(|error| match error {
            DeviceError::Foreign { .. } => fail(format!(
                "{error}: the bitstream of a preset has to be loaded, and its registers to be where the device's are"
            )),
            other => other,
        })?;
        info.validate()?;
        if info.host != Host::Axi4 {
            return Err(fail(
                "the core there has a serial host, and takes no AXI4".to_owned(),
            ));
        }
        let clock_khz = bus.read(r::CLOCK_KHZ).map_err(fail)?;
        let window = bus.window();
        let (base, room) = reach(&info, window).map_err(fail)?;
        Ok(Self {
            start: base - window.address,
            base,
            room,
            bus,
            name: name.to_owned(),
            done,
            cores: info.cores,
            reserved: 0,
            progress: Progress::new(clock_khz),
            written: false,
            used: LinkUse::default(),
            spent: Duration::ZERO,
        })
    }

    /// An error of this port.
    fn fail(&self, what: impl Into<String>) -> DeviceError {
        DeviceError::Port {
            port: self.name.clone(),
            what: what.into(),
        }
    }

    /// Do something on the bus, with its time and its bytes on record.
    fn on_bus<T>(
        &mut self,
        to_device: usize,
        from_device: usize,
        act: impl FnOnce(&mut dyn Bus) -> Result<T, String>,
    ) -> Result<T, DeviceError> {
        let start = Instant::now();
        let acted = act(self.bus.as_mut());
        self.spent += start.elapsed();
        self.used.frames += 1;
        self.used.bytes_to_device += to_device as u64;
        self.used.bytes_from_device += from_device as u64;
        acted.map_err(|what| self.fail(what))
    }

    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.on_bus(0, 4, |bus| bus.read(address))
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.on_bus(4, 0, |bus| bus.write(address, value))
    }

    /// What IRQ_ENABLE of a core holds: never 0, so that a core that has been loaded anew is known by it. No polynomial
    /// waits for a serial host here, so that event has no effect.
    fn mark(&self) -> u32 {
        let ends = bit(r::IRQ_ENABLE_DONE) | bit(r::IRQ_ENABLE_FAILED);
        match self.done {
            Done::Interrupt => bit(r::IRQ_ENABLE_TRANSFER) | ends,
            Done::Poll => bit(r::IRQ_ENABLE_TRANSFER),
        }
    }

    /// The state of a core. One that rests may do so because it was loaded anew.
    fn status(&mut self, core: u32) -> Result<u32, DeviceError> {
        let status = self.read(core << CORE | r::STATUS)?;
        if status == NOTHING {
            return Err(self.fail("the core does not answer any more: its status reads 0xffffffff"));
        }
        let rests = field(status, r::STATUS_IDLE) | field(status, r::STATUS_FAILED) == 1;
        if rests && self.read(core << CORE | r::IRQ_ENABLE)? != self.mark() {
            return Err(self.fail("the board was reset: what it held is gone"));
        }
        Ok(status)
    }

    /// Reset a core and tell it where host buffer 0 is.
    fn reset_core(&mut self, core: u32) -> Result<(), DeviceError> {
        let at = core << CORE;
        self.write(at | r::CONTROL, bit(r::CONTROL_RESET))?;
        self.write(at | r::IRQ_ENABLE, self.mark())?;
        let end = Instant::now() + RESET;
        while field(self.status(core)?, r::STATUS_IDLE) == 0 {
            if Instant::now() > end {
                return Err(self.fail("the core does not come out of its reset"));
            }
        }
        self.write(at | r::DMA_BASE_LO, self.base as u32)?;
        self.write(at | r::DMA_BASE_HI, (self.base >> 32) as u32)?;
        let low = self.read(at | r::DMA_BASE_LO)?;
        match u64::from(self.read(at | r::DMA_BASE_HI)?) << 32 | u64::from(low) {
            held if held == self.base => Ok(()),
            held => Err(self.fail(format!(
                "host buffers are at {:#x}, the core takes {held:#x}",
                self.base
            ))),
        }
    }

    /// How a program has ended by the core's status.
    fn ending(&mut self) -> Result<Option<Ending>, DeviceError> {
        let status = self.status(0)?;
        if field(status, r::STATUS_FAILED) == 1 {
            return Ok(Some(Ending::Failed));
        }
        if field(status, r::STATUS_IDLE) == 1 {
            return Ok(Some(Ending::Idle));
        }
        let retired = self.read(r::RETIRED)?;
        self.progress.retired(retired);
        Ok(None)
    }

    /// Wait until the core may be done: an ending that no interrupt has told is an error.
    fn wait(&mut self, pause: &mut Duration) -> Result<Option<Ending>, DeviceError> {
        if self.done == Done::Poll {
            std::thread::sleep(*pause);
            *pause = (2 * *pause).min(PAUSE.1);
            return Ok(None);
        }
        if self.on_bus(0, 0, |bus| bus.wait(LOOK))? {
            return Ok(None);
        }
        let ending = self.ending()?;
        if ending.is_some() && !self.on_bus(0, 0, |bus| bus.wait(LATE))? {
            return Err(self.fail(
                "the core is done and its interrupt did not come: check its number in the device tree or its wire, or \
                 ask for the core's state by ?done=poll",
            ));
        }
        Ok(ending)
    }

    /// Whether a part of host memory has been given out; its place in the window.
    fn place(&self, address: u64, bytes: usize) -> Result<u64, DeviceError> {
        match address.checked_add(bytes as u64) {
            Some(end) if end <= self.reserved => Ok(self.start + address),
            _ => Err(DeviceError::data(format!(
                "{bytes} bytes at {address} of the host buffers, which have {}",
                self.reserved
            ))),
        }
    }
}

/// Where host buffer 0 is in a window, and the bytes from there on that a core reaches.
fn reach(info: &BuildInfo, window: Window) -> Result<(u64, u64), String> {
    let end = u128::from(window.address) + u128::from(window.bytes);
    let (base, most) = (
        window.address.next_multiple_of(PAGE),
        1u128 << info.address_bits,
    );
    if u128::from(base) >= most {
        return Err(format!(
            "the memory for host buffers begins at {base:#x}, addresses of this core end at {most:#x}: it takes memory \
             below (dma-mask of the buffer), or a preset with more address_bits"
        ));
    }
    Ok((base, (end.min(most) as u64).saturating_sub(base)))
}

impl Transport for AxiHost {
    fn reset(&mut self) -> Result<(), DeviceError> {
        (0..self.cores).try_for_each(|core| self.reset_core(core))
    }

    fn read_register(&mut self, address: u32) -> Result<u32, DeviceError> {
        match address & ((1 << CORE) - 1) {
            r::STATUS => self.status(address >> CORE),
            _ => self.read(address),
        }
    }

    fn write_register(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        if address & ((1 << CORE) - 1) == r::COMMAND_LO && self.written {
            self.on_bus(0, 0, |bus| bus.publish())?;
            self.written = false;
        }
        self.progress.made();
        self.write(address, value)
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), DeviceError> {
        if bytes > self.room {
            return Err(self.fail(format!(
                "host buffers of {bytes} bytes, from {:#x} on there is room for {} that the core reaches: give it a \
                 larger buffer",
                self.base, self.room
            )));
        }
        while self.reserved < bytes {
            let size = CHUNK.min((bytes - self.reserved) as usize);
            let at = self.start + self.reserved;
            self.written = true;
            self.on_bus(size, 0, |bus| bus.write_memory(at, &[0; CHUNK][..size]))?;
            self.reserved += size as u64;
        }
        Ok(())
    }

    fn read_memory(&mut self, address: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let place = self.place(address, out.len())?;
        self.on_bus(0, out.len(), |bus| bus.read_memory(place, out))
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let place = self.place(address, bytes.len())?;
        self.written = true;
        self.on_bus(bytes.len(), 0, |bus| bus.write_memory(place, bytes))
    }

    fn run(&mut self, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError> {
        self.progress.made();
        let mut pause = PAUSE.0;
        loop {
            if stop() {
                return Err(DeviceError::Interrupted);
            }
            if self.done == Done::Interrupt {
                self.write(r::IRQ_STATUS, 0xf)?;
            }
            if let Some(ending) = self.ending()? {
                return Ok(ending);
            }
            if self.progress.quiet() > limit {
                return Ok(Ending::Hung);
            }
            if let Some(ending) = self.wait(&mut pause)? {
                return Ok(ending);
            }
        }
    }

    fn run_program(&mut self, _limit: u64, _stop: Stop<'_>) -> Result<Ending, DeviceError> {
        Err(self.fail("a board with a controller has no firmware"))
    }

    fn step(&mut self, _cycles: u64) -> Result<(), DeviceError> {
        std::thread::sleep(PAUSE.0);
        let retired = self.read(r::RETIRED)?;
        self.progress.retired(retired);
        Ok(())
    }

    fn cycles(&self) -> Result<u64, DeviceError> {
        Ok(self.progress.quiet())
    }

    fn link(&self) -> Result<LinkUse, DeviceError> {
        Ok(LinkUse {
            cycles: self.progress.cycles_of(self.spent),
            ..self.used
        })
    }

    fn port(&self) -> Option<PortUse> {
        Some(PortUse {
            clock_khz: self.progress.clock_khz,
            seconds: self.spent.as_secs_f64(),
            resent: 0,
            busy_cycles: 0,
        })
    }
}
