// SPDX-License-Identifier: Apache-2.0
//! What the crates above take from here compiled, by [`zq::instantiate`].

use crate::{Backend, Coprocessor, Recorder};

zq::instantiate!(
    <Coprocessor as Backend>::open,
    <Coprocessor as Backend>::client,
    <Recorder as Backend>::open,
);
