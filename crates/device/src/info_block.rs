// SPDX-License-Identifier: Apache-2.0
//! The info block: from registers to a build, whatever reads the registers.

use isa::{BuildInfo, Host, PortMemory, Reduction, RnsUnit};

use crate::DeviceError;
use crate::registers as r;

/// The register map's identification, "RSCP".
const MAGIC: u32 = 0x5253_4350;
/// Major version of the register map that this driver speaks.
const MAJOR: u32 = 1;

/// The bits of a field.
pub(crate) fn field(word: u32, (shift, width): (u32, u32)) -> u32 {
    (word >> shift) & ((1u64 << width) - 1) as u32
}

/// A one-bit field set.
pub(crate) fn bit((shift, _): (u32, u32)) -> u32 {
    1 << shift
}

fn foreign(what: String) -> DeviceError {
    DeviceError::Foreign { what }
}

/// Learn the build from the info block.
///
/// # Errors
/// [`DeviceError::Foreign`] if no co-processor answers, or one that this driver does not know; what reading fails with.
pub(crate) fn read_info(
    mut read: impl FnMut(u32) -> Result<u32, DeviceError>,
) -> Result<BuildInfo, DeviceError> {
    let version = known_version(&mut read)?;
    let (shape, capacity, arithmetic) = (read(r::SHAPE)?, read(r::CAPACITY)?, read(r::ARITHMETIC)?);
    let dual = u64::from(read(r::DUAL_PORT)?) | u64::from(read(r::DUAL_PORT + 4)?) << 32;
    let instructions = u64::from(read(r::FEATURES)?) | u64::from(read(r::FEATURES + 4)?) << 32;
    let slots = field(capacity, r::CAPACITY_SLOTS);
    let conversion = read(r::BASE_CONVERSION)?;
    let rns = RnsUnit {
        rate: field(conversion, r::BASE_CONVERSION_RATE),
        conversions: field(conversion, r::BASE_CONVERSION_CONVERSIONS),
        entries: field(conversion, r::BASE_CONVERSION_ENTRIES),
    };
    if dual.trailing_ones() != dual.count_ones() || dual.count_ones() > slots {
        return Err(foreign(format!(
            "dual-port mask {dual:#x} with {slots} slots: the dual-port slots come first"
        )));
    }
    let info = BuildInfo {
        isa_version: field(version, r::VERSION_ISA),
        word_bits: field(shape, r::SHAPE_WORD_BITS),
        lanes: field(shape, r::SHAPE_LANES),
        butterflies: field(shape, r::SHAPE_BUTTERFLIES),
        log2_n_max: field(shape, r::SHAPE_LOG2_N_MAX),
        dual_port_slots: dual.count_ones(),
        single_port_slots: slots - dual.count_ones(),
        twiddle_tables: field(arithmetic, r::ARITHMETIC_TWIDDLE_TABLES),
        moduli_slots: field(capacity, r::CAPACITY_MODULI),
        constants: field(capacity, r::CAPACITY_CONSTANTS),
        reduction: [Reduction::Barrett, Reduction::Montgomery]
            [field(shape, r::SHAPE_REDUCTION) as usize & 1],
        montgomery_bits: field(arithmetic, r::ARITHMETIC_MONTGOMERY_BITS),
        modulus_bits_min: field(arithmetic, r::ARITHMETIC_MODULUS_MIN_BITS),
        multiplier: field(arithmetic, r::ARITHMETIC_MULTIPLIER),
        cores: field(shape, r::SHAPE_CORES),
        fifo_depth: field(read(r::PORTS)?, r::PORTS_FIFO_DEPTH),
        host: [Host::Axi4, Host::Serial][field(shape, r::SHAPE_SERIAL) as usize],
        wide_port: field(shape, r::SHAPE_WIDE_PORT) == 1,
        stream: field(arithmetic, r::ARITHMETIC_STREAM) == 1,
        pointwise_unit: field(arithmetic, r::ARITHMETIC_POINTWISE_UNIT) == 1,
        controller: field(arithmetic, r::ARITHMETIC_CONTROLLER) == 1,
        port_memory: PortMemory::IDEAL,
        cyclic: field(arithmetic, r::ARITHMETIC_CYCLIC) == 1,
        rns: Some(rns).filter(|unit| unit.rate != 0),
        moves: field(conversion, r::BASE_CONVERSION_MOVES),
        instructions,
        address_bits: address_bits(&mut read, field(version, r::VERSION_MINOR))?,
    };
    let bytes = field(capacity, r::CAPACITY_WORD_BYTES) as usize;
    if bytes != info.word_bytes() {
        return Err(foreign(format!(
            "{bytes} bytes a coefficient, {} expected",
            info.word_bytes()
        )));
    }
    Ok(info)
}

/// The version register of a co-processor whose registers this driver knows.
fn known_version(
    read: &mut impl FnMut(u32) -> Result<u32, DeviceError>,
) -> Result<u32, DeviceError> {
    let magic = read(r::MAGIC)?;
    if magic != MAGIC {
        return Err(foreign(format!(
            "identification {magic:#010x}, expected {MAGIC:#010x}"
        )));
    }
    let version = read(r::VERSION)?;
    match field(version, r::VERSION_MAJOR) {
        MAJOR => Ok(version),
        major => Err(foreign(format!(
            "register map {major}, this driver speaks {MAJOR}"
        ))),
    }
}

