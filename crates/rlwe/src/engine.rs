// SPDX-License-Identifier: Apache-2.0
//! The polynomial part of homomorphic operations behind one trait, so that a co-processor can take it over.
//!
//! Sampling, lifting, scaling, decomposition and rounding stay with the schemes.

mod limbs;

use crate::Error;
use crate::keys::KeySwitchKey;
use crate::keyswitch::KeySwitchLevel;
use crate::threads::Threads;
use rns::{Coeff, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

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

    /// [`PolyEngine::tensor`] of operands that are not needed afterwards; without `b` the square of `a`.
    ///
    /// # Errors
    /// As above.
    fn tensor_owned(&self, a: Polys<W>, b: Option<Polys<W>>) -> Result<Polys<W>, Error> {
        match &b {
            Some(b) => self.tensor(&a, b),
            None => self.tensor(&a, &a),
        }
    }

    /// [`PolyEngine::key_switch_inner`] of digits that are not needed afterwards.
    ///
    /// # Errors
    /// As above.
    fn key_switch_inner_owned(
        &self,
        digits: Polys<W>,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        self.key_switch_inner(&digits, key)
    }

    /// `c·s'` for the key from s' to s: digits, [`PolyEngine::key_switch_inner`] and the division by P. An engine whose
    /// memory holds all of it may do it in one go.
    ///
    /// # Errors
    /// As above.
    ///
    /// # Panics
    /// If `c` is not over the level's data basis.
    fn key_switch(
        &self,
        level: &KeySwitchLevel<W>,
        c: &RnsPoly<W, Coeff>,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let [k0, k1] = self.key_switch_inner_owned(level.decompose(c), key)?;
        Ok([level.mod_down(k0), level.mod_down(k1)])
    }
}

/// Polynomials in coefficient form.
pub type Polys<W> = Vec<RnsPoly<W, Coeff>>;

/// The default engine: the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuEngine;

/// This machine's processor with several threads, which share the primes among them.
#[derive(Clone, Debug, Default)]
pub struct ThreadedEngine {
    threads: Threads,
}

impl ThreadedEngine {
    /// An engine on these threads.
    pub fn new(threads: Threads) -> Self {
        Self { threads }
    }
}

/// Fails unless `basis` is a prefix of `longer`.
fn check_prefix<W: Word>(basis: &RnsBasis<W>, longer: &RnsBasis<W>) -> Result<(), Error> {
    let same = basis
        .moduli()
        .iter()
        .zip(longer.moduli())
        .all(|(a, b)| a == b);
    if same && basis.len() <= longer.len() && basis.n() == longer.n() {
        return Ok(());
    }
    Err(Error::Shape {
        what: "primes of a factor",
        got: longer.len(),
        expected: basis.len(),
    })
}

/// Fails unless all polynomials are over `basis`.
fn check_same<'a, W: Word>(
    basis: &RnsBasis<W>,
    mut polys: impl Iterator<Item = &'a RnsPoly<W, Coeff>>,
) -> Result<(), Error> {
    match polys.find(|p| p.basis() != basis) {
        None => Ok(()),
        Some(other) => Err(Error::Shape {
            what: "primes of an operand",
            got: other.limb_count(),
            expected: basis.len(),
        }),
    }
}

fn first_of<W: Word, D: rns::Domain>(polys: &[RnsPoly<W, D>]) -> Result<&RnsPoly<W, D>, Error> {
    polys.first().ok_or(Error::Shape {
        what: "polynomials of an operand",
        got: 0,
        expected: 1,
    })
}

/// Room for `count` polynomials.
fn room<W: Word>(basis: &RnsBasis<W>, count: usize) -> Vec<AlignedVec<W>> {
    (0..count)
        .map(|_| AlignedVec::for_overwrite(basis.len() * basis.n()))
        .collect()
}

/// (j, limb j of every polynomial) for every prime j.
fn by_prime<'a, W: Word>(
    polys: impl Iterator<Item = &'a mut [W]>,
    n: usize,
) -> impl Iterator<Item = (usize, Vec<&'a mut [W]>)> {
    let mut limbs: Vec<_> = polys.map(|p| p.chunks_exact_mut(n)).collect();
    let rows = std::iter::from_fn(move || limbs.iter_mut().map(Iterator::next).collect());
    rows.enumerate()
}

fn into_polys<W: Word>(data: Vec<AlignedVec<W>>, basis: &RnsBasis<W>) -> Polys<W> {
    data.into_iter()
        .map(|d| RnsPoly::from_data(basis, d))
        .collect()
}

impl ThreadedEngine {
    /// Two parts by two: the results take the operands' places, which saves memory traffic.
    fn tensor_in_place<W: Word>(
        &self,
        basis: &RnsBasis<W>,
        mut a: Polys<W>,
        mut b: Polys<W>,
    ) -> Polys<W> {
        let inputs = a.iter_mut().chain(&mut b).map(RnsPoly::data_mut);
        self.threads
            .for_each(by_prime(inputs, basis.n()), |(j, mut rows)| {
                limbs::tensor_in_place(basis.plan(j), &mut rows);
            });
        a.extend(b.pop());
        a
    }
}

fn pair<T>(polys: Vec<T>) -> [T; 2] {
    polys
        .try_into()
        .unwrap_or_else(|_| unreachable!("two outputs were made"))
}

impl<W: Word> PolyEngine<W> for ThreadedEngine {
    fn name(&self) -> &str {
        "cpu"
    }

