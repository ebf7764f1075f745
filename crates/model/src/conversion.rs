// SPDX-License-Identifier: Apache-2.0
//! Base conversions: their constants and their results, as `docs/arithmetic.md` defines them.

use isa::Shape;
use zq::{Modulus, ZqError, check_quotient};

use crate::polynomial::Polynomial;

/// Most primes on either side.
pub const MOST_PRIMES: usize = 8;

/// An input prime, with `y = [x factor]` modulo it and its part of the quotient.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// q_i.
    pub modulus: Modulus<u128>,
    /// f_i.
    pub factor: u128,
    /// C_i.
    pub reciprocal: u128,
}

/// An output prime: the result is `[own a + Σ row_i y_i + v correction]` modulo it.
#[derive(Clone, Debug)]
pub struct Output {
    /// p_j.
    pub modulus: Modulus<u128>,
    /// own_j; 0 for a lift.
    pub own: u128,
    /// m_ij.
    pub row: Vec<u128>,
    /// c_j.
    pub correction: u128,
}

/// A base conversion: input primes of neighbouring lanes, output primes of the lanes from 0 on.
#[derive(Clone, Debug)]
pub struct Conversion {
    first: u8,
    own: bool,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
}

impl Conversion {
    /// The centred representative modulo the product of `from`, modulo each of `to`;
    /// lane `first` has the first of `from`.
    ///
    /// # Errors
    /// Two equal primes in `from`, or [`ZqError::WidthsTooFarApart`].
    pub fn lift(first: u8, from: &[Modulus<u128>], to: &[Modulus<u128>]) -> Result<Self, ZqError> {
        let output = |p: &Modulus<u128>| Output {
            modulus: *p,
            own: 0,
            row: (0..from.len()).map(|i| others(from, i, p)).collect(),
            correction: p.neg(others(from, from.len(), p)),
        };
        Self::build(first, from, 1, to.iter().map(output).collect(), false)
    }

    /// `round(numerator x / D)`, D the product of `drop`, modulo each of `keep`; lane `first` has the first of `drop`.
    ///
    /// # Errors
    /// Two equal primes in `drop`, one that is in `keep` too, or [`ZqError::WidthsTooFarApart`] of `drop`.
    pub fn scale(
        first: u8,
        drop: &[Modulus<u128>],
        keep: &[Modulus<u128>],
        numerator: u64,
    ) -> Result<Self, ZqError> {
        let outputs = keep.iter().map(|k| remainder(drop, k, numerator));
        let outputs = outputs.collect::<Result<_, _>>()?;
        Self::build(first, drop, numerator, outputs, true)
    }

    /// The correction term of [`Conversion::scale`]: its result for kept residues 0, which are not read.
    ///
    /// # Errors
    /// As [`Conversion::scale`].
    pub fn round(
        first: u8,
        drop: &[Modulus<u128>],
        keep: &[Modulus<u128>],
        numerator: u64,
    ) -> Result<Self, ZqError> {
        let output = |k| {
            Ok(Output {
                own: 0,
                ..remainder(drop, k, numerator)?
            })
        };
        let outputs = keep.iter().map(output).collect::<Result<_, ZqError>>()?;
        Self::build(first, drop, numerator, outputs, false)
    }

    /// The same of `x_i before_i`, its results times `after_j`; factors that are not given are 1.
    #[must_use]
    pub fn times(mut self, before: &[u128], after: &[u128]) -> Self {
        for (input, &factor) in self.inputs.iter_mut().zip(before) {
            let q = &input.modulus;
            input.factor = q.mul(input.factor, q.reduce(factor));
        }
        for (output, &factor) in self.outputs.iter_mut().zip(after) {
            let (p, factor) = (&output.modulus, output.modulus.reduce(factor));
            output.own = p.mul(output.own, factor);
            output.correction = p.mul(output.correction, factor);
            output
                .row
                .iter_mut()
                .for_each(|one| *one = p.mul(*one, factor));
        }
        self
    }

