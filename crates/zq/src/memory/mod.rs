// SPDX-License-Identifier: Apache-2.0
//! Memory of residues: where it comes from, and how it is used again.
//!
//! Steady work allocates nothing from the system. Five layers see to that, each above the next:
//!
//! | layer | keeps | used for |
//! |---|---|---|
//! | [`Pool`] | whole work spaces, so that a second call finds the buffers of the first | callers of one object |
//! | [`Scratch`] | one buffer that grows to the largest length asked for | the owner of a work space |
//! | stock of a thread | buffers of dropped arrays ([`AlignedVec`]), by length, without a lock | arrays of one thread |
//! | depot | overflow of the stocks: results that several threads make and one drops | arrays of all threads |
//! | regions of huge pages | address space of cheap translation, lent in parts | buffers from 64 KiB to 16 MiB |
//!
//! The first two are for work spaces whose owner knows when they are used again, and are wiped when dropped; stock and
//! depot are for results, whose lifetime the caller decides. Smaller and larger buffers come from the usual allocator.
//! Where the system has no room, arrays unwind with [`OutOfMemory`] up to an [`attempt`].

mod aligned;
pub(crate) mod huge_pages;
mod pool;
mod scratch;
mod shortage;
mod stock;
mod wipe;
mod zeroed;

pub use aligned::AlignedVec;
pub use pool::Pool;
pub use scratch::Scratch;
pub use shortage::{OutOfMemory, Reserve, attempt, reserved};
pub use stock::{Stock, Stored};
pub use wipe::wipe;
