// SPDX-License-Identifier: Apache-2.0
//! A board behind AXI: its registers, a memory that host and core share, an interrupt; by UIO and u-dma-buf on the chip
//! of the host, by XDMA's files on a card.

mod buffer;
mod bus;
mod host;
mod mapped;
#[cfg(test)]
mod tests;
mod uio;
mod xdma;

pub use bus::Done;
pub(crate) use host::AxiHost;
pub use uio::UioAddress;
pub use xdma::XdmaAddress;
