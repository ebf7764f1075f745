// SPDX-License-Identifier: Apache-2.0
//! One frame at a time to a board, sent again until its answer is right.

use std::time::{Duration, Instant};

use super::frames::{self as f, Answer, Finder};
use super::port::Port;
use crate::error::DeviceError;
use crate::interface::LinkUse;

/// How often a frame is sent.
const TRIES: u32 = 6;

/// A board's end of a serial port, greeted.
pub struct Link {
    port: Box<dyn Port>,
    name: String,
    baud: u32,
    /// Time that a board may take to begin an answer, and between its bytes.
    patience: Duration,
    sequence: u8,
    /// Data of a frame at most.
    pub frame_bytes: usize,
    used: LinkUse,
    /// Time spent in frames; frames that were sent again.
    spent: Duration,
    resent: u64,
    /// Something right was heard.
    heard: bool,
}

impl Link {
    /// Greet the board at a port.
    ///
    /// # Errors
    /// It does not answer, or with frames of another version.
    pub fn open(
        port: Box<dyn Port>,
        name: &str,
        baud: u32,
        patience: Duration,
    ) -> Result<Self, DeviceError> {
        let mut link = Self {
            port,
            name: name.to_owned(),
            baud,
            patience,
            sequence: 0,
            frame_bytes: 0,
            used: LinkUse::default(),
            spent: Duration::ZERO,
            resent: 0,
            heard: false,
        };
        link.greet()?;
        Ok(link)
    }

    /// Begin a session: a board that was reset takes frames again.
    ///
    /// # Errors
    /// As [`Link::open`].
    pub fn greet(&mut self) -> Result<(), DeviceError> {
        let told = self.exchange(f::GREET, 0, 0, &[])?;
        let [f::VERSION, log2 @ 6..=15] = told[..] else {
            let what = format!(
                "the board greets with {told:?}, this driver speaks version {} of the frames",
                f::VERSION
            );
            return Err(self.fail(what));
        };
        self.frame_bytes = 1 << log2;
        Ok(())
    }

    /// An error of this port.
    pub fn fail(&self, what: impl Into<String>) -> DeviceError {
        DeviceError::Port {
            port: self.name.clone(),
            what: what.into(),
        }
    }

    /// Traffic, without its cycles; time it took; frames that were sent again.
    pub fn used(&self) -> (LinkUse, Duration, u64) {
        (self.used, self.spent, self.resent)
    }

    /// The time that a number of bytes takes on the line.
    fn line_time(&self, bytes: usize) -> Duration {
        Duration::from_secs_f64(10.0 * bytes as f64 / f64::from(self.baud))
    }

    /// Have a command done, with data or for `length` bytes; the data of its answer.
    ///
    /// # Errors
    /// The board refuses, was reset, or gives no right answer however often it is asked; the port went away.
    pub fn exchange(
        &mut self,
        kind: u8,
        address: u16,
        length: u16,
        data: &[u8],
    ) -> Result<Vec<u8>, DeviceError> {
        let start = Instant::now();
        self.sequence = self.sequence.wrapping_add(1);
        let bytes = f::command(kind, self.sequence, address, length, data);
        let wanted = match kind {
            f::GREET => 2,
            _ => usize::from(length),
        };
        let answer = self.insist(&bytes, wanted);
        self.spent += start.elapsed();
        let answer = answer?;
        match answer.code {
            f::OK if answer.data.len() == wanted => Ok(answer.data),
            f::REFUSED => Err(self.fail(refused(kind, address, data))),
            f::UNKNOWN => Err(self.fail("the board was reset: what it held is gone")),
            f::GONE => Err(self.fail("an answer was lost on the line, and its data are gone")),
            code => Err(self.fail(format!(
                "the board answers code {code:#04x} with {} bytes where {wanted} were asked for: no device of this \
                 driver",
                answer.data.len()
            ))),
        }
    }

    /// Send a command until it is answered.
    fn insist(&mut self, bytes: &[u8], wanted: usize) -> Result<Answer, DeviceError> {
        let mut answered = true;
        for attempt in 0..TRIES {
            self.resent += u64::from(attempt > 0);
            // A board that has answered waits for a frame; one that has not may be in the midst of one.
            if !answered {
                self.settle()?;
            }
            let time = self.line_time(bytes.len()) + self.patience;
            let sent = self.port.send(bytes, 2 * time);
            sent.map_err(|what| self.fail(what))?;
            self.used.frames += 1;
            self.used.bytes_to_device += bytes.len() as u64;
            let heard = self.hear(time + self.line_time(wanted))?;
            answered = heard.is_some();
            if let Some(answer) = heard {
                self.heard = true;
                if !matches!(answer.code, f::DAMAGED | f::MALFORMED) {
                    return Ok(answer);
                }
            }
        }
        Err(self.fail(match self.heard {
            true => format!("no right answer from the board in {TRIES} tries"),
            false => format!(
                "no board answers at {} baud: one is needed with a bitstream of ringsmith and a serial host of this rate",
                self.baud
            ),
        }))
    }

    /// The answer to the last command; `None` if it is damaged, or nothing has come for a while.
    fn hear(&mut self, mut patience: Duration) -> Result<Option<Answer>, DeviceError> {
        let mut finder = Finder::default();
        let mut came = Vec::new();
        loop {
            came.clear();
            let count = self.port.receive(&mut came, patience);
            let count = count.map_err(|what| self.fail(what))?;
            self.used.bytes_from_device += count as u64;
            if count == 0 {
                return Ok(None);
            }
            // Bytes come: from now on each has to be near the one before it.
            patience = self.patience;
            finder.push(&came);
            if let Some(found) = finder.find(self.sequence) {
                return Ok(found.ok());
            }
        }
    }

    /// Be silent until the board waits for a frame's first byte, and forget what comes.
    fn settle(&mut self) -> Result<(), DeviceError> {
        let silence = self
            .line_time(f::SILENCE_BYTES as usize * 3 / 2)
            .max(self.patience);
        let (end, mut dropped) = (Instant::now() + silence, Vec::new());
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let came = self.port.receive(&mut dropped, left);
            came.map_err(|what| self.fail(what))?;
            dropped.clear();
        }
    }
}

/// What the board refused, in words.
fn refused(kind: u8, address: u16, data: &[u8]) -> String {
    match kind {
        f::READ_REG => format!("the board has no register {address:#05x}"),
        f::WRITE_REG => {
            let number = |entry: &[u8]| u16::from_le_bytes([entry[0], entry[1]]);
            let mut all: Vec<u16> = data.chunks(6).map(number).collect();
            all.sort_unstable();
            all.dedup();
            format!("the board lacks one of the registers {all:#05x?}").replace(['\n', ' '], "")
        }
        _ => "the board has no transfer for these data".to_owned(),
    }
}
