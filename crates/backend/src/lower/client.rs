// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations of a client: encryptions of zero, and the phase of a ciphertext, in the form that the scheme
//! keeps polynomials in. Sampling, scaling, encoding and rounding stay with the scheme.

pub mod bfv;
pub mod ckks;

use super::run::Engine;
use super::zero::{ZeroOperands, zero_sums};
use crate::{Error, Observer};
use ::polynomial::{Form, Graph, Host, Limb, PolyOp, Words};
use rlwe::SignedPoly;
use rns::{Coeff, Domain, Eval, RnsBasis, RnsPoly};
use zeroize::Zeroizing;
use zq::{AlignedVec, Word};

/// The name of an encryption in presets and reports, of either scheme.
const ENCRYPTION: &str = "zero-encrypt";

/// A domain by its form.
trait Formed: Domain {
    const FORM: Form;
}

impl Formed for Coeff {
    const FORM: Form = Form::Coefficients;
}

impl Formed for Eval {
    const FORM: Form = Form::Values;
}

/// A graph of operations on polynomials over one basis.
struct Sums<'a, W: Word> {
    graph: Graph<W>,
    basis: RnsBasis<W>,
    moduli: Vec<u16>,
    task: u32,
    given: Given<'a, W>,
}

/// What a source holds.
enum Held<'a, W: Word> {
    /// Residues over the basis and more, limb after limb.
    Residues(&'a [W]),
    /// Limbs over the basis.
    Limbs(Vec<&'a [W]>),
    /// Small coefficients, whose residues are made when they are needed.
    Small(&'a SignedPoly),
}

/// The sources of a graph, by number.
struct Given<'a, W: Word> {
    basis: RnsBasis<W>,
    held: Vec<Held<'a, W>>,
}

impl<W: Word> Host<W> for Given<'_, W> {
    type Error = Error;

    fn source(&self, number: u32) -> Result<Vec<Words<W>>, Error> {
        let own = |limb: &[W]| Words::new(Zeroizing::new(limb.to_vec()));
        let cut = |residues: &[W]| {
            let limbs = residues.chunks_exact(self.basis.n());
            limbs.take(self.basis.len()).map(own).collect()
        };
        Ok(match &self.held[number as usize] {
            Held::Residues(residues) => cut(residues),
            Held::Limbs(limbs) => limbs.iter().map(|limb| own(limb)).collect(),
            Held::Small(poly) => cut(Zeroizing::new(poly.residues(&self.basis)).data()),
        })
    }

    fn step(&self, _: u32, _: &[Vec<Words<W>>]) -> Result<Vec<Vec<W>>, Error> {
        unreachable!("a client's polynomials are made of sources alone")
    }
}

impl<'a, W: Word> Sums<'a, W> {
    fn new<E: Engine>(engine: &E, basis: &RnsBasis<W>, task: &'static str) -> Self {
        let graph = Graph::new(basis.n());
        let mut graph = match engine.shape(basis.n()).lanes {
            1 => graph,
            _ => graph.together(),
        };
        Self {
            moduli: graph.basis(basis),
            task: graph.task(task, 0),
            graph,
            basis: basis.clone(),
            given: Given {
                basis: basis.clone(),
                held: Vec::new(),
            },
        }
    }

    fn source(&mut self, held: Held<'a, W>, form: Form) -> Vec<Limb> {
        self.given.held.push(held);
        let number = self.given.held.len() as u32 - 1;
        self.graph.source((number, form), &self.moduli, self.task)
    }

    /// Fails unless a factor has the primes of the basis; the error says how many of them it has, `got`.
    fn check(&self, fits: bool, got: usize) -> Result<(), Error> {
        match fits {
            true => Ok(()),
            false => Err(Error::Rlwe(rlwe::Error::Shape {
                what: "primes of a factor",
                got,
                expected: self.basis.len(),
            })),
        }
    }

    /// A polynomial over the basis, or over more primes after it.
    fn given<D: Formed>(&mut self, poly: &'a RnsPoly<W, D>) -> Result<Vec<Limb>, Error> {
        let own = poly.basis().moduli();
        let fits = own.starts_with(self.basis.moduli()) && poly.n() == self.basis.n();
        self.check(fits, own.len())?;
        Ok(self.source(Held::Residues(poly.data()), D::FORM))
    }

    /// Values, limb by limb over the basis.
    fn values(&mut self, limbs: Vec<&'a [W]>) -> Result<Vec<Limb>, Error> {
        self.check(limbs.len() == self.basis.len(), limbs.len())?;
        Ok(self.source(Held::Limbs(limbs), Form::Values))
    }

    fn small(&mut self, poly: &'a SignedPoly) -> Vec<Limb> {
        self.source(Held::Small(poly), Form::Coefficients)
    }

    fn by_limb(&mut self, operation: PolyOp, operands: &[&[Limb]]) -> Vec<Limb> {
        self.graph.by_limb(operation, operands, self.task)
    }

    fn ntt(&mut self, coefficients: &[Limb]) -> Vec<Limb> {
        self.graph.ntt(coefficients, self.task)
    }

    /// The coefficients of a · b.
    fn product(&mut self, a: &[Limb], b: &[Limb]) -> Vec<Limb> {
        let product = self.by_limb(PolyOp::Mul, &[a, b]);
        self.graph.intt(&product, self.task)
    }

    /// The parts of an encryption of zero under a public key: see [`zero_sums`].
    fn zero<D: Formed>(
        &mut self,
        u: &[Limb],
        key: [&[Limb]; 2],
        errors: [&[Limb]; 2],
    ) -> [Vec<Limb>; 2] {
        zero_sums(
            &mut self.graph,
            &ZeroOperands { u, key, errors },
            D::FORM,
            self.task,
        )
    }

    /// Computes results, which are in the form of the domain.
    fn compute<E: Engine, D: Formed, const N: usize>(
        mut self,
        engine: &E,
        results: &[Vec<Limb>; N],
        observer: &dyn Observer,
    ) -> Result<[RnsPoly<W, D>; N], Error> {
        results.iter().for_each(|limbs| self.graph.output(limbs));
        let mut memory = engine.compute(&self.graph, &self.given, observer)?;
        let mut polynomials = Vec::with_capacity(N);
        for limbs in results {
            let mut data = AlignedVec::for_overwrite(self.basis.len() * self.basis.n());
            for (limb, out) in limbs.iter().zip(data.chunks_exact_mut(self.basis.n())) {
                out.copy_from_slice(&memory.take(*limb, &self.given)?);
            }
            polynomials.push(RnsPoly::from_data(&self.basis, data));
        }
        let polynomials = <[_; N]>::try_from(polynomials);
        Ok(polynomials.unwrap_or_else(|_| unreachable!("a polynomial for each result")))
    }
}
