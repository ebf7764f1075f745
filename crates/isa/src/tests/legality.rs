// SPDX-License-Identifier: Apache-2.0
//! Programs against a build and the state of its memories: by hand, and drawn at random.

use super::*;

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
