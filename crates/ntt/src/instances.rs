// SPDX-License-Identifier: Apache-2.0
//! What the crates above take from here compiled, by [`zq::instantiate`].

use crate::NttPlan;

zq::instantiate!(W:
    NttPlan::<W>::with_level,
    NttPlan::<W>::forward,
    NttPlan::<W>::inverse,
    NttPlan::<W>::inverse_from,
    NttPlan::<W>::forward_outer,
    NttPlan::<W>::forward_outer_columns,
    NttPlan::<W>::forward_from,
    NttPlan::<W>::forward_block,
);
