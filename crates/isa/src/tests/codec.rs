// SPDX-License-Identifier: Apache-2.0
//! Instructions as 64-bit words and as text: both ways, damaged, and what is refused.

use crate::spec::opcodes;
use crate::*;

#[test]
fn random_instructions_survive_encoding_and_text() {
    let mut draw = Draw::new(1);
    for _ in 0..20_000 {
        let spec = &TABLE[draw.below(TABLE.len() as u64) as usize];
        let mut instruction = Instruction::new(spec.op);
        for &slot in spec.operands {
            instruction.set_slot(slot, draw.below(64) as u8);
        }
        for &modifier in spec.modifiers {
            instruction.set_modifier(modifier, draw.bits() & modifier.field().max());
        }
        let word = instruction.encode();
        assert_eq!(Instruction::decode(word, 0), Ok(instruction));
        assert_eq!(
            assemble(&disassemble(&[instruction])),
            Ok(vec![instruction]),
            "{instruction}"
        );
    }
}

#[test]
fn damaged_words_decode_to_themselves_or_not_at_all() {
    let mut draw = Draw::new(2);
    let mut decoded = 0;
    for _ in 0..20_000 {
        let mut instruction = Instruction::new(TABLE[draw.below(TABLE.len() as u64) as usize].op);
        (instruction.dst, instruction.log2_n) = (draw.below(64) as u8, draw.below(16) as u8);
        let word = instruction.encode() ^ 1 << draw.below(64);
        if let Ok(instruction) = Instruction::decode(word, 7) {
            assert_eq!(instruction.encode(), word);
            decoded += 1;
        }
    }
    assert!(
        (1_000..19_000).contains(&decoded),
        "{decoded} words were instructions"
    );
}

#[test]
fn fields_tile_the_word() {
    let fields = [
        opcodes::OPCODE,
        opcodes::DST,
        opcodes::SRC_A,
        opcodes::SRC_B,
        opcodes::SRC_C,
        opcodes::LOG2_N,
        opcodes::MOD_IDX,
        opcodes::CYCLIC,
        opcodes::CONST_IDX,
        opcodes::BUF_IDX,
    ];
    let whole = fields.iter().fold(0u64, |sum, field| {
        assert_eq!(sum & field.put(u64::MAX), 0);
        sum | field.put(u64::MAX)
    });
    assert_eq!(whole, u64::MAX);
}

#[test]
fn text_is_forgiving_about_space_and_says_what_is_wrong() {
    let program =
        assemble("; a comment\n\n  INTT s3,s0 , s5 n=4096 mod=1 ; fused\nsync\n").unwrap();
    assert_eq!(
        disassemble(&program),
        "intt s3, s0, s5 n=4096 mod=1\nsync\n"
    );
    assert_eq!(
        assemble("load twiddle n=64 buf=2").unwrap()[0].dst,
        TWIDDLE_SLOT
    );
    let wrong = [
        ("frob s1", "line 1: \"frob\" is no instruction"),
        ("sync\nntt s1 n=8", "line 2: ntt takes 2 to 2 slots, got 1"),
        (
            "ntt s1, s62 n=8",
            "\"s62\" is no slot (s0..s60, stream, twiddle or zero)",
        ),
        ("ntt s1, s2", "ntt needs n="),
        ("load s1 n=8", "load needs buf="),
        ("ntt s1, s2 n=100", "\"n=100\" is out of range"),
        ("ntt s1, s2 n=8 mod=16", "\"mod=16\" is out of range"),
        ("pmul s1, s2, s3, s4 n=8 mod=0", "pmul takes no mod="),
    ];
    for (text, words) in wrong {
        let message = assemble(text).unwrap_err().to_string();
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn unknown_and_stray_words_are_refused() {
    assert_eq!(
        decode(&[0]),
        Err(IsaError::UnknownOpcode { index: 0, code: 0 })
    );
    let sync = Instruction::new(Op::Sync).encode();
    assert!(matches!(
        decode(&[sync, sync | 1 << 63]),
        Err(IsaError::StrayBits {
            index: 1,
            mnemonic: "sync",
            ..
        })
    ));
}
