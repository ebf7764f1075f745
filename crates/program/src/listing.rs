// SPDX-License-Identifier: Apache-2.0
//! A program as text, one line for each thing it holds: what `ringsmith show` prints and a reader compares.
//!
//! `e3` is a plaintext expression, `p0` a plaintext, `%7` a step. `t1` is a linear transform, written as its giant
//! rotations, each with its terms `rotation*plaintext` in brackets. An index map is its runs `first:step:length`, or
//! `_:length` where there is no element.

use crate::bootstrapping::Bootstrapping;
use crate::expression::{Expression, Numbers, PlainOp};
use crate::index_map::{IndexMap, Run};
use crate::operation::Attributes;
use crate::parameters::Parameters;
use crate::program::{Argument, Guarantee, Program, Range, Reading, Secrecy, Strength};
use crate::step::Step;
use crate::transform::{Giant, Transform};
use std::fmt::{self, Display, Formatter};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}{}", self.name, prefixed(" ", &self.variant))?;
        writeln!(f, "{}", ParameterLine(&self.parameters))?;
        writeln!(f, "inputs under the {}", self.encryption.key())?;
        self.guarantee
            .line(f, self.parameters.plain_modulus().is_some())?;
        self.arguments.iter().try_for_each(|a| writeln!(f, "{a}"))?;
        for (number, expression) in self.expressions.iter().enumerate() {
            writeln!(f, "e{number} = {expression}")?;
        }
        for (number, plaintext) in self.plaintexts.iter().enumerate() {
            writeln!(
                f,
                "p{number} = e{} {} at most {:e}",
                plaintext.expression, plaintext.slots, plaintext.bound
            )?;
        }
        for (number, transform) in self.transforms.iter().enumerate() {
            writeln!(f, "t{number} = {transform}")?;
        }
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(f, "%{number} = {step} ; {}", self.place(step))?;
        }
        let outputs = joined(self.outputs.iter().map(|o| format!("%{o}")));
        writeln!(
            f,
            "result {} = {outputs} {}{}",
            Shape(&self.result_shape),
            self.result,
            self.reading
        )?;
        match &self.bootstrapping {
            Some(own) => writeln!(f, "{own}"),
            None => Ok(()),
        }
    }
}

impl Display for Bootstrapping {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let own = self.params().literal();
        write!(
            f,
            "refreshes values up to {:e}, {} levels before and {} after, ratio 2^-{:e}, weight {}, failing below \
             2^{:e}, degree {}, {} doublings, arcsine {}",
            own.bound,
            own.slots_to_coeffs,
            own.coeffs_to_slots,
            own.log2_ratio,
            own.weight,
            own.log2_failure,
            own.degree,
            own.doublings,
            own.arcsine
        )?;
        let limit = own.key_bytes.iter();
        limit
            .copied()
            .try_for_each(|limit| write!(f, ", keys of at most {limit} bytes"))?;
        match own.passes {
            1 => Ok(()),
            passes => write!(f, ", {passes} passes"),
        }
    }
}

impl Display for Reading {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self { complex: true, .. } => write!(f, " complex"),
            Self { divisor: 1, .. } => Ok(()),
            Self { divisor, .. } => write!(f, " divided by {divisor}"),
        }
    }
}

struct ParameterLine<'a>(&'a Parameters);

impl Display for ParameterLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let p = self.0;
        write!(
            f,
            "{} n {} primes {}",
            p.scheme(),
            p.n(),
            joined(p.primes())
        )?;
        match p.plain_modulus() {
            Some(t) => write!(f, " plaintext modulus {t}"),
            None => write!(f, " scale 2^{:.4}", p.scale().log2()),
        }
    }
}

