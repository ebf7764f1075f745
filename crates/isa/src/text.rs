// SPDX-License-Identifier: Apache-2.0
//! Text assembly: `intt s3, s0, s5 n=4096 mod=0`, one instruction a line, `;` starts a comment.

use std::fmt;

use crate::error::IsaError;
use crate::instruction::Instruction;
use crate::spec::{Modifier, Op, STREAM_SLOT, TWIDDLE_SLOT, ZERO_SLOT};

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = self.op.spec();
        write!(f, "{}", spec.mnemonic)?;
        let shown = spec
            .operands
            .iter()
            .filter(|s| !(spec.optional.contains(s) && self.slot(**s) == ZERO_SLOT));
        for (position, &slot) in shown.enumerate() {
            write!(
                f,
                "{}{}",
                if position == 0 { " " } else { ", " },
                slot_name(self.slot(slot))
            )?;
        }
        for &modifier in spec.modifiers {
            match modifier {
                Modifier::Log2N => write!(f, " n={}", self.n())?,
                Modifier::BufIdx => write!(f, " buf={}", self.buf_idx)?,
                _ if self.modifier(modifier) == 0 => {}
                _ => write!(f, " {}={}", modifier.name(), self.modifier(modifier))?,
            }
        }
        Ok(())
    }
}

/// Name of a slot in assembly: `s0`.., `stream`, `twiddle`, `zero`.
pub fn slot_name(slot: u8) -> String {
    match slot {
        ZERO_SLOT => "zero".to_owned(),
        TWIDDLE_SLOT => "twiddle".to_owned(),
        STREAM_SLOT => "stream".to_owned(),
        _ => format!("s{slot}"),
    }
}

/// A program as text, one instruction a line.
pub fn disassemble(program: &[Instruction]) -> String {
    program
        .iter()
        .map(|instruction| format!("{instruction}\n"))
        .collect()
}

/// Read a program's text. Modifiers `mod`, `cyclic` and `const` default to 0; `n` and `buf` must be given.
///
/// # Errors
/// [`IsaError::Syntax`] with the line and what would work.
pub fn assemble(text: &str) -> Result<Vec<Instruction>, IsaError> {
    let mut program = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split(';').next().unwrap_or_default().trim();
        if !code.is_empty() {
            program.push(parse_line(code).map_err(|what| IsaError::Syntax {
                line: number + 1,
                what,
            })?);
        }
    }
    Ok(program)
}

fn parse_line(code: &str) -> Result<Instruction, String> {
    let (name, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
    let op = Op::from_mnemonic(&name.to_ascii_lowercase())
        .ok_or_else(|| format!("{name:?} is no instruction"))?;
    let spec = op.spec();
    let (settings, operands): (Vec<_>, Vec<_>) = rest
        .split([',', ' ', '\t'])
        .filter(|token| !token.is_empty())
        .partition(|token| token.contains('='));
    let least = spec.operands.len() - spec.optional.len();
    if operands.len() < least || operands.len() > spec.operands.len() {
        return Err(format!(
            "{name} takes {least} to {} slots, got {}",
            spec.operands.len(),
            operands.len()
        ));
    }
    let mut instruction = Instruction::new(op);
    for (&slot, token) in spec.operands.iter().zip(&operands) {
        instruction.set_slot(slot, parse_slot(token)?);
    }
    parse_modifiers(&mut instruction, &settings)?;
    Ok(instruction)
}

fn parse_slot(token: &str) -> Result<u8, String> {
    match token {
        "zero" => return Ok(ZERO_SLOT),
        "twiddle" => return Ok(TWIDDLE_SLOT),
        "stream" => return Ok(STREAM_SLOT),
        _ => {}
    }
    let number = token
        .strip_prefix('s')
        .and_then(|digits| digits.parse::<u8>().ok());
    number
        .filter(|&slot| slot < STREAM_SLOT)
        .ok_or_else(|| format!("{token:?} is no slot (s0..s60, stream, twiddle or zero)"))
}

fn parse_modifiers(instruction: &mut Instruction, settings: &[&str]) -> Result<(), String> {
    let spec = instruction.op.spec();
    let mut given = Vec::new();
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let modifier = spec
            .modifiers
            .iter()
            .copied()
            .find(|modifier| modifier.name() == name);
        let modifier = modifier.ok_or_else(|| format!("{} takes no {name}=", spec.mnemonic))?;
        let value =
            parse_value(modifier, value).ok_or_else(|| format!("{setting:?} is out of range"))?;
        instruction.set_modifier(modifier, value);
        given.push(modifier);
    }
    let needed = [Modifier::Log2N, Modifier::BufIdx]
        .into_iter()
        .filter(|m| spec.modifiers.contains(m));
    match needed
        .into_iter()
        .find(|modifier| !given.contains(modifier))
    {
        Some(missing) => Err(format!("{} needs {}=", spec.mnemonic, missing.name())),
        None => Ok(()),
    }
}

/// The field's value; `n` itself is written, its logarithm stored.
fn parse_value(modifier: Modifier, text: &str) -> Option<u64> {
    let value = text.parse::<u64>().ok()?;
    let value = match modifier {
        Modifier::Log2N => value.is_power_of_two().then(|| u64::from(value.ilog2()))?,
        _ => value,
    };
    (value <= modifier.field().max()).then_some(value)
}
