// SPDX-License-Identifier: Apache-2.0
//! Noise as a sum of independent draws: affine forms (de Figueiredo and Stolfi, Numerical Algorithms 37, 2004).
//!
//! At slot j noise is Σ c(j)·ε(j + place), a term for each symbol: a draw ε and the place that rotations have moved it
//! to. Only bounds |c(j)| ≤ c are kept. Draws are independent of each other, and white: at different slots, hence at
//! different places, they are uncorrelated, since the roots of unity are orthogonal (E[ε(ζ)·conj ε(ζ')] is the
//! variance of a coefficient times Σ (ζ/ζ')^j = 0). So
//!
//! - one symbol in both summands adds amplitudes, whatever the signs: x + x has 2c, x·x has 2|m|c;
//! - different symbols add squares: x + y, and x + its own rotation, have c·√2.
//!
//! What has no symbol is `tied`: it may depend on anything and adds linearly. A form that grows beyond [`LIMIT`]
//! symbols is tied, which is always safe (Minkowski's inequality).

use std::collections::BTreeMap;

/// Symbols of one form; more are tied.
pub const LIMIT: usize = 1 << 13;
/// Symbols times terms that a transform writes out.
const TERMS_LIMIT: usize = 1 << 17;

/// A number of a draw; equal numbers are taken as the same randomness.
pub type Draw = u32;

/// A Galois element: slots to the left within a row, and whether the rows are swapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    rotation: u32,
    swapped: bool,
}

impl Place {
    /// The rotation to the left of rows of `width` slots.
    pub fn rotated(steps: i32, width: u32) -> Self {
        Self {
            rotation: i64::from(steps).rem_euclid(i64::from(width)) as u32,
            swapped: false,
        }
    }

    /// The swap of both rows.
    pub const SWAPPED: Self = Self {
        rotation: 0,
        swapped: true,
    };

    fn then(self, other: Self, width: u32) -> Self {
        Self {
            rotation: (self.rotation + other.rotation) % width,
            swapped: self.swapped != other.swapped,
        }
    }
}

/// A term of a linear transform: by what it moves its operand, and the largest factor of a slot.
pub type Term = (Place, f64);

/// Largest Σ|factor| and √Σ factor² over the terms that meet in a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norms {
    /// ℓ1.
    pub sum: f64,
    /// ℓ2.
    pub square: f64,
}

impl Norms {
    /// Those of terms of which nothing but the largest factors is known.
    pub fn of(terms: &[Term]) -> Self {
        let factors = || terms.iter().map(|t| t.1);
        Self {
            sum: factors().sum(),
            square: factors().map(|f| f * f).sum::<f64>().sqrt(),
        }
    }

    fn min(self, other: Self) -> Self {
        Self {
            sum: self.sum.min(other.sum),
            square: self.square.min(other.square),
        }
    }
}

/// Noise as a sum of draws. Amplitudes are in units of 2^`log2_unit`, which keeps them in the range of doubles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affine {
    log2_unit: f64,
    symbols: BTreeMap<(Draw, Place), f64>,
    tied: f64,
    /// A bound on the whole that may be better than what the terms say.
    cap: f64,
}

impl Affine {
    /// A draw of amplitude 2^`log2_amplitude`.
    pub fn of(draw: Draw, log2_amplitude: f64) -> Self {
        if log2_amplitude == f64::NEG_INFINITY {
            return Self::default();
        }
        Self {
            log2_unit: log2_amplitude,
            symbols: BTreeMap::from([((draw, Place::default()), 1.0)]),
            tied: 0.0,
            cap: 1.0,
        }
    }

    /// Noise that may depend on anything.
    pub fn tied(log2_amplitude: f64) -> Self {
        if log2_amplitude == f64::NEG_INFINITY {
            return Self::default();
        }
        Self {
            log2_unit: log2_amplitude,
            symbols: BTreeMap::new(),
            tied: 1.0,
            cap: 1.0,
        }
    }

    fn root(&self) -> f64 {
        self.symbols.values().map(|c| c * c).sum::<f64>().sqrt()
    }

    fn total(&self) -> f64 {
        (self.tied + self.root()).min(self.cap)
    }

    /// log2 of the amplitude of the sum (−∞: none). Infinite beyond the range of doubles.
    pub fn log2_total(&self) -> f64 {
        let log2 = self.log2_unit + self.total().log2();
        if log2.is_nan() { f64::INFINITY } else { log2 }
    }

    fn is_zero(&self) -> bool {
        self.cap == 0.0
    }

