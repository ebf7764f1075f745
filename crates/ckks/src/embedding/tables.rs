// SPDX-License-Identifier: Apache-2.0
//! Layout and twiddles of the slot transform (see [`super::fft`]).

use super::roots::root_of_unity;

/// Number of columns of the transposed layout, and lanes of one step.
pub(super) const COLUMNS: usize = 8;
/// Fewest points that use the transposed layout.
pub(super) const MIN_BLOCKED: usize = COLUMNS * COLUMNS;

/// Complex vector, parts apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Split {
    pub re: Vec<f64>,
    pub im: Vec<f64>,
}

impl Split {
    pub(super) fn resize(&mut self, len: usize) {
        self.re.resize(len, 0.0);
        self.im.resize(len, 0.0);
    }

    pub(super) fn zero(len: usize) -> Self {
        Self {
            re: vec![0.0; len],
            im: vec![0.0; len],
        }
    }
}

/// Precomputed transform between slots and folded coefficients for N = 1, 2, 4, … points.
#[derive(Clone, Debug)]
pub(super) struct SlotFft {
    points: usize,
    /// `root[m + i]`: w of node i among m nodes (index 0 unused). From 64 points on, the last two levels are stored
    /// as columns: node `h + i·(m/B)` of the B = N/8 blocks stands at `m + h·B + i`.
    root: Split,
    /// `place[j]`: position of slot j after the forward transform.
    place: Vec<u32>,
}

impl SlotFft {
    pub(super) fn new(points: usize) -> Self {
        debug_assert!(points.is_power_of_two());
        let order = 4 * points as u64;
        let blocks = points / COLUMNS;
        // A node is the angle a of its value e^(2πi a / order); the top node is X^N = i.
        let mut nodes = vec![order / 4];
        let mut root = Split::zero(points);
        while nodes.len() < points {
            let m = nodes.len();
            for (i, angle) in nodes.iter().enumerate() {
                let at = if points >= MIN_BLOCKED && m > blocks {
                    let per_block = m / blocks;
                    m + (i % per_block) * blocks + i / per_block
                } else {
                    m + i
                };
                (root.re[at], root.im[at]) = root_of_unity(angle / 2, order.trailing_zeros());
            }
            nodes = nodes
                .iter()
                .flat_map(|a| [a / 2, a / 2 + order / 2])
                .collect();
        }
        Self {
            points,
            root,
            place: slot_places(&nodes),
        }
    }

    /// Number of complex points N.
    pub(super) fn points(&self) -> usize {
        self.points
    }

    /// The merged twiddles; see the field.
    pub(super) fn root(&self) -> &Split {
        &self.root
    }

    /// Position of every slot in the transform's output (forward) and input (inverse).
    pub(super) fn place(&self) -> &[u32] {
        &self.place
    }
}

/// `place[j]` is the position of the leaf whose angle is 5^j, in the layout the transform leaves.
fn slot_places(leaves: &[u64]) -> Vec<u32> {
    let points = leaves.len();
    let order = 4 * points;
    let mut at_angle = vec![0u32; order];
    for (position, &angle) in leaves.iter().enumerate() {
        let physical = if points >= MIN_BLOCKED {
            (position % COLUMNS) * (points / COLUMNS) + position / COLUMNS
        } else {
            position
        };
        at_angle[angle as usize] = physical as u32;
    }
    let mut power = 1usize;
    (0..points)
        .map(|_| {
            let place = at_angle[power % order];
            power = power * 5 % order;
            place
        })
        .collect()
}
