// SPDX-License-Identifier: Apache-2.0
//! A program put together from outside, each operation checked before it is added.

use std::sync::Arc;

use ntt::NttPlan;
use rns::{RnsBasis, RnsError};
use thiserror::Error;
use zq::{Modulus, Word};

use crate::graph::{Form, Graph, Limb, PolyOp};

/// Limbs of a program at most.
const MOST_LIMBS: usize = 1 << 24;

/// Why an operation cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A modulus without arithmetic or transform.
    #[error(transparent)]
    Modulus(#[from] RnsError),
    /// A number of a modulus that the program does not have.
    #[error("modulus {number} of a program of {count} moduli")]
    NoModulus {
        /// The number.
        number: u16,
        /// Moduli of the program.
        count: usize,
    },
    /// A number of a limb that the program does not have.
    #[error("limb {number} of a program of {count} limbs")]
    NoLimb {
        /// The number.
        number: u32,
        /// Limbs so far.
        count: usize,
    },
    /// Operands or constants that an operation does not take.
    #[error("{what}")]
    Operands {
        /// What is wrong, with the numbers.
        what: String,
    },
}

fn wrong<T>(what: impl Into<String>) -> Result<T, BuildError> {
    let what = what.into();
    Err(BuildError::Operands { what })
}

/// A program in the making; [`Builder::graph`] has it.
#[derive(Debug)]
pub struct Builder<W: Word> {
    graph: Graph<W>,
    task: u32,
    /// The moduli of each source.
    sources: Vec<Vec<u16>>,
}

impl<W: Word> Builder<W> {
    /// An empty program over rings of degree `n`, of one task. Families are moduli that are worked on side by side,
    /// each with the 2n-th root of its transform (`None`: the smallest); numbers of moduli follow their order.
    ///
    /// # Errors
    /// Moduli that are no primes for `n` or stand there twice, roots that are none.
    pub fn new(
        n: usize,
        families: &[Vec<(W, Option<W>)>],
        task: &'static str,
    ) -> Result<Self, BuildError> {
        let plan = |&(q, root): &(W, Option<W>)| -> Result<Arc<NttPlan<W>>, BuildError> {
            let modulus = Modulus::new(q).map_err(RnsError::from)?;
            let made = match root {
                Some(root) => NttPlan::with_root(modulus, n, root),
                None => NttPlan::new(modulus, n),
            };
            Ok(Arc::new(made.map_err(RnsError::from)?))
        };
        let mut graph = Graph::new(n);
        for (at, family) in families.iter().enumerate() {
            let known = |q: &W| families[..at].iter().flatten().any(|(other, _)| other == q);
            if let Some((q, _)) = family.iter().find(|(q, _)| known(q)) {
                let modulus = q.to_u128();
                return Err(RnsError::RepeatedModulus { modulus }.into());
            }
            let plans = family.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
            if plans.is_empty() {
                return Err(RnsError::EmptyBasis.into());
            }
            graph.basis(&RnsBasis::from_plans(plans)?);
        }
        let task = graph.task(task, 0);
        let sources = Vec::new();
        Ok(Self {
            graph,
            task,
            sources,
        })
    }

    /// The program so far.
    pub fn graph(&self) -> &Graph<W> {
        &self.graph
    }

    /// The moduli of each source, in order.
    pub fn sources(&self) -> &[Vec<u16>] {
        &self.sources
    }

