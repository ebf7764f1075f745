// SPDX-License-Identifier: Apache-2.0
//! Linear transforms as bytes: whether there are plaintexts, their scale, giants and terms.

use super::fields::{choice, list, write_count};
use crate::Error;
use crate::transform::{Giant, Term, Transform};
use rlwe::wire::{Reader, Writer};

pub fn write(out: &mut Writer, transform: &Transform) {
    let multiplies = transform.multiplies();
    out.u8(u8::from(multiplies));
    out.f64(transform.scale);
    write_count(out, transform.giants.len());
    for giant in &transform.giants {
        out.u32(giant.rotation as u32);
        write_count(out, giant.terms.len());
        for term in &giant.terms {
            out.u32(term.rotation as u32);
            if multiplies {
                // No plaintext has the largest number.
                out.u32(term.plaintext.unwrap_or(u32::MAX));
            }
        }
    }
}

pub fn read(input: &mut Reader<'_>) -> Result<Transform, Error> {
    let multiplies = choice(input, "whether a transform has plaintexts", 1)? == 1;
    let scale = input.f64("a transform's scale")?;
    let term_len = if multiplies { 8 } else { 4 };
    let term = |input: &mut Reader<'_>| {
        let rotation = input.u32("a term's rotation")? as i32;
        let plaintext = match multiplies {
            true => Some(input.u32("a term's plaintext")?),
            false => None,
        };
        Ok(Term {
            rotation,
            plaintext,
        })
    };
    let giant = |input: &mut Reader<'_>| {
        Ok(Giant {
            rotation: input.u32("a giant's rotation")? as i32,
            terms: list(input, "terms of a giant step", term_len, term)?,
        })
    };
    Ok(Transform {
        scale,
        giants: list(input, "giant steps", 8 + term_len, giant)?,
    })
}
