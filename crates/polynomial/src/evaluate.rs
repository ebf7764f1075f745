// SPDX-License-Identifier: Apache-2.0
//! Computing a program on this machine: each operation when its result is first needed, each limb kept until its last
//! use and then wiped: it may be a client's secret.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rns::{Automorphism, BaseConverter, RnsError, ScaleRounder, Scratch};
use zeroize::Zeroizing;
use zq::Word;

use crate::graph::{Bundle, Form, Graph, Limb, PolyOp};
use crate::owner::Owner;

/// The words of a limb, wiped with the last reference.
pub type Words<W> = Arc<Zeroizing<Vec<W>>>;

/// The host's side of a program: sources and whole steps.
pub trait Host<W: Word> {
    /// Why it fails.
    type Error: From<RnsError>;

    /// The limbs of a source, which the host may hold too.
    ///
    /// # Errors
    /// Its own.
    fn source(&self, number: u32) -> Result<Vec<Words<W>>, Self::Error>;

    /// The owner of a source that stays the same from run to run, and the source's number among all of the owner's;
    /// `None` for one that may be another in the next run.
    fn owner(&self, _number: u32) -> Option<(&Arc<Owner>, u32)> {
        None
    }

    /// The limbs that a homomorphic step gives, all of them in order; operands likewise.
    ///
    /// # Errors
    /// Its own.
    fn step(&self, number: u32, operands: &[Vec<Words<W>>]) -> Result<Vec<Vec<W>>, Self::Error>;
}

/// Moduli of operand and result, and the numerator of a division.
type Constants = (Vec<u16>, Vec<u16>, Option<u64>);

enum Conversion<W: Word> {
    Base(BaseConverter<W>),
    Scale(ScaleRounder<W>),
}

/// Limbs that were computed and are still needed.
pub struct Memory<'g, W: Word> {
    graph: &'g Graph<W>,
    held: Vec<Option<Words<W>>>,
    uses: Vec<u32>,
    done: Vec<bool>,
    conversions: HashMap<Constants, Conversion<W>>,
    permutations: HashMap<u64, Automorphism>,
}

impl<'g, W: Word> Memory<'g, W> {
    /// Nothing is computed yet; limb i will be read `uses[i]` times, by operations computed here too.
    pub fn new(graph: &'g Graph<W>, uses: Vec<u32>) -> Self {
        Self {
            graph,
            held: vec![None; graph.limb_count()],
            uses,
            done: vec![false; graph.bundles().len()],
            conversions: HashMap::new(),
            permutations: HashMap::new(),
        }
    }

    /// Everything is computed here: each operation reads its operands once, outputs are read once more.
    pub fn whole(graph: &'g Graph<W>) -> Self {
        let mut uses = vec![0; graph.limb_count()];
        let operands = graph.bundles().iter().flat_map(|bundle| &bundle.operands);
        for limb in operands.flatten().chain(graph.outputs()) {
            uses[limb.0 as usize] += 1;
        }
        Self::new(graph, uses)
    }

    /// A limb computed elsewhere.
    pub fn put(&mut self, limb: Limb, words: Vec<W>) {
        let bundle = self.graph.home(limb);
        self.done[bundle] = true;
        self.keep(limb, Arc::new(Zeroizing::new(words)));
    }

    /// A limb, for one of its uses; what it depends on is computed first.
    ///
    /// # Errors
    /// Those of the host.
    pub fn take<H: Host<W>>(&mut self, limb: Limb, host: &H) -> Result<Words<W>, H::Error> {
        // Operations that wait for their operands; an explicit stack, as programs are long.
        let mut waiting = vec![self.graph.home(limb)];
        while let Some(&bundle) = waiting.last() {
            if self.done[bundle] {
                waiting.pop();
                continue;
            }
            let operands = self.graph.bundles()[bundle].operands.iter().flatten();
            let homes = operands.map(|operand| self.graph.home(*operand));
            let missing: Vec<usize> = homes.filter(|home| !self.done[*home]).collect();
            if missing.is_empty() {
                self.compute(bundle, host)?;
            } else {
                waiting.extend(missing);
            }
        }
        Ok(self.use_once(limb))
    }

    /// Limbs held now.
    pub fn held(&self) -> usize {
        self.held.iter().flatten().count()
    }

    fn use_once(&mut self, limb: Limb) -> Words<W> {
        let at = limb.0 as usize;
        self.uses[at] = self.uses[at].saturating_sub(1);
        let held = &mut self.held[at];
        let words = if self.uses[at] == 0 {
            held.take()
        } else {
            held.clone()
        };
        words.expect("a limb is used as often as was said")
    }

    fn keep(&mut self, limb: Limb, words: Words<W>) {
        let at = limb.0 as usize;
        self.held[at] = (self.uses[at] > 0).then_some(words);
    }

