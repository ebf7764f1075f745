// SPDX-License-Identifier: Apache-2.0
//! Round trips of the byte format; mutated bytes never panic.

use super::*;

#[test]
fn what_is_written_is_read_again() {
    for program in both() {
        program.check(&Limits::default()).unwrap();
        let bytes = program.to_bytes();
        let back = read(&bytes).unwrap();
        assert_eq!(back, program);
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!(back.hash(), program.hash());
        let keys = program.required_keys();
        assert_eq!(keys.rotations, [-3, -1, 1, 2, 3, 4]);
        assert!(keys.public);
        assert_eq!(keys.swap_rows, program.parameters.scheme() == "bfv");
        // Two relinearisations and a rotation, four and three in the transforms, in BFV a row swap and in CKKS a
        // relinearisation with a rescale.
        assert_eq!(program.key_switches(), 3 + 7 + 1);
        assert_eq!(
            keys.relinearization,
            Some(program.parameters.primes().len() as u32 - 1)
        );
    }
}

#[test]
fn mutated_bytes_never_panic_and_what_is_accepted_is_canonical() {
    for program in both() {
        let bytes = program.to_bytes();
        let mut accepted = 0;
        mutate::for_each_mutation(&bytes, 20_000, |bad| {
            if let Ok(program) = read(bad) {
                assert_eq!(program.to_bytes(), bad);
                evaluate_zeros(&program);
                accepted += 1;
            }
        });
        // Names, bounds and places may change; that much is seen as right shows that the decoders are reached.
        assert!(accepted > 50, "{accepted}");
    }
}

/// Values are refused or not, whatever the program.
fn evaluate_zeros(program: &Program) {
    let exact = program.parameters.plain_modulus().is_some();
    let zeros = |shape: &&[u32]| {
        let elements = shape.iter().map(|&axis| axis as usize).product();
        match exact {
            true => Numbers::Integers(vec![0; elements]),
            false => Numbers::Reals(vec![0.0; elements]),
        }
    };
    let arguments: Vec<Numbers> = program.plain_shapes().iter().map(zeros).collect();
    if let Ok(values) = program.evaluate(&arguments)
        && let Ok(effects) = program.measure(&values, &Threads::ONE)
    {
        let _ = program.check_plaintexts(&effects);
    }
}
