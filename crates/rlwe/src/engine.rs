// SPDX-License-Identifier: Apache-2.0
//! The polynomial part of homomorphic operations behind one trait, so that a co-processor can take it over.
//!
//! Sampling, lifting, scaling, decomposition and rounding stay with the schemes.

use crate::Error;
use crate::keys::KeySwitchKey;
use crate::keyswitch::inner_product;
use rns::{Coeff, Eval, RnsPoly};
use zq::Word;

/// Products and transforms of residue polynomials. Every implementation gives the same residues.
pub trait PolyEngine<W: Word>: Send + Sync {
    /// A name for reports.
    fn name(&self) -> &str;

    /// `pk_i·u + e_i` over the basis of `u`, a prefix of the key's: an encryption of zero.
    ///
    /// # Errors
    /// [`Error::Shape`] when bases do not fit; a device's own failures.
    fn encrypt_zero(
        &self,
        pk: [&RnsPoly<W, Eval>; 2],
        u: RnsPoly<W, Coeff>,
        e: [RnsPoly<W, Coeff>; 2],
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error>;

    /// `c_0 + c_1·s + c_2·s² + …`; the secret may be over a longer basis.
    ///
    /// # Errors
    /// As above.
    fn phase(
        &self,
        ct: &[RnsPoly<W, Coeff>],
        s: &RnsPoly<W, Eval>,
    ) -> Result<RnsPoly<W, Coeff>, Error>;

    /// The product of two ciphertexts as polynomials in s: part k is `Σ_{i+j=k} a_i·b_j`.
    ///
    /// # Errors
    /// As above.
    fn tensor(
        &self,
        a: &[RnsPoly<W, Coeff>],
        b: &[RnsPoly<W, Coeff>],
    ) -> Result<Vec<RnsPoly<W, Coeff>>, Error>;

    /// `Σ_d digit_d·key_d` over the digits' basis: the first data primes, then the special primes.
    ///
    /// # Errors
    /// As above.
    fn key_switch_inner(
        &self,
        digits: &[RnsPoly<W, Coeff>],
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error>;
}

/// The default engine: this machine's processor.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuEngine;

/// `x *= y` limb by limb where `y` may have more limbs; x's basis is a prefix of y's.
fn mul_prefix<W: Word>(x: &mut RnsPoly<W, Eval>, y: &RnsPoly<W, Eval>) -> Result<(), Error> {
    let basis = x.basis().clone();
    let same = basis
        .moduli()
        .iter()
        .zip(y.basis().moduli())
        .all(|(a, b)| a == b);
    if !same || basis.len() > y.limb_count() {
        return Err(Error::Shape {
            what: "primes of a factor",
            got: y.limb_count(),
            expected: basis.len(),
        });
    }
    for ((a, b), m) in x.limbs_mut().zip(y.limbs()).zip(basis.moduli()) {
        m.mul_assign(a, b);
    }
    Ok(())
}

impl<W: Word> PolyEngine<W> for CpuEngine {
    fn name(&self) -> &str {
        "cpu"
    }

    fn encrypt_zero(
        &self,
        pk: [&RnsPoly<W, Eval>; 2],
        u: RnsPoly<W, Coeff>,
        e: [RnsPoly<W, Coeff>; 2],
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let u = u.to_eval();
        let half =
            |key: &RnsPoly<W, Eval>, mut e: RnsPoly<W, Coeff>, mut product: RnsPoly<W, Eval>| {
                mul_prefix(&mut product, key)?;
                e.add_assign(&product.to_coeff());
                Ok::<_, Error>(e)
            };
        let [e0, e1] = e;
        let first = half(pk[0], e0, u.clone())?;
        Ok([first, half(pk[1], e1, u)?])
    }

    fn phase(
        &self,
        ct: &[RnsPoly<W, Coeff>],
        s: &RnsPoly<W, Eval>,
    ) -> Result<RnsPoly<W, Coeff>, Error> {
        let (Some(first), [_, rest @ ..]) = (ct.first(), ct) else {
            return Err(Error::Shape {
                what: "parts of a ciphertext",
                got: 0,
                expected: 2,
            });
        };
        // Horner from the highest part; c_0 needs no transform.
        let mut acc: Option<RnsPoly<W, Eval>> = None;
        for part in rest.iter().rev() {
            let mut sum = part.clone().to_eval();
            if let Some(high) = acc {
                sum.add_assign(&high);
            }
            mul_prefix(&mut sum, s)?;
            acc = Some(sum);
        }
        let mut out = first.clone();
        if let Some(acc) = acc {
            out.add_assign(&acc.to_coeff());
        }
        Ok(out)
    }

    fn tensor(
        &self,
        a: &[RnsPoly<W, Coeff>],
        b: &[RnsPoly<W, Coeff>],
    ) -> Result<Vec<RnsPoly<W, Coeff>>, Error> {
        let (Some(a0), Some(_)) = (a.first(), b.first()) else {
            return Err(Error::Shape {
                what: "parts of a ciphertext",
                got: 0,
                expected: 2,
            });
        };
        let basis = a0.basis();
        if let Some(other) = a.iter().chain(b).find(|p| p.basis() != basis) {
            return Err(Error::Shape {
                what: "primes of an operand",
                got: other.limb_count(),
                expected: basis.len(),
            });
        }
        let eval = |side: &[RnsPoly<W, Coeff>]| {
            side.iter().map(|p| p.clone().to_eval()).collect::<Vec<_>>()
        };
        let same = std::ptr::eq(a, b);
        let a = eval(a);
        let b = if same { None } else { Some(eval(b)) };
        let b = b.as_ref().unwrap_or(&a);
        let part = |k: usize| {
            let mut acc = RnsPoly::<W, Eval>::zeros(basis);
            for (i, x) in a.iter().enumerate().take(k + 1) {
                if let Some(y) = b.get(k - i) {
                    acc.mul_add_assign(x, y);
                }
            }
            acc.to_coeff()
        };
        Ok((0..a.len() + b.len() - 1).map(part).collect())
    }

    fn key_switch_inner(
        &self,
        digits: &[RnsPoly<W, Coeff>],
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let Some(first) = digits.first() else {
            return Err(Error::Shape {
                what: "digits",
                got: 0,
                expected: 1,
            });
        };
        let limbs = key.data_limbs_of(first.limb_count())?;
        let digits: Vec<_> = digits.iter().map(|d| d.clone().to_eval()).collect();
        let [k0, k1] = inner_product(&digits, key, limbs)?;
        Ok([k0.to_coeff(), k1.to_coeff()])
    }
}