    /// The residues of one lane as they stand, `0..q`, modulo each of `to`: a digit of an RNS decomposition.
    pub fn digit(lane: u8, q: Modulus<u128>, to: &[Modulus<u128>]) -> Self {
        let output = |p: &Modulus<u128>| Output {
            modulus: *p,
            own: 0,
            row: vec![p.reduce(1)],
            correction: 0,
        };
        Self {
            first: lane,
            own: false,
            inputs: vec![Input {
                modulus: q,
                factor: 1,
                reciprocal: 0,
            }],
            outputs: to.iter().map(output).collect(),
        }
    }

    fn build(
        first: u8,
        from: &[Modulus<u128>],
        numerator: u64,
        outputs: Vec<Output>,
        own: bool,
    ) -> Result<Self, ZqError> {
        check_quotient(from)?;
        let least = from.iter().map(Modulus::bits).min().unwrap_or(0);
        let input = |(i, q): (usize, &Modulus<u128>)| -> Result<Input, ZqError> {
            let inverse = q.inv_vt(others(from, i, q))?;
            Ok(Input {
                modulus: *q,
                factor: q.mul(q.reduce_u64(numerator), inverse),
                reciprocal: ((1 << (51 + least)) + q.value() / 2) / q.value(),
            })
        };
        let inputs = from.iter().enumerate().map(input);
        Ok(Self {
            first,
            own,
            inputs: inputs.collect::<Result<_, _>>()?,
            outputs,
        })
    }

    /// Lane of the first input prime.
    pub fn first(&self) -> u8 {
        self.first
    }

    /// The input primes.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The output primes, lane after lane.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        Shape {
            inputs: self.inputs.len() as u8,
            own: self.own,
        }
    }

    /// Bits of the narrowest input prime.
    pub fn min_bits(&self) -> u32 {
        let bits = self.inputs.iter().map(|input| input.modulus.bits());
        bits.min().unwrap_or(0)
    }

    /// The conversion of every coefficient; lanes beyond the output primes get 0. `own` counts for scaling only.
    pub fn apply(&self, x: &Polynomial, own: &Polynomial) -> Polynomial {
        let n = x[0].len();
        let mut out = vec![vec![0; n]; x.len()];
        for j in 0..n {
            let lanes = x[usize::from(self.first)..].iter();
            let y: Vec<u128> = (self.inputs.iter().zip(lanes))
                .map(|(input, lane)| input.modulus.mul(lane[j], input.factor))
                .collect();
            let v = self.quotient(&y);
            for (lane, output) in self.outputs.iter().enumerate() {
                let p = &output.modulus;
                let kept = if self.own { own[lane][j] } else { 0 };
                let start = p.mul_add(p.mul(v, output.correction), kept, output.own);
                let terms = y.iter().zip(&output.row);
                out[lane][j] = terms.fold(start, |sum, (&y, &m)| p.mul_add(sum, p.reduce(y), m));
            }
        }
        out
    }

    /// v: `y C` has at most 64 + 53 bits, eight of them 120.
    fn quotient(&self, y: &[u128]) -> u128 {
        let fraction = 51 + self.min_bits();
        let terms = y.iter().zip(&self.inputs);
        let sum: u128 = terms.map(|(y, input)| y * input.reciprocal).sum();
        (sum + (1 << (fraction - 1))) >> fraction
    }
}

/// An output of `round(numerator x / D)`.
fn remainder(drop: &[Modulus<u128>], k: &Modulus<u128>, numerator: u64) -> Result<Output, ZqError> {
    let inverse = |d: &Modulus<u128>| k.inv_vt(k.reduce(d.value()));
    let row: Vec<u128> = drop.iter().map(inverse).collect::<Result<_, _>>()?;
    let product = row.iter().fold(k.reduce(1), |all, &one| k.mul(all, one));
    Ok(Output {
        modulus: *k,
        own: k.mul(k.reduce_u64(numerator), product),
        row: row.iter().map(|&inverse| k.neg(inverse)).collect(),
        correction: k.reduce(1),
    })
}

