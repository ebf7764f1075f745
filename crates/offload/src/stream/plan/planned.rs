// SPDX-License-Identifier: Apache-2.0
//! The plan of a program, made once for all its runs.

use std::sync::Arc;

use isa::BuildInfo;
use polynomial::Graph;
use zq::Word;

use super::part::PlannedPart;
use super::search::plan_parts;
use crate::{Offer, OffloadError};

/// Programs planned for the first cores of a device, one each. A plan holds no data: it serves every run of these
/// programs on this build with this offer.
pub struct Planned {
    parts: Vec<Arc<PlannedPart>>,
}

impl Planned {
    /// Plans a program for each core.
    ///
    /// # Errors
    /// What the build cannot do.
    pub fn new<'g, W: Word>(
        info: &BuildInfo,
        offer: &Offer,
        graphs: impl Iterator<Item = &'g Graph<W>>,
    ) -> Result<Self, OffloadError> {
        let parts = plan_parts(info, offer, graphs)?.into_iter();
        let parts = parts.map(Arc::new).collect();
        Ok(Self { parts })
    }

    /// Bytes of memory that it takes, about.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    pub(crate) fn parts(&self) -> &[Arc<PlannedPart>] {
        &self.parts
    }
}
