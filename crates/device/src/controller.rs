// SPDX-License-Identifier: Apache-2.0
//! The on-chip controller as its driver sees it: what its memory holds, and the register writes that fill it.

use crate::DeviceError;
use crate::controller_registers as r;
use crate::info_block::bit;
use crate::registers;

/// A register and what to write to it.
pub(crate) type Access = (u32, u32);

/// Why a controller stops: `stop_e` of `spec/controller.rdl`.
const STOPS: [&str; 4] = [
    "no known cause",
    "access to a register that does not exist",
    "access outside memory and registers",
    "access that is not aligned, or part of a register",
];
/// The cause of a controller that reports an error of the core.
pub(crate) const STOP_COPROCESSOR: u32 = 4;

/// Register accesses and clock cycles of a program: to fill the controller's memory, and from the first access that
/// starts it to the one that sees its end, transfers of data included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Register accesses and frames of data while it ran.
    pub transactions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Register accesses before, for firmware and program; 0 where the memory held them.
    pub load_transactions: u64,
    /// Cycles of these.
    pub load_cycles: u64,
}

/// The controller of a core.
pub(crate) struct Controller {
    firmware: Vec<u32>,
    /// Instructions that fit behind the firmware.
    capacity: usize,
    /// What its memory holds behind the firmware; nothing before the firmware runs.
    resident: Option<Vec<u64>>,
}

impl Controller {
    /// A controller with a memory of `words` words.
    ///
    /// # Errors
    /// [`DeviceError::Data`] without firmware, or if it leaves no room for an instruction.
    pub fn new(firmware: &[u8], words: usize) -> Result<Self, DeviceError> {
        if firmware.is_empty() {
            return Err(DeviceError::data(
                "the build has a controller, which needs firmware: none was given",
            ));
        }
        let (needed, size) = (firmware.len().next_multiple_of(4) + 8, 4 * words);
        if needed > size {
            return Err(DeviceError::data(format!(
                "the controller's firmware and one instruction have {needed} bytes, its memory {size}"
            )));
        }
        let word = |chunk: &[u8]| {
            let mut whole = [0; 4];
            whole[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(whole)
        };
        let firmware: Vec<u32> = firmware.chunks(4).map(word).collect();
        Ok(Self {
            capacity: (words - firmware.len()) / 2,
            firmware,
            resident: None,
        })
    }

    /// Forgets what the memory holds: the controller has been reset.
    pub fn forget(&mut self) {
        self.resident = None;
    }

    /// Takes what fits from the front of a program; the writes that put it into the memory, none if it is there.
    pub fn take(&mut self, pending: &mut Vec<u64>) -> Vec<Access> {
        let part: Vec<u64> = pending.drain(..pending.len().min(self.capacity)).collect();
        let mut accesses = Vec::new();
        if self.resident.is_none() {
            accesses.push((r::CONTROLLER_CONTROL, 0));
            fill(&mut accesses, 0, self.firmware.iter().copied());
            // Transfers stay the serial host's.
            let transfer = bit(registers::IRQ_ENABLE_TRANSFER);
            accesses.push((registers::IRQ_ENABLE, transfer));
            accesses.push((r::CONTROLLER_CONTROL, bit(r::CONTROLLER_CONTROL_RUN)));
        }
        if self.resident.as_ref() != Some(&part) {
            let start = 4 * self.firmware.len() as u32;
            let halves = part
                .iter()
                .flat_map(|word| [*word as u32, (word >> 32) as u32]);
            fill(&mut accesses, start, halves);
            let program = start << r::CONTROLLER_PROGRAM_ADDRESS.0
                | (part.len() as u32) << r::CONTROLLER_PROGRAM_COUNT.0;
            accesses.push((r::CONTROLLER_PROGRAM, program));
        }
        self.resident = Some(part);
        accesses
    }

    /// The write that starts what was taken.
    pub fn start() -> Access {
        let bits = bit(r::CONTROLLER_CONTROL_RUN) | bit(r::CONTROLLER_CONTROL_START);
        (r::CONTROLLER_CONTROL, bits)
    }
}

/// Writes of consecutive words of the memory.
fn fill(accesses: &mut Vec<Access>, start: u32, words: impl Iterator<Item = u32>) {
    accesses.push((r::CONTROLLER_ADDRESS, start));
    accesses.extend(words.map(|word| (r::CONTROLLER_DATA, word)));
}

/// The error of a controller that has stopped by itself.
pub(crate) fn stopped(cause: u32, address: u32) -> DeviceError {
    let cause = STOPS.get(cause as usize).unwrap_or(&STOPS[0]);
    DeviceError::Controller { cause, address }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory's words after some writes, and the program's place.
    fn play(accesses: &[Access], memory: &mut [u32]) -> (u32, u32) {
        let (mut at, mut program) = (0, (0, 0));
        for &(register, value) in accesses {
            match register {
                r::CONTROLLER_ADDRESS => at = value as usize / 4,
                r::CONTROLLER_DATA => {
                    memory[at] = value;
                    at += 1;
                }
                r::CONTROLLER_PROGRAM => program = (value & 0xffff, value >> 16),
                _ => {}
            }
        }
        program
    }

    #[test]
    fn firmware_and_program_lie_behind_each_other_and_a_program_stays() {
        let mut memory = [0; 8];
        let mut controller = Controller::new(&[1, 0, 0, 0, 2], 8).unwrap();
        let mut pending = vec![3 << 32 | 4, 5];
        let program = play(&controller.take(&mut pending), &mut memory);
        assert_eq!((memory, program), ([1, 2, 4, 3, 5, 0, 0, 0], (8, 2)));
        // The same once more needs nothing, another its own words only, and after a reset all.
        assert_eq!(controller.take(&mut vec![3 << 32 | 4, 5]), []);
        assert_eq!(controller.take(&mut vec![7]).len(), 4);
        controller.forget();
        assert_eq!(controller.take(&mut vec![7]).len(), 4 + 6);
        // Of a longer one the rest is left.
        let mut long = vec![1, 2, 3, 4];
        controller.take(&mut long);
        assert_eq!(long, [4]);
    }

    #[test]
    fn firmware_that_is_missing_or_too_large_is_refused() {
        let say = |firmware: &[u8]| Controller::new(firmware, 64).err().unwrap().to_string();
        assert!(say(&[]).contains("needs firmware"));
        let large = "firmware and one instruction have 260 bytes, its memory 256";
        assert!(say(&[0; 249]).contains(large), "{}", say(&[0; 249]));
        assert_eq!(Controller::new(&[0; 248], 64).unwrap().capacity, 1);
    }
}
