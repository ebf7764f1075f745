// SPDX-License-Identifier: Apache-2.0
//! Arguments that are results of other programs: bytes, refusals, and what becomes of their noise.

use super::guarantee::{integers, reals, scaled};
use super::*;

fn all() -> [Program; 2] {
    [ckks_parameters(), bfv_parameters()].map(receiving)
}

#[test]
fn what_is_handed_over_is_written_and_read_again() {
    for program in all() {
        let bytes = program.to_bytes();
        let back = read(&bytes).unwrap();
        assert_eq!(back, program);
        assert_eq!(back.to_bytes(), bytes);
        let mut other = program.clone();
        other.arguments[0].producer.as_mut().unwrap().identity[3] ^= 1;
        let differing = |(a, b): (&(_, _), &(_, _))| (a != b).then_some(a.0);
        let (own, others) = (program.sections(), other.sections());
        let found: Vec<_> = own.iter().zip(&others).filter_map(differing).collect();
        assert_eq!(found, ["kernel"]);
        mutate::for_each_mutation(&bytes, 5000, |bad| {
            if let Ok(program) = read(bad) {
                assert_eq!(program.to_bytes(), bad);
            }
        });
    }
}

#[test]
fn a_lie_about_what_is_handed_over_is_refused() {
    type Lie = (&'static str, fn(&mut Producer));
    let lies: [Lie; 8] = [
        ("2 ciphertexts, 1 are handed over", |p| {
            p.ciphertexts.truncate(1);
        }),
        ("do not rise", |p| p.ciphertexts[1].output = 0),
        ("level 9 and scale", |p| p.ciphertexts[1].level = 9),
        ("scale NaN are none", |p| p.ciphertexts[0].scale = f64::NAN),
        ("no noise of", |p| {
            p.ciphertexts[0].noise = Received::Integers {
                log2_variance: f64::INFINITY,
                factors: 1,
            }
        }),
        ("no noise of", |p| {
            p.ciphertexts[0].noise = Received::Reals {
                log2_error: -3.0,
                magnitude: 2.0,
                everywhere: 1.0,
            }
        }),
        ("no noise of", |p| {
            p.ciphertexts[0].noise = Received::Integers {
                log2_variance: 1.0,
                factors: 5000,
            }
        }),
        ("its operands give", |p| p.ciphertexts[0].level = 0),
    ];
    for program in all() {
        for (reason, lie) in &lies {
            let mut program = program.clone();
            lie(program.arguments[0].producer.as_mut().unwrap());
            let text = program.check(&Limits::default()).unwrap_err().to_string();
            assert!(text.contains(reason), "{reason}: {text}");
        }
    }
}

/// A program whose first argument has some noise more or less, and its bits.
fn with_noise(exact: bool, strength: Strength, more: f64) -> f64 {
    let mut program = scaled(exact, if exact { integers() } else { reals() });
    let count = program.input_count();
    let input = program.steps[0];
    let noise = match exact {
        true => Received::Integers {
            log2_variance: 12.0 + 2.0 * more,
            factors: 1,
        },
        false => Received::Reals {
            log2_error: -8.0 + more,
            magnitude: 1.0,
            everywhere: 1.0,
        },
    };
    let handed = |output| Handed {
        output: output as u32,
        level: input.level,
        scale: input.scale,
        noise,
    };
    program.arguments[0].producer = Some(Producer {
        name: "other".into(),
        identity: [7; 16],
        ciphertexts: (0..count).map(handed).collect(),
    });
    program.guarantee.strength = strength;
    program.bound(Assume::None, None).unwrap().bits
}

#[test]
fn noise_that_is_handed_over_is_in_the_bound() {
    for strength in Strength::ALL {
        let errors: Vec<f64> = (0..4)
            .map(|more| with_noise(false, strength, more.into()))
            .collect();
        let budgets: Vec<f64> = (0..4)
            .map(|more| with_noise(true, strength, more.into()))
            .collect();
        // Where it prevails each bit of it is a bit of the result.
        for pair in errors.windows(2) {
            assert!((0.5..=1.1).contains(&(pair[1] - pair[0])), "{errors:?}");
        }
        for pair in budgets.windows(2) {
            assert!((0.5..=1.1).contains(&(pair[0] - pair[1])), "{budgets:?}");
        }
    }
}

#[test]
fn a_result_is_as_noisy_as_its_guarantee_allows() {
    for program in both() {
        let (circuit, estimator) = (program.circuit(), program.estimator());
        let bits = program.guarantee.bits;
        let found = circuit.results(&estimator, bits).unwrap();
        assert_eq!(found.len(), program.outputs.len());
        for (result, &output) in found.iter().zip(&program.outputs) {
            match (*result, &estimator) {
                (
                    Received::Reals {
                        log2_error,
                        magnitude,
                        everywhere,
                    },
                    _,
                ) => {
                    assert_eq!(log2_error, bits);
                    assert!(magnitude > 0.0 && everywhere >= magnitude);
                }
                (
                    Received::Integers {
                        log2_variance,
                        factors,
                    },
                    Estimator::Bfv(e),
                ) => {
                    let noise = rlwe::noise::Noise {
                        log2_variance,
                        factors,
                    };
                    let limbs = program.steps[output as usize].level as usize + 1;
                    assert!((e.budget(noise, limbs).unwrap() - bits).abs() < 1e-9);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
