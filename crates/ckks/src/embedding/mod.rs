// SPDX-License-Identifier: Apache-2.0
//! Vectors of complex numbers to integer polynomials and back.

mod fft;
mod kernels;
mod residues;
mod roots;
mod tables;

use crate::Error;
use num_complex::Complex64;
use rlwe::reveal;
use std::sync::OnceLock;
use tables::{SlotFft, Split};
use zq::Pool;
use zq::memory::wipe;

pub(crate) use residues::{Width, centred_to_f64, integers_to_residues};
pub(crate) use roots::{cosine_of_turns, root_of_unity};

/// The canonical embedding for one ring degree, all slot counts 1, 2, 4, …, n/2.
///
/// With fewer than n/2 slots the message lives in the subring of `X^(n/(2·slots))` and is replicated in the slots of
/// the full embedding. Error of either direction: below 2^-49 of the largest value.
#[derive(Debug)]
pub struct Embedding {
    n: usize,
    /// Transform for 2^k slots, made when first used.
    transforms: Vec<OnceLock<SlotFft>>,
    work: Pool<Work>,
}

/// Work space of one call. It holds a message until the next call; wiped when dropped.
#[derive(Default)]
struct Work {
    x: Split,
    scratch: Split,
    coefficients: Vec<f64>,
}

impl Drop for Work {
    fn drop(&mut self) {
        let Self {
            x,
            scratch,
            coefficients,
        } = self;
        for buffer in [
            &mut x.re,
            &mut x.im,
            &mut scratch.re,
            &mut scratch.im,
            coefficients,
        ] {
            wipe(buffer);
        }
    }
}

impl Embedding {
    /// For ring degree `n`, a power of two from 4 to 2^17.
    ///
    /// # Errors
    /// [`Error::Chain`] for any other degree.
    pub fn new(n: usize) -> Result<Self, Error> {
        if !n.is_power_of_two() || !(4..=1 << 17).contains(&n) {
            return Err(Error::Chain(format!(
                "ring degree {n}: a power of two from 4 to 131072 is needed"
            )));
        }
        let transforms = (0..n.trailing_zeros()).map(|_| OnceLock::new()).collect();
        Ok(Self {
            n,
            transforms,
            work: Pool::default(),
        })
    }

    /// Ring degree.
    pub fn degree(&self) -> usize {
        self.n
    }

    /// Most slots, n/2.
    pub fn max_slots(&self) -> usize {
        self.n / 2
    }

    fn transform(&self, slots: usize) -> Result<&SlotFft, Error> {
        if !slots.is_power_of_two() || slots > self.max_slots() {
            return Err(Error::Slots {
                given: slots,
                max: self.max_slots(),
            });
        }
        let slot = &self.transforms[slots.trailing_zeros() as usize];
        Ok(zq::fork::once(slot, || SlotFft::new(slots)))
    }

    /// The integer polynomial, as exact doubles, whose first `slots` slots are `scale · values` (missing values are 0).
    ///
    /// # Errors
    /// [`Error::Slots`], [`Error::TooManyValues`], [`Error::NotFinite`], [`Error::Scale`].
    pub fn to_coefficients(
        &self,
        values: &[Complex64],
        slots: usize,
        scale: f64,
    ) -> Result<Vec<f64>, Error> {
        self.with_coefficients(values, slots, scale, |x, _| x.to_vec())
    }

    /// Applies `f` to the coefficients of [`Embedding::to_coefficients`], in a reused buffer, and to their largest
    /// magnitude. Values may be real or complex.
    ///
    /// # Errors
    /// As [`Embedding::to_coefficients`].
    pub(crate) fn with_coefficients<V: Copy + Into<Complex64>, R>(
        &self,
        values: &[V],
        slots: usize,
        scale: f64,
        f: impl FnOnce(&[f64], f64) -> R,
    ) -> Result<R, Error> {
        let fft = self.transform(slots)?;
        if values.len() > slots {
            return Err(Error::TooManyValues {
                given: values.len(),
                slots,
            });
        }
        if !(scale.is_finite() && scale >= 1.0) {
            return Err(Error::Scale {
                operation: "encode",
                scale,
            });
        }
        check_finite(values)?;
        self.work.lend(|work| {
            let Work {
                x,
                scratch,
                coefficients,
            } = work;
            x.resize(slots);
            scratch.resize(slots);
            let least = MIN_SCALED / scale;
            for (j, place) in fft.place().iter().enumerate() {
                let value = values.get(j).map_or(Complex64::ZERO, |v| (*v).into());
                let place = *place as usize;
                (x.re[place], x.im[place]) = (flush(value.re, least), flush(value.im, least));
            }
            fft.inverse(x, scratch);
            let gap = self.max_slots() / slots;
            coefficients.resize(self.n, 0.0);
            if gap > 1 {
                coefficients.fill(0.0);
            }
            // 1/N is a power of two: the factor is as exact as the scale.
            let factor = scale / slots as f64;
            let (low, high) = coefficients.split_at_mut(self.n / 2);
            residues::scale_and_round(&x.re, factor, low, gap);
            residues::scale_and_round(&x.im, factor, high, gap);
            let largest = residues::largest(coefficients);
            if reveal(largest.is_nan()) {
                return Err(Error::Scale {
                    operation: "encode (the scaled values exceed the range of doubles)",
                    scale,
                });
            }
            Ok(f(coefficients, largest))
        })
    }

