// SPDX-License-Identifier: Apache-2.0
//! Host buffers shared by the cores of a device: a polynomial that several cores load is stored once, so that
//! simultaneous LOADs of it are served by one transfer.

use std::collections::HashMap;

use device::Driver;

use super::residents::{Resident, Residents};
use crate::OffloadError;

/// Host buffers by the tiles that they hold.
#[derive(Default)]
pub struct SharedBuffers {
    /// All buffers; the first `used` of them are taken.
    buffers: Vec<u32>,
    used: usize,
    by_hash: HashMap<u64, Vec<u32>>,
}

impl SharedBuffers {
    /// Forgets what the buffers hold.
    pub fn clear(&mut self) {
        self.used = 0;
        self.by_hash.clear();
    }

    /// The buffer that holds these words, `[lane][n]`, of that hash, if there is one.
    ///
    /// # Errors
    /// The device's.
    pub fn find(
        &self,
        driver: &mut Driver,
        (words, hash): (&[Vec<u128>], u64),
    ) -> Result<Option<u32>, OffloadError> {
        for &buffer in self.by_hash.get(&hash).into_iter().flatten() {
            if driver.holds(buffer, words)? {
                return Ok(Some(buffer));
            }
        }
        Ok(None)
    }

    /// A tile that stays from run to run is there for all cores.
    pub fn add(&mut self, tile: Resident) {
        let alike = self.by_hash.entry(tile.hash).or_default();
        if !alike.contains(&tile.buffer) {
            alike.push(tile.buffer);
        }
    }

    /// Sends words that no buffer holds to a new one.
    ///
    /// # Errors
    /// The device's.
    pub fn upload(
        &mut self,
        driver: &mut Driver,
        residents: &mut Residents,
        (words, hash): (&[Vec<u128>], u64),
    ) -> Result<u32, OffloadError> {
        if self.used == self.buffers.len() {
            self.buffers.push(residents.allocate(driver)?);
        }
        let buffer = self.buffers[self.used];
        self.used += 1;
        driver.upload(buffer, words)?;
        self.add(Resident { buffer, hash });
        Ok(buffer)
    }
}
