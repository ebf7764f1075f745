// SPDX-License-Identifier: Apache-2.0
//! A core on a PCIe card behind AMD's XDMA: registers, DMA to the card's memory and interrupt by its device files.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use super::bus::{Bus, Done, Window, take_events};
use crate::files::{cause, lock, open};

/// Bytes that one transfer moves at most.
const MOST: usize = 1 << 20;
/// A transfer's memory lies in its page as the card's does in the card's: the DMA moves words of the bus.
const PAGE: usize = 4096;

/// Where a core on a card is found.
#[derive(Clone, Debug)]
pub struct XdmaAddress {
    /// The card: N of `/dev/xdmaN_user`.
    pub card: u32,
    /// First address and size of the card's memory that the core and the DMA reach.
    pub memory: (u64, u64),
    /// How the end of a program is learnt.
    pub done: Done,
    /// Folder that has `dev`.
    pub root: PathBuf,
}

/// A core behind XDMA.
pub struct Xdma {
    registers: File,
    to_card: File,
    from_card: File,
    /// Nothing where it is not waited for.
    events: Option<File>,
    memory: Window,
    bounce: Vec<u8>,
}

impl Xdma {
    /// Open the card's files, for one program.
    pub fn open(address: &XdmaAddress) -> Result<Self, String> {
        let (start, bytes) = address.memory;
        if bytes == 0
            || start
                .checked_add(bytes)
                .is_none_or(|end| end > i64::MAX as u64)
        {
            return Err(format!(
                "{bytes} bytes of memory at {start:#x}: they begin and end below 2^63"
            ));
        }
        let opened = |end: &str, hint: &str| {
            let path = address.root.join(format!("dev/xdma{}_{end}", address.card));
            open(&path, 0, &format!("there is no {}{hint}", path.display()))
        };
        let registers = opened(
            "user",
            ": load AMD's XDMA driver, and the card's bitstream before it",
        )?;
        lock(&registers)?;
        Ok(Self {
            to_card: opened("h2c_0", "")?,
            from_card: opened("c2h_0", "")?,
            events: match address.done {
                Done::Interrupt => Some(opened(
                    "events_0",
                    ": ?done=poll asks for the core's state instead",
                )?),
                Done::Poll => None,
            },
            registers,
            memory: Window {
                address: start,
                bytes,
            },
            bounce: vec![0; MOST + PAGE],
        })
    }
}

/// A part of the memory that transfers pass through, placed in its page as `address` is.
pub fn part(bounce: &mut [u8], address: u64, bytes: usize) -> &mut [u8] {
    let start = (address as usize).wrapping_sub(bounce.as_ptr() as usize) % PAGE;
    &mut bounce[start..start + bytes]
}

/// Do all of a transfer, which the driver may cut short.
fn whole(
    bytes: usize,
    what: &str,
    address: u64,
    mut some: impl FnMut(usize) -> std::io::Result<usize>,
) -> Result<(), String> {
    let mut done = 0;
    while done < bytes {
        match some(done) {
            Ok(0) => {
                return Err(format!(
                    "{what} {address:#x} ended after {done} of {bytes} bytes"
                ));
            }
            Ok(moved) => done += moved,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("{what} {address:#x} failed: {}", cause(&error))),
        }
    }
    Ok(())
}

impl Bus for Xdma {
    fn read(&mut self, address: u32) -> Result<u32, String> {
        let mut word = [0; 4];
        let at = u64::from(address);
        whole(4, "reading register", at, |done| {
            self.registers.read_at(&mut word[done..], at + done as u64)
        })?;
        // The driver gives the host's order.
        Ok(u32::from_ne_bytes(word))
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), String> {
        let word = value.to_ne_bytes();
        let at = u64::from(address);
        whole(4, "writing register", at, |done| {
            self.registers.write_at(&word[done..], at + done as u64)
        })
    }

    fn window(&self) -> Window {
        self.memory
    }

    fn read_memory(&mut self, at: u64, out: &mut [u8]) -> Result<(), String> {
        let (file, bounce) = (&self.from_card, &mut self.bounce);
        for (chunk, place) in out.chunks_mut(MOST).zip((at..).step_by(MOST)) {
            let address = self.memory.address + place;
            let part = part(bounce, address, chunk.len());
            whole(
                part.len(),
                "DMA from the card's memory at",
                address,
                |done| file.read_at(&mut part[done..], address + done as u64),
            )?;
            chunk.copy_from_slice(part);
        }
        Ok(())
    }

    fn write_memory(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let (file, bounce) = (&self.to_card, &mut self.bounce);
        for (chunk, place) in bytes.chunks(MOST).zip((at..).step_by(MOST)) {
            let address = self.memory.address + place;
            let part = part(bounce, address, chunk.len());
            part.copy_from_slice(chunk);
            whole(part.len(), "DMA to the card's memory at", address, |done| {
                file.write_at(&part[done..], address + done as u64)
            })?;
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<(), String> {
        // A DMA is over when its write returns.
        Ok(())
    }

    fn wait(&mut self, patience: Duration) -> Result<bool, String> {
        match &self.events {
            Some(file) => take_events(file, patience),
            None => Ok(false),
        }
    }
}