    /// The first `slots` slots of a polynomial given by its coefficients, divided by `scale`.
    ///
    /// # Errors
    /// [`Error::Slots`], [`Error::Scale`].
    pub fn to_slots(
        &self,
        coefficients: &[f64],
        slots: usize,
        scale: f64,
    ) -> Result<Vec<Complex64>, Error> {
        let fft = self.transform(slots)?;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(Error::Scale {
                operation: "decode",
                scale,
            });
        }
        debug_assert_eq!(coefficients.len(), self.n);
        let gap = self.max_slots() / slots;
        let (low, high) = coefficients.split_at(self.n / 2);
        let inverse = 1.0 / scale;
        self.work.lend(|Work { x, scratch, .. }| {
            x.resize(slots);
            scratch.resize(slots);
            for (k, (re, im)) in x.re.iter_mut().zip(x.im.iter_mut()).enumerate() {
                (*re, *im) = (low[k * gap] * inverse, high[k * gap] * inverse);
            }
            fft.forward(x, scratch);
            let value = |p: &u32| Complex64::new(x.re[*p as usize], x.im[*p as usize]);
            Ok(fft.place().iter().map(value).collect())
        })
    }
}

/// Scaled values below this magnitude count as 0: they are far below every rounding error.
const MIN_SCALED: f64 = 1.0 / (1u128 << 100) as f64 / (1u128 << 100) as f64;

/// 0 instead of a magnitude below `least`: arithmetic on subnormal numbers takes longer on many processors.
#[inline(always)]
fn flush(x: f64, least: f64) -> f64 {
    if x.abs() < least { 0.0 } else { x }
}

