// SPDX-License-Identifier: Apache-2.0
//! Products and transforms of residue polynomials that encryption, decryption and multiplication are made of, one prime
//! at a time. Sampling, lifting, scaling and rounding stay with the schemes.

mod limbs;

use crate::{Error, Threads};
use rns::{Coeff, Domain, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

/// Polynomials in coefficient form.
pub type Polys<W> = Vec<RnsPoly<W, Coeff>>;

/// `pk_i·u + e_i` over the basis of `u`, a prefix of the key's: an encryption of zero.
///
/// # Errors
/// [`Error::Shape`] when bases do not fit.
#[inline(never)]
pub fn encrypt_zero<W: Word>(
    pk: [&RnsPoly<W, Eval>; 2],
    u: &RnsPoly<W, Coeff>,
    e: [&RnsPoly<W, Coeff>; 2],
) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
    let basis = u.basis();
    check_same(basis, e.into_iter())?;
    pk.iter().try_for_each(|k| check_prefix(basis, k.basis()))?;
    let mut out = [0, 1].map(|_| room(basis));
    for (j, mut rows) in by_prime(out.iter_mut().map(|p| &mut p[..]), basis.n()) {
        let (keys, e) = (pk.map(|k| k.limb(j)), e.map(|e| e.limb(j)));
        limbs::encrypt_zero(basis.plan(j), keys, u.limb(j), e, &mut rows);
    }
    Ok(out.map(|data| RnsPoly::from_data(basis, data)))
}

/// `c_0 + c_1·s + c_2·s² + …`; the secret may be over a longer basis.
///
/// # Errors
/// [`Error::Shape`] when bases do not fit, and without a part.
#[inline(never)]
pub fn phase<W: Word>(
    ct: &[RnsPoly<W, Coeff>],
    s: &RnsPoly<W, Eval>,
) -> Result<RnsPoly<W, Coeff>, Error> {
    let basis = first_of(ct)?.basis();
    check_same(basis, ct.iter())?;
    check_prefix(basis, s.basis())?;
    let mut out = room(basis);
    for (j, row) in out.chunks_exact_mut(basis.n()).enumerate() {
        let parts: Vec<&[W]> = ct.iter().map(|p| p.limb(j)).collect();
        limbs::phase(basis.plan(j), &parts, s.limb(j), row);
    }
    Ok(RnsPoly::from_data(basis, out))
}

/// The coefficients of a polynomial, which stays as it is. The threads share the primes among them.
#[inline(never)]
pub fn coefficients<W: Word>(x: &RnsPoly<W, Eval>, threads: &Threads) -> RnsPoly<W, Coeff> {
    let basis = x.basis();
    let mut out = room(basis);
    let rows = out.chunks_exact_mut(basis.n()).zip(x.limbs());
    let rows = rows.zip(basis.plans());
    threads
        .worth(x.data().len())
        .for_each(rows, |((out, limb), plan)| plan.inverse_from(limb, out));
    RnsPoly::from_data(basis, out)
}

/// The product of two ciphertexts as polynomials in s: part k is `Σ_{i+j=k} a_i·b_j`; without `b` the square of `a`.
/// The threads share the primes among them.
///
/// # Errors
/// [`Error::Shape`] when bases do not fit, and without a part.
#[inline(never)]
pub fn tensor<W: Word>(
    mut a: Polys<W>,
    mut b: Option<Polys<W>>,
    threads: &Threads,
) -> Result<Polys<W>, Error> {
    let basis = first_of(&a)?.basis().clone();
    if let Some(b) = &b {
        first_of(b)?;
    }
    check_same(&basis, a.iter().chain(b.iter().flatten()))?;
    let left = a.len();
    let right = b.as_ref().map_or(left, Vec::len);
    if let (2, Some([_, _])) = (left, b.as_deref_mut()) {
        return Ok(tensor_in_place(
            &basis,
            a,
            b.take().unwrap_or_default(),
            threads,
        ));
    }
    let mut out: Vec<_> = (1..left + right).map(|_| room(&basis)).collect();
    let inputs = a
        .iter_mut()
        .chain(b.iter_mut().flatten())
        .map(RnsPoly::data_mut);
    let rows = by_prime(out.iter_mut().map(|p| &mut p[..]).chain(inputs), basis.n());
    threads.for_each(rows, |(j, mut rows)| {
        let (out, inputs) = rows.split_at_mut(left + right - 1);
        inputs.iter_mut().for_each(|row| basis.plan(j).forward(row));
        let (a, b) = inputs.split_at(left);
        limbs::tensor(basis.plan(j), a, if b.is_empty() { a } else { b }, out);
    });
    let poly = |data| RnsPoly::from_data(&basis, data);
    Ok(out.into_iter().map(poly).collect())
}

/// Two parts by two: the results take the operands' places, which saves memory traffic.
fn tensor_in_place<W: Word>(
    basis: &RnsBasis<W>,
    mut a: Polys<W>,
    mut b: Polys<W>,
    threads: &Threads,
) -> Polys<W> {
    let inputs = a.iter_mut().chain(&mut b).map(RnsPoly::data_mut);
    threads.for_each(by_prime(inputs, basis.n()), |(j, mut rows)| {
        limbs::tensor_in_place(basis.plan(j), &mut rows);
    });
    a.extend(b.pop());
    a
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

fn first_of<W: Word, D: Domain>(polys: &[RnsPoly<W, D>]) -> Result<&RnsPoly<W, D>, Error> {
    polys.first().ok_or(Error::Shape {
        what: "polynomials of an operand",
        got: 0,
        expected: 1,
    })
}

/// Room for a polynomial.
fn room<W: Word>(basis: &RnsBasis<W>) -> AlignedVec<W> {
    AlignedVec::for_overwrite(basis.len() * basis.n())
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