/// The product of all primes but number `left_out`, modulo `p`.
fn others(primes: &[Modulus<u128>], left_out: usize, p: &Modulus<u128>) -> u128 {
    let kept = primes.iter().enumerate().filter(|(i, _)| *i != left_out);
    kept.fold(p.reduce(1), |product, (_, q)| {
        p.mul(product, p.reduce(q.value()))
    })
}

#[cfg(test)]
mod tests {
    use isa::Draw;
    use rns::{BaseConverter, RnsBasis, ScaleRounder, Scratch};
    use zq::primes::{Direction, ntt_primes};

    use super::*;

    const N: usize = 64;

    fn bases(bits: u32, few: usize, many: usize) -> [Vec<u64>; 2] {
        let from = ntt_primes::<u64>(bits, 2 * N as u64, few, Direction::Down, &[]).unwrap();
        let to = ntt_primes::<u64>(bits, 2 * N as u64, many, Direction::Down, &from).unwrap();
        [from, to]
    }

    fn moduli(primes: &[u64]) -> Vec<Modulus<u128>> {
        let modulus = |&q: &u64| Modulus::new(u128::from(q)).unwrap();
        primes.iter().map(modulus).collect()
    }

    /// Random residues, the first coefficients at the ends: 0, then q - 1 in every lane.
    fn draw(primes: &[u64], seed: u64) -> Vec<u64> {
        let mut draw = Draw::new(seed);
        let lane = |&q: &u64| -> Vec<u64> {
            let mut words: Vec<u64> = (0..N).map(|_| draw.bits() % q).collect();
            (words[0], words[1]) = (0, q - 1);
            words
        };
        primes.iter().flat_map(lane).collect()
    }

    fn wide(limbs: &[u64], lanes: usize) -> Polynomial {
        let mut out: Polynomial = limbs
            .chunks(N)
            .map(|limb| limb.iter().map(|&word| word.into()).collect())
            .collect();
        out.resize(lanes, vec![0; N]);
        out
    }

    #[test]
    fn lifts_are_those_of_the_production_arithmetic() {
        for (bits, few, many) in [(30, 6, 7), (30, 7, 6), (30, 1, 7), (60, 3, 8), (20, 8, 2)] {
            let [from, to] = bases(bits, few, many);
            let basis = |primes: &[u64]| RnsBasis::<u64>::new(N, primes).unwrap();
            let x = draw(&from, bits.into());
            let mut expected = vec![0; many * N];
            BaseConverter::new(&basis(&from), &basis(&to))
                .unwrap()
                .convert_into(&x, &mut expected, &mut Scratch::new());
            let lift = Conversion::lift(0, &moduli(&from), &moduli(&to)).unwrap();
            let lanes = few.max(many);
            let own = vec![vec![0; N]; lanes];
            assert_eq!(lift.apply(&wide(&x, lanes), &own), wide(&expected, lanes));
        }
    }

    #[test]
    fn scalings_are_those_of_the_production_arithmetic() {
        for (bits, few, many, t) in [
            (30, 6, 7, 65537),
            (30, 1, 6, 1),
            (60, 3, 4, 2),
            (20, 8, 8, 7),
        ] {
            let [from, to] = bases(bits, few, many);
            let basis = |primes: &[u64]| RnsBasis::<u64>::new(N, primes).unwrap();
            let (x, kept) = (draw(&from, 1), draw(&to, 2));
            let mut expected = vec![0; many * N];
            ScaleRounder::new(&basis(&from), &basis(&to), t)
                .unwrap()
                .scale_into(&x, &kept, &mut expected, &mut Scratch::new());
            let scale = Conversion::scale(0, &moduli(&from), &moduli(&to), t).unwrap();
            let lanes = few.max(many);
            let found = scale.apply(&wide(&x, lanes), &wide(&kept, lanes));
            assert_eq!(found, wide(&expected, lanes));
        }
    }