/// Refuses NaN and infinity, naming the first: one bit about all values, and more only of those that are refused.
fn check_finite<V: Copy + Into<Complex64>>(values: &[V]) -> Result<(), Error> {
    let finite = |v: &V| {
        let v: Complex64 = (*v).into();
        v.re.is_finite() & v.im.is_finite()
    };
    if !reveal(values.iter().fold(false, |bad, v| bad | !finite(v))) {
        return Ok(());
    }
    let index = values.iter().position(|v| !finite(v)).unwrap_or_default();
    let v: Complex64 = values[index].into();
    let value = if v.re.is_finite() { v.im } else { v.re };
    Err(Error::NotFinite {
        what: "value",
        index,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize) -> Vec<Complex64> {
        (0..count)
            .map(|k| Complex64::new((k as f64 * 0.37).sin(), (k as f64 * 0.91).cos()))
            .collect()
    }

    #[test]
    fn what_an_earlier_call_left_does_not_show() {
        let encode = |e: &Embedding, slots| e.to_coefficients(&values(slots), slots, 2f64.powi(40));
        let used = Embedding::new(64).unwrap();
        for slots in [32, 4, 16, 32, 1] {
            let fresh = Embedding::new(64).unwrap();
            assert_eq!(encode(&used, slots), encode(&fresh, slots), "{slots} slots");
        }
    }

    #[test]
    fn round_trip_for_every_degree_and_slot_count() {
        for log in 2..=11 {
            let embedding = Embedding::new(1 << log).unwrap();
            for log_slots in 0..log {
                let z = values(1 << log_slots);
                let scale = 2f64.powi(45);
                let m = embedding.to_coefficients(&z, z.len(), scale).unwrap();
                assert!(m.iter().all(|c| c.fract() == 0.0));
                let back = embedding.to_slots(&m, z.len(), scale).unwrap();
                let worst = z
                    .iter()
                    .zip(&back)
                    .map(|(a, b)| (a - b).norm())
                    .fold(0.0, f64::max);
                // Rounding by at most 1/2 in each of n coefficients, plus the transform.
                let bound = (1 << log) as f64 / scale + 2f64.powi(-48);
                assert!(
                    worst < bound,
                    "n=2^{log}, 2^{log_slots} slots: {worst:e} {bound:e}"
                );
            }
        }
    }

    #[test]
    fn tiny_values_count_as_zero_and_change_no_coefficient() {
        let embedding = Embedding::new(64).unwrap();
        let scale = 2f64.powi(40);
        let with = |tiny: f64| {
            let mut z = values(32);
            (z[3], z[7]) = (Complex64::new(tiny, 0.0), Complex64::new(0.0, -tiny));
            embedding.to_coefficients(&z, 32, scale).unwrap()
        };
        assert_eq!(with(0.0), with(f64::MIN_POSITIVE / 8.0));
        assert_eq!(with(0.0), with(1e-70));
        assert_eq!(flush(1e-70, MIN_SCALED / scale), 1e-70);
        assert_eq!(flush(-1e-73, MIN_SCALED / scale), 0.0);
    }

    #[test]
    fn sparse_messages_are_replicated() {
        let embedding = Embedding::new(64).unwrap();
        let z = values(4);
        let m = embedding.to_coefficients(&z, 4, 2f64.powi(40)).unwrap();
        let full = embedding.to_slots(&m, 32, 2f64.powi(40)).unwrap();
        for (j, v) in full.iter().enumerate() {
            assert!((v - z[j % 4]).norm() < 1e-10);
        }
    }

    #[test]
    fn largest_ring_is_accurate() {
        let embedding = Embedding::new(1 << 16).unwrap();
        let z = values(1 << 15);
        // 2^60: the rounding of coefficients vanishes, what is left is the transform.
        let m = embedding
            .to_coefficients(&z, z.len(), 2f64.powi(60))
            .unwrap();
        let back = embedding.to_slots(&m, z.len(), 2f64.powi(60)).unwrap();
        let worst = z
            .iter()
            .zip(&back)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max);
        assert!(worst < 2f64.powi(-48), "{worst:e}");
    }

    #[test]
    fn slots_are_the_values_at_the_powers_of_five() {
        let n = 32;
        let m: Vec<f64> = (0..n).map(|k| f64::from(k * k % 23) - 11.0).collect();
        let slots = Embedding::new(n as usize)
            .unwrap()
            .to_slots(&m, n as usize / 2, 1.0)
            .unwrap();
        let mut power = 1;
        for z in slots {
            let x =
                Complex64::from_polar(1.0, std::f64::consts::PI * f64::from(power) / f64::from(n));
            let want = m.iter().rev().fold(Complex64::ZERO, |acc, c| acc * x + c);
            assert!((z - want).norm() < 1e-11, "exponent {power}");
            power = power * 5 % (2 * n);
        }
    }

    #[test]
    fn bad_input_is_refused_with_its_numbers() {
        let e = Embedding::new(16).unwrap();
        let z = |re: f64| vec![Complex64::new(0.0, 0.0), Complex64::new(re, 0.0)];
        assert!(matches!(
            e.to_coefficients(&z(f64::NAN), 8, 8.0),
            Err(Error::NotFinite { index: 1, .. })
        ));
        assert!(matches!(
            e.to_coefficients(&z(f64::INFINITY), 8, 8.0),
            Err(Error::NotFinite { index: 1, .. })
        ));
        assert!(matches!(
            e.to_coefficients(&values(9), 8, 8.0),
            Err(Error::TooManyValues { given: 9, slots: 8 })
        ));
        assert!(matches!(
            e.to_coefficients(&z(1.0), 3, 8.0),
            Err(Error::Slots { given: 3, max: 8 })
        ));
        assert!(matches!(
            e.to_coefficients(&z(1.0), 16, 8.0),
            Err(Error::Slots { given: 16, .. })
        ));
        for scale in [0.5, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(
                e.to_coefficients(&z(1.0), 8, scale),
                Err(Error::Scale { .. })
            ));
        }
        assert!(matches!(
            e.to_coefficients(&z(1e300), 8, 1e100),
            Err(Error::Scale { .. })
        ));
        assert!(Embedding::new(12).is_err() && Embedding::new(2).is_err());
    }
}
