// SPDX-License-Identifier: Apache-2.0
use crate::spec::opcodes;
use crate::*;

fn tiny() -> BuildInfo {
    BuildInfo {
        word_bits: 32,
        lanes: 2,
        butterflies: 2,
        log2_n_max: 8,
        dual_port_slots: 4,
        single_port_slots: 4,
        twiddle_tables: 2,
        constants: 4,
        multiplier: 1,
        host: Host::Axi4,
        rns: Some(RnsUnit {
            rate: 2,
            conversions: 4,
            entries: 16,
        }),
        moves: 4,
        ..BuildInfo::small().unwrap()
    }
}

/// Moduli set, tables loaded for n = 64, every slot written.
fn ready(info: &BuildInfo) -> State {
    let mut state = State::new(info);
    state.slots.fill(Some(6));
    state.moduli.fill(true);
    state.tables.fill(Some(6));
    state.conversions = conversions();
    moves_set(&mut state);
    state
}

/// All automorphisms and digits but the last.
fn moves_set(state: &mut State) {
    state.automorphisms[..3].fill(true);
    state.digits[..3].fill(true);
}

/// Two lifts and a scaling.
fn conversions() -> Vec<Option<Shape>> {
    let shape = |inputs, own| Some(Shape { inputs, own });
    vec![shape(2, false), shape(1, false), shape(2, true), None]
}

fn refused(line: &str) -> String {
    let info = tiny();
    let program = assemble(line).expect("the text itself is well-formed");
    check(&info, &ready(&info), &program)
        .expect_err(line)
        .to_string()
}

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

