// SPDX-License-Identifier: Apache-2.0
//! Planned programs on devices: uploads, submissions, downloads, on one core or several.

mod batch;
mod host_buffers;
mod residents;
mod shared_buffers;
mod stream;
mod timeline;

pub use batch::{BatchStatistics, CoreTime, run as run_streams};
pub use host_buffers::HostBuffers;
pub use stream::{Buffers, Ended, Progress, Stream, Worked};
pub use timeline::{MOST_KEPT, Ran, Timeline};
