// SPDX-License-Identifier: Apache-2.0
//! Division of a sum over Q·P by its last primes: the special ones, or with them the last data prime.

use crate::Error;
use rns::{BaseConverter, RnsBasis};
use zq::{Modulus, Shoup, Word};

/// The constants to divide sums of digits times keys by D, the product of all primes from number `kept` on.
///
/// A sum may have c ≡ x/P added before it is divided, which is P·c/D for the result: c itself if D = P, c/q if D = P·q.
pub(super) struct Division<W: Word> {
    /// Primes that are kept.
    pub kept: usize,
    /// From the primes of D to the kept ones, where D has several.
    pub converter: Option<BaseConverter<W>>,
    /// D^-1 modulo each kept prime.
    pub inverses: Vec<Shoup<W>>,
    /// Factor of an addend modulo each data prime: P modulo those of D, P/D modulo the kept ones. None for 1.
    pub addend: Vec<Option<Shoup<W>>>,
}

impl<W: Word> Division<W> {
    /// Division by the special primes.
    pub fn by_special(qp: &RnsBasis<W>, data: usize) -> Result<Self, Error> {
        Self::new(qp, data, data)
    }

    /// Division by the special primes and the last data prime at once.
    pub fn by_special_and_last(qp: &RnsBasis<W>, data: usize) -> Result<Self, Error> {
        Self::new(qp, data, data - 1)
    }

    fn new(qp: &RnsBasis<W>, data: usize, kept: usize) -> Result<Self, Error> {
        let dropped = qp.len() - kept;
        let converter = if dropped > 1 {
            let (from, to) = (qp.range(kept..qp.len())?, qp.prefix(kept)?);
            Some(BaseConverter::mixed_radix(&from, &to))
        } else {
            None
        };
        let (divisor, special) = (&qp.moduli()[kept..], &qp.moduli()[data..]);
        let inverse = |m: &Modulus<W>| {
            let inverse = m.inv_vt(residue(divisor, m));
            Ok(m.shoup(inverse.map_err(rns::RnsError::from)?))
        };
        let inverses: Vec<Shoup<W>> = qp.moduli()[..kept]
            .iter()
            .map(inverse)
            .collect::<Result<_, Error>>()?;
        let addend = |j: usize| {
            let m = qp.modulus(j);
            let special = residue(special, m);
            let factor = inverses.get(j).map_or(special, |d| m.mul(d.w, special));
            (factor != m.reduce(W::ONE)).then(|| m.shoup(factor))
        };
        Ok(Self {
            addend: (0..data).map(addend).collect(),
            kept,
            converter,
            inverses,
        })
    }

    /// No division: sums stay over Q·P, and an addend is multiplied by P.
    pub fn none(qp: &RnsBasis<W>, data: usize) -> Self {
        let addend = |m: &Modulus<W>| m.shoup(residue(&qp.moduli()[data..], m));
        Self {
            kept: qp.len(),
            converter: None,
            inverses: Vec::new(),
            addend: qp.moduli()[..data].iter().map(addend).map(Some).collect(),
        }
    }

    /// Limbs of corrections for each component of a sum: none for one prime or fewer, whose residues are lifted as they
    /// are read.
    pub fn corrections(&self) -> usize {
        self.converter.as_ref().map_or(0, |_| self.kept)
    }
}

/// The product of the moduli modulo `m`.
fn residue<W: Word>(moduli: &[Modulus<W>], m: &Modulus<W>) -> W {
    let product = |acc, x: &Modulus<W>| m.mul(acc, m.reduce(x.value()));
    moduli.iter().fold(m.reduce(W::ONE), product)
}
