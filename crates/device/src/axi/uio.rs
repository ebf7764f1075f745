// SPDX-License-Identifier: Apache-2.0
//! A core in the chip of its host: registers and interrupt by UIO, memory by u-dma-buf.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use super::buffer::Buffer;
use super::bus::{Bus, Done, Window, take_events};
use super::mapped::Mapped;
use crate::files::{attribute, cause, lock, names, number, open};

/// Where a core in the chip of its host is found.
#[derive(Clone, Debug)]
pub struct UioAddress {
    /// What the device tree calls it, or `uioN`.
    pub device: String,
    /// Its u-dma-buf; nothing: of the device tree's name for the core.
    pub buffers: Option<String>,
    /// How the end of a program is learnt.
    pub done: Done,
    /// Folder that has `dev` and `sys`.
    pub root: PathBuf,
}

/// A core behind UIO.
pub struct Uio {
    file: File,
    registers: Mapped,
    /// Of the registers.
    bytes: u64,
    buffer: Buffer,
}

impl Uio {
    /// Open device and buffer, for one program.
    pub fn open(address: &UioAddress) -> Result<Self, String> {
        let class = address.root.join("sys/class/uio");
        let (device, name) = address.find()?;
        let map = class.join(&device).join("maps/map0");
        let (size, skipped) = (
            number(&map.join("size"))?,
            match map.join("offset") {
                path if path.exists() => number(&path)?,
                _ => 0,
            },
        );
        if skipped != 0 || size == 0 {
            return Err(format!(
                "the registers of {device} begin {skipped} bytes into a page and have {size}: the device tree gives \
                 them whole pages"
            ));
        }
        let path = address.root.join("dev").join(&device);
        let file = open(&path, 0, &format!("there is no {}", path.display()))?;
        lock(&file)?;
        Ok(Self {
            registers: Mapped::new(&file, 0, size)?,
            bytes: size,
            file,
            buffer: Buffer::open(&address.root, address.buffers.as_ref().unwrap_or(&name))?,
        })
    }
}

impl UioAddress {
    /// The device, as `uioN`, and its name in the device tree.
    fn find(&self) -> Result<(String, String), String> {
        let class = self.root.join("sys/class/uio");
        let mut all = Vec::new();
        for device in names(&class) {
            let name = attribute(&class.join(&device).join("name"))?.unwrap_or_default();
            all.push((device, name));
        }
        if let Some(found) = all.iter().find(|(device, _)| *device == self.device) {
            return Ok(found.clone());
        }
        let wanted: Vec<_> = all
            .iter()
            .filter(|(_, name)| *name == self.device)
            .collect();
        match wanted[..] {
            [found] => Ok(found.clone()),
            [] => {
                let shown = all
                    .iter()
                    .map(|(device, name)| format!("{device} ({name})"));
                let shown = shown.collect::<Vec<_>>().join(", ");
                Err(match shown.is_empty() {
                    true => "no UIO device: load the package's device-tree overlay, and the kernel takes it for UIO with \
                             uio_pdrv_genirq.of_id=generic-uio among its arguments"
                        .to_owned(),
                    false => format!("no UIO device of this name; there are {shown}"),
                })
            }
            _ => {
                let shown: Vec<_> = wanted
                    .iter()
                    .map(|(device, _)| format!("uio:{device}"))
                    .collect();
                Err(format!(
                    "several UIO devices have this name: name one of {}",
                    shown.join(", ")
                ))
            }
        }
    }
}

impl Bus for Uio {
    fn read(&mut self, address: u32) -> Result<u32, String> {
        Ok(self.registers.read(self.inside(address)?))
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), String> {
        let at = self.inside(address)?;
        self.registers.write(at, value);
        Ok(())
    }

    fn window(&self) -> Window {
        self.buffer.window
    }

    fn read_memory(&mut self, at: u64, out: &mut [u8]) -> Result<(), String> {
        self.buffer.read(at, out)
    }

    fn write_memory(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        self.buffer.write(at, bytes);
        Ok(())
    }

    fn publish(&mut self) -> Result<(), String> {
        self.buffer.publish()
    }

    fn wait(&mut self, patience: Duration) -> Result<bool, String> {
        // The kernel masks the interrupt when it comes; a write lets it come again.
        let allowed = rustix::io::write(&self.file, &1u32.to_ne_bytes());
        allowed.map_err(|error| {
            format!(
                "its interrupt cannot be waited for ({}): the device tree names one, or ?done=poll asks for the core's \
                 state",
                cause(&error.into())
            )
        })?;
        take_events(&self.file, patience)
    }
}

impl Uio {
    fn inside(&self, address: u32) -> Result<usize, String> {
        match u64::from(address) + 4 <= self.bytes {
            true => Ok(address as usize),
            false => Err(format!(
                "register {address:#x} lies beyond the {:#x} bytes that the device tree gives the registers",
                self.bytes
            )),
        }
    }
}
