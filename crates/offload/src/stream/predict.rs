// SPDX-License-Identifier: Apache-2.0
//! What a program would take of a build, from its plan alone: no data, no keys, no device.

use std::borrow::Cow;

use isa::BuildInfo;
use polynomial::Graph;
use zq::Word;

use super::lay_out::lay_out;
use super::timing::{Prediction, timed};
use crate::{Offer, OffloadError};

/// Usage of a build that gets an offer of operations after one run of a program, a part of it ([`Graph::shares`]) on
/// each of its first cores: their plans, timed by the latency formulas and the scheduling rules.
///
/// # Errors
/// What the build cannot do.
pub fn predict<W: Word>(
    info: &BuildInfo,
    offer: &Offer,
    parts: &[Cow<'_, Graph<W>>],
) -> Result<Prediction, OffloadError> {
    let laid = lay_out(info, offer, parts.iter().map(|part| &**part))?;
    let mut found = timed(info, &laid);
    for laid in &laid {
        laid.count(info, &mut found.usage);
    }
    Ok(found)
}
