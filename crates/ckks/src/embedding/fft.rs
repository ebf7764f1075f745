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
use super::tables::{SlotFft, Split};

impl SlotFft {
    /// Folded coefficients (natural order) to slot values (slot j at `place()[j]`). `scratch` is of the same length.
    pub(super) fn forward(&self, x: &mut Split, scratch: &mut Split) {
        kernels::run(kernels::Direction::Forward, self, x, scratch);
    }

    /// Slot values (slot j at `place()[j]`) to N times the folded coefficients. `scratch` is of the same length.
    pub(super) fn inverse(&self, x: &mut Split, scratch: &mut Split) {
        kernels::run(kernels::Direction::Inverse, self, x, scratch);
    }
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
