// SPDX-License-Identifier: Apache-2.0
//! Frames of the serial host as bytes. What they are says `rtl/host/rs_serial_pkg.sv`; a test of the Python flow holds
//! these numbers against it.

/// Version of the frames.
pub const VERSION: u8 = 1;
/// First byte of a command.
pub const COMMAND: u8 = 0xc9;
/// First byte of an answer.
pub const ANSWER: u8 = 0x6a;

/// Kind: begin a session.
pub const GREET: u8 = 0x01;
/// Kind: write registers.
pub const WRITE_REG: u8 = 0x10;
/// Kind: read registers.
pub const READ_REG: u8 = 0x11;
/// Kind: data of a LOAD.
pub const WRITE_DATA: u8 = 0x20;
/// Kind: data of a STORE.
pub const READ_DATA: u8 = 0x21;

/// Code: done.
pub const OK: u8 = 0x80;
/// Code: no such register, no such transfer.
pub const REFUSED: u8 = 0x81;
/// Code: the data's CRC was wrong.
pub const DAMAGED: u8 = 0x82;
/// Code: no frame, or cut short.
pub const MALFORMED: u8 = 0x83;
/// Code: not greeted since a reset.
pub const UNKNOWN: u8 = 0x84;
/// Code: the answer asked for once more is no longer held.
pub const GONE: u8 = 0x85;

/// Bytes whose time on the line is the silence that ends a frame.
pub const SILENCE_BYTES: u32 = 1024;
/// Bytes of a header with its marker and CRC.
pub const HEADER: usize = 11;
/// Bytes of a CRC.
pub const CRC: usize = 4;

/// CRC-32 of ISO-HDLC.
pub fn crc32(data: &[u8]) -> u32 {
    let bit = |state: u32, _| (state >> 1) ^ (0xedb8_8320 & (state & 1).wrapping_neg());
    let byte = |state: u32, byte: &u8| (0..8).fold(state ^ u32::from(*byte), bit);
    !data.iter().fold(u32::MAX, byte)
}

/// A command with its data, or of `length` bytes that the answer is to have.
pub fn command(kind: u8, sequence: u8, address: u16, length: u16, data: &[u8]) -> Vec<u8> {
    let length = match data.len() {
        0 => length,
        some => some as u16,
    };
    let (length, address) = (length.to_le_bytes(), address.to_le_bytes());
    let fields = [kind, sequence, length[0], length[1], address[0], address[1]];
    let mut bytes = vec![COMMAND];
    bytes.extend(fields);
    bytes.extend(crc32(&fields).to_le_bytes());
    if !data.is_empty() {
        bytes.extend(data);
        bytes.extend(crc32(data).to_le_bytes());
    }
    bytes
}

/// An answer whose CRCs are right.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// What became of the command.
    pub code: u8,
    /// Registers, data.
    pub data: Vec<u8>,
}

/// Whether the last four bytes are the CRC of those before.
fn right(bytes: &[u8]) -> bool {
    let (data, crc) = bytes.split_at(bytes.len() - CRC);
    crc32(data).to_le_bytes() == crc
}

/// Finds the answer of a number among bytes as they come.
#[derive(Default)]
pub struct Finder {
    held: Vec<u8>,
}

impl Finder {
    /// Take bytes that came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.held.extend(bytes);
    }

    /// The answer to the command `sequence`, `Err` if its data are damaged, `None` while it is not whole. Other
    /// bytes, and answers to other commands, are dropped.
    pub fn find(&mut self, sequence: u8) -> Option<Result<Answer, ()>> {
        loop {
            let start = self.held.iter().position(|byte| *byte == ANSWER);
            self.held.drain(..start.unwrap_or(self.held.len()));
            if self.held.len() < HEADER {
                return None;
            }
            if !right(&self.held[1..HEADER]) || self.held[2] != sequence {
                self.held.drain(..1);
                continue;
            }
            let length = usize::from(u16::from_le_bytes([self.held[3], self.held[4]]));
            let end = HEADER + if length == 0 { 0 } else { length + CRC };
            if self.held.len() < end {
                return None;
            }
            let frame: Vec<u8> = self.held.drain(..end).collect();
            if length > 0 && !right(&frame[HEADER..]) {
                return Some(Err(()));
            }
            let data = frame[HEADER..HEADER + length].to_vec();
            return Some(Ok(Answer {
                code: frame[1],
                data,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: u8, sequence: u8, data: &[u8]) -> Vec<u8> {
        let mut bytes = command(code, sequence, 0, 0, data);
        bytes[0] = ANSWER;
        bytes
    }

    #[test]
    fn the_crc_is_the_standard_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn an_answer_is_found_behind_noise_and_other_answers() {
        let mut finder = Finder::default();
        finder.push(&[0, ANSWER, 7, ANSWER, ANSWER]);
        finder.push(&answer(OK, 3, b"old"));
        let wanted = answer(OK, 4, &[ANSWER; 20]);
        for byte in &wanted[..wanted.len() - 1] {
            finder.push(&[*byte]);
            assert_eq!(finder.find(4), None);
        }
        finder.push(&wanted[wanted.len() - 1..]);
        let found = Answer {
            code: OK,
            data: vec![ANSWER; 20],
        };
        assert_eq!(finder.find(4), Some(Ok(found)));
        assert_eq!(finder.find(4), None);
    }

    #[test]
    fn no_fault_of_a_byte_makes_a_wrong_answer() {
        let whole = answer(OK, 9, b"residues");
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut finder = Finder::default();
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                finder.push(&bytes);
                assert!(!matches!(finder.find(9), Some(Ok(_))), "bit {bit} of {at}");
            }
            for change in [&whole[at..at], &[whole[at]; 2]] {
                let mut finder = Finder::default();
                finder.push(&[&whole[..at], change, &whole[at + 1..]].concat());
                if let Some(Ok(found)) = finder.find(9) {
                    assert_eq!(found.data, b"residues", "byte {at}");
                }
            }
        }
    }
}
