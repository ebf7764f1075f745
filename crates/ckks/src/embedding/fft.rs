// SPDX-License-Identifier: Apache-2.0
//! The canonical embedding as a transform of N = n/2 complex points.
//!
//! A real polynomial `m` of degree below n is folded to `u_k = m_k + i m_{k+N}`; because `X^N = i` at every root
//! ζ^(4j+1) (ζ = e^(iπ/n)), the slots of `m` are the values of `u` in `C[X]/(X^N - i)`. That quotient splits like the
//! negacyclic NTT: node `X^(2t) = w²` into `X^t = w` and `X^t = -w`, twiddles merged, no scaling pass before or after.
//!
//! Slot j is the value at ζ^(5^j) (Cheon, Kim, Kim, Song, ePrint 2016/421), so that `X -> X^5` rotates the slots by one
//! and `X^(n/2)` is i in every slot.
//!
//! Layout: real and imaginary parts apart. The last three levels have strides 4, 2, 1; from N = 64 on they work on the
//! transpose (8 columns of N/8), where neighbours in memory belong to different nodes and full vectors fit. The same
//! source is compiled for several instruction sets and chosen at run time; nothing is fused, so all give the same bits.

use super::kernels;
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

    /// Folded coefficients (natural order) to slot values (slot j at `place()[j]`). `scratch` is of the same length.
    pub(super) fn forward(&self, x: &mut Split, scratch: &mut Split) {
        kernels::run(kernels::Direction::Forward, self, x, scratch);
    }

    /// Slot values (slot j at `place()[j]`) to N times the folded coefficients. `scratch` is of the same length.
    pub(super) fn inverse(&self, x: &mut Split, scratch: &mut Split) {
        kernels::run(kernels::Direction::Inverse, self, x, scratch);
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

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    /// Horner evaluation of the folded polynomial at ζ^(5^j).
    fn direct(u: &[Complex64]) -> Vec<Complex64> {
        let order = 4 * u.len() as u64;
        let mut power = 1u64;
        (0..u.len())
            .map(|_| {
                let angle = std::f64::consts::TAU * power as f64 / order as f64;
                let x = Complex64::from_polar(1.0, angle);
                power = power * 5 % order;
                u.iter().rev().fold(Complex64::ZERO, |acc, c| acc * x + c)
            })
            .collect()
    }

    fn sample(points: usize) -> Vec<Complex64> {
        (0..points)
            .map(|k| Complex64::new((k as f64 * 0.7).sin(), (k as f64 * 1.3).cos()))
            .collect()
    }

    fn split(u: &[Complex64]) -> Split {
        Split {
            re: u.iter().map(|c| c.re).collect(),
            im: u.iter().map(|c| c.im).collect(),
        }
    }

    #[test]
    fn forward_is_evaluation_at_the_powers_of_five() {
        for points in [1, 2, 4, 8, 16, 32, 64, 128, 512] {
            let fft = SlotFft::new(points);
            let u = sample(points);
            let mut x = split(&u);
            fft.forward(&mut x, &mut Split::zero(points));
            for (j, want) in direct(&u).iter().enumerate() {
                let p = fft.place()[j] as usize;
                let got = Complex64::new(x.re[p], x.im[p]);
                assert!(
                    (got - want).norm() < 1e-9,
                    "N={points} slot {j}: {got} {want}"
                );
            }
        }
    }

    #[test]
    fn inverse_undoes_forward_to_the_last_bits() {
        for log in 0..=15 {
            let points = 1usize << log;
            let fft = SlotFft::new(points);
            let u = sample(points);
            let mut x = split(&u);
            let mut scratch = Split::zero(points);
            fft.forward(&mut x, &mut scratch);
            fft.inverse(&mut x, &mut scratch);
            let worst = u
                .iter()
                .enumerate()
                .map(|(k, c)| (Complex64::new(x.re[k], x.im[k]) / points as f64 - c).norm())
                .fold(0.0, f64::max);
            // Relative to the largest input, which is close to sqrt(2).
            assert!(
                worst < 2f64.sqrt() * 2f64.powi(-49),
                "N={points}: {worst:e}"
            );
        }
    }
}
