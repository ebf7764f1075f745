// SPDX-License-Identifier: Apache-2.0
//! Operations on ciphertexts. Nothing is inserted behind the caller's back but the free drop to a common level.

mod batch;
mod linear;
mod multiply;
mod plain;
mod rescale;
mod rotate;
mod switch;
mod transform;

pub use rotate::{inner_sum_steps, slot_rotation_element};

use crate::poly::{Arithmetic, Plan, Polynomial, evaluate};
use crate::scale::{SCALE_TOLERANCE, same_scale};
use crate::{Ciphertext, CkksParams, Error, Plaintext};
use rlwe::wire::Fingerprint;
use rlwe::{KeyId, ParameterSet, RelinKey, Threads};
use rns::{Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Modulus};

/// Evaluates on ciphertexts; needs no secret. Immutable, so one evaluator serves any number of threads.
#[derive(Clone, Debug)]
pub struct Evaluator {
    params: CkksParams,
    threads: Threads,
}

impl Evaluator {
    /// An evaluator on the calling thread.
    pub fn new(params: &CkksParams) -> Self {
        Self {
            params: params.clone(),
            threads: Threads::ONE,
        }
    }

    /// Shares the work among threads: within an operation by primes, within a batch by ciphertexts. Results do not
    /// depend on their number.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// The parameters.
    pub fn params(&self) -> &CkksParams {
        &self.params
    }

    /// The same on the calling thread.
    fn alone(&self) -> Self {
        Self::new(&self.params)
    }

    /// `count` polynomials over `basis`; `f` writes limb i of polynomial k, of these numbers (k, i).
    fn made(
        &self,
        basis: &RnsBasis<u64>,
        count: usize,
        f: impl Fn((usize, usize), &Modulus<u64>, &mut [u64]) + Send + Sync,
    ) -> Vec<RnsPoly<u64, Eval>> {
        let (n, words) = (basis.n(), basis.len() * basis.n());
        let mut out: Vec<AlignedVec<u64>> = Vec::new();
        out.resize_with(count, || AlignedVec::for_overwrite(words));
        let rows = out.iter_mut().enumerate().flat_map(|(k, part)| {
            let rows = part.chunks_exact_mut(n).enumerate();
            rows.map(move |(i, row)| ((k, i), row))
        });
        let threads = self.threads.worth(count * words);
        threads.for_each(rows, |((k, i), row)| f((k, i), basis.modulus(i), row));
        let poly = |data| RnsPoly::from_data(basis, data);
        out.into_iter().map(poly).collect()
    }

    fn check(&self, operands: &[&Ciphertext]) -> Result<(), Error> {
        let check = |ct: &&Ciphertext| self.params.check_fingerprint("ciphertext", ct.params);
        Ok(operands.iter().try_for_each(check)?)
    }

    /// Fails unless a key belongs to these parameters and to the owner of `ct`.
    fn check_key(
        &self,
        what: &'static str,
        ct: &Ciphertext,
        params: Fingerprint,
        owner: KeyId,
    ) -> Result<(), Error> {
        self.params.rlwe().check_fingerprint(what, params)?;
        ct.key.join(owner, what)?;
        Ok(())
    }

    fn check_plain(&self, plaintext: Fingerprint) -> Result<(), Error> {
        Ok(self.params.check_fingerprint("plaintext", plaintext)?)
    }

    /// Evaluates a polynomial in every slot in ceil(log2(degree + 1)) levels; the result has the scale of `ct`,
    /// exactly.
    ///
    /// Chebyshev coefficients refer to [-1, 1]; map another interval there first.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] with the levels needed, [`Error::Size`] for a ciphertext of three parts, and what the
    /// single operations refuse.
    pub fn polynomial(
        &self,
        ct: &Ciphertext,
        p: &Polynomial,
        key: &RelinKey<u64>,
    ) -> Result<Ciphertext, Error> {
        self.polynomial_to_scale(ct, p, ct.scale, key)
    }

    /// As [`Evaluator::polynomial`], to a scale of one's choice.
    ///
    /// # Errors
    /// As [`Evaluator::polynomial`], and [`Error::Scale`].
    pub fn polynomial_to_scale(
        &self,
        ct: &Ciphertext,
        p: &Polynomial,
        scale: f64,
        key: &RelinKey<u64>,
    ) -> Result<Ciphertext, Error> {
        self.check(&[ct])?;
        need_two_parts("polynomial", ct)?;
        evaluate(
            &WithKey {
                evaluator: self,
                key,
            },
            ct,
            &Plan::new(p),
            scale,
        )
    }
}

/// Refuses products that were not relinearised.
fn need_two_parts(operation: &'static str, ct: &Ciphertext) -> Result<(), Error> {
    if ct.size() == 2 {
        return Ok(());
    }
    Err(Error::Size {
        operation,
        given: ct.size(),
        needed: "2",
        remedy: "relinearize it first",
    })
}

/// An evaluator with the key its products are relinearised with.
struct WithKey<'a> {
    evaluator: &'a Evaluator,
    key: &'a RelinKey<u64>,
}

impl Arithmetic for WithKey<'_> {
    type Value = Ciphertext;

    fn level(&self, v: &Ciphertext) -> usize {
        v.level()
    }
    fn scale(&self, v: &Ciphertext) -> f64 {
        v.scale
    }
    fn divisor(&self, level: usize) -> f64 {
        self.evaluator.params.prime(level) as f64
    }
    fn drop_to(&self, v: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        self.evaluator.drop_to(v, level)
    }
    fn set_scale(&self, v: &mut Ciphertext, scale: f64) {
        debug_assert!((v.scale / scale - 1.0).abs() < SCALE_TOLERANCE);
        v.scale = scale;
    }
    fn limit(&self, _: &mut Ciphertext, _: f64) {}
    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.add(a, b)
    }
    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.sub(a, b)
    }
    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.multiply(a, b)
    }
    fn square(&self, v: &Ciphertext) -> Result<Ciphertext, Error> {
        self.evaluator.square(v)
    }
    fn multiply_constant(&self, v: &Ciphertext, c: f64, scale: f64) -> Result<Ciphertext, Error> {
        self.evaluator
            .multiply_constant_to_scale(v, c.into(), scale)
    }
    fn add_constant(&self, v: &Ciphertext, c: f64) -> Result<Ciphertext, Error> {
        self.evaluator.add_constant(v, c.into())
    }
    fn combination(
        &self,
        first: (&Ciphertext, f64),
        others: &[(&Ciphertext, f64)],
        constant: f64,
        place: (usize, f64),
    ) -> Result<Ciphertext, Error> {
        self.evaluator.combination(first, others, constant, place)
    }
    fn doubled(&self, v: &Ciphertext, less: Option<&Ciphertext>) -> Result<Ciphertext, Error> {
        let place = (v.level(), v.scale);
        let (less, constant) = match less {
            Some(less) => (vec![(less, -1.0)], 0.0),
            None => (Vec::new(), -1.0),
        };
        (self.evaluator).combination((v, 2.0), &less, constant, place)
    }
    fn reduce(&self, v: &Ciphertext) -> Result<Ciphertext, Error> {
        if v.size() == 2 {
            return self.evaluator.rescale(v);
        }
        self.evaluator
            .rescale(&self.evaluator.relinearize(v, self.key)?)
    }
}

/// The level at which a ciphertext and a plaintext are combined: the lower of the two.
fn common_level(ct: &Ciphertext, plaintext: &Plaintext) -> usize {
    ct.level().min(plaintext.level())
}
