// SPDX-License-Identifier: Apache-2.0
//! A BFV client, whose polynomials are coefficients.

use super::{ENCRYPTION, Sums};
use crate::lower::Engine;
use crate::{Error, Observer};
use ::bfv::ZeroDraw;
use ::polynomial::PolyOp;
use rns::{Coeff, Eval, RnsPoly};
use zq::Word;

/// The parts of an encryption of zero: those of [`ZeroDraw::parts`].
pub fn zero_parts<E: Engine, W: Word>(
    engine: &E,
    draw: &ZeroDraw<'_, W>,
    observer: &dyn Observer,
) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
    match draw {
        ZeroDraw::Public { key, u, errors } => {
            let mut sums = Sums::new(engine, u.basis(), ENCRYPTION);
            let u = sums.given(u)?;
            let key = [sums.given(key[0])?, sums.given(key[1])?];
            let errors = [sums.given(&errors[0])?, sums.given(&errors[1])?];
            let parts = sums.zero::<Coeff>(&u, [&key[0], &key[1]], [&errors[0], &errors[1]]);
            sums.compute(engine, &parts, observer)
        }
        ZeroDraw::Secret { key, a, error } => {
            let mut sums = Sums::new(engine, a.basis(), ENCRYPTION);
            let (values, key) = (sums.given(a)?, sums.given(key)?);
            let values = sums.ntt(&values);
            let product = sums.product(&values, &key);
            let error = sums.given(error)?;
            let c0 = sums.by_limb(PolyOp::Sub, &[&error, &product]);
            let [c0] = sums.compute(engine, &[c0], observer)?;
            Ok([c0, a.clone()])
        }
    }
}

/// `c_0 + c_1·s + …`, as [`rlwe::phase`] gives it.
pub fn phase<E: Engine, W: Word>(
    engine: &E,
    parts: &[RnsPoly<W, Coeff>],
    key: &RnsPoly<W, Eval>,
    observer: &dyn Observer,
) -> Result<RnsPoly<W, Coeff>, Error> {
    let [c0, middle @ .., last] = parts else {
        return Ok(rlwe::phase(parts, key)?);
    };
    let mut sums = Sums::new(engine, c0.basis(), "delta-m-decrypt");
    let key = sums.given(key)?;
    let last = sums.given(last)?;
    let mut sum = sums.ntt(&last);
    // Horner's rule; c_0 needs no transform.
    for part in middle.iter().rev() {
        let part = sums.given(part)?;
        let part = sums.ntt(&part);
        sum = sums.by_limb(PolyOp::MulAdd, &[&sum, &key, &part]);
    }
    let product = sums.product(&sum, &key);
    let c0 = sums.given(c0)?;
    let phase = sums.by_limb(PolyOp::Add, &[&product, &c0]);
    let [phase] = sums.compute(engine, &[phase], observer)?;
    Ok(phase)
}
