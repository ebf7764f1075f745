// SPDX-License-Identifier: Apache-2.0
//! The decoder of programs. The input follows a fixed head (names and parameters), which a fuzzer could not guess. What
//! is accepted also runs on plain arguments of zero.

use crate::{check, params};
use program::expression::Numbers;
use program::{Limits, Program};
use rlwe::wire::{Tag, Writer};
use rlwe::{SecurityPolicy, Threads};

fn head() -> Writer {
    let parameters = params().to_bytes();
    let mut out = Writer::new();
    out.u32(0);
    out.u32(0);
    out.u32(parameters.len() as u32);
    out.bytes(&parameters);
    out
}

/// Values are refused or not; there is nothing else to them. An argument may be as large as its maker has memory for.
fn evaluate(program: &Program) {
    let elements = |shape: &[u32]| shape.iter().map(|&axis| axis as usize).product::<usize>();
    let shapes = program.plain_shapes();
    if shapes.iter().any(|shape| elements(shape) > 1 << 16) {
        return;
    }
    let zeros = |shape: &&[u32]| Numbers::Integers(vec![0; elements(shape)]);
    let arguments: Vec<Numbers> = shapes.iter().map(zeros).collect();
    if let Ok(values) = program.evaluate(&arguments)
        && let Ok(effects) = program.measure(&values, &Threads::ONE)
    {
        let _ = program.check_plaintexts(&effects);
    }
}

pub(crate) fn program(data: &[u8]) {
    let mut payload = head();
    payload.bytes(data);
    let limits = Limits {
        plain_work: 1 << 16,
        ..Limits::default()
    };
    check(
        payload.as_bytes(),
        Tag::Program,
        params().fingerprint(),
        |bytes| {
            let program = Program::from_bytes(bytes, SecurityPolicy::insecure(), &limits)?;
            evaluate(&program);
            Ok::<_, program::Error>(program.to_bytes())
        },
    );
}
