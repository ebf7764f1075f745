// SPDX-License-Identifier: Apache-2.0
//! Steps as bytes: a code, operands and attributes, then level, scale, size and place of the result.

use super::fields::choice;
use crate::Error;
use crate::step::{Operation, Place, Plaintext, Promise, Step};
use rlwe::wire::{Reader, Writer};

pub fn write(out: &mut Writer, step: &Step) {
    write_placeless(out, step);
    out.u32(step.place.line);
    out.u16(step.place.column);
    out.u16(step.place.end_column);
}

/// A step without its source place.
pub fn write_placeless(out: &mut Writer, step: &Step) {
    out.u8(code(&step.operation));
    let (operands, count) = step.operation.operands();
    operands[..count].iter().for_each(|&a| out.u32(a));
    if let Some(plaintext) = step.operation.plaintext() {
        out.u32(plaintext.number);
        out.f64(plaintext.scale);
    }
    match step.operation {
        Operation::Rotate(_, by) => out.u32(by as u32),
        Operation::Within(_, promise) => {
            out.f64(promise.bound);
            out.u8(u8::from(promise.everywhere));
        }
        Operation::LinearTransform(_, number) => out.u32(number),
        _ => {}
    }
    out.u32(step.level);
    out.f64(step.scale);
    out.u8(step.size);
}

fn code(operation: &Operation) -> u8 {
    match operation {
        Operation::Input => 0,
        Operation::EncryptZero => 1,
        Operation::Add(..) => 2,
        Operation::Sub(..) => 3,
        Operation::Negate(_) => 4,
        Operation::AddPlain(..) => 5,
        Operation::SubPlain(..) => 6,
        Operation::MultiplyPlain(..) => 7,
        Operation::Multiply(..) => 8,
        Operation::Square(_) => 9,
        Operation::Relinearize(_) => 10,
        Operation::Rotate(..) => 11,
        Operation::Rescale(_) => 12,
        Operation::ModDrop(_) => 13,
        Operation::Within(..) => 14,
        Operation::SwapRows(_) => 15,
        Operation::RelinearizeRescale(_) => 16,
        Operation::LinearTransform(..) => 17,
    }
}

pub fn read(input: &mut Reader<'_>) -> Result<Step, Error> {
    let operation = match choice(input, "a step's code", 17)? {
        0 => Operation::Input,
        1 => Operation::EncryptZero,
        2 => Operation::Add(operand(input)?, operand(input)?),
        3 => Operation::Sub(operand(input)?, operand(input)?),
        4 => Operation::Negate(operand(input)?),
        5 => Operation::AddPlain(operand(input)?, plaintext(input)?),
        6 => Operation::SubPlain(operand(input)?, plaintext(input)?),
        7 => Operation::MultiplyPlain(operand(input)?, plaintext(input)?),
        8 => Operation::Multiply(operand(input)?, operand(input)?),
        9 => Operation::Square(operand(input)?),
        10 => Operation::Relinearize(operand(input)?),
        11 => Operation::Rotate(operand(input)?, input.u32("a rotation")? as i32),
        12 => Operation::Rescale(operand(input)?),
        13 => Operation::ModDrop(operand(input)?),
        14 => Operation::Within(operand(input)?, promise(input)?),
        15 => Operation::SwapRows(operand(input)?),
        16 => Operation::RelinearizeRescale(operand(input)?),
        _ => Operation::LinearTransform(operand(input)?, input.u32("a transform")?),
    };
    Ok(Step {
        operation,
        level: input.u32("a level")?,
        scale: input.f64("a scale")?,
        size: input.u8("a size")?,
        place: Place {
            line: input.u32("a source line")?,
            column: input.u16("a column")?,
            end_column: input.u16("a column")?,
        },
    })
}

fn operand(input: &mut Reader<'_>) -> Result<u32, Error> {
    Ok(input.u32("an operand")?)
}

fn plaintext(input: &mut Reader<'_>) -> Result<Plaintext, Error> {
    Ok(Plaintext {
        number: input.u32("a plaintext")?,
        scale: input.f64("a plaintext's scale")?,
    })
}

fn promise(input: &mut Reader<'_>) -> Result<Promise, Error> {
    let bound = input.f64("a promise")?;
    Ok(Promise {
        bound,
        everywhere: choice(input, "a promise's reach", 1)? == 1,
    })
}