    /// A polynomial that is given, modulo these moduli.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn source(&mut self, form: Form, moduli: Vec<u16>) -> Result<Vec<Limb>, BuildError> {
        self.room(&moduli)?;
        let number = self.sources.len() as u32;
        let limbs = self.graph.source((number, form), &moduli, self.task);
        self.sources.push(moduli);
        Ok(limbs)
    }

    /// An operation limb by limb.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn by_limb(
        &mut self,
        operation: PolyOp,
        operands: &[Vec<u32>],
    ) -> Result<Vec<Limb>, BuildError> {
        let count = match operation {
            PolyOp::Ntt
            | PolyOp::Intt
            | PolyOp::Neg
            | PolyOp::Scale(_)
            | PolyOp::Permute { .. } => 1,
            PolyOp::Add | PolyOp::Sub | PolyOp::Mul | PolyOp::ScaleAdd(_) => 2,
            PolyOp::MulAdd => 3,
            _ => return wrong("no operation limb by limb"),
        };
        if operands.len() != count {
            return wrong(format!("{} operands, {count} are needed", operands.len()));
        }
        let limbs = operands.iter().map(|operand| self.limbs(operand));
        let limbs: Vec<Vec<Limb>> = limbs.collect::<Result<_, _>>()?;
        let moduli = self.graph.moduli_of(&limbs[0]);
        self.room(&moduli)?;
        if limbs
            .iter()
            .any(|other| self.graph.moduli_of(other) != moduli)
        {
            return wrong("operands of different moduli");
        }
        self.check_constants(&operation, &moduli)?;
        let operands: Vec<&[Limb]> = limbs.iter().map(Vec::as_slice).collect();
        Ok(self.graph.by_limb(operation, &operands, self.task))
    }

    fn check_constants(&self, operation: &PolyOp, moduli: &[u16]) -> Result<(), BuildError> {
        let value = |m: &u16| self.graph.plans()[usize::from(*m)].modulus().value();
        match operation {
            PolyOp::Scale(factors) | PolyOp::ScaleAdd(factors) => {
                let mut pairs = factors.iter().zip(moduli);
                if factors.len() != moduli.len() {
                    return wrong(format!(
                        "{} constants for {} limbs",
                        factors.len(),
                        moduli.len()
                    ));
                }
                match pairs.find(|(c, m)| **c >= value(m).to_u128()) {
                    Some((c, m)) => {
                        let q = value(m).to_u128();
                        wrong(format!("constant {c} is not below the modulus {q}"))
                    }
                    None => Ok(()),
                }
            }
            PolyOp::Permute { element, .. } if element % 2 == 0 => wrong(format!(
                "x -> x^{element} is no automorphism: an odd number is needed"
            )),
            PolyOp::Permute { element, .. } if *element >= 2 * self.graph.n() as u64 => {
                let most = 2 * self.graph.n() - 1;
                wrong(format!("x -> x^{element}: the exponent is {most} at most"))
            }
            _ => Ok(()),
        }
    }

    /// The centred representative of limbs of distinct moduli, modulo others.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn convert(&mut self, operand: &[u32], to: &[u16]) -> Result<Vec<Limb>, BuildError> {
        let operand = self.converted(operand, to)?;
        Ok(self.graph.convert(&operand, to, self.task))
    }

    /// The rounding term of [`PolyOp::Round`], modulo others.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn round(
        &mut self,
        dropped: &[u32],
        to: &[u16],
        numerator: u64,
    ) -> Result<Vec<Limb>, BuildError> {
        let dropped = self.converted(dropped, to)?;
        let own = self.graph.moduli_of(&dropped);
        if numerator == 0 || to.iter().any(|m| own.contains(m)) {
            return wrong("a division by moduli has a numerator above 0 and keeps other moduli");
        }
        Ok(self.graph.round(&dropped, to, numerator, self.task))
    }

    fn converted(&self, operand: &[u32], to: &[u16]) -> Result<Vec<Limb>, BuildError> {
        self.room(to)?;
        let operand = self.limbs(operand)?;
        // A basis has no modulus twice.
        self.graph.basis_of(&self.graph.moduli_of(&operand))?;
        self.graph.basis_of(to)?;
        Ok(operand)
    }

    /// Limbs that are wanted in the end.
    ///
    /// # Errors
    /// [`BuildError::NoLimb`].
    pub fn output(&mut self, limbs: &[u32]) -> Result<(), BuildError> {
        let limbs = self.limbs(limbs)?;
        self.graph.output(&limbs);
        Ok(())
    }

    fn limbs(&self, numbers: &[u32]) -> Result<Vec<Limb>, BuildError> {
        let count = self.graph.limb_count();
        if numbers.is_empty() {
            return wrong("an operand without limbs");
        }
        match numbers.iter().find(|number| **number as usize >= count) {
            Some(&number) => Err(BuildError::NoLimb { number, count }),
            None => Ok(numbers.iter().copied().map(Limb).collect()),
        }
    }

    /// Fails unless there is room for limbs of these moduli.
    fn room(&self, moduli: &[u16]) -> Result<(), BuildError> {
        let count = self.graph.plans().len();
        if moduli.is_empty() {
            return wrong("a result without moduli");
        }
        if let Some(&number) = moduli.iter().find(|m| usize::from(**m) >= count) {
            return Err(BuildError::NoModulus { number, count });
        }
        let mut once = moduli.to_vec();
        once.sort_unstable();
        once.dedup();
        if once.len() < moduli.len() {
            return wrong("a result has a modulus twice");
        }
        if self.graph.limb_count() + moduli.len() > MOST_LIMBS {
            return wrong(format!("more than {MOST_LIMBS} limbs"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BuildError, Builder};
    use crate::{Form, Host, Memory, PolyOp, Words};
    use rns::RnsError;
    use std::sync::Arc;

    const N: usize = 8;

    struct Given(Vec<Vec<u64>>);

    impl Host<u64> for Given {
        type Error = RnsError;

        fn source(&self, _: u32) -> Result<Vec<Words<u64>>, RnsError> {
            let one = |row: &Vec<u64>| Arc::new(row.clone().into());
            Ok(self.0.iter().map(one).collect())
        }

        fn step(&self, _: u32, _: &[Vec<Words<u64>>]) -> Result<Vec<Vec<u64>>, RnsError> {
            unreachable!("no step")
        }
    }

    fn builder(roots: [Option<u64>; 2]) -> Builder<u64> {
        // 17 and 97 are 1 modulo 16, but too small for arithmetic: 2^14 < q.
        let families = [vec![(65537, roots[0]), (40961, roots[1])]];
        Builder::new(N, &families, "trace").unwrap()
    }

    fn computed(builder: &Builder<u64>, given: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
        let host = Given(given);
        let mut memory = Memory::whole(builder.graph());
        let outputs = builder.graph().outputs().iter();
        outputs
            .map(|limb| memory.take(*limb, &host).unwrap().to_vec())
            .collect()
    }

    #[test]
    fn a_transform_with_another_root_permutes_the_values() {
        let own = builder([None; 2]);
        let psi = own.graph().plans()[0].psi();
        let cube = own.graph().plans()[0].modulus().pow(psi, 3);
        let given = vec![(0..8).collect::<Vec<u64>>(), vec![5; 8]];
        let made = |root, element: Option<u64>| {
            let mut builder = builder([root, None]);
            let a = builder.source(Form::Coefficients, vec![0, 1]).unwrap();
            let numbers = |limbs: &[crate::Limb]| vec![limbs.iter().map(|limb| limb.0).collect()];
            let mut values = builder.by_limb(PolyOp::Ntt, &numbers(&a)).unwrap();
            if let Some(element) = element {
                let form = Form::Values;
                let turn = PolyOp::Permute { element, form };
                values = builder.by_limb(turn, &numbers(&values)).unwrap();
            }
            builder.output(&[values[0].0]).unwrap();
            computed(&builder, given.clone())
        };
        assert_eq!(made(Some(cube), None), made(None, Some(3)));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let mut b = builder([None; 2]);
        let a = b.source(Form::Values, vec![0]).unwrap()[0].0;
        let c = b.source(Form::Values, vec![1]).unwrap()[0].0;
        let refused = |found: Result<_, BuildError>| found.unwrap_err().to_string();
        let found = b.by_limb(PolyOp::Add, &[vec![a], vec![c]]);
        assert_eq!(refused(found), "operands of different moduli");
        let found = b.by_limb(PolyOp::Add, &[vec![a]]);
        assert_eq!(refused(found), "1 operands, 2 are needed");
        let found = b.by_limb(PolyOp::Neg, &[vec![9]]);
        assert_eq!(refused(found), "limb 9 of a program of 2 limbs");
        let found = b.by_limb(PolyOp::Scale(vec![65537]), &[vec![a]]);
        assert_eq!(
            refused(found),
            "constant 65537 is not below the modulus 65537"
        );
        let form = Form::Values;
        let found = b.by_limb(PolyOp::Permute { element: 4, form }, &[vec![a]]);
        assert!(refused(found).contains("is no automorphism"));
        assert_eq!(
            refused(b.convert(&[a], &[7])),
            "modulus 7 of a program of 2 moduli"
        );
        assert_eq!(
            refused(b.convert(&[a, a], &[1])),
            "modulus 65537 stands twice in a basis"
        );
        assert!(b.round(&[a], &[0], 1).is_err());
        assert!(Builder::<u64>::new(N, &[vec![(65537, Some(2))]], "t").is_err());
        assert!(Builder::<u64>::new(N, &[vec![(65537, None)], vec![(65537, None)]], "t").is_err());
        assert!(Builder::<u64>::new(N, &[vec![]], "t").is_err());
    }
}
