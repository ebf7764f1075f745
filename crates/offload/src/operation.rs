// SPDX-License-Identifier: Apache-2.0
//! Programs of single operations, as they are measured, in three sections: loads, work, stores.
//!
//! Slots: 0 and 1 are the transform's own, 2 is dual-port, 3 to 6 are of any kind. Everything fits the six slots of
//! CoFHEE, whose seventh memory holds the twiddle table; a fifth operand is loaded into a slot that has become free.

use isa::{BuildInfo, Instruction, Op, TWIDDLE_SLOT, ZERO_SLOT, disassemble};

use crate::OffloadError;

/// An operation whose polynomial part a device takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// a * b.
    Polymul,
    /// (a0 b0, a0 b1 + a1 b0, a1 b1).
    Tensor,
    /// (pk0 u + e0, pk1 u + e1), the key in evaluation form, u and the errors coefficients; the results in this form.
    ZeroEncrypt(Form),
    /// c0 + c1 s, the secret in evaluation form, the rest in this form.
    Decrypt(Form),
    /// (sum of d_i k0_i, sum of d_i k1_i) over [`DIGITS`], keys in evaluation form.
    KeySwitch,
}

/// Digits of a key switch that is measured.
pub const DIGITS: usize = 2;

/// Whether an input is in coefficient or in evaluation form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Coefficients in natural order.
    Coefficients,
    /// Values in the transform's order.
    Values,
}

impl Operation {
    /// Name in presets and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Polymul => "polymul",
            Operation::Tensor => "tensor",
            Operation::ZeroEncrypt(_) => "zero-encrypt",
            Operation::Decrypt(Form::Coefficients) => "delta-m-decrypt",
            Operation::Decrypt(Form::Values) => "decrypt",
            Operation::KeySwitch => "key-switch",
        }
    }

    /// The operation of that name, of a scheme that keeps ciphertexts in this form.
    pub fn from_name(name: &str, ciphertexts: Form) -> Option<Self> {
        let all = [
            Operation::Polymul,
            Operation::Tensor,
            Operation::ZeroEncrypt(ciphertexts),
            Operation::Decrypt(Form::Coefficients),
            Operation::Decrypt(Form::Values),
            Operation::KeySwitch,
        ];
        all.into_iter().find(|operation| operation.name() == name)
    }

    /// The inputs in order of their buffers.
    ///
    /// `ZeroEncrypt`: u, pk0, pk1, e0, e1. `Decrypt`: c1, s, c0. `KeySwitch`: d_i, k0_i, k1_i for each i.
    pub fn inputs(self) -> Vec<Form> {
        use Form::{Coefficients as C, Values as V};
        match self {
            Operation::Polymul => vec![C; 2],
            Operation::Tensor => vec![C; 4],
            Operation::ZeroEncrypt(_) => vec![C, V, V, C, C],
            Operation::Decrypt(form) => vec![form, V, form],
            Operation::KeySwitch => [C, V, V].repeat(DIGITS),
        }
    }

    /// The form of what it gives.
    pub fn output_form(self) -> Form {
        match self {
            Operation::ZeroEncrypt(form) | Operation::Decrypt(form) => form,
            Operation::Polymul | Operation::Tensor | Operation::KeySwitch => Form::Coefficients,
        }
    }

    /// Polynomials it gives, all in one form.
    pub fn outputs(self) -> u32 {
        match self {
            Operation::Polymul | Operation::Decrypt(_) => 1,
            Operation::ZeroEncrypt(_) | Operation::KeySwitch => 2,
            Operation::Tensor => 3,
        }
    }
}

/// Data locations of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramArgs {
    /// log2 of the ring degree.
    pub log2_n: u8,
    /// Modulus index.
    pub mod_idx: u8,
    /// First host buffer: the inputs, then the outputs.
    pub first: u32,
    /// Host buffers of the tables for forward and inverse transforms where they differ (half of a ring of twice the
    /// degree).
    pub tables: Option<[u32; 2]>,
}

/// The program of an operation, in sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationProgram {
    /// Brings the operands in.
    pub loads: Vec<Instruction>,
    /// The work itself, with the loads that find no slot before it.
    pub work: Vec<Instruction>,
    /// Takes the results out.
    pub stores: Vec<Instruction>,
}

