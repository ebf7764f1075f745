// SPDX-License-Identifier: Apache-2.0
//! Wide primes: where only an integer matters (a tensor before it is scaled, a sum of digits times keys before it is
//! divided), a device with wide words works modulo a few of them instead of all primes of the set. The integer is the
//! same, so are its residues.

use super::lowering::{Lower, Lowering};
use crate::Error;
use rns::{BaseConverter, RnsBasis, Scratch};
use zq::Word;
use zq::primes::{Direction, ntt_primes};

/// Bits to spare between an integer and half the product of the primes: conversion rounds close to it.
const MARGIN: u64 = 4;

impl<S: Lower> Lowering<'_, S> {
    /// Primes whose product exceeds 2^`bits` with room to spare, if they are fewer than `narrow`.
    pub(super) fn wide_basis(
        &mut self,
        bits: u64,
        narrow: usize,
    ) -> Result<Option<RnsBasis<S::Word>>, Error> {
        let Some(width) = self.wide_bits else {
            return Ok(None);
        };
        // Primes from just below 2^width down are above 2^(width - 1).
        let count = (bits + MARGIN).div_ceil(u64::from(width) - 1) as usize;
        if count >= narrow {
            return Ok(None);
        }
        if let Some(known) = self.wide_bases.iter().find(|basis| basis.len() == count) {
            return Ok(Some(known.clone()));
        }
        let n = self.graph.n();
        let order = 2 * n as u64;
        let primes = ntt_primes::<S::Word>(width, order, count, Direction::Down, &[]);
        let basis = RnsBasis::new(n, &primes.map_err(rns::RnsError::from)?)?;
        self.wide_bases.push(basis.clone());
        Ok(Some(basis))
    }
}

/// Values over a basis as values over wide primes, of the integers in between.
///
/// # Errors
/// Of a basis whose primes cannot be converted together.
pub fn widen<W: Word>(
    limbs: Vec<Vec<W>>,
    from: &RnsBasis<W>,
    to: &RnsBasis<W>,
) -> Result<Vec<Vec<W>>, Error> {
    let converter = BaseConverter::new(from, to)?;
    let n = from.n();
    let mut coefficients = limbs.concat();
    for (limb, plan) in coefficients.chunks_exact_mut(n).zip(from.plans()) {
        plan.inverse(limb);
    }
    let mut out = vec![W::ZERO; to.len() * n];
    converter.convert_into(&coefficients, &mut out, &mut Scratch::new());
    for (limb, plan) in out.chunks_exact_mut(n).zip(to.plans()) {
        plan.forward(limb);
    }
    Ok(out.chunks_exact(n).map(<[W]>::to_vec).collect())
}
