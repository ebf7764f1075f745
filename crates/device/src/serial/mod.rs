// SPDX-License-Identifier: Apache-2.0
//! A board at a serial port: port, frames, the host that serves a core over them.

mod frames;
mod host;
mod link;
mod port;

pub use host::SerialHost;