impl OperationProgram {
    /// The program of an operation on a build.
    ///
    /// # Errors
    /// [`OffloadError::Build`] if the build has too few slots.
    pub fn new(
        info: &BuildInfo,
        operation: Operation,
        args: ProgramArgs,
    ) -> Result<Self, OffloadError> {
        let needed = match operation {
            Operation::Polymul | Operation::Decrypt(_) => 5,
            _ => 6,
        };
        if info.dual_port_slots < 3 || info.slots() < needed {
            return Err(OffloadError::Build {
                operation: operation.name(),
                what: format!(
                    "needs {needed} slots, three of them dual-port; the build has {} and {}",
                    info.slots(),
                    info.dual_port_slots
                ),
            });
        }
        let outputs = args.first + operation.inputs().len() as u32;
        let mut builder = Builder {
            args,
            program: OperationProgram::default(),
            outputs,
            spare: info.slots() > 6,
        };
        builder.forward_table();
        match operation {
            Operation::Polymul => builder.polymul(),
            Operation::Tensor => builder.tensor(),
            Operation::ZeroEncrypt(Form::Coefficients) => builder.zero_encrypt(),
            Operation::ZeroEncrypt(Form::Values) => builder.zero_encrypt_values(),
            Operation::Decrypt(Form::Coefficients) => builder.decrypt(),
            Operation::Decrypt(Form::Values) => builder.decrypt_values(),
            Operation::KeySwitch => builder.key_switch(),
        }
        Ok(builder.program)
    }

    /// All of it.
    pub fn instructions(&self) -> Vec<Instruction> {
        [&self.loads[..], &self.work[..], &self.stores[..]].concat()
    }

    /// The program as assembly, a comment before each section.
    pub fn assembly(&self) -> String {
        let sections = [
            ("loads", &self.loads),
            ("work", &self.work),
            ("stores", &self.stores),
        ];
        sections
            .iter()
            .map(|(name, part)| format!("; {name}\n{}", disassemble(part)))
            .collect()
    }
}

struct Builder {
    args: ProgramArgs,
    program: OperationProgram,
    outputs: u32,
    /// The build has a seventh slot.
    spare: bool,
}

const Z: u8 = ZERO_SLOT;

impl Builder {
    fn instruction(&self, op: Op, dst: u8, a: u8, b: u8, c: u8) -> Instruction {
        let mut i = Instruction::new(op);
        (i.dst, i.src_a, i.src_b, i.src_c) = (dst, a, b, c);
        (i.log2_n, i.mod_idx) = (self.args.log2_n, self.args.mod_idx);
        i
    }

    fn work(&mut self, op: Op, dst: u8, a: u8, b: u8, c: u8) {
        let mut i = self.instruction(op, dst, a, b, c);
        if op == Op::Memcpy {
            i.mod_idx = 0;
        }
        self.program.work.push(i);
    }

    fn load_of(&self, slot: u8, input: u32) -> Instruction {
        let mut i = self.instruction(Op::Load, slot, Z, Z, Z);
        i.buf_idx = self.args.first + input;
        i.mod_idx = 0;
        i
    }

    fn load(&mut self, slot: u8, input: u32) {
        let load = self.load_of(slot, input);
        self.program.loads.push(load);
    }

    fn late_load(&mut self, slot: u8, input: u32) {
        let load = self.load_of(slot, input);
        self.program.work.push(load);
    }

    fn store(&mut self, output: u32, slot: u8) {
        let mut i = self.instruction(Op::Store, Z, slot, Z, Z);
        (i.buf_idx, i.mod_idx) = (self.outputs + output, 0);
        self.program.stores.push(i);
    }

    fn table(&self, which: usize) -> Option<Instruction> {
        let buffer = self.args.tables?[which];
        let mut i = self.instruction(Op::Load, TWIDDLE_SLOT, Z, Z, Z);
        i.buf_idx = buffer;
        Some(i)
    }

    fn forward_table(&mut self) {
        let table = self.table(0);
        self.program.loads.extend(table);
    }

    /// Switch to the table for inverse transforms, where there are two.
    fn inverse_table(&mut self) {
        let table = self.table(1);
        self.program.work.extend(table);
    }

    fn polymul(&mut self) {
        self.load(2, 0);
        self.load(3, 1);
        self.work(Op::Ntt, 2, 2, Z, Z);
        self.work(Op::Ntt, 3, 3, Z, Z);
        self.work(Op::Pmodmul, 0, 2, 3, Z);
        self.inverse_table();
        self.work(Op::Intt, 2, 0, Z, Z);
        self.store(0, 2);
    }