    #[test]
    fn rounding_is_scaling_of_nothing_kept_and_factors_go_through() {
        let [from, to] = bases(30, 2, 3);
        let (x, nothing) = (wide(&draw(&from, 7), 3), vec![vec![0; N]; 3]);
        let (own, unread) = (wide(&draw(&to, 9), 3), vec![vec![u128::MAX; N]; 3]);
        let (from, to) = (moduli(&from), moduli(&to));
        let scale = Conversion::scale(0, &from, &to, 33).unwrap();
        let round = Conversion::round(0, &from, &to, 33).unwrap();
        let expected = scale.apply(&x, &nothing);
        assert!(!round.shape().own && round.apply(&x, &unread) == expected);
        let (before, after) = ([5, from[1].value() - 1], [2, 3, to[2].value() - 7]);
        let times = |x: &Polynomial, moduli: &[Modulus<u128>], factors: &[u128]| -> Polynomial {
            let lane = |(lane, (q, &f)): (&Vec<u128>, (&Modulus<u128>, &u128))| {
                lane.iter().map(|&word| q.mul(word, f)).collect()
            };
            x.iter().zip(moduli.iter().zip(factors)).map(lane).collect()
        };
        let mut input = times(&x, &from, &before);
        input.push(vec![0; N]);
        let expected = times(&scale.apply(&input, &own), &to, &after);
        assert_eq!(scale.times(&before, &after).apply(&x, &own), expected);
    }

    #[test]
    fn the_input_primes_may_be_those_of_any_lanes() {
        let [from, to] = bases(30, 2, 4);
        let x = wide(&draw(&from, 5), 4);
        let moved = vec![x[2].clone(), x[2].clone(), x[0].clone(), x[1].clone()];
        let [zero, two] =
            [0, 2].map(|first| Conversion::lift(first, &moduli(&from), &moduli(&to)).unwrap());
        let own = vec![vec![0; N]; 4];
        assert_eq!(two.apply(&moved, &own), zero.apply(&x, &own));
    }

    #[test]
    fn digits_are_the_residues_themselves() {
        let [from, to] = bases(30, 3, 3).map(|primes| moduli(&primes));
        let q = from[1].value();
        let x: Polynomial = vec![(0..q).rev().take(N).collect(); 3];
        let all = [to[0], from[0], from[1]];
        let digit = Conversion::digit(1, from[1], &all);
        let reduced = |p: &Modulus<u128>| x[1].iter().map(|&word| p.reduce(word)).collect();
        let expected: Polynomial = all.iter().map(reduced).collect();
        assert_eq!(digit.apply(&x, &vec![vec![0; N]; 3]), expected);
    }

    #[test]
    fn primes_of_widths_too_far_apart_are_refused() {
        let one = |bits| moduli(&bases(bits, 1, 1)[0])[0];
        let (far, to) = ([one(60), one(20)], [one(30)]);
        let refused = |made: Result<Conversion, ZqError>| {
            assert!(matches!(
                made,
                Err(ZqError::WidthsTooFarApart { most: 39, .. })
            ));
        };
        refused(Conversion::lift(0, &far, &to));
        refused(Conversion::scale(0, &far, &to, 3));
        refused(Conversion::round(0, &far, &to, 3));
    }

    #[test]
    fn primes_that_are_not_coprime_are_refused() {
        let [from, to] = bases(30, 2, 2).map(|primes| moduli(&primes));
        let twice = [from[0], from[0]];
        assert!(Conversion::lift(0, &twice, &to).is_err());
        assert!(Conversion::scale(0, &from, &[to[0], from[1]], 3).is_err());
    }
}
