// SPDX-License-Identifier: Apache-2.0
//! A program's hash in parts, so that two sides of a wire that disagree can say in what.

use super::fields::{write_count, write_map, write_shape, write_text};
use super::{
    expression, kind_of, step, transform, write_declaration, write_plaintext, write_producer,
    write_reading,
};
use crate::program::{Program, Secrecy};
use rlwe::wire::Writer;
use sha2::{Digest, Sha256};

/// Writes one part.
type Part = fn(&Program, &mut Writer);

impl Program {
    /// The first 16 bytes of SHA-256 over each part, as it is written, without what may differ between both sides:
    /// source lines, places, and the bits of the guarantee.
    pub fn sections(&self) -> Vec<(&'static str, [u8; 16])> {
        let parts: [(&'static str, Part); 7] = [
            ("kernel", kernel),
            ("parameters", |p, out| out.bytes(&p.parameters.to_bytes())),
            ("encryption", |p, out| out.u8(p.encryption.code())),
            ("circuit", circuit),
            ("packing", packing),
            ("plaintexts", plaintexts),
            ("output", |p, out| {
                write_shape(out, &p.result_shape);
                write_map(out, &p.result);
                write_reading(out, p.reading);
            }),
        ];
        let hash = |write: Part| {
            let mut out = Writer::new();
            write(self, &mut out);
            let digest: [u8; 32] = Sha256::digest(out.as_bytes()).into();
            *digest.first_chunk().expect("16 of 32 bytes")
        };
        parts.map(|(name, write)| (name, hash(write))).into()
    }
}

fn kernel(program: &Program, out: &mut Writer) {
    write_text(out, &program.name);
    write_text(out, &program.variant);
    out.u32(program.guarantee.failure_bits);
    out.f64(program.guarantee.tolerance);
    out.u8(kind_of(&program.guarantee));
    list(out, &program.arguments, |out, argument| {
        write_declaration(out, argument);
        write_producer(out, argument);
    });
}

fn circuit(program: &Program, out: &mut Writer) {
    list(out, &program.transforms, transform::write);
    list(out, &program.steps, step::write_placeless);
    list(out, &program.outputs, |out, &output| out.u32(output));
    program.bootstrapping.iter().for_each(|own| own.write(out));
}

fn packing(program: &Program, out: &mut Writer) {
    let packings = program.arguments.iter().filter_map(|a| match &a.secrecy {
        Secrecy::Encrypted(packing) => Some(packing),
        Secrecy::Plain => None,
    });
    list(out, &packings.collect::<Vec<_>>(), |out, map| {
        write_map(out, map)
    });
}

fn plaintexts(program: &Program, out: &mut Writer) {
    list(out, &program.expressions, expression::write);
    list(out, &program.plaintexts, write_plaintext);
}

fn list<T>(out: &mut Writer, items: &[T], write: impl Fn(&mut Writer, &T)) {
    write_count(out, items.len());
    items.iter().for_each(|item| write(out, item));
}
