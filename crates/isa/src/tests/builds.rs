// SPDX-License-Identifier: Apache-2.0
//! Builds from an info block and from knobs: those that none can be, and how lanes lie in a host buffer.

use super::*;
use crate::facts::SMALL;

#[test]
fn info_blocks_out_of_range_are_refused() {
    assert_eq!(tiny().validate(), Ok(()));
    let wrong = [
        (
            BuildInfo {
                isa_version: 9,
                ..tiny()
            },
            "instruction set version 9",
        ),
        (
            BuildInfo {
                word_bits: 129,
                ..tiny()
            },
            "word_bits is 129",
        ),
        (
            BuildInfo {
                butterflies: 3,
                ..tiny()
            },
            "butterflies is 3",
        ),
        (
            BuildInfo {
                log2_n_max: 3,
                butterflies: 4,
                ..tiny()
            },
            "at least 4 * butterflies = 16",
        ),
        (
            BuildInfo {
                dual_port_slots: 1,
                ..tiny()
            },
            "dual_port_slots is 1",
        ),
        (
            BuildInfo {
                montgomery_bits: 9,
                ..tiny()
            },
            "0 with Barrett only",
        ),
        (
            BuildInfo {
                twiddle_tables: 3,
                ..tiny()
            },
            "1 or moduli_slots",
        ),
        (
            BuildInfo {
                word_bits: 65,
                ..tiny()
            },
            "at most 64 with base conversion",
        ),
        (
            BuildInfo {
                rns: Some(RnsUnit {
                    rate: 3,
                    conversions: 4,
                    entries: 16,
                }),
                ..tiny()
            },
            "rns_rate is 3",
        ),
        (
            BuildInfo {
                instructions: u64::MAX,
                ..tiny()
            },
            "known instructions",
        ),
        (
            BuildInfo {
                wide_port: true,
                host: Host::Serial,
                ..tiny()
            },
            "wide_port is 1, must be false on the serial host",
        ),
    ];
    for (info, words) in wrong {
        let message = info.validate().unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(
        (tiny().word_bytes(), tiny().buffer_bytes()),
        (4, 2 * 256 * 4)
    );
}

#[test]
fn a_wide_port_lays_lanes_side_by_side() {
    let narrow = BuildInfo { lanes: 3, ..tiny() };
    let wide = BuildInfo {
        wide_port: true,
        ..narrow.clone()
    };
    let layout = |info: &BuildInfo| {
        let starts = [0, 1, 2].map(|lane| info.lane_start(lane));
        (info.piece(), starts, info.row_bytes(), info.buffer_bytes())
    };
    // Words of 4 bytes: whole polynomials of 256, or pieces of two in rows of four.
    assert_eq!(layout(&narrow), (256, [0, 1024, 2048], 3072, 3072));
    assert_eq!(layout(&wide), (2, [0, 8, 16], 32, 4096));
    // Words of 6 bytes, eight lanes of eight: three beats of 128 bytes, not four. Of 5, six lanes: two, with padding.
    let packed = |word_bits, lanes| BuildInfo {
        word_bits,
        lanes,
        butterflies: 8,
        ..wide.clone()
    };
    for (info, lane, row, beats) in [(packed(43, 8), 48, 384, 3), (packed(36, 6), 40, 256, 2)] {
        let buffer = row * 256 / 8;
        assert_eq!((info.lane_start(1), info.row_bytes()), (lane, row));
        assert_eq!((info.beats(), info.buffer_bytes()), (beats, buffer));
    }
}

/// The knobs of `tiny`, some of them changed: the small build's, and what it says otherwise.
fn knobs<'a>(
    changed: &'a [(&'a str, i32)],
) -> impl FnMut(&'static str) -> Result<i32, InfoError> + 'a {
    const TINY: [(&str, i32); 7] = [
        ("lanes", 2),
        ("n_max", 256),
        ("single_port_slots", 4),
        ("rns_rate", 2),
        ("rns_conversions", 4),
        ("rns_entries", 16),
        ("moves", 4),
    ];
    move |name| {
        let mut given = changed.iter().chain(&TINY).chain(SMALL);
        let found = given.find(|(knob, _)| *knob == name);
        let lacking = || InfoError::Lacking { name: name.into() };
        found.map(|&(_, value)| value).ok_or_else(lacking)
    }
}

#[test]
fn knobs_make_the_build_that_they_describe() {
    assert_eq!(BuildInfo::from_knobs(knobs(&[])), Ok(tiny()));
    let montgomery = [
        ("reduction", 1),
        ("twiddles", 0),
        ("pmul", 0),
        ("rns_rate", 0),
    ];
    let without = [
        montgomery.as_slice(),
        &[("rns_conversions", 0), ("rns_entries", 0), ("moves", 0)],
    ]
    .concat();
    let info = BuildInfo::from_knobs(knobs(&without)).unwrap();
    assert_eq!(
        (
            info.montgomery_bits,
            info.twiddle_tables,
            info.single_port_slots
        ),
        (9, 1, 3)
    );
    assert_eq!(
        (info.rns, info.has(Op::Pmul), info.has(Op::Lift)),
        (None, false, false)
    );
    assert!(!info.has(Op::Auto) && !info.has(Op::Decomp));
    // Moves need no base conversion.
    let moves = [
        montgomery.as_slice(),
        &[("rns_conversions", 0), ("rns_entries", 0)],
    ]
    .concat();
    let info = BuildInfo::from_knobs(knobs(&moves)).unwrap();
    assert!(info.has(Op::Auto) && info.has(Op::Decomp) && !info.has(Op::Scale));
    assert_eq!(info.validate(), Ok(()));
}

#[test]
fn knobs_that_no_build_has_are_refused_by_name() {
    let refused = [
        ("word_bits", 13, "word_bits is 13, must be 14..128"),
        (
            "word_bits",
            65,
            "word_bits is 65, must be at most 64 with base conversion (rns_rate)",
        ),
        ("lanes", 0, "lanes is 0, must be 1..15"),
        ("lanes", i32::MAX, "must be 1..15"),
        ("butterflies", 3, "must be 1, 2, 4, 8, 16 or 32"),
        ("butterflies", i32::MIN, "must be 1, 2, 4, 8, 16 or 32"),
        (
            "n_max",
            0,
            "n_max is 0, must be a power of two from 8 to 32768",
        ),
        ("n_max", 4, "must be a power of two from 8 to 32768"),
        ("n_max", 100, "must be a power of two"),
        ("n_max", i32::MIN, "must be a power of two"),
        (
            "reduction",
            2,
            "reduction is 2, must be barrett or montgomery",
        ),
        ("reduction", -1, "must be barrett or montgomery"),
        ("multiplier", 3, "must be asic, dsp26x17 or dsp18x18"),
        ("modulus_bits_min", 33, "must be 5..word_bits = 32"),
        ("dual_port_slots", 1, "dual_port_slots is 1, must be 2..32"),
        ("single_port_slots", 29, "slots is 33, must be 3..32"),
        ("moduli_slots", 17, "moduli_slots is 17, must be 1..16"),
        ("constants", 33, "must be 1..32"),
        ("rns_rate", 3, "rns_rate is 3, must be 0, 1, 2 or 4"),
        (
            "rns_rate",
            0,
            "rns_conversions is 4, must be 2..32 where rns_rate != 0, else 0",
        ),
        ("rns_entries", 129, "must be 16..128"),
        ("moves", 5, "moves is 5, must be 0, 4, 8, 16 or 32"),
        ("host", 2, "must be axi4 or serial"),
        ("fifo_depth", 12, "must be a power of two from 2 to 1024"),
    ];
    for (name, value, words) in refused {
        let message = BuildInfo::from_knobs(knobs(&[(name, value)]))
            .unwrap_err()
            .to_string();
        assert!(message.contains(words), "{name} = {value}: {message}");
    }
    let lacking = |name| match name {
        "host" => Err(InfoError::Lacking { name: name.into() }),
        _ => knobs(&[])(name),
    };
    assert_eq!(
        BuildInfo::from_knobs(lacking).unwrap_err().to_string(),
        "the build lacks host"
    );
}