    fn encrypt_zero(
        &self,
        pk: [&RnsPoly<W, Eval>; 2],
        u: RnsPoly<W, Coeff>,
        e: [RnsPoly<W, Coeff>; 2],
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let basis = u.basis().clone();
        check_same(&basis, e.iter())?;
        pk.iter()
            .try_for_each(|k| check_prefix(&basis, k.basis()))?;
        let mut out = room(&basis, 2);
        self.threads.for_each(
            by_prime(out.iter_mut().map(|p| &mut p[..]), basis.n()),
            |(j, mut rows)| {
                let keys = pk.map(|k| k.limb(j));
                limbs::encrypt_zero(
                    basis.plan(j),
                    keys,
                    u.limb(j),
                    [e[0].limb(j), e[1].limb(j)],
                    &mut rows,
                );
            },
        );
        Ok(pair(into_polys(out, &basis)))
    }

    fn phase(
        &self,
        ct: &[RnsPoly<W, Coeff>],
        s: &RnsPoly<W, Eval>,
    ) -> Result<RnsPoly<W, Coeff>, Error> {
        let basis = first_of(ct)?.basis();
        check_same(basis, ct.iter())?;
        check_prefix(basis, s.basis())?;
        let mut out = room(basis, 1);
        self.threads.for_each(
            by_prime(out.iter_mut().map(|p| &mut p[..]), basis.n()),
            |(j, mut rows)| {
                let parts: Vec<&[W]> = ct.iter().map(|p| p.limb(j)).collect();
                limbs::phase(basis.plan(j), &parts, s.limb(j), rows[0]);
            },
        );
        Ok(into_polys(out, basis).swap_remove(0))
    }

    fn tensor(&self, a: &[RnsPoly<W, Coeff>], b: &[RnsPoly<W, Coeff>]) -> Result<Polys<W>, Error> {
        let other = if std::ptr::eq(a, b) {
            None
        } else {
            Some(b.to_vec())
        };
        self.tensor_owned(a.to_vec(), other)
    }

    fn tensor_owned(&self, mut a: Polys<W>, mut b: Option<Polys<W>>) -> Result<Polys<W>, Error> {
        let basis = first_of(&a)?.basis().clone();
        if let Some(b) = &b {
            first_of(b)?;
        }
        check_same(&basis, a.iter().chain(b.iter().flatten()))?;
        let left = a.len();
        let right = b.as_ref().map_or(left, Vec::len);
        if let (2, Some([_, _])) = (left, b.as_deref_mut()) {
            return Ok(self.tensor_in_place(&basis, a, b.take().unwrap_or_default()));
        }
        let mut out = room(&basis, left + right - 1);
        let inputs = a
            .iter_mut()
            .chain(b.iter_mut().flatten())
            .map(RnsPoly::data_mut);
        let rows = by_prime(out.iter_mut().map(|p| &mut p[..]).chain(inputs), basis.n());
        self.threads.for_each(rows, |(j, mut rows)| {
            let (out, inputs) = rows.split_at_mut(left + right - 1);
            inputs.iter_mut().for_each(|row| basis.plan(j).forward(row));
            let (a, b) = inputs.split_at(left);
            limbs::tensor(basis.plan(j), a, if b.is_empty() { a } else { b }, out);
        });
        Ok(into_polys(out, &basis))
    }

    fn key_switch_inner(
        &self,
        digits: &[RnsPoly<W, Coeff>],
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        self.key_switch_inner_owned(digits.to_vec(), key)
    }

    fn key_switch_inner_owned(
        &self,
        mut digits: Polys<W>,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let basis = first_of(&digits)?.basis().clone();
        check_same(&basis, digits.iter())?;
        let data = key.data_limbs_of(basis.len())?;
        key.check_covers(data, digits.len())?;
        let mut out = room(&basis, 2);
        let outputs = out.iter_mut().map(|p| &mut p[..]);
        let rows = by_prime(
            outputs.chain(digits.iter_mut().map(RnsPoly::data_mut)),
            basis.n(),
        );
        self.threads.for_each(rows, |(j, mut rows)| {
            let at = if j < data { j } else { key.limbs() + j - data };
            let (out, digits) = rows.split_at_mut(2);
            digits.iter_mut().for_each(|row| basis.plan(j).forward(row));
            limbs::inner_product(basis.plan(j), digits, key, at, out);
        });
        Ok(pair(into_polys(out, &basis)))
    }

    fn key_switch(
        &self,
        level: &KeySwitchLevel<W>,
        c: &RnsPoly<W, Coeff>,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        level.switch_coeff(c, key, &self.threads)
    }
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
        ThreadedEngine::default().encrypt_zero(pk, u, e)
    }

    fn phase(
        &self,
        ct: &[RnsPoly<W, Coeff>],
        s: &RnsPoly<W, Eval>,
    ) -> Result<RnsPoly<W, Coeff>, Error> {
        ThreadedEngine::default().phase(ct, s)
    }

    fn tensor(
        &self,
        a: &[RnsPoly<W, Coeff>],
        b: &[RnsPoly<W, Coeff>],
    ) -> Result<Vec<RnsPoly<W, Coeff>>, Error> {
        ThreadedEngine::default().tensor(a, b)
    }

    fn key_switch_inner(
        &self,
        digits: &[RnsPoly<W, Coeff>],
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        ThreadedEngine::default().key_switch_inner(digits, key)
    }

    fn tensor_owned(&self, a: Polys<W>, b: Option<Polys<W>>) -> Result<Polys<W>, Error> {
        ThreadedEngine::default().tensor_owned(a, b)
    }

    fn key_switch_inner_owned(
        &self,
        digits: Polys<W>,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        ThreadedEngine::default().key_switch_inner_owned(digits, key)
    }

    fn key_switch(
        &self,
        level: &KeySwitchLevel<W>,
        c: &RnsPoly<W, Coeff>,
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        ThreadedEngine::default().key_switch(level, c, key)
    }
}
