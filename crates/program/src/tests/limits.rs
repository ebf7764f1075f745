// SPDX-License-Identifier: Apache-2.0
//! Limits hold before work is done and memory is taken.

use super::*;

#[test]
fn limits_hold_before_work_is_done() {
    let bytes = sample(ckks_parameters()).to_bytes();
    let refused = |limits: &Limits| {
        Program::from_bytes(&bytes, SecurityPolicy::insecure(), limits)
            .unwrap_err()
            .to_string()
    };
    let limits = Limits::default();
    assert!(
        refused(&Limits {
            degree: 8,
            ..limits
        })
        .contains("16 coefficients a polynomial; at most 8")
    );
    assert!(
        refused(&Limits {
            ciphertexts: 1,
            ..limits
        })
        .contains("2 ciphertexts; at most 1")
    );
    assert!(
        refused(&Limits {
            plain_work: 5,
            ..limits
        })
        .contains("plain operations; at most 5")
    );
    // The transforms have eight terms, each of which counts for 4096.
    let work = 8 * 4096;
    assert!(
        refused(&Limits {
            plain_work: work,
            ..limits
        })
        .contains("plain operations; at most 32768")
    );
    let roomy = Limits {
        plain_work: work + 1000,
        ..limits
    };
    Program::from_bytes(&bytes, SecurityPolicy::insecure(), &roomy).unwrap();
    let secure = Program::from_bytes(&bytes, SecurityPolicy::default(), &limits).unwrap_err();
    assert!(secure.to_string().contains("insecure"));
}

#[test]
fn counts_are_checked_before_memory_is_taken() {
    let program = sample(ckks_parameters());
    let bytes = program.to_bytes();
    // The count of arguments follows the two names, the parameters, the encryption and the guarantee.
    let at = 32 + 4 + 6 + 4 + 10 + 4 + program.parameters.to_bytes().len() + 1 + 21;
    let mut bad = bytes.clone();
    bad[at..at + 4].copy_from_slice(&1_000_000_000_u32.to_le_bytes());
    mutate::repair(&mut bad);
    let error = read(&bad).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Wire(WireError::Truncated {
                what: "arguments",
                needed: 24_000_000_000,
                ..
            })
        ),
        "{error}"
    );
}
