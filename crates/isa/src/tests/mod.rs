// SPDX-License-Identifier: Apache-2.0
//! Instructions as words and text, programs against a build, and builds themselves.

mod builds;
mod codec;
mod legality;

use crate::*;

fn tiny() -> BuildInfo {
    BuildInfo {
        word_bits: 32,
        lanes: 2,
        butterflies: 2,
        log2_n_max: 8,
        dual_port_slots: 4,
        single_port_slots: 4,
        twiddle_tables: 2,
        constants: 4,
        multiplier: 1,
        host: Host::Axi4,
        rns: Some(RnsUnit {
            rate: 2,
            conversions: 4,
            entries: 16,
        }),
        moves: 4,
        ..BuildInfo::small().unwrap()
    }
}

/// Moduli set, tables loaded for n = 64, every slot written.
fn ready(info: &BuildInfo) -> State {
    let mut state = State::new(info);
    state.slots.fill(Some(6));
    state.moduli.fill(true);
    state.tables.fill(Some(6));
    state.conversions = conversions();
    moves_set(&mut state);
    state
}

/// All automorphisms and digits but the last.
fn moves_set(state: &mut State) {
    state.automorphisms[..3].fill(true);
    state.digits[..3].fill(true);
}

/// Two lifts and a scaling.
fn conversions() -> Vec<Option<Shape>> {
    let shape = |inputs, own| Some(Shape { inputs, own });
    vec![shape(2, false), shape(1, false), shape(2, true), None]
}

fn refused(line: &str) -> String {
    let info = tiny();
    let program = assemble(line).expect("the text itself is well-formed");
    check(&info, &ready(&info), &program)
        .expect_err(line)
        .to_string()
}