    /// Both, symbol by symbol.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self }.clone();
        }
        let unit = self.log2_unit.max(other.log2_unit);
        let (f, g) = (
            (self.log2_unit - unit).exp2(),
            (other.log2_unit - unit).exp2(),
        );
        let apart = self.tied == 0.0 && other.tied == 0.0 && !self.shares_a_draw(other);
        let (a, b) = (f * self.total(), g * other.total());
        let mut symbols = self.symbols.clone();
        symbols.values_mut().for_each(|c| *c *= f);
        for (&symbol, c) in &other.symbols {
            *symbols.entry(symbol).or_default() += g * c;
        }
        let sum = Self {
            log2_unit: unit,
            symbols,
            tied: f * self.tied + g * other.tied,
            cap: if apart { a.hypot(b) } else { a + b },
        };
        if sum.symbols.len() > LIMIT {
            Self::tied(sum.log2_total())
        } else {
            sum
        }
    }

    fn draws(&self) -> impl Iterator<Item = Draw> {
        self.symbols.keys().map(|symbol| symbol.0)
    }

    fn shares_a_draw(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.draws().peekable(), other.draws().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => a.next(),
                std::cmp::Ordering::Greater => b.next(),
                std::cmp::Ordering::Equal => return true,
            };
        }
        false
    }

    /// The noise with a draw of an operation's own added.
    #[must_use]
    pub fn with(&self, draw: Draw, log2_amplitude: f64) -> Self {
        self.plus(&Self::of(draw, log2_amplitude))
    }

    /// The same noise, known to be at most 2^log2_most.
    #[must_use]
    pub fn capped(self, log2_most: f64) -> Self {
        let most = (log2_most - self.log2_unit).exp2();
        Self {
            cap: self.cap.min(most),
            ..self
        }
    }

    /// Every slot times numbers of at most 2^log2_factor.
    #[must_use]
    pub fn scaled(&self, log2_factor: f64) -> Self {
        if log2_factor == f64::NEG_INFINITY || self.is_zero() {
            return Self::default();
        }
        Self {
            log2_unit: self.log2_unit + log2_factor,
            ..self.clone()
        }
    }

    /// Moved, in rows of `width` slots.
    #[must_use]
    pub fn moved(&self, by: Place, width: u32) -> Self {
        let moved =
            |(&(draw, place), &c): (&(Draw, Place), &f64)| ((draw, place.then(by, width)), c);
        Self {
            symbols: self.symbols.iter().map(moved).collect(),
            ..*self
        }
    }

    /// Whether every draw stands at one place: then slots are uncorrelated.
    fn white(&self) -> bool {
        self.tied == 0.0 && self.draws().zip(self.draws().skip(1)).all(|(a, b)| a != b)
    }

    /// Σ over terms of factor · the noise moved. `norms` may know more of the factors than the terms do.
    #[must_use]
    pub fn transformed(&self, terms: &[Term], norms: Option<Norms>, width: u32) -> Self {
        if self.is_zero() || terms.is_empty() {
            return Self::default();
        }
        let largest = Norms::of(terms);
        let norms = norms.map_or(largest, |norms| norms.min(largest));
        // At one place two terms may meet: their factors add, which the sum of squares does not know.
        let mut factors: BTreeMap<Place, f64> = BTreeMap::new();
        for &(place, factor) in terms {
            *factors.entry(place).or_default() += factor;
        }
        let apart = factors.len() == terms.len();
        let mut result = Self {
            log2_unit: self.log2_unit,
            symbols: BTreeMap::new(),
            tied: self.tied * norms.sum,
            cap: self.total()
                * if self.white() && apart {
                    norms.square
                } else {
                    norms.sum
                },
        };
        if self.symbols.len() * factors.len() <= TERMS_LIMIT {
            for (&(draw, place), c) in &self.symbols {
                for (&by, factor) in &factors {
                    let symbol = (draw, place.then(by, width));
                    *result.symbols.entry(symbol).or_default() += factor * c;
                }
            }
            if result.symbols.len() <= LIMIT {
                return result;
            }
            result.symbols.clear();
        }
        // Young's inequality for each draw: ‖d∗c‖₂ is at most ‖d‖₂‖c‖₁ and ‖d‖₁‖c‖₂. Draws are independent.
        let square = factors.values().map(|f| f * f).sum::<f64>().sqrt();
        let mut draws: BTreeMap<Draw, (f64, f64)> = BTreeMap::new();
        for (symbol, c) in &self.symbols {
            let (l1, l2) = draws.entry(symbol.0).or_default();
            (*l1, *l2) = (*l1 + c, *l2 + c * c);
        }
        let of_draw = |&(l1, l2): &(f64, f64)| (square * l1).min(norms.sum * l2.sqrt()).powi(2);
        result.tied += draws.values().map(of_draw).sum::<f64>().sqrt();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: u32 = 64;

    fn amplitude(noise: &Affine) -> f64 {
        noise.log2_total().exp2()
    }

    fn close(noise: &Affine, wanted: f64) {
        let found = amplitude(noise);
        assert!((found - wanted).abs() < 1e-9 * wanted, "{found} {wanted}");
    }

    fn by(steps: i32) -> Place {
        Place::rotated(steps, WIDTH)
    }

    #[test]
    fn one_draw_adds_amplitudes_and_two_add_squares() {
        let (x, y) = (Affine::of(1, 3.0), Affine::of(2, 3.0));
        close(&x.plus(&x), 16.0);
        close(&x.plus(&y), 8.0 * 2f64.sqrt());
        close(&x.plus(&y).plus(&x), 8.0 * 5f64.sqrt());
        close(&x.plus(&x.moved(by(1), WIDTH)), 8.0 * 2f64.sqrt());
        // A rotation all the way round is none.
        close(&x.plus(&x.moved(by(WIDTH as i32), WIDTH)), 16.0);
        close(&x.plus(&x.moved(Place::SWAPPED, WIDTH)), 8.0 * 2f64.sqrt());
        close(&x.plus(&Affine::tied(3.0)), 16.0);
        close(&x.plus(&Affine::default()), 8.0);
    }

    #[test]
    fn sums_of_all_rotations_in_a_tree_grow_as_the_root() {
        let mut sum = Affine::of(7, 0.0);
        for steps in [1, 2, 4, 8, 16] {
            sum = sum.plus(&sum.moved(by(steps), WIDTH));
        }
        close(&sum, 32f64.sqrt());
        // Summed once more in the same way, each place comes from several: 1, 2, ..., 32, 31, ..., 1 of them.
        for steps in [1, 2, 4, 8, 16] {
            sum = sum.plus(&sum.moved(by(steps), WIDTH));
        }
        let squares: f64 = (1..32).map(|k| 2.0 * f64::from(k * k)).sum::<f64>() + 1024.0;
        close(&sum, squares.sqrt());
    }

    #[test]
    fn transforms_know_which_places_coincide() {
        let x = Affine::of(1, 0.0);
        let four: Vec<Term> = (0..4).map(|k| (by(k), 0.5)).collect();
        let once = x.transformed(&four, None, WIDTH);
        close(&once, 1.0);
        // 1/4 times 1, 2, 3, 4, 3, 2, 1.
        close(&once.transformed(&four, None, WIDTH), 44f64.sqrt() / 4.0);
        close(
            &x.transformed(&[(by(3), 1.0), (by(3), 1.0)], None, WIDTH),
            2.0,
        );
        // Masks that do not overlap.
        let norms = Norms {
            sum: 0.5,
            square: 0.5,
        };
        close(&x.transformed(&four, Some(norms), WIDTH), 0.5);
        close(&Affine::tied(0.0).transformed(&four, None, WIDTH), 2.0);
    }

    #[test]
    fn beyond_the_limit_sums_are_still_bounded() {
        let width = 1 << 20;
        let fan: Vec<Term> = (0..1000).map(|k| (Place::rotated(k, width), 1.0)).collect();
        let steep: Vec<Term> = (0..500)
            .map(|k| (Place::rotated(k * 1000, width), 1.0))
            .collect();
        let x = Affine::of(1, 0.0).transformed(&fan, None, width);
        let (exact, found) = (
            500_000f64.sqrt(),
            amplitude(&x.transformed(&steep, None, width)),
        );
        assert!(
            found >= exact && found <= exact * 500f64.sqrt() * 1.001,
            "{found}"
        );
        let many = (0..=LIMIT as u32).fold(Affine::default(), |sum, draw| sum.with(draw, 0.0));
        close(&many, ((LIMIT + 1) as f64).sqrt());
        close(
            &many.plus(&Affine::of(0, 0.0)),
            ((LIMIT + 1) as f64).sqrt() + 1.0,
        );
    }

    #[test]
    fn amplitudes_beyond_doubles_stay_in_order() {
        let huge = Affine::of(1, 4000.0);
        assert!((huge.plus(&huge).log2_total() - 4001.0).abs() < 1e-9);
        assert_eq!(huge.plus(&Affine::of(2, 0.0)).log2_total(), 4000.0);
        assert_eq!(huge.scaled(f64::NEG_INFINITY), Affine::default());
        assert_eq!(
            Affine::of(1, f64::NEG_INFINITY).log2_total(),
            f64::NEG_INFINITY
        );
        assert_eq!(
            Affine::of(1, f64::INFINITY).plus(&huge).log2_total(),
            f64::INFINITY
        );
    }
}
