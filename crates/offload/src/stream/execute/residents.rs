// SPDX-License-Identifier: Apache-2.0
//! Host buffers of a device's programs, and tiles that stay in them from run to run: those of sources that have an
//! [`Owner`]. An owner keeps the first tiles that its room holds: a run loads all of them in the same order, so the one
//! that was used least recently is the next to be used. Where the device has no room, tiles of the owner whose last run
//! is the longest ago make place.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use device::Driver;
use polynomial::{Graph, Host, Owner, PolyOp, Room};
use zq::Word;

use crate::OffloadError;
use crate::stream::partition::{Half, Layout};
use crate::stream::select::Tile;

/// What a tile holds, by the sources of one owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// For each lane that matters a source, by the owner's number, and the number of its limb.
    limbs: Vec<Option<(u32, u32)>>,
    moduli: Vec<u128>,
    half: Option<Half>,
    carried: bool,
}

/// A tile in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    /// The buffer.
    pub buffer: u32,
    /// Of its words.
    pub hash: u64,
}

/// Tiles of an owner.
struct Owned {
    owner: Weak<Owner>,
    room: Arc<Room>,
    /// Of a buffer.
    bytes: usize,
    tiles: HashMap<Content, Resident>,
    /// The run that used them last.
    run: u64,
}

/// The buffers of the cores of a device.
#[derive(Default)]
pub struct Residents {
    /// By the address of the owner, which no other has while it is watched.
    owned: HashMap<usize, Owned>,
    /// Buffers that hold nothing any more.
    free: Vec<u32>,
    /// Buffers kept for the tables of the present run.
    reserved: Vec<u32>,
    /// Buffers made.
    made: u64,
    /// Runs begun.
    run: u64,
    /// Resets of the device until the last run.
    resets: u64,
}

impl Content {
    /// The owner of a tile that the host gives, and what the tile holds; `None` where it may be another in the next
    /// run, or is of several owners.
    pub fn of<'h, W: Word, H: Host<W>>(
        graph: &Graph<W>,
        layout: &Layout,
        tile: &Tile,
        host: &'h H,
    ) -> Option<(&'h Arc<Owner>, Self)> {
        let mut owner: Option<&Arc<Owner>> = None;
        let mut limbs = Vec::with_capacity(tile.limbs.len());
        for limb in &tile.limbs {
            let Some(limb) = *limb else {
                limbs.push(None);
                continue;
            };
            let bundle = graph.bundle_of(limb);
            let PolyOp::Source(number, _) = bundle.operation else {
                return None;
            };
            let (own, number) = host.owner(number)?;
            if owner.is_some_and(|other| !Arc::ptr_eq(own, other)) {
                return None;
            }
            owner = Some(own);
            limbs.push(Some((number, limb.0 - bundle.first.0)));
        }
        let section = &layout.sections[tile.section];
        let content = Self {
            limbs,
            moduli: section.moduli.clone(),
            half: section.half,
            carried: tile.carried,
        };
        owner.map(|owner| (owner, content))
    }
}

impl Residents {
    /// Begins a run on a device that was reset that often: tiles of owners that are gone leave, and all tiles if it was
    /// reset since the last run.
    pub fn begin(&mut self, resets: u64) {
        if self.resets != resets {
            self.forget();
        }
        (self.run, self.resets) = (self.run + 1, resets);
        self.free.append(&mut self.reserved);
        self.sweep();
    }

    /// Forgets all tiles: the device may have lost them.
    pub fn forget(&mut self) {
        let free = &mut self.free;
        let owned = self.owned.drain();
        owned.for_each(|(_, mut owned)| owned.leave(free));
    }

    /// Bytes of buffers that hold something, each of `bytes` bytes; those of owners that are gone do not.
    pub fn in_use(&mut self, bytes: usize) -> u64 {
        self.sweep();
        (self.made - self.free.len() as u64) * bytes as u64
    }

    fn sweep(&mut self) {
        let free = &mut self.free;
        self.owned.retain(|_, owned| {
            let is_there = owned.owner.strong_count() > 0;
            if !is_there {
                owned.leave(free);
            }
            is_there
        });
    }

    /// A buffer for a program: a free one, a new one, or that of a tile that no owner of the present run has.
    ///
    /// # Errors
    /// No room.
    pub fn allocate(&mut self, driver: &mut Driver) -> Result<u32, OffloadError> {
        if let Some(buffer) = self.free.pop() {
            return Ok(buffer);
        }
        match driver.allocate(1) {
            Ok(buffer) => {
                self.made += 1;
                Ok(buffer)
            }
            Err(error) => self.evict().ok_or_else(|| error.into()),
        }
    }

    /// The buffer of a tile of the owner whose last run is the longest ago.
    fn evict(&mut self) -> Option<u32> {
        let earlier = |owned: &&mut Owned| owned.run < self.run && !owned.tiles.is_empty();
        let owned = self.owned.values_mut().filter(earlier);
        let owned = owned.min_by_key(|owned| owned.run)?;
        let content = owned.tiles.keys().next()?.clone();
        let buffer = owned.tiles.remove(&content)?.buffer;
        owned.room.give_back(owned.bytes);
        Some(buffer)
    }

    /// Keeps room for that many tables, as far as there is any.
    pub fn reserve(&mut self, driver: &mut Driver, tables: usize) {
        while self.reserved.len() < tables
            && let Ok(buffer) = self.allocate(driver)
        {
            self.reserved.push(buffer);
        }
    }

    /// A buffer for a table.
    ///
    /// # Errors
    /// No room.
    pub fn for_table(&mut self, driver: &mut Driver) -> Result<u32, OffloadError> {
        match self.reserved.pop() {
            Some(buffer) => Ok(buffer),
            None => self.allocate(driver),
        }
    }

    /// The tile of an owner with that content, if it is there.
    pub fn find(&mut self, owner: &Arc<Owner>, content: &Content) -> Option<Resident> {
        let owned = self.owned.get_mut(&address(owner))?;
        owned.run = self.run;
        owned.tiles.get(content).copied()
    }

    /// Sends a tile that is to stay, if owner and device have room for it; `hash`: of its words, `[lane][n]`.
    ///
    /// # Errors
    /// The device's.
    pub fn keep(
        &mut self,
        driver: &mut Driver,
        owner: &Arc<Owner>,
        content: Content,
        (words, hash): (&[Vec<u128>], u64),
    ) -> Result<Option<Resident>, OffloadError> {
        let (room, bytes) = (owner.room(), driver.info().buffer_bytes());
        if !room.claim(bytes) {
            return Ok(None);
        }
        let Ok(buffer) = self.allocate(driver) else {
            room.give_back(bytes);
            return Ok(None);
        };
        let owned = self.owned.entry(address(owner)).or_insert_with(|| Owned {
            owner: Arc::downgrade(owner),
            room: Arc::clone(room),
            bytes,
            tiles: HashMap::new(),
            run: 0,
        });
        owned.run = self.run;
        let tile = Resident { buffer, hash };
        owned.tiles.insert(content, tile);
        // Where it fails the run ends, and all tiles are forgotten.
        driver.upload(buffer, words)?;
        Ok(Some(tile))
    }
}

impl Owned {
    /// Frees its buffers.
    fn leave(&mut self, free: &mut Vec<u32>) {
        self.room.give_back(self.tiles.len() * self.bytes);
        free.extend(self.tiles.drain().map(|(_, tile)| tile.buffer));
    }
}

fn address(owner: &Arc<Owner>) -> usize {
    Arc::as_ptr(owner) as usize
}