/// Bits of an address on the data port; register maps before 1.3 do not tell them.
fn address_bits(
    read: &mut impl FnMut(u32) -> Result<u32, DeviceError>,
    minor: u32,
) -> Result<u32, DeviceError> {
    if minor < 3 {
        return Ok(40);
    }
    Ok(field(read(r::HOST_PORT)?, r::HOST_PORT_ADDRESS_BITS))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The info block of a build like `tiny`, one register replaced.
    pub fn registers(address: u32, value: u32) -> impl FnMut(u32) -> Result<u32, DeviceError> {
        let block = [
            (r::MAGIC, MAGIC),
            (
                r::VERSION,
                MAJOR << r::VERSION_MAJOR.0 | isa::ISA_VERSION << r::VERSION_ISA.0,
            ),
            (
                r::SHAPE,
                32 | 2 << r::SHAPE_BUTTERFLIES.0
                    | 2 << r::SHAPE_LANES.0
                    | 8 << r::SHAPE_LOG2_N_MAX.0
                    | 1 << r::SHAPE_CORES.0,
            ),
            (
                r::CAPACITY,
                8 | 2 << r::CAPACITY_MODULI.0
                    | 4 << r::CAPACITY_CONSTANTS.0
                    | 4 << r::CAPACITY_WORD_BYTES.0,
            ),
            (r::DUAL_PORT, 0b1111),
            (r::FEATURES, isa::implemented_mask() as u32),
            (r::FEATURES + 4, (isa::implemented_mask() >> 32) as u32),
            (
                r::ARITHMETIC,
                5 << r::ARITHMETIC_MODULUS_MIN_BITS.0 | 2 << r::ARITHMETIC_TWIDDLE_TABLES.0,
            ),
            (r::PORTS, 16),
            (
                r::BASE_CONVERSION,
                2 | 4 << r::BASE_CONVERSION_CONVERSIONS.0
                    | 16 << r::BASE_CONVERSION_ENTRIES.0
                    | 8 << r::BASE_CONVERSION_MOVES.0,
            ),
        ];
        move |asked| {
            let held = block
                .iter()
                .find(|(at, _)| *at == asked)
                .map_or(0, |(_, value)| *value);
            Ok(if asked == address { value } else { held })
        }
    }

    #[test]
    fn an_info_block_becomes_a_build() {
        let info = read_info(registers(0xfff, 0)).unwrap();
        assert_eq!(
            (info.word_bits, info.lanes, info.butterflies, info.n_max()),
            (32, 2, 2, 256)
        );
        assert_eq!(
            (
                info.dual_port_slots,
                info.single_port_slots,
                info.twiddle_tables
            ),
            (4, 4, 2)
        );
        let unit = RnsUnit {
            rate: 2,
            conversions: 4,
            entries: 16,
        };
        assert_eq!(
            (info.rns, info.moves, info.validate()),
            (Some(unit), 8, Ok(()))
        );
        let without = read_info(registers(r::BASE_CONVERSION, 0)).unwrap();
        assert_eq!(
            (without.rns, without.moves, without.wide_port),
            (None, 0, false)
        );
        let shape =
            32 | 2 << r::SHAPE_BUTTERFLIES.0 | 2 << r::SHAPE_LANES.0 | 1 << r::SHAPE_CORES.0;
        let wide = shape | 8 << r::SHAPE_LOG2_N_MAX.0 | 1 << r::SHAPE_WIDE_PORT.0;
        assert!(read_info(registers(r::SHAPE, wide)).unwrap().wide_port);
    }

    #[test]
    fn the_width_of_addresses_is_told_from_map_1_3_on() {
        let old = read_info(registers(r::HOST_PORT, 48)).unwrap();
        assert_eq!(old.address_bits, 40);
        let version = MAJOR << r::VERSION_MAJOR.0 | 3 | isa::ISA_VERSION << r::VERSION_ISA.0;
        for (bits, legal) in [(48, true), (31, false), (65, false)] {
            let mut told = registers(r::HOST_PORT, bits);
            let info = read_info(|asked| match asked {
                r::VERSION => Ok(version),
                _ => told(asked),
            });
            let info = info.unwrap();
            assert_eq!((info.address_bits, info.validate().is_ok()), (bits, legal));
        }
    }

    #[test]
    fn wrong_info_blocks_are_refused() {
        let wrong = [
            (
                r::MAGIC,
                0xffff_ffff,
                "identification 0xffffffff, expected 0x52534350",
            ),
            (
                r::VERSION,
                7 << r::VERSION_MAJOR.0,
                "register map 7, this driver speaks 1",
            ),
            (r::DUAL_PORT, 0b1011, "dual-port mask 0xb with 8 slots"),
            (
                r::CAPACITY,
                8 | 8 << r::CAPACITY_WORD_BYTES.0,
                "8 bytes a coefficient, 4 expected",
            ),
        ];
        for (address, value, words) in wrong {
            let message = read_info(registers(address, value))
                .unwrap_err()
                .to_string();
            assert!(message.contains(words), "{message}");
        }
        let other = MAJOR << r::VERSION_MAJOR.0 | 9 << r::VERSION_ISA.0;
        let info = read_info(registers(r::VERSION, other)).unwrap();
        assert!(
            info.validate()
                .unwrap_err()
                .to_string()
                .contains("instruction set version 9")
        );
    }
}
