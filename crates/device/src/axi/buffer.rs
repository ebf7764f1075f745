// SPDX-License-Identifier: Apache-2.0
//! Memory of u-dma-buf: contiguous, mapped through the processor's cache, kept in step with the core by its attributes.

use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::bus::Window;
use super::mapped::{Mapped, barrier};
use crate::files::{attribute, cause, lock, names, number, open};

/// What is kept in step begins and ends at multiples of this: as long as a cache line of any processor, or longer.
const LINE: u64 = 128;

/// An attribute that takes numbers.
struct Attribute {
    file: File,
    path: PathBuf,
}

impl Attribute {
    fn open(folder: &Path, name: &str) -> Result<Self, String> {
        let path = folder.join(name);
        let file = OpenOptions::new().write(true).open(&path);
        let file = file
            .map_err(|error| format!("{} cannot be opened: {}", path.display(), cause(&error)))?;
        Ok(Self { file, path })
    }

    fn set(&mut self, value: u64) -> Result<(), String> {
        let text = value.to_string();
        let written = self
            .file
            .rewind()
            .and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|error| {
            format!(
                "{} does not take {text}: {}",
                self.path.display(),
                cause(&error)
            )
        })
    }
}

/// Attributes that keep cache and memory in step.
struct Sync {
    offset: Attribute,
    size: Attribute,
    to_device: Attribute,
    to_processor: Attribute,
}

impl Sync {
    fn open(folder: &Path) -> Result<Self, String> {
        // Both ways, whatever the program before has left.
        Attribute::open(folder, "sync_direction")?.set(0)?;
        Ok(Self {
            offset: Attribute::open(folder, "sync_offset")?,
            size: Attribute::open(folder, "sync_size")?,
            to_device: Attribute::open(folder, "sync_for_device")?,
            to_processor: Attribute::open(folder, "sync_for_cpu")?,
        })
    }

    fn range(&mut self, range: &Range<u64>) -> Result<(), String> {
        self.offset.set(range.start)?;
        self.size.set(range.end - range.start)
    }
}

/// A buffer.
pub struct Buffer {
    map: Mapped,
    /// Nothing where the hardware keeps cache and memory in step.
    sync: Option<Sync>,
    /// Written and perhaps in the cache only. What lies between is not the host's: the core may write there meanwhile.
    dirty: Vec<Range<u64>>,
    /// What the core sees.
    pub window: Window,
    /// Holds the lock.
    _file: File,
}

impl Buffer {
    /// Open the buffer of a name; `root` has `dev` and `sys`.
    pub fn open(root: &Path, name: &str) -> Result<Self, String> {
        let class = root.join("sys/class/u-dma-buf");
        let folder = class.join(name);
        let there = names(&class);
        if !there.iter().any(|one| one == name) {
            let there = there.join(", ");
            return Err(match there.is_empty() {
                true => format!("no u-dma-buf {name}: there is none (its module, the overlay)"),
                false => format!("no u-dma-buf {name}: ?buffers= takes one of {there}"),
            });
        }
        let window = Window {
            address: number(&folder.join("phys_addr"))?,
            bytes: number(&folder.join("size"))?,
        };
        if window
            .address
            .checked_add(window.bytes)
            .is_none_or(|end| end > i64::MAX as u64)
        {
            return Err(format!(
                "u-dma-buf {name}: {} bytes at {:#x} are no memory",
                window.bytes, window.address
            ));
        }
        let coherent = attribute(&folder.join("dma_coherent"))?;
        let path = root.join("dev").join(name);
        let file = open(&path, 0, &format!("there is no {}", path.display()))?;
        lock(&file)?;
        Ok(Self {
            map: Mapped::new(&file, 0, window.bytes)?,
            sync: match coherent.as_deref() {
                Some("1") => None,
                _ => Some(Sync::open(&folder)?),
            },
            dirty: Vec::new(),
            window,
            _file: file,
        })
    }

    /// Whole lines that hold a range, inside the buffer.
    fn lines(&self, at: u64, bytes: usize) -> Range<u64> {
        let end = (at + bytes as u64).next_multiple_of(LINE);
        at / LINE * LINE..end.min(self.window.bytes)
    }

    /// Write memory that the core is to see after [`Buffer::publish`].
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        self.map.store(at as usize, bytes);
        let new = self.lines(at, bytes.len());
        match self.dirty.last_mut() {
            Some(old) if old.start <= new.start && new.start <= old.end => {
                old.end = old.end.max(new.end)
            }
            _ => self.dirty.push(new),
        }
    }

    /// Bring what was written from the cache to memory.
    pub fn publish(&mut self) -> Result<(), String> {
        for dirty in std::mem::take(&mut self.dirty) {
            if let Some(sync) = &mut self.sync {
                sync.range(&dirty)?;
                sync.to_device.set(1)?;
            }
        }
        barrier();
        Ok(())
    }

    /// Read memory as the core has left it: what the cache holds of it is forgotten, so nothing may be there alone.
    pub fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), String> {
        self.publish()?;
        let lines = self.lines(at, out.len());
        if let Some(sync) = &mut self.sync
            && !lines.is_empty()
        {
            sync.range(&lines)?;
            sync.to_processor.set(1)?;
        }
        self.map.load(at as usize, out);
        Ok(())
    }
}
