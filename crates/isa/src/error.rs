// SPDX-License-Identifier: Apache-2.0
//! Errors of programs; every device gives the same messages.

use thiserror::Error;

/// A program, or its text, that cannot run. `index` counts instructions from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IsaError {
    /// No instruction has this opcode.
    #[error("instruction {index}: opcode {code} is no instruction")]
    UnknownOpcode {
        /// Place in the program.
        index: usize,
        /// The opcode.
        code: u8,
    },
    /// Bits are set in a field the instruction does not use.
    #[error("instruction {index}: word {word:#018x} sets a field that {mnemonic} does not use")]
    StrayBits {
        /// Place in the program.
        index: usize,
        /// The instruction.
        mnemonic: &'static str,
        /// The word.
        word: u64,
    },
    /// The text of a line cannot be read.
    #[error("line {line}: {what}")]
    Syntax {
        /// Line of the text, from 1.
        line: usize,
        /// The reason, and the remedy.
        what: String,
    },
    /// The build lacks the instruction.
    #[error("instruction {index}: {mnemonic} is not in this build")]
    NotInBuild {
        /// Place in the program.
        index: usize,
        /// The instruction.
        mnemonic: &'static str,
    },
    /// An operand or modifier is out of the build's range.
    #[error("instruction {index} ({text}): {what}")]
    Operand {
        /// Place in the program.
        index: usize,
        /// The instruction as assembly.
        text: String,
        /// The reason, with the numbers.
        what: String,
    },
    /// More instructions than one submission takes.
    #[error("the program has {words} instructions, one submission takes {limit}")]
    TooLong {
        /// Instructions in the program.
        words: usize,
        /// The limit.
        limit: usize,
    },
}