    fn tensor(&mut self) {
        // a0 in the dual-port slot, where a0 b1 + a1 b0 gathers.
        for (slot, input) in [(2, 0), (3, 1), (4, 2), (5, 3)] {
            self.load(slot, input);
        }
        for slot in 2..6 {
            self.work(Op::Ntt, slot, slot, Z, Z);
        }
        self.work(Op::Pmodmul, 0, 2, 4, Z);
        self.work(Op::Pmodmul, 2, 2, 5, Z);
        self.work(Op::Pmac, 2, 3, 4, 2);
        self.work(Op::Pmodmul, 4, 3, 5, Z);
        self.inverse_table();
        self.work(Op::Intt, 3, 0, Z, Z);
        self.work(Op::Intt, 2, 2, Z, Z);
        self.work(Op::Intt, 4, 4, Z, Z);
        for (output, slot) in [(0, 3), (1, 2), (2, 4)] {
            self.store(output, slot);
        }
    }

    fn zero_encrypt(&mut self) {
        for (slot, input) in [(2, 0), (3, 1), (4, 2), (5, 3)] {
            self.load(slot, input);
        }
        self.work(Op::Ntt, 2, 2, Z, Z);
        self.work(Op::Pmodmul, 0, 2, 3, Z);
        self.work(Op::Pmodmul, 2, 2, 4, Z);
        self.inverse_table();
        self.work(Op::Intt, 3, 0, Z, 5);
        if self.spare {
            self.load(6, 4);
            self.work(Op::Intt, 5, 2, Z, 6);
        } else {
            // e1 takes the place of pk1 while the first half is transformed.
            self.late_load(4, 4);
            self.work(Op::Intt, 5, 2, Z, 4);
        }
        self.store(0, 3);
        self.store(1, 5);
    }

    /// All transforms first, so that both products are written to the work slots.
    fn zero_encrypt_values(&mut self) {
        for (slot, input) in [(2, 0), (3, 3), (4, 4), (5, 1)] {
            self.load(slot, input);
        }
        for slot in 2..5 {
            self.work(Op::Ntt, slot, slot, Z, Z);
        }
        self.work(Op::Pmac, 0, 2, 5, 3);
        if self.spare {
            self.load(6, 2);
            self.work(Op::Pmac, 1, 2, 6, 4);
        } else {
            // pk1 takes the place of pk0.
            self.late_load(5, 2);
            self.work(Op::Pmac, 1, 2, 5, 4);
        }
        self.store(0, 0);
        self.store(1, 1);
    }

    fn decrypt_values(&mut self) {
        for (slot, input) in [(2, 0), (3, 1), (4, 2)] {
            self.load(slot, input);
        }
        self.work(Op::Pmac, 0, 2, 3, 4);
        self.store(0, 0);
    }

    fn decrypt(&mut self) {
        for (slot, input) in [(2, 0), (3, 1), (4, 2)] {
            self.load(slot, input);
        }
        self.work(Op::Ntt, 2, 2, Z, Z);
        self.work(Op::Pmodmul, 0, 2, 3, Z);
        self.inverse_table();
        self.work(Op::Intt, 2, 0, Z, 4);
        self.store(0, 2);
    }

    /// The first sum gathers in the dual-port slot; the second is added up in work slot 0 and saved before the next
    /// transform.
    fn key_switch(&mut self) {
        self.load(3, 0);
        self.load(4, 1);
        self.load(5, 2);
        for digit in 0..DIGITS as u32 {
            if digit > 0 {
                self.late_load(3, 3 * digit);
                self.late_load(4, 3 * digit + 1);
            }
            self.work(Op::Ntt, 3, 3, Z, Z);
            let (sum0, sum1) = if digit == 0 { (Z, Z) } else { (2, 5) };
            self.work(Op::Pmac, 2, 3, 4, sum0);
            if digit > 0 {
                self.late_load(4, 3 * digit + 2);
                self.work(Op::Pmac, 0, 3, 4, sum1);
            } else {
                self.work(Op::Pmac, 0, 3, 5, sum1);
            }
            self.work(Op::Memcpy, 5, 0, Z, Z);
        }
        self.inverse_table();
        self.work(Op::Intt, 3, 2, Z, Z);
        self.work(Op::Intt, 4, 5, Z, Z);
        self.store(0, 3);
        self.store(1, 4);
    }
}
