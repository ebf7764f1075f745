// SPDX-License-Identifier: Apache-2.0
//! A ring of twice the build's degree, worked on in two halves.
//!
//! x^n + 1 = (x^(n/2) - z)(x^(n/2) + z) with z = T[1] of the degree-n table T. A polynomial lo + x^(n/2) hi is
//! lo + z hi modulo the first factor ("left"), lo - z hi modulo the second. Below that first stage each half is a
//! transform of degree n/2 with the table T_left[m + i] = T[2m + i], T_right[m + i] = T[3m + i]; the inverse transform
//! mirrors its table, and the mirror of one half's twiddles lies in the other half's table.

use isa::{Instruction, Op, ZERO_SLOT};
use model::Lane;

use crate::operation::{OperationProgram, ProgramArgs};

/// One factor of x^n + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Modulo x^(n/2) - z.
    Left,
    /// Modulo x^(n/2) + z.
    Right,
}

impl Half {
    /// Its twiddle table from that of degree n.
    pub(crate) fn table(self, lane: &Lane, psi_rev: &[u128]) -> Vec<u128> {
        let offset = |m: usize| if self == Half::Left { 2 * m } else { 3 * m };
        let entry = |j: usize| match j {
            0 => 1,
            _ => {
                let m = 1 << j.ilog2();
                psi_rev[offset(m) + j - m]
            }
        };
        let factor = lane.factor();
        (0..psi_rev.len() / 2)
            .map(|j| lane.modulus.mul(entry(j), factor))
            .collect()
    }
}

/// Constants and tables of a ring of twice the degree.
#[derive(Clone, Debug)]
pub(crate) struct Halving {
    moduli: Vec<u128>,
    n: usize,
    /// z, 1/2 and 1/(2z) of every lane.
    constants: [Vec<u128>; 3],
    /// Host buffers of the tables: left, right.
    buffers: [u32; 2],
}

impl Halving {
    /// From the lanes and their tables of degree n; the halves' tables are in `buffer` and the one after.
    pub(crate) fn new(moduli: &[u128], lanes: &[(Lane, Vec<u128>)], buffer: u32) -> Self {
        let constant = |value: &dyn Fn(&Lane, u128) -> u128| -> Vec<u128> {
            lanes
                .iter()
                .map(|(lane, psi)| lane.modulus.mul(value(lane, psi[1]), lane.factor()))
                .collect()
        };
        // (m + 1) / 2 is the inverse of 2; z^(m-2) that of z.
        let half = |lane: &Lane| (lane.modulus.value() >> 1) + 1;
        let z_inv = |lane: &Lane, z| lane.modulus.pow(z, lane.modulus.value() - 2);
        Self {
            moduli: moduli.to_vec(),
            n: lanes[0].1.len(),
            constants: [
                constant(&|_, z| z),
                constant(&|lane, _| half(lane)),
                constant(&|lane, z| lane.modulus.mul(half(lane), z_inv(lane, z))),
            ],
            buffers: [buffer, buffer + 1],
        }
    }

    /// The whole ring's degree.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Whether it is for these moduli and this degree.
    pub(crate) fn serves(&self, moduli: &[u128], n: usize) -> bool {
        self.moduli == moduli && self.n == n
    }

    /// The constants of index 0, 1, 2.
    pub(crate) fn constants(&self) -> &[Vec<u128>; 3] {
        &self.constants
    }

    /// Host buffers of the tables for a half's forward and inverse transforms.
    pub(crate) fn tables(&self, half: Half) -> [u32; 2] {
        let [left, right] = self.buffers;
        if half == Half::Left {
            [left, right]
        } else {
            [right, left]
        }
    }

    /// (lo, hi) to (left, right).
    pub(crate) fn split(args: ProgramArgs) -> OperationProgram {
        let i = |op, dst, a, b, constant| instruction(args, op, dst, a, b, constant);
        Self::sections(
            args,
            vec![
                i(Op::Cmodmul, 0, 3, ZERO_SLOT, 0),
                i(Op::Pmodadd, 3, 2, 0, 0),
                i(Op::Pmodsub, 2, 2, 0, 0),
            ],
            [3, 2],
        )
    }

    /// (left, right) to (lo, hi).
    pub(crate) fn join(args: ProgramArgs) -> OperationProgram {
        let i = |op, dst, a, b, constant| instruction(args, op, dst, a, b, constant);
        Self::sections(
            args,
            vec![
                i(Op::Pmodadd, 0, 2, 3, 0),
                i(Op::Pmodsub, 1, 2, 3, 0),
                i(Op::Cmodmul, 2, 0, ZERO_SLOT, 1),
                i(Op::Cmodmul, 3, 1, ZERO_SLOT, 2),
            ],
            [2, 3],
        )
    }

    /// Two operands into slots 2 and 3, two results out.
    fn sections(args: ProgramArgs, work: Vec<Instruction>, results: [u8; 2]) -> OperationProgram {
        let transfer = |op, slot: u8, buffer| {
            let mut i = Instruction::new(op);
            if op == Op::Load {
                i.dst = slot
            } else {
                i.src_a = slot
            }
            (i.log2_n, i.buf_idx) = (args.log2_n, buffer);
            i
        };
        OperationProgram {
            loads: vec![
                transfer(Op::Load, 2, args.first),
                transfer(Op::Load, 3, args.first + 1),
            ],
            work,
            stores: vec![
                transfer(Op::Store, results[0], args.first + 2),
                transfer(Op::Store, results[1], args.first + 3),
            ],
        }
    }
}

fn instruction(args: ProgramArgs, op: Op, dst: u8, a: u8, b: u8, constant: u8) -> Instruction {
    let mut i = Instruction::new(op);
    (i.dst, i.src_a, i.src_b) = (dst, a, b);
    (i.log2_n, i.mod_idx, i.const_idx) = (args.log2_n, args.mod_idx, constant);
    i
}
