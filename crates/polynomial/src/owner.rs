// SPDX-License-Identifier: Apache-2.0
//! Sources that stay the same from one run of a program to the next, and the memory that they may be kept in.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that things may be kept in between the runs of a program.
#[derive(Debug)]
pub struct Room {
    /// Bytes.
    left: AtomicUsize,
}

impl Room {
    /// Of that many bytes.
    pub fn new(bytes: usize) -> Arc<Self> {
        let left = AtomicUsize::new(bytes);
        Arc::new(Self { left })
    }

    /// Takes that many bytes, if they are left.
    pub fn claim(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        self.left.fetch_update(set, fetch, less).is_ok()
    }

    /// Gives back what was claimed.
    pub fn give_back(&self, bytes: usize) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The owner of sources whose limbs, by the owner's numbers, are the same as long as it lives, in whatever program: a
/// device may keep them in its memory from run to run, as far as the owner's room there goes.
#[derive(Debug)]
pub struct Owner {
    room: Arc<Room>,
}

impl Owner {
    /// With the room that it shares with others.
    pub fn new(room: &Arc<Room>) -> Arc<Self> {
        let room = Arc::clone(room);
        Arc::new(Self { room })
    }

    /// Its room on a device.
    pub fn room(&self) -> &Arc<Room> {
        &self.room
    }
}