#[test]
fn programs_are_checked_against_the_build() {
    let wrong = [
        (
            "keyswitch s1, s3, s2 n=64 buf=0",
            "keyswitch is not in this build",
        ),
        (
            "ntt s2, s2 n=512",
            "n = 512 is beyond the build, which has n = 8..256",
        ),
        (
            "ntt s8, s2 n=64",
            "slot 8 does not exist, the build has slots 0..7",
        ),
        ("memcpy zero, s2 n=64", "the zero slot cannot be written"),
        (
            "memcpy s3, twiddle n=64",
            "only load names the twiddle table",
        ),
        (
            "pmodadd s4, s4, s5 n=64",
            "replace an operand in slot 4, which has a single port",
        ),
        (
            "intt s4, s2, s4 n=64",
            "replace an operand in slot 4, which has a single port",
        ),
        ("pmul s2, s2, s4, s5 n=64", "both halves would go to slot 2"),
        ("memcpyr s4, s4 n=64", "copied onto itself"),
        (
            "ntt s2, s3 n=64\npmodadd s3, s0, s2 n=64",
            "slot 0 is read but was never written",
        ),
        (
            "store s2 n=128 buf=0",
            "slot 2 holds 64 coefficients, 128 are read",
        ),
        (
            "cmodmul s2, s3 n=64 const=4",
            "constant 4 does not exist, the build has 4",
        ),
        ("ntt s2, s3 n=64 mod=2", "modulus index 2 does not exist"),
        (
            "load twiddle n=32 buf=0\nntt s2, s3 n=64",
            "the twiddle table of modulus 0 is for n = 32",
        ),
        ("intt s2, s3, s1 n=64", "slot 1 is scratch of the transform"),
        (
            "ntt s1, s0 n=64",
            "can end only in the same work slot or outside",
        ),
        ("lift s4, s4 n=64", "replace an operand in slot 4"),
        ("lift s2, s3 n=64 const=2", "conversion 2 is one for scale"),
        ("scale s2, s3, s4 n=64", "conversion 0 is one for lift"),
        ("lift s2, s3 n=64 const=3", "conversion 3 was never set"),
        (
            "lift s2, s3 n=64 const=4",
            "conversion 4 does not exist, the build has 4",
        ),
        (
            "scale s2, s3, s3 n=64 const=2",
            "both sources would be slot 3",
        ),
        ("auto s2, s2 n=64", "slot 2 would be moved onto itself"),
        ("auto s2, s3 n=64 const=3", "automorphism 3 was never set"),
        (
            "auto s2, s3 n=64 const=4",
            "automorphism 4 does not exist, the build has 4",
        ),
        ("decomp s4, s4 n=64", "replace an operand in slot 4"),
        ("decomp s2, s3 n=64 const=3", "digit 3 was never set"),
        (
            "decomp s2, s3 n=64 const=4",
            "digit 4 does not exist, the build has 4",
        ),
        ("cmodmul s4, s3, s4 n=64", "replace an operand in slot 4"),
    ];
    for (text, words) in wrong {
        let message = refused(text);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn what_is_legal_passes() {
    let info = tiny();
    let text = "ntt s4, s4 n=64\nmemcpy s0, s4 n=64\nntt s0, s0 n=64\npmodadd s2, s2, s3 n=64\nintt s2, s0, s2 n=64 mod=1 cyclic=1\n\
                pmodmul s4, s5, s5 n=64\npmac s3, s4, s5, s3 n=64\nmemcpy s1, zero n=64\nsync\nstore s3 n=64 buf=1048575\n";
    let program = assemble(text).unwrap();
    let after = check(&info, &ready(&info), &program).unwrap();
    assert_eq!((after.slots[0], after.slots[1]), (None, Some(6)));
}

#[test]
fn state_after_reset_refuses_reads_moduli_and_tables() {
    let info = tiny();
    let mut state = State::new(&info);
    let program = assemble("ntt s2, s3 n=64").unwrap();
    let say = |state: &State| check(&info, state, &program).unwrap_err().to_string();
    assert!(say(&state).contains("slot 3 is read but was never written"));
    state.slots[3] = Some(6);
    assert!(say(&state).contains("modulus 0 was never set"));
    state.moduli[0] = true;
    assert!(say(&state).contains("twiddle table of modulus 0 was never loaded"));
}

#[test]
fn one_shared_table_serves_one_modulus() {
    let info = BuildInfo {
        twiddle_tables: 1,
        ..tiny()
    };
    let program =
        assemble("load twiddle n=64 mod=1 buf=0\nntt s2, s3 n=64 mod=1\nntt s2, s3 n=64").unwrap();
    let message = check(&info, &ready(&info), &program)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("instruction 2") && message.contains("never loaded"),
        "{message}"
    );
}

#[test]
fn a_program_of_the_limit_is_taken_and_one_more_is_not() {
    let info = tiny();
    let mut program = vec![Instruction::new(Op::Sync); PROGRAM_WORDS];
    assert!(check(&info, &State::new(&info), &program).is_ok());
    program.push(Instruction::new(Op::Sync));
    let error = check(&info, &State::new(&info), &program).unwrap_err();
    assert_eq!(
        error,
        IsaError::TooLong {
            words: PROGRAM_WORDS + 1,
            limit: PROGRAM_WORDS
        }
    );
}

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

#[test]
fn random_programs_pass_the_check_and_use_every_instruction_often() {
    random_programs(tiny());
    assert!(random_programs(streaming()) > 50);
}

/// Draws programs; counts the products that read the stream.
fn random_programs(info: BuildInfo) -> usize {
    let mut state = State::new(&info);
    state.moduli.fill(true);
    state.tables.fill(Some(6));
    state.conversions = conversions();
    moves_set(&mut state);
    let routes = [(0, 1), (1, 0), (1, 0)].map(|(from, to)| Route { from, to });
    let mix = Mix {
        length: 60,
        log2_n: 6,
        moduli: 2,
        routes: routes.to_vec(),
        digits: routes.to_vec(),
        automorphisms: 3,
        inputs: 2,
        outputs: 16,
    };
    let (mut seen, mut streamed) = (std::collections::HashMap::new(), 0);
    for seed in 0..50 {
        let program = random_program(&info, &state, &mix, seed);
        assert!(check(&info, &state, &program).is_ok());
        assert_eq!(program, random_program(&info, &state, &mix, seed));
        for i in &program {
            *seen.entry((i.op, i.cyclic)).or_insert(0) += 1;
        }
        streamed += program.iter().filter(|i| i.reads_stream()).count();
    }
    let forms = |op: Op| if op.is_transform() { 2 } else { 1 };
    for spec in TABLE.iter().filter(|spec| spec.implemented) {
        let often = 3000 / TABLE.len() / forms(spec.op);
        for cyclic in [false, true].into_iter().take(forms(spec.op)) {
            let times = seen.get(&(spec.op, cyclic)).copied().unwrap_or(0);
            assert!(times > often / 2, "{} {cyclic}: {times}", spec.mnemonic);
        }
    }
    streamed
}

/// A build with a stream.
fn streaming() -> BuildInfo {
    BuildInfo {
        wide_port: true,
        stream: true,
        ..tiny()
    }
}

#[test]
fn what_is_loaded_into_the_stream_is_read_by_the_next_product() {
    let info = streaming();
    let load = "load stream n=64 buf=0\n";
    let told = |text: &str| {
        let program = assemble(text).expect("the text itself is well-formed");
        check(&info, &ready(&info), &program).map_err(|error| error.to_string())
    };
    for fine in [
        "pmodmul s2, s3, stream n=64",
        "ntt s2, s3 n=64\npmac s2, s3, stream, s2 n=64",
        "lift s2, s3 n=64 const=0\npmodmul s3, s3, stream n=64 mod=1",
    ] {
        let state = told(&format!("{load}{fine}\nstore s2 n=64 buf=1"));
        assert_eq!(state.map(|state| state.stream), Ok(None), "{fine}");
    }
    for (text, words) in [
        (
            "pmodmul s2, s3, stream n=64".into(),
            "nothing was loaded into it",
        ),
        (format!("{load}load s2 n=64 buf=1"), "must be read before"),
        (format!("{load}store s2 n=64 buf=1"), "must be read before"),
        (format!("{load}sync"), "must be read before"),
        (
            format!("{load}pmodmul s2, s3, stream n=32"),
            "brings 64 coefficients, 32 are read",
        ),
        (format!("{load}ntt s2, s3 n=64"), "is never read"),
        (
            "pmodadd s2, s3, stream n=64".into(),
            "only load writes the stream",
        ),
        (
            "pmac s2, stream, s3, s4 n=64".into(),
            "only load writes the stream",
        ),
        ("ntt stream, s3 n=64".into(), "only load writes the stream"),
    ] {
        let text: String = text;
        let message = told(&text).expect_err(&text);
        assert!(message.contains(words), "{text}: {message}");
    }
    assert!(refused("load stream n=64 buf=0").contains("the stream is not in this build"));
}

/// The knobs of `tiny`, some of them changed.
fn knobs<'a>(
    changed: &'a [(&'a str, i32)],
) -> impl FnMut(&'static str) -> Result<i32, InfoError> + 'a {
    let tiny = [
        ("word_bits", 32),
        ("lanes", 2),
        ("butterflies", 2),
        ("n_max", 256),
        ("reduction", 0),
        ("multiplier", 1),
        ("modulus_bits_min", 5),
        ("pmul", 1),
        ("cyclic", 1),
        ("dual_port_slots", 4),
        ("single_port_slots", 4),
        ("twiddles", 1),
        ("moduli_slots", 2),
        ("constants", 4),
        ("rns_rate", 2),
        ("rns_conversions", 4),
        ("rns_entries", 16),
        ("moves", 4),
        ("address_bits", 40),
        ("host", 0),
        ("cores", 1),
        ("fifo_depth", 16),
        ("wide_port", 0),
        ("stream", 0),
        ("pointwise_unit", 0),
        ("controller", 0),
    ];
    move |name| {
        let given = changed.iter().chain(&tiny).find(|(knob, _)| *knob == name);
        let lacking = || InfoError::Lacking { name: name.into() };
        given.map(|&(_, value)| value).ok_or_else(lacking)
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