    fn compute<H: Host<W>>(&mut self, number: usize, host: &H) -> Result<(), H::Error> {
        let bundle = &self.graph.bundles()[number];
        let operands: Vec<Vec<Words<W>>> = bundle
            .operands
            .iter()
            .map(|limbs| limbs.iter().map(|limb| self.use_once(*limb)).collect())
            .collect();
        let results = match &bundle.operation {
            PolyOp::Source(source, _) => {
                for (limb, words) in bundle.limbs().zip(host.source(*source)?) {
                    self.keep(limb, words);
                }
                self.done[number] = true;
                return Ok(());
            }
            PolyOp::Step(step, _) => host.step(*step, &operands)?,
            PolyOp::Convert | PolyOp::Round { .. } => self.convert(bundle, &operands)?,
            PolyOp::Permute { element, form } => {
                self.permute(bundle, (*element, *form), &operands[0])?
            }
            operation => self.by_limb(bundle, operation, &operands),
        };
        for (limb, words) in bundle.limbs().zip(results) {
            self.keep(limb, Arc::new(Zeroizing::new(words)));
        }
        self.done[number] = true;
        Ok(())
    }

    fn by_limb(
        &self,
        bundle: &Bundle,
        operation: &PolyOp,
        operands: &[Vec<Words<W>>],
    ) -> Vec<Vec<W>> {
        let one = |(row, modulus): (usize, &u16)| {
            let plan = &self.graph.plans()[usize::from(*modulus)];
            let (q, mut out) = (plan.modulus(), operands[0][row].to_vec());
            let other = |k: usize| operands[k][row].as_slice();
            match operation {
                PolyOp::Ntt => plan.forward(&mut out),
                PolyOp::Intt => plan.inverse(&mut out),
                PolyOp::Add => q.add_assign(&mut out, other(1)),
                PolyOp::Sub => q.sub_assign(&mut out, other(1)),
                PolyOp::Neg => q.neg_assign(&mut out),
                PolyOp::Mul => q.mul_assign(&mut out, other(1)),
                PolyOp::MulAdd => {
                    q.mul_assign(&mut out, other(1));
                    q.add_assign(&mut out, other(2));
                }
                PolyOp::Scale(factors) => {
                    q.scalar_mul_assign(&mut out, W::from_u128_lossy(factors[row]));
                }
                PolyOp::ScaleAdd(factors) => {
                    q.scalar_mul_assign(&mut out, W::from_u128_lossy(factors[row]));
                    q.add_assign(&mut out, other(1));
                }
                _ => unreachable!("no operation by limb"),
            }
            out
        };
        bundle.moduli.iter().enumerate().map(one).collect()
    }

    fn permute(
        &mut self,
        bundle: &Bundle,
        (element, form): (u64, Form),
        operand: &[Words<W>],
    ) -> Result<Vec<Vec<W>>, RnsError> {
        let n = self.graph.n();
        let auto = match self.permutations.entry(element) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Automorphism::new(n, element as usize)?),
        };
        let one = |(limb, modulus): (&Words<W>, &u16)| {
            let mut out = vec![W::ZERO; n];
            match form {
                Form::Values => auto.eval_into(limb, &mut out),
                Form::Coefficients => {
                    let q = self.graph.plans()[usize::from(*modulus)].modulus();
                    auto.coeff_into(q, limb, &mut out);
                }
            }
            out
        };
        Ok(operand.iter().zip(&bundle.moduli).map(one).collect())
    }

    fn convert(
        &mut self,
        bundle: &Bundle,
        operands: &[Vec<Words<W>>],
    ) -> Result<Vec<Vec<W>>, RnsError> {
        let numerator = match bundle.operation {
            PolyOp::Round { numerator } => Some(numerator),
            _ => None,
        };
        let mut out = Vec::with_capacity(bundle.moduli.len());
        for ((limbs, rows), operand) in bundle.groups().zip(operands) {
            let (from, to) = (self.graph.moduli_of(limbs), &bundle.moduli[rows]);
            let mut once = to.to_vec();
            once.sort_unstable();
            once.dedup();
            let made = self.convert_one((from, once.clone(), numerator), operand)?;
            let row = |m: &u16| {
                once.binary_search(m)
                    .expect("every modulus is converted to")
            };
            out.extend(to.iter().map(|m| made[row(m)].clone()));
        }
        Ok(out)
    }

    fn convert_one(
        &mut self,
        key: Constants,
        operand: &[Words<W>],
    ) -> Result<Vec<Vec<W>>, RnsError> {
        if !self.conversions.contains_key(&key) {
            let (from, to) = (self.graph.basis_of(&key.0)?, self.graph.basis_of(&key.1)?);
            let made = match key.2 {
                None => Conversion::Base(BaseConverter::new(&from, &to)?),
                Some(t) => Conversion::Scale(ScaleRounder::new(&from, &to, t)?),
            };
            self.conversions.insert(key.clone(), made);
        }
        let n = self.graph.n();
        let words = operand.iter().flat_map(|limb| limb.iter().copied());
        let input = Zeroizing::new(words.collect::<Vec<W>>());
        let mut out = vec![W::ZERO; n * key.1.len()];
        match &self.conversions[&key] {
            Conversion::Base(converter) => {
                converter.convert_into(&input, &mut out, &mut Scratch::new());
            }
            Conversion::Scale(rounder) => {
                // With kept residues of 0 the correction alone is left.
                let kept = vec![W::ZERO; out.len()];
                rounder.scale_into(&input, &kept, &mut out, &mut Scratch::new());
            }
        }
        Ok(out.chunks_exact(n).map(<[W]>::to_vec).collect())
    }
}
