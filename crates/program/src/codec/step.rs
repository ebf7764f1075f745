// SPDX-License-Identifier: Apache-2.0
//! Steps as bytes: a code, operands and attributes, then level, scale, size and place of the result.

use super::fields::choice;
use crate::Error;
use crate::operation::{Attribute, Attributes, Kind, Operation, Plaintext, Promise};
use crate::step::{Place, Step};
use rlwe::wire::{Reader, Writer};

pub fn write(out: &mut Writer, step: &Step) {
    write_placeless(out, step);
    out.u32(step.place.line);
    out.u16(step.place.column);
    out.u16(step.place.end_column);
}

/// A step without its source place.
pub fn write_placeless(out: &mut Writer, step: &Step) {
    out.u8(step.operation.kind() as u8);
    let (operands, count) = step.operation.operands();
    operands[..count].iter().for_each(|&a| out.u32(a));
    write_attributes(out, &step.operation.attributes());
    out.u32(step.level);
    out.f64(step.scale);
    out.u8(step.size);
}

/// The attributes that there are, in the order of `spec/operations.yaml`.
fn write_attributes(out: &mut Writer, attributes: &Attributes) {
    let Attributes {
        plaintext,
        rotation,
        promise,
        transform,
    } = attributes;
    if let Some(plaintext) = plaintext {
        out.u32(plaintext.number);
        out.f64(plaintext.scale);
    }
    if let Some(by) = rotation {
        out.u32(*by as u32);
    }
    if let Some(promise) = promise {
        out.f64(promise.bound);
        let limits = promise.limits_errors();
        out.u8(u8::from(promise.everywhere) | u8::from(limits) << 1);
        if limits {
            out.f64(promise.error);
        }
    }
    if let Some(number) = transform {
        out.u32(*number);
    }
}

pub fn read(input: &mut Reader<'_>) -> Result<Step, Error> {
    Ok(Step {
        operation: operation(input)?,
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

fn operation(input: &mut Reader<'_>) -> Result<Operation, Error> {
    let last = Kind::ALL.len() as u8 - 1;
    let kind = Kind::ALL[usize::from(choice(input, "a step's code", last)?)];
    let facts = kind.facts();
    let mut operands = [0; 2];
    for operand in &mut operands[..facts.operands] {
        *operand = input.u32("an operand")?;
    }
    let mut attributes = Attributes::NONE;
    for attribute in facts.attributes {
        match attribute {
            Attribute::Plaintext => attributes.plaintext = Some(plaintext(input)?),
            Attribute::Rotation => attributes.rotation = Some(input.u32("a rotation")? as i32),
            Attribute::Promise => attributes.promise = Some(promise(input)?),
            Attribute::Transform => attributes.transform = Some(input.u32("a transform")?),
        }
    }
    let made = kind.with(&operands[..facts.operands], &attributes);
    Ok(made.expect("operands and attributes were read as the kind has them"))
}

fn plaintext(input: &mut Reader<'_>) -> Result<Plaintext, Error> {
    Ok(Plaintext {
        number: input.u32("a plaintext")?,
        scale: input.f64("a plaintext's scale")?,
    })
}

fn promise(input: &mut Reader<'_>) -> Result<Promise, Error> {
    let bound = input.f64("a promise")?;
    let reach = choice(input, "a promise's reach", 3)?;
    let mut promise = Promise::of_values(bound, reach & 1 == 1);
    if reach & 2 == 2 {
        promise.error = input.f64("a promise about errors")?;
        // Infinite ones are written without: a program has one form.
        if !promise.limits_errors() {
            return Err(Error::Parameters(format!(
                "a promise that errors stay within {}",
                promise.error
            )));
        }
    }
    Ok(promise)
}
