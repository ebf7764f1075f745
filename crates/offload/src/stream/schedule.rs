// SPDX-License-Identifier: Apache-2.0
//! The order of operations, and of instructions within a submission.

mod chains;
mod order;
mod overlap;
mod port_share;
mod resident;

pub use chains::{Chains, Stagger};
pub use order::order;
pub use overlap::overlap;
pub use port_share::PortShare;
pub use resident::apart;