impl Guarantee {
    fn line(&self, f: &mut Formatter<'_>, exact: bool) -> fmt::Result {
        let what = if exact {
            "bits of budget left"
        } else {
            "log2 of the error"
        };
        let probable = match self.strength {
            Strength::Certain => "",
            Strength::Probable => "probable, ",
        };
        let room = if self.publish { "" } else { "no " };
        writeln!(
            f,
            "guarantee {:.4} {what}, {}failing below 2^-{}, tolerance {:e}, {room}room for publication",
            self.bits, probable, self.failure_bits, self.tolerance
        )
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (low, high) = match self.range {
            Range::Reals { low, high } => (format!("{low:e}"), format!("{high:e}")),
            Range::Integers { low, high } => (low.to_string(), high.to_string()),
        };
        let shape = Shape(&self.shape);
        match &self.secrecy {
            Secrecy::Plain => write!(f, "plain {} {shape} from {low} to {high}", self.name),
            Secrecy::Encrypted(packing) => {
                write!(
                    f,
                    "encrypted {} {shape} from {low} to {high} {packing}",
                    self.name
                )?;
                match &self.producer {
                    Some(producer) => write!(f, " {producer}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.operation.name())?;
        self.operation
            .operands()
            .iter()
            .try_for_each(|a| write!(f, " e{a}"))?;
        match &self.operation {
            PlainOp::Argument(number) => write!(f, " {number}")?,
            PlainOp::Constant(numbers) | PlainOp::Polynomial(_, numbers) => {
                write!(f, " {numbers}")?
            }
            PlainOp::Power(_, exponent) => write!(f, " {exponent}")?,
            PlainOp::Sum(_, Some(axis)) => write!(f, " axis {axis}")?,
            PlainOp::Gather(_, map) => write!(f, " {map}")?,
            PlainOp::Within(_, bound) => write!(f, " {bound:e}")?,
            _ => {}
        }
        write!(f, " {}", Shape(&self.shape))
    }
}

impl Display for Numbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reals(values) => f.write_str(&joined(values.iter().map(|v| format!("{v:e}")))),
            Self::Integers(values) => f.write_str(&joined(values)),
        }
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (operands, count) = self.operation.operands();
        write!(f, "{}", self.operation.name())?;
        operands[..count]
            .iter()
            .try_for_each(|a| write!(f, " %{a}"))?;
        write!(f, "{}", self.operation.attributes())?;
        write!(
            f,
            " ; level {} scale 2^{:.4} size {}",
            self.level,
            self.scale.log2(),
            self.size
        )
    }
}

impl Display for Attributes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            plaintext,
            rotation,
            promise,
            transform,
        } = self;
        if let Some(plaintext) = plaintext {
            let (number, scale) = (plaintext.number, plaintext.scale.log2());
            write!(f, " p{number} at 2^{scale:.4}")?;
        }
        if let Some(by) = rotation {
            write!(f, " by {by}")?;
        }
        if let Some(promise) = promise {
            let reach = if promise.everywhere {
                " everywhere"
            } else {
                ""
            };
            write!(f, " {:e}{reach}", promise.bound)?;
            if promise.limits_errors() {
                write!(f, " error {:e}", promise.error)?;
            }
        }
        match transform {
            Some(number) => write!(f, " t{number}"),
            None => Ok(()),
        }
    }
}

impl Display for Transform {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("sum")?;
        if self.multiplies() {
            write!(f, " at 2^{:.4}", self.scale.log2())?;
        }
        self.giants.iter().try_for_each(|g| write!(f, " {g}"))
    }
}

impl Display for Giant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let term = |term: &crate::transform::Term| match term.plaintext {
            Some(number) => format!("{}*p{number}", term.rotation),
            None => term.rotation.to_string(),
        };
        write!(
            f,
            "{}[{}]",
            self.rotation,
            joined(self.terms.iter().map(term))
        )
    }
}

impl Display for IndexMap {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", joined(self.runs()))
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.first {
            Some(first) => write!(f, "{first}:{}:{}", self.step, self.length),
            None => write!(f, "_:{}", self.length),
        }
    }
}

struct Shape<'a>(&'a [u32]);

impl Display for Shape<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})", joined(self.0))
    }
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    texts.join(" ")
}

fn prefixed(prefix: &str, text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{prefix}{text}")
    }
}
