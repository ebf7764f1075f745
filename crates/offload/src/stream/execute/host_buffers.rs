// SPDX-License-Identifier: Apache-2.0
//! The host buffers that the cores of a device have in common.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use device::Driver;
use polynomial::Owner;

use super::residents::{Content, Residents};
use super::shared_buffers::SharedBuffers;
use crate::OffloadError;

/// Host buffers of a device beside those that a core has for itself.
#[derive(Default)]
pub struct HostBuffers {
    /// Tiles that stay from run to run, and the buffers that there are.
    pub residents: Residents,
    shared: SharedBuffers,
    /// Whether several cores run.
    is_shared: bool,
}

impl HostBuffers {
    /// Begins a run on some cores of a device that was reset that often.
    pub fn begin(&mut self, cores: usize, resets: u64) {
        self.is_shared = cores > 1;
        self.shared.clear();
        self.residents.begin(resets);
    }

    /// The buffer in which a tile of an owner stayed.
    pub fn find(&mut self, owner: &Arc<Owner>, content: &Content) -> Option<u32> {
        let found = self.residents.find(owner, content)?;
        if self.is_shared {
            self.shared.add(found);
        }
        Some(found.buffer)
    }

    /// Sends the words of a tile, `[lane][n]`, unless they are there; `None` if a core has to send them to a buffer of
    /// its own.
    ///
    /// # Errors
    /// The device's.
    pub fn send(
        &mut self,
        driver: &mut Driver,
        owned: Option<(&Arc<Owner>, Content)>,
        words: &[Vec<u128>],
    ) -> Result<Option<u32>, OffloadError> {
        if !self.is_shared && owned.is_none() {
            return Ok(None);
        }
        let words = (words, hash(words));
        if self.is_shared
            && let Some(buffer) = self.shared.find(driver, words)?
        {
            return Ok(Some(buffer));
        }
        if let Some((owner, content)) = owned
            && let Some(tile) = self.residents.keep(driver, owner, content, words)?
        {
            self.shared.add(tile);
            return Ok(Some(tile.buffer));
        }
        let send = || self.shared.upload(driver, &mut self.residents, words);
        self.is_shared.then(send).transpose()
    }
}

fn hash(words: &[Vec<u128>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}
