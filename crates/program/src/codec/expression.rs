// SPDX-License-Identifier: Apache-2.0
//! Plaintext expressions as bytes: a code, operands, attributes, the shape.

use super::fields::{
    choice, list, read_map, read_shape, refused, write_count, write_map, write_shape,
};
use crate::Error;
use crate::expression::{Expression, Numbers, PlainOp};
use rlwe::wire::{Reader, Writer};

/// An axis that stands for all of them.
const ALL_AXES: u8 = u8::MAX;

pub fn write(out: &mut Writer, expression: &Expression) {
    out.u8(code(&expression.operation));
    match &expression.operation {
        PlainOp::Argument(number) => out.u32(*number),
        PlainOp::Constant(numbers) => write_numbers(out, numbers),
        PlainOp::Add(a, b)
        | PlainOp::Subtract(a, b)
        | PlainOp::Multiply(a, b)
        | PlainOp::MatMul(a, b) => {
            out.u32(*a);
            out.u32(*b);
        }
        PlainOp::Negate(a) => out.u32(*a),
        PlainOp::Power(a, exponent) => {
            out.u32(*a);
            out.u32(*exponent);
        }
        PlainOp::Polynomial(a, coefficients) => {
            out.u32(*a);
            write_numbers(out, coefficients);
        }
        PlainOp::Sum(a, axis) => {
            out.u32(*a);
            out.u8(axis.unwrap_or(ALL_AXES));
        }
        PlainOp::Gather(operands, map) => {
            write_count(out, operands.len());
            operands.iter().for_each(|&a| out.u32(a));
            write_map(out, map);
        }
        PlainOp::Within(a, bound) => {
            out.u32(*a);
            out.f64(*bound);
        }
    }
    write_shape(out, &expression.shape);
}

fn code(operation: &PlainOp) -> u8 {
    match operation {
        PlainOp::Argument(_) => 0,
        PlainOp::Constant(_) => 1,
        PlainOp::Add(..) => 2,
        PlainOp::Subtract(..) => 3,
        PlainOp::Multiply(..) => 4,
        PlainOp::Negate(_) => 5,
        PlainOp::Power(..) => 6,
        PlainOp::Polynomial(..) => 7,
        PlainOp::MatMul(..) => 8,
        PlainOp::Sum(..) => 9,
        PlainOp::Gather(..) => 10,
        PlainOp::Within(..) => 11,
    }
}

pub fn read(input: &mut Reader<'_>) -> Result<Expression, Error> {
    let code = choice(input, "an expression's code", 11)?;
    let operation = match code {
        0 => PlainOp::Argument(operand(input)?),
        1 => PlainOp::Constant(read_numbers(input)?),
        2 => PlainOp::Add(operand(input)?, operand(input)?),
        3 => PlainOp::Subtract(operand(input)?, operand(input)?),
        4 => PlainOp::Multiply(operand(input)?, operand(input)?),
        5 => PlainOp::Negate(operand(input)?),
        6 => PlainOp::Power(operand(input)?, input.u32("an exponent")?),
        7 => PlainOp::Polynomial(operand(input)?, read_numbers(input)?),
        8 => PlainOp::MatMul(operand(input)?, operand(input)?),
        9 => PlainOp::Sum(
            operand(input)?,
            Some(input.u8("an axis")?).filter(|&axis| axis != ALL_AXES),
        ),
        10 => PlainOp::Gather(list(input, "operands", 4, operand)?, read_map(input)?),
        _ => PlainOp::Within(operand(input)?, input.f64("a promise")?),
    };
    Ok(Expression {
        operation,
        shape: read_shape(input)?,
    })
}

fn operand(input: &mut Reader<'_>) -> Result<u32, Error> {
    Ok(input.u32("an operand")?)
}

fn write_numbers(out: &mut Writer, numbers: &Numbers) {
    match numbers {
        Numbers::Reals(values) => {
            out.u8(0);
            write_count(out, values.len());
            values.iter().for_each(|&v| out.f64(v));
        }
        Numbers::Integers(values) => {
            out.u8(1);
            write_count(out, values.len());
            values.iter().for_each(|&v| out.u64(v as u64));
        }
    }
}

fn read_numbers(input: &mut Reader<'_>) -> Result<Numbers, Error> {
    match input.u8("the kind of numbers")? {
        0 => Ok(Numbers::Reals(list(input, "numbers", 8, |input| {
            Ok(input.f64("a number")?)
        })?)),
        1 => Ok(Numbers::Integers(list(input, "numbers", 8, |input| {
            Ok(input.u64("a number")? as i64)
        })?)),
        other => Err(refused(
            "the kind of numbers",
            other.into(),
            "0 (reals), 1 (integers)",
        )),
    }
}
