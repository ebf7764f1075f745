// SPDX-License-Identifier: Apache-2.0
//! From plain arguments to the slots of plaintexts, each checked against its declaration.

use crate::Error;
use crate::evaluate::{IntegersModulo, Reals, Ring, evaluate_where};
use crate::expression::{Numbers, PlainOp};
use crate::index_map::IndexMap;
use crate::program::{Argument, Program, Secrecy};
use crate::shape;

/// The value of every expression of a program, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// CKKS.
    Reals(Vec<Vec<f64>>),
    /// BFV: centred residues modulo t.
    Integers(Vec<Vec<i64>>),
}

impl Program {
    /// Evaluates the expressions. `arguments` are the plain ones in order, row-major: reals in CKKS; in BFV integers,
    /// which are reduced modulo t.
    ///
    /// # Errors
    /// [`Error::Values`] for arguments of another kind, number or length; [`Error::Promise`].
    pub fn evaluate(&self, arguments: &[Numbers]) -> Result<Values, Error> {
        self.check_arguments_given(arguments)?;
        self.evaluate_where(arguments, |_| true)
    }

    /// The expressions that the given plaintexts are made of, none of which takes an argument.
    pub(crate) fn evaluate_constants(&self, plaintexts: &[u32]) -> Result<Values, Error> {
        let mut wanted = vec![false; self.expressions.len()];
        for &number in plaintexts {
            wanted[self.plaintexts[number as usize].expression as usize] = true;
        }
        for (number, expression) in self.expressions.iter().enumerate().rev() {
            if wanted[number] {
                let operands = expression.operation.operands();
                operands.iter().for_each(|&a| wanted[a as usize] = true);
            }
        }
        self.evaluate_where(&[], |number| wanted[number])
    }

    fn evaluate_where(
        &self,
        arguments: &[Numbers],
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Values, Error> {
        fn of<R: Ring>(ring: &R, arguments: &[Numbers]) -> Vec<Vec<R::Element>> {
            arguments.iter().map(|a| ring.numbers(a)).collect()
        }
        match self.parameters.plain_modulus() {
            None => {
                let arguments = of(&Reals, arguments);
                evaluate_where(&Reals, &self.expressions, &arguments, wanted).map(Values::Reals)
            }
            Some(t) => {
                let ring = IntegersModulo(t);
                let arguments = of(&ring, arguments);
                evaluate_where(&ring, &self.expressions, &arguments, wanted).map(Values::Integers)
            }
        }
    }

    fn check_arguments_given(&self, given: &[Numbers]) -> Result<(), Error> {
        let arguments = self.plain_arguments();
        if given.len() != arguments.len() {
            let (got, needed) = (given.len(), arguments.len());
            return Err(self.refused(format!("{got} plain arguments; {needed} are needed")));
        }
        let exact = self.parameters.plain_modulus().is_some();
        for (argument, numbers) in arguments.iter().zip(given) {
            let (name, elements) = (&argument.name, shape::elements(&argument.shape));
            if elements != Some(numbers.len()) {
                let (got, shape) = (numbers.len(), &argument.shape);
                return Err(
                    self.refused(format!("{name} has {got} values, its shape is {shape:?}"))
                );
            }
            if matches!(numbers, Numbers::Integers(_)) != exact {
                let kind = if exact { "integers" } else { "reals" };
                return Err(self.refused(format!("{name} has to be of {kind}")));
            }
        }
        Ok(())
    }

    /// The slots of a plaintext: the values its map picks, none larger than the bound that the noise guarantee reckons
    /// with.
    ///
    /// # Errors
    /// [`Error::Values`] for a larger one.
    pub fn slots(&self, values: &Values, plaintext: u32) -> Result<Numbers, Error> {
        let source = &self.plaintexts[plaintext as usize];
        let (number, bound) = (source.expression as usize, source.bound);
        let (slots, beyond) = match values {
            Values::Reals(all) => {
                let slots = picked(&all[number], &source.slots, 0.0);
                let beyond = slots.iter().find_map(|&v| Reals::beyond(v, bound));
                (Numbers::Reals(slots), beyond)
            }
            Values::Integers(all) => {
                let slots = picked(&all[number], &source.slots, 0);
                let exceeds = |&v| IntegersModulo::beyond(v, bound);
                let beyond = slots.iter().find_map(exceeds);
                (Numbers::Integers(slots), beyond)
            }
        };
        match beyond {
            None => Ok(slots),
            Some(value) => Err(self.refused(format!(
                "the values of {} give plaintext {plaintext} a slot of {value}; the program was made for magnitudes of at most {bound}",
                self.origin(plaintext)
            ))),
        }
    }

    fn plain_arguments(&self) -> Vec<&Argument> {
        let plain = |a: &&Argument| a.secrecy == Secrecy::Plain;
        self.arguments.iter().filter(plain).collect()
    }

    /// The plain arguments that have part in a plaintext, for messages.
    pub(crate) fn origin(&self, plaintext: u32) -> String {
        let mut seen = vec![false; self.expressions.len()];
        let mut names = Vec::new();
        let mut pending = vec![self.plaintexts[plaintext as usize].expression];
        while let Some(number) = pending.pop() {
            if std::mem::replace(&mut seen[number as usize], true) {
                continue;
            }
            let operation = &self.expressions[number as usize].operation;
            if let PlainOp::Argument(argument) = operation {
                names.push(self.plain_arguments()[*argument as usize].name.as_str());
            }
            pending.extend(operation.operands());
        }
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            "a constant".into()
        } else {
            names.join(", ")
        }
    }

    pub(crate) fn refused(&self, message: String) -> Error {
        Error::Values(format!("{}: {message}", self.name))
    }
}

fn picked<E: Copy>(values: &[E], map: &IndexMap, zero: E) -> Vec<E> {
    map.iter()
        .map(|element| element.map_or(zero, |e| values[e as usize]))
        .collect()
}
