// SPDX-License-Identifier: Apache-2.0
//! What a host behind AXI needs of an operating system's files.

use std::fs::File;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::files::cause;

/// How a driver learns that a core is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The core's interrupt wakes it.
    Interrupt,
    /// It asks for the core's state now and then.
    Poll,
}

/// Memory that the core reaches at `address` and following.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Address on the core's data port.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
}

/// Registers, memory and interrupt of a board; failures in words. A register's address is a multiple of 4.
pub trait Bus: Send {
    /// Read a register.
    fn read(&mut self, address: u32) -> Result<u32, String>;

    /// Write a register.
    fn write(&mut self, address: u32, value: u32) -> Result<(), String>;

    /// The memory that host and core share.
    fn window(&self) -> Window;

    /// Read memory from byte `at` of the window on, what the core has written included.
    fn read_memory(&mut self, at: u64, out: &mut [u8]) -> Result<(), String>;

    /// Write memory from byte `at` of the window on.
    fn write_memory(&mut self, at: u64, bytes: &[u8]) -> Result<(), String>;

    /// Let the core see what was written to memory.
    fn publish(&mut self) -> Result<(), String>;

    /// Wait for an interrupt; false if none came within `patience`.
    fn wait(&mut self, patience: Duration) -> Result<bool, String>;
}

/// Take the interrupts of a file that counts them: a read gives four bytes. False if none came within `patience`.
pub fn take_events(file: &File, patience: Duration) -> Result<bool, String> {
    let failed = |error: Errno| format!("the interrupt's file failed: {}", cause(&error.into()));
    let end = Instant::now() + patience;
    // A signal of this program ends a wait before its time.
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let wait = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(failed(error)),
        }
        match rustix::io::read(file, &mut [0; 4]) {
            Ok(4) => return Ok(true),
            Ok(came) => return Err(format!("the interrupt's file gave {came} bytes, not 4")),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(failed(error)),
        }
    }
}
