// SPDX-License-Identifier: Apache-2.0
//! Objects by their residues, for programs that know the formats of other libraries: words of 64 bits, limb by limb.

use crate::arrays::elements;
use crate::context::Context;
use crate::errors::Kind;
use crate::word_width::WordWidth;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rlwe::{KeyId, KeySwitchKey, RlweParams};
use rns::{Domain, Eval, RnsBasis, RnsPoly};

/// The ring-LWE parameters of a set with words of 64 bits.
pub fn narrow(context: &Context) -> PyResult<RlweParams<u64>> {
    match context.rlwe() {
        WordWidth::W64(params) => Ok(params),
        WordWidth::W128(_) => Err(wide()),
    }
}

/// The error of a set with words of 128 bits.
pub fn wide() -> PyErr {
    Kind::Input.error("a set with words of 128 bits; residues as arrays need moduli below 2^62")
}

/// A key identity from Python.
pub fn identity(bytes: &[u8]) -> PyResult<KeyId> {
    let bytes = bytes.try_into().map_err(|_| {
        Kind::Input.error(format!(
            "a key identity of {} bytes; 16 are needed",
            bytes.len()
        ))
    })?;
    Ok(KeyId(bytes))
}

/// Polynomials one after the other, each of as many primes.
pub struct Polys<'py> {
    words: PyReadonlyArrayDyn<'py, u64>,
    /// Primes of a polynomial.
    pub limbs: usize,
}

impl<'py> Polys<'py> {
    /// Fails unless there are `axes` axes, the last of extent n, and all are filled.
    pub fn of(words: PyReadonlyArrayDyn<'py, u64>, n: usize, axes: usize) -> PyResult<Self> {
        let shape = words.shape().to_vec();
        if shape.len() != axes || shape.contains(&0) || shape[axes - 1] != n {
            return Err(Kind::Input.error(format!(
                "residues of shape {shape:?}; {axes} axes are needed, the last two primes and n = {n}"
            )));
        }
        Ok(Self {
            limbs: shape[axes - 2],
            words,
        })
    }

    /// The polynomials over `basis`, which has as many primes; residues are checked.
    pub fn over<D: Domain>(
        &self,
        basis: &RnsBasis<u64>,
    ) -> Result<Vec<RnsPoly<u64, D>>, rlwe::Error> {
        elements(&self.words)
            .chunks_exact(self.limbs * basis.n())
            .map(|limbs| Ok(RnsPoly::from_limbs(basis, limbs)?))
            .collect()
    }

    /// The data primes where the last of the primes are the special ones.
    pub fn data_limbs(&self, params: &RlweParams<u64>) -> PyResult<usize> {
        let special = params.special_primes();
        let limbs = self.limbs.checked_sub(special).filter(|limbs| *limbs > 0);
        limbs.ok_or_else(|| {
            Kind::Input.error(format!(
                "halves of {} primes; the {special} special ones and data primes are needed",
                self.limbs
            ))
        })
    }
}

/// A switching key of halves of shape (digits, 2, primes, n): b_d, then a_d.
pub fn switching_key(
    params: &RlweParams<u64>,
    id: KeyId,
    halves: &Polys<'_>,
    limbs: usize,
) -> Result<KeySwitchKey<u64>, rlwe::Error> {
    let (mut masked, mut uniform) = (Vec::new(), Vec::new());
    let polys = halves.over(&params.qp_prefix(limbs)?)?;
    for (i, poly) in polys.into_iter().enumerate() {
        if i % 2 == 0 {
            &mut masked
        } else {
            &mut uniform
        }
        .push(poly);
    }
    KeySwitchKey::from_halves(params, id, limbs, masked, uniform)
}

/// The halves of a switching key, in [`switching_key`]'s shape.
pub fn halves_of<'py>(
    py: Python<'py>,
    key: &KeySwitchKey<u64>,
) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
    let uniform = key.uniform().unwrap_or(&[]);
    let pairs: Vec<_> = key
        .masked()
        .iter()
        .zip(uniform)
        .flat_map(|(b, a)| [b, a])
        .collect();
    array(py, &[key.digits(), 2], &pairs)
}

/// Polynomials as an array whose first extents are `outer`.
pub fn array<'py, D: Domain>(
    py: Python<'py>,
    outer: &[usize],
    polys: &[&RnsPoly<u64, D>],
) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
    let mut words = Vec::new();
    polys
        .iter()
        .for_each(|poly| words.extend_from_slice(poly.data()));
    let mut shape = outer.to_vec();
    shape.extend([polys[0].limb_count(), polys[0].n()]);
    PyArray1::from_vec(py, words).reshape(shape)
}

/// A public key of halves of shape (2, primes, n).
pub fn public_key(
    params: &RlweParams<u64>,
    id: KeyId,
    halves: &Polys<'_>,
) -> Result<rlwe::PublicKey<u64>, rlwe::Error> {
    let basis = match halves.limbs > params.data_primes() {
        true => params.qp(),
        false => params.q(),
    };
    let polys: Vec<RnsPoly<u64, Eval>> = halves.over(basis)?;
    let count = polys.len();
    let halves = polys.try_into().map_err(|_| rlwe::Error::Shape {
        what: "halves of a public key",
        got: count,
        expected: 2,
    })?;
    rlwe::PublicKey::from_halves(params, id, halves)
}
