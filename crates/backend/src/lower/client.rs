// SPDX-License-Identifier: Apache-2.0
//! Polynomial operations of a BFV client: encryptions of zero, and the phase of a ciphertext. Sampling, scaling and
//! rounding stay with the scheme; a CKKS client, whose ciphertexts are values, has products and sums only.

use super::Engine;
use crate::{Error, Observer};
use ::polynomial::{Form, Graph, Host, Limb, Operation as Op, Words};
use bfv::ZeroDraw;
use rns::{Coeff, Domain, Eval, RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

/// A graph of operations on polynomials over one basis.
struct Sums<'a, W: Word> {
    graph: Graph<W>,
    basis: RnsBasis<W>,
    moduli: Vec<u16>,
    task: u32,
    given: Given<'a, W>,
}

/// Residues of the polynomials, by the number of their source: over the basis, and more.
struct Given<'a, W: Word> {
    basis: RnsBasis<W>,
    residues: Vec<&'a [W]>,
}

impl<W: Word> Host<W> for Given<'_, W> {
    type Error = Error;

    fn source(&self, number: u32) -> Result<Vec<Vec<W>>, Error> {
        let limbs = self.residues[number as usize].chunks_exact(self.basis.n());
        Ok(limbs.take(self.basis.len()).map(<[W]>::to_vec).collect())
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
                residues: Vec::new(),
            },
        }
    }

    fn source<D: Domain>(
        &mut self,
        poly: &'a RnsPoly<W, D>,
        form: Form,
    ) -> Result<Vec<Limb>, Error> {
        let (moduli, own) = (self.basis.moduli(), poly.basis().moduli());
        if !own.starts_with(moduli) || poly.n() != self.basis.n() {
            return Err(Error::Rlwe(rlwe::Error::Shape {
                what: "primes of a factor",
                got: own.len(),
                expected: moduli.len(),
            }));
        }
        self.given.residues.push(poly.data());
        let number = self.given.residues.len() as u32 - 1;
        Ok(self.graph.source((number, form), &self.moduli, self.task))
    }

    fn coefficients(&mut self, poly: &'a RnsPoly<W, Coeff>) -> Result<Vec<Limb>, Error> {
        self.source(poly, Form::Coefficients)
    }

    fn values(&mut self, poly: &'a RnsPoly<W, Eval>) -> Result<Vec<Limb>, Error> {
        self.source(poly, Form::Values)
    }

    /// The values of coefficients.
    fn transformed(&mut self, poly: &'a RnsPoly<W, Coeff>) -> Result<Vec<Limb>, Error> {
        let coefficients = self.coefficients(poly)?;
        Ok(self.graph.ntt(&coefficients, self.task))
    }

    fn by_limb(&mut self, operation: Op, operands: &[&[Limb]]) -> Vec<Limb> {
        self.graph.by_limb(operation, operands, self.task)
    }

    /// The coefficients of a · b.
    fn product(&mut self, a: &[Limb], b: &[Limb]) -> Vec<Limb> {
        let product = self.by_limb(Op::Mul, &[a, b]);
        self.graph.intt(&product, self.task)
    }

    /// Computes results, which are coefficients.
    fn compute<E: Engine>(
        mut self,
        engine: &E,
        results: &[Vec<Limb>],
        observer: &dyn Observer,
    ) -> Result<Vec<RnsPoly<W, Coeff>>, Error> {
        results.iter().for_each(|limbs| self.graph.output(limbs));
        let mut memory = engine.compute(&self.graph, &self.given, observer)?;
        let mut polynomial = |limbs: &Vec<Limb>| {
            let mut data = AlignedVec::for_overwrite(self.basis.len() * self.basis.n());
            for (limb, out) in limbs.iter().zip(data.chunks_exact_mut(self.basis.n())) {
                out.copy_from_slice(&memory.take(*limb, &self.given)?);
            }
            Ok(RnsPoly::from_data(&self.basis, data))
        };
        results.iter().map(&mut polynomial).collect()
    }
}

/// The parts of an encryption of zero: those of [`ZeroDraw::parts`].
pub fn zero_parts<E: Engine, W: Word>(
    engine: &E,
    draw: &ZeroDraw<'_, W>,
    observer: &dyn Observer,
) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
    let task = "zero-encrypt";
    match draw {
        ZeroDraw::Public { key, u, errors } => {
            let mut sums = Sums::new(engine, u.basis(), task);
            let u = sums.transformed(u)?;
            let mut part = |half: usize| {
                let key = sums.values(key[half])?;
                let product = sums.product(&u, &key);
                let error = sums.coefficients(&errors[half])?;
                Ok::<_, Error>(sums.by_limb(Op::Add, &[&product, &error]))
            };
            let parts = [part(0)?, part(1)?];
            let parts = sums.compute(engine, &parts, observer)?;
            Ok(parts
                .try_into()
                .unwrap_or_else(|_| unreachable!("two results were asked for")))
        }
        ZeroDraw::Secret { key, a, error } => {
            let mut sums = Sums::new(engine, a.basis(), task);
            let (values, key) = (sums.transformed(a)?, sums.values(key)?);
            let product = sums.product(&values, &key);
            let error = sums.coefficients(error)?;
            let c0 = sums.by_limb(Op::Sub, &[&error, &product]);
            let mut parts = sums.compute(engine, &[c0], observer)?;
            Ok([parts.swap_remove(0), a.clone()])
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
    let key = sums.values(key)?;
    let mut sum = sums.transformed(last)?;
    // Horner's rule; c_0 needs no transform.
    for part in middle.iter().rev() {
        let part = sums.transformed(part)?;
        sum = sums.by_limb(Op::MulAdd, &[&sum, &key, &part]);
    }
    let product = sums.product(&sum, &key);
    let c0 = sums.coefficients(c0)?;
    let phase = sums.by_limb(Op::Add, &[&product, &c0]);
    Ok(sums.compute(engine, &[phase], observer)?.swap_remove(0))
}
