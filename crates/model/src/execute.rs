// SPDX-License-Identifier: Apache-2.0
//! Functional semantics: the effect of each instruction on memory.

use isa::{BuildInfo, Host, Instruction, Op, STREAM_SLOT, TWIDDLE_SLOT};
use zq::Word;

use crate::cause::Cause;
use crate::fault::Fault;
use crate::lane::Lane;
use crate::memory::{Memory, Table};
use crate::polynomial::Polynomial;
use crate::{moves, transform};

/// Execute one instruction.
///
/// # Errors
/// A fault with index 0, memory unchanged. Words that are no residues feed modular instructions garbage,
/// as in hardware.
pub fn execute(memory: &mut Memory, i: &Instruction) -> Result<(), Fault> {
    guard(&memory.info, i)?;
    let n = i.n();
    match i.op {
        Op::Sync => Ok(()),
        Op::Ntt | Op::Intt => transforms(memory, i),
        Op::Pmodadd => pointwise(memory, i, |q, a, b, _| q.modulus.add(a, b)),
        Op::Pmodsub => pointwise(memory, i, |q, a, b, _| q.modulus.sub(a, b)),
        Op::Pmodmul => pointwise(memory, i, |q, a, b, _| q.mul(a, b)),
        Op::Pmodsqr => pointwise(memory, i, |q, a, _, _| q.mul(a, a)),
        Op::Pmac => pointwise(memory, i, |q, a, b, c| q.modulus.add(q.mul(a, b), c)),
        Op::Cmodmul => constant(memory, i),
        Op::Pmul => wide(memory, i),
        Op::Memcpy => {
            let copy = memory.read(i.src_a, n)?;
            memory.write(i.dst, copy)
        }
        Op::Memcpyr => {
            let source = memory.read(i.src_a, n)?;
            memory.write(
                i.dst,
                source.iter().map(|lane| reversed(lane, i.log2_n)).collect(),
            )
        }
        Op::Lift | Op::Scale => convert(memory, i),
        Op::Auto => {
            let element = entry(&memory.automorphisms, i)?;
            let source = memory.read(i.src_a, i.n())?;
            memory.write(i.dst, moves::automorphism(&source, element.into()))
        }
        Op::Decomp => {
            let digit = entry(&memory.digits, i)?;
            let source = memory.read(i.src_a, i.n())?;
            memory.write(i.dst, digit.apply(&source, memory.info.word_bits))
        }
        Op::Load => load(memory, i),
        Op::Store => {
            let value = memory.read(i.src_a, n)?;
            addressable(&memory.info, i)?;
            let target = memory
                .host
                .get_mut(&i.buf_idx)
                .ok_or(Fault::new(Cause::Bus))?;
            for (lane, words) in target.iter_mut().zip(value) {
                lane[..n].copy_from_slice(&words);
            }
            Ok(())
        }
        _ => Err(Fault::new(Cause::Opcode)),
    }
}

/// The checks of the sequencer that do not depend on what was written.
fn guard(info: &BuildInfo, i: &Instruction) -> Result<(), Fault> {
    if !info.has(i.op) {
        return Err(Fault::new(Cause::Opcode));
    }
    let least = 8.max(4 * info.butterflies as usize);
    if i.op != Op::Sync && !(least..=info.n_max()).contains(&i.n()) {
        return Err(Fault::new(Cause::Degree));
    }
    Ok(())
}

fn reversed(lane: &[u128], log2_n: u8) -> Vec<u128> {
    (0..lane.len())
        .map(|j| lane[ntt::bit_reverse(j, log2_n.into())])
        .collect()
}

fn transforms(memory: &mut Memory, i: &Instruction) -> Result<(), Fault> {
    let moduli = memory.lanes(i.mod_idx)?;
    let mut value = memory.read(i.src_a, i.n())?;
    let addend = memory.read(i.src_c, i.n())?;
    let table = memory.tables[usize::from(i.mod_idx)].as_ref();
    let table = table
        .filter(|table| table.log2_n >= i.log2_n)
        .ok_or(Fault::new(Cause::Index))?;
    for (lane, q) in moduli.iter().enumerate() {
        let words = &mut value[lane];
        if i.op == Op::Ntt {
            transform::forward(q, &table.entries[lane], words, i.cyclic);
        } else {
            transform::inverse(q, &table.entries[lane], words, i.cyclic);
            q.modulus.add_assign(words, &addend[lane]);
        }
    }
    // The intermediate stages overwrote both work slots.
    memory.slots[0] = None;
    memory.slots[1] = None;
    memory.write(i.dst, value)
}

