// SPDX-License-Identifier: Apache-2.0
//! A serial port of the operating system: raw bytes, one program at a time.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{ControlModes, OptionalActions, SpecialCodeIndex, Termios};
use rustix::termios::{ioctl_tiocexcl, ioctl_tiocnxcl, tcgetattr, tcsetattr};

use crate::files::{cause, lock, open};

/// Bytes to and from a board; failures in words.
pub trait Port: Send {
    /// Send all bytes, within `patience`.
    fn send(&mut self, bytes: &[u8], patience: Duration) -> Result<(), String>;

    /// Append what has come, waiting up to `patience` for the first byte; how many bytes that is.
    fn receive(&mut self, into: &mut Vec<u8>, patience: Duration) -> Result<usize, String>;
}

/// A port that is open, and locked against other programs.
pub struct Tty {
    file: File,
    /// Settings that were found.
    before: Termios,
}

impl Drop for Tty {
    fn drop(&mut self) {
        // A port that is gone has nothing to be put back.
        let _ = tcsetattr(&self.file, OptionalActions::Now, &self.before);
        let _ = ioctl_tiocnxcl(&self.file);
    }
}

impl Tty {
    /// Open a port at a rate: 8 data bits, no parity, one stop bit, no flow control.
    pub fn open(path: &Path, baud: u32) -> Result<Self, String> {
        let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits() as i32;
        let file = open(
            path,
            flags,
            "there is no such port: is the board plugged in?",
        )?;
        let before = tcgetattr(&file).map_err(|_| "is no serial port".to_owned())?;
        lock(&file)?;
        let fail = |error: Errno| format!("cannot be set up: {}", cause(&error.into()));
        // Programs that ask for no lock are kept out too.
        ioctl_tiocexcl(&file).map_err(fail)?;
        let mut settings = before.clone();
        let tty = Self { file, before };
        raw(&mut settings);
        let rate = || format!("the port cannot do {baud} baud: ?baud= takes another rate");
        settings.set_speed(baud).map_err(|_| rate())?;
        tcsetattr(&tty.file, OptionalActions::Flush, &settings).map_err(|_| rate())?;
        let made = tcgetattr(&tty.file).map_err(fail)?.output_speed();
        if made.abs_diff(baud) > baud / 50 {
            return Err(rate());
        }
        Ok(tty)
    }

    /// Wait until the port takes or has bytes; false after `patience`.
    fn ready(&self, flags: PollFlags, patience: Duration) -> Result<bool, String> {
        let wait = Timespec {
            tv_sec: patience.as_secs() as i64,
            tv_nsec: patience.subsec_nanos().into(),
        };
        let mut asked = [PollFd::new(&self.file, flags)];
        match poll(&mut asked, Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => Ok(false),
            Ok(_) => Ok(true),
            Err(error) => Err(lost(error)),
        }
    }
}

fn lost(error: Errno) -> String {
    format!("the port went away: {}", cause(&error.into()))
}

/// Bytes as they are, no lines of a modem.
fn raw(settings: &mut Termios) {
    settings.make_raw();
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    settings.control_modes &= !(ControlModes::CRTSCTS | ControlModes::CSTOPB);
    // Nothing there is an error then, and not the end that a closed port has.
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
}

impl Port for Tty {
    fn send(&mut self, bytes: &[u8], patience: Duration) -> Result<(), String> {
        let end = Instant::now() + patience;
        let mut left = bytes;
        while !left.is_empty() {
            match rustix::io::write(&self.file, left) {
                Ok(taken) => left = &left[taken..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let wait = end.saturating_duration_since(Instant::now());
                    if wait.is_zero() {
                        return Err("the port takes no bytes".to_owned());
                    }
                    self.ready(PollFlags::OUT, wait)?;
                }
                Err(error) => return Err(lost(error)),
            }
        }
        Ok(())
    }

    fn receive(&mut self, into: &mut Vec<u8>, patience: Duration) -> Result<usize, String> {
        if !self.ready(PollFlags::IN, patience)? {
            return Ok(0);
        }
        let mut bytes = [0; 4096];
        match rustix::io::read(&self.file, &mut bytes) {
            // The port is readable and has nothing: its other end is closed.
            Ok(0) => Err("the port went away: its other end is closed".to_owned()),
            Ok(came) => {
                into.extend(&bytes[..came]);
                Ok(came)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(lost(error)),
        }
    }
}
