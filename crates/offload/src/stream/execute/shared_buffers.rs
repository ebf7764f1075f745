// SPDX-License-Identifier: Apache-2.0
//! Host buffers shared by the cores of a device: a polynomial that several cores load is stored once, so that
//! simultaneous LOADs of it are served by one transfer.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use device::Driver;

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

    /// The buffer that holds these words, `[lane][n]`; if no buffer does, the words are sent to a new one.
    ///
    /// # Errors
    /// The device's.
    pub fn upload(
        &mut self,
        driver: &mut Driver,
        words: &[Vec<u128>],
    ) -> Result<u32, OffloadError> {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        let alike = self.by_hash.entry(hasher.finish()).or_default();
        for &buffer in alike.iter() {
            if driver.holds(buffer, words)? {
                return Ok(buffer);
            }
        }
        if self.used == self.buffers.len() {
            self.buffers.push(driver.allocate(1)?);
        }
        let buffer = self.buffers[self.used];
        self.used += 1;
        driver.upload(buffer, words)?;
        alike.push(buffer);
        Ok(buffer)
    }
}