fn pointwise(
    memory: &mut Memory,
    i: &Instruction,
    operation: impl Fn(&Lane, u128, u128, u128) -> u128,
) -> Result<(), Fault> {
    let moduli = memory.lanes(i.mod_idx)?;
    let (a, c) = (memory.read(i.src_a, i.n())?, memory.read(i.src_c, i.n())?);
    let b = if i.reads_stream() {
        let fits = |words: &Polynomial| words.iter().all(|lane| lane.len() == i.n());
        let loaded = memory.stream.take().ok_or(Fault::new(Cause::Unwritten))?;
        Some(loaded)
            .filter(fits)
            .ok_or(Fault::new(Cause::Combination))?
    } else {
        memory.read(i.src_b, i.n())?
    };
    let lane = |(l, q): (usize, &Lane)| -> Vec<u128> {
        (0..i.n())
            .map(|j| operation(q, a[l][j], b[l][j], c[l][j]))
            .collect()
    };
    let value: Polynomial = moduli.iter().enumerate().map(lane).collect();
    memory.write(i.dst, value)
}

fn constant(memory: &mut Memory, i: &Instruction) -> Result<(), Fault> {
    let moduli = memory.lanes(i.mod_idx)?;
    let index = usize::from(i.const_idx);
    let mut value = memory.read(i.src_a, i.n())?;
    let addend = memory.read(i.src_c, i.n())?;
    for (lane, q) in moduli.iter().enumerate() {
        let factor = *memory.constants[lane]
            .get(index)
            .ok_or(Fault::new(Cause::Index))?;
        let words = &mut value[lane];
        for (word, &addend) in words.iter_mut().zip(&addend[lane]) {
            // Any word, as of a digit of a longer prime: the product reduces it.
            let residue = match *word < q.modulus.value() {
                true => *word,
                false => q.modulus.reduce(*word),
            };
            *word = q.modulus.add(q.mul(residue, factor), addend);
        }
    }
    memory.write(i.dst, value)
}

fn wide(memory: &mut Memory, i: &Instruction) -> Result<(), Fault> {
    let (a, b) = (memory.read(i.src_a, i.n())?, memory.read(i.src_b, i.n())?);
    let bits = memory.info.word_bits;
    let half = |high: bool| -> Polynomial {
        let words = |(x, y): (&Vec<u128>, &Vec<u128>)| -> Vec<u128> {
            x.iter()
                .zip(y)
                .map(|(&x, &y)| split(x.mul_wide(y), bits, high))
                .collect()
        };
        a.iter().zip(&b).map(words).collect()
    };
    let (low, high) = (half(false), half(true));
    memory.write(i.dst, low)?;
    memory.write(i.src_c, high)
}

/// An entry of a table of moves.
fn entry<T: Clone>(table: &[Option<T>], i: &Instruction) -> Result<T, Fault> {
    let found = table.get(usize::from(i.const_idx)).cloned().flatten();
    found.ok_or(Fault::new(Cause::Index))
}

fn convert(memory: &mut Memory, i: &Instruction) -> Result<(), Fault> {
    let conversion = memory.conversions.get(usize::from(i.const_idx)).cloned();
    let conversion = conversion
        .flatten()
        .filter(|conversion| conversion.shape().own == (i.op == Op::Scale))
        .ok_or(Fault::new(Cause::Index))?;
    let (x, own) = (memory.read(i.src_a, i.n())?, memory.read(i.src_b, i.n())?);
    memory.write(i.dst, conversion.apply(&x, &own))
}

/// Bits 0..W of a product, or bits W..2W.
fn split((low, high): (u128, u128), bits: u32, upper: bool) -> u128 {
    match (bits, upper) {
        (128, false) => low,
        (128, true) => high,
        (_, false) => low & ((1 << bits) - 1),
        (_, true) => low >> bits | high << (128 - bits),
    }
}

/// The host buffers begin at address 0 here; each ends within the addresses of the data port.
fn addressable(info: &BuildInfo, i: &Instruction) -> Result<(), Fault> {
    let end = (u128::from(i.buf_idx) + 1) * info.buffer_bytes() as u128;
    if info.host == Host::Axi4 && end > 1 << info.address_bits {
        return Err(Fault::new(Cause::Address));
    }
    Ok(())
}

fn load(memory: &mut Memory, i: &Instruction) -> Result<(), Fault> {
    addressable(&memory.info, i)?;
    let source = memory.host.get(&i.buf_idx).ok_or(Fault::new(Cause::Bus))?;
    let value: Polynomial = source.iter().map(|lane| lane[..i.n()].to_vec()).collect();
    if i.dst == STREAM_SLOT {
        memory.stream = Some(value);
        return Ok(());
    }
    if i.dst != TWIDDLE_SLOT {
        return memory.write(i.dst, value);
    }
    if memory.info.twiddle_tables == 1 {
        memory.tables.fill(None);
    }
    let entry = memory
        .tables
        .get_mut(usize::from(i.mod_idx))
        .ok_or(Fault::new(Cause::Index))?;
    *entry = Some(Table {
        log2_n: i.log2_n,
        entries: value,
    });
    Ok(())
}
