// SPDX-License-Identifier: Apache-2.0
//! A CKKS client, whose polynomials are values: what is sampled is transformed, nothing is transformed back.

use super::{ENCRYPTION, Sums};
use crate::lower::Engine;
use crate::{Error, Observer};
use ::ckks::{Draw, ZeroDraw};
use ::polynomial::PolyOp;
use rns::{Eval, RnsPoly};

/// The parts of an encryption: those of [`Draw::parts`].
pub fn parts<E: Engine>(
    engine: &E,
    draw: Draw<'_>,
    observer: &dyn Observer,
) -> Result<[RnsPoly<u64, Eval>; 2], Error> {
    let mut sums = Sums::new(engine, &draw.basis, ENCRYPTION);
    match draw.zero {
        ZeroDraw::Public { key, u, errors } => {
            let half = |half: usize| key.iter().map(|both| both[half]).collect();
            let key = [sums.values(half(0))?, sums.values(half(1))?];
            let u = sums.small(&u);
            let errors = [sums.small(&errors[0]), sums.small(&errors[1])];
            let mut parts = sums.zero::<Eval>(&u, [&key[0], &key[1]], [&errors[0], &errors[1]]);
            if let Some(message) = draw.message {
                let message = sums.given(message)?;
                parts[0] = sums.by_limb(PolyOp::Add, &[&parts[0], &message]);
            }
            sums.compute(engine, &parts, observer)
        }
        ZeroDraw::Secret { key, a, error } => {
            let error = sums.small(&error);
            let mut c0 = sums.ntt(&error);
            if let Some(message) = draw.message {
                let message = sums.given(message)?;
                c0 = sums.by_limb(PolyOp::Add, &[&c0, &message]);
            }
            let (values, key) = (sums.given(&a)?, sums.given(key)?);
            let product = sums.by_limb(PolyOp::Mul, &[&values, &key]);
            c0 = sums.by_limb(PolyOp::Sub, &[&c0, &product]);
            let [c0] = sums.compute(engine, &[c0], observer)?;
            Ok([c0, a])
        }
    }
}

/// `c_0 + c_1·s + …`, by Horner's rule.
pub fn phase<E: Engine>(
    engine: &E,
    parts: &[RnsPoly<u64, Eval>],
    key: &RnsPoly<u64, Eval>,
    observer: &dyn Observer,
) -> Result<RnsPoly<u64, Eval>, Error> {
    let [rest @ .., last] = parts else {
        return Err(Error::Input("a ciphertext without parts".to_owned()));
    };
    let mut sums = Sums::new(engine, last.basis(), "decrypt");
    let (key, mut sum) = (sums.given(key)?, sums.given(last)?);
    for part in rest.iter().rev() {
        let part = sums.given(part)?;
        sum = sums.by_limb(PolyOp::MulAdd, &[&sum, &key, &part]);
    }
    let [phase] = sums.compute(engine, &[sum], observer)?;
    Ok(phase)
}
