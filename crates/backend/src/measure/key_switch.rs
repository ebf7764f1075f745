// SPDX-License-Identifier: Apache-2.0
//! Measure key switches of CKKS ciphertexts on a co-processor, rotations or relinearisations: operands, keys and
//! results in the host's memory, all transfers included. The reference is the evaluator on this machine.

use super::{Measured, argument, step};
use crate::{Backend, Coprocessor, Error, Input, KeySet, Keys, Request, Unobserved};
use ::ckks::{
    Ciphertext, CkksParams, CkksParamsLiteral, Encoder, Encryptor, Evaluator, slot_rotation_element,
};
use isa::BuildInfo;
use offload::Usage;
use program::step::{Operation, SourceLine, Step};
use program::{Encryption, Guarantee, IndexMap, Parameters, Program, Range, Reading};
use rlwe::security::{SecretKind, max_log2_qp};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

/// Ciphertexts of a measurement at most.
const MOST_BATCH: usize = 1024;

/// What a key is switched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Rotations of a ciphertext.
    Rotation,
    /// A product of two ciphertexts back to two parts and divided by its last prime, with one division.
    RelinearizeRescale,
    /// The same, one after the other.
    RelinearizeThenRescale,
}

impl Purpose {
    /// By the name that a user writes.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "rotation" => Some(Self::Rotation),
            "relinearize-rescale" => Some(Self::RelinearizeRescale),
            "relinearize-then-rescale" => Some(Self::RelinearizeThenRescale),
            _ => None,
        }
    }
}

/// The workload: key switches of ciphertexts, under a set of data primes and special primes.
#[derive(Clone, Copy, Debug)]
pub struct KeySwitches {
    /// What for.
    pub purpose: Purpose,
    /// Ring degree.
    pub n: usize,
    /// Data primes.
    pub primes: usize,
    /// Special primes.
    pub special: usize,
    /// Data primes of a digit.
    pub digit_primes: usize,
    /// Bits of a prime at most.
    pub bits: u32,
    /// Bits of a data prime, where those are shorter than the special ones.
    pub data_bits: Option<u32>,
    /// Rotations of each ciphertext, by 1 and so on; they share its decomposition.
    pub count: usize,
    /// Ciphertexts, fresh or products, shared out to all cores.
    pub batch: usize,
    /// Whether digits are transformed and multiplied one after another, each before the next, instead of all at a time.
    pub digit_major: bool,
}

/// Ciphertexts rotated, or products relinearised.
///
/// # Errors
/// A set or a degree that the build cannot take, a set less secure than the policy wants, a device error.
pub fn switch_keys(
    coprocessor: &Coprocessor,
    what: KeySwitches,
    policy: SecurityPolicy,
) -> Result<Measured, Error> {
    let info = coprocessor.session().info().clone();
    let params = parameters(&info, what, policy)?;
    let work = Work::new(&params, what)?;
    let keys = Keys::Narrow(work.keys.clone());
    let program = program(&params, what)?;
    let request = |inputs| Request {
        inputs,
        plain: &[],
        seed: Seed::from_text("measure zeros"),
    };
    let lent: Vec<[Input<'_>; 1]> = (work.operands.iter())
        .map(|one| [Input::Ciphertext(one)])
        .collect();
    let requests: Vec<Request<'_>> = lent.iter().map(|one| request(one)).collect();
    let coprocessor = coprocessor.clone().digit_major(what.digit_major);
    coprocessor.take_usage();
    coprocessor.take_shift();
    let run = coprocessor.open(&Arc::new(program), &keys, &super::alone())?;
    let outcomes = run.evaluate_batch(&requests, &Unobserved)?;
    let session = coprocessor.session();
    let (profile, instructions) = (session.profile().clone(), session.program().to_vec());
    drop(session);
    let usage: Usage = coprocessor.take_usage();
    Ok(Measured {
        usage,
        shift: coprocessor.take_shift(),
        correct: outcomes
            .iter()
            .map(|outcome| &outcome.outputs)
            .eq(&work.expected),
        profile,
        program: instructions,
        data_primes: params.rlwe().q().values(),
        auxiliary: params.rlwe().p().map_or_else(Vec::new, |p| p.values()),
    })
}

/// Operands, keys, and the results' bytes by the evaluator.
struct Work {
    keys: KeySet<u64>,
    operands: Vec<Ciphertext>,
    expected: Vec<Vec<Vec<u8>>>,
}

impl Work {
    fn new(params: &CkksParams, what: KeySwitches) -> Result<Self, Error> {
        let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("measure keys"));
        let secret = generator.secret_key()?;
        let steps: Vec<i64> = (1..=what.count as i64).collect();
        let elements = steps.iter().map(|&by| slot_rotation_element(what.n, by));
        let elements: Vec<u64> = elements.collect();
        let rotates = what.purpose == Purpose::Rotation;
        let galois = rotates.then(|| generator.galois_keys(&secret, &elements, what.primes));
        let relin = (!rotates).then(|| generator.relin_key(&secret, what.primes));
        let keys = KeySet {
            galois: galois.transpose()?.map(Arc::new),
            relinearization: relin.transpose()?.map(Arc::new),
            ..KeySet::default()
        };
        let encoder = Encoder::new(params);
        let encryptor = Encryptor::new(params, Seed::from_text("measure messages"));
        let evaluator = Evaluator::new(params);
        let (mut operands, mut expected) = (Vec::new(), Vec::new());
        for index in 0..what.batch as u64 {
            let value = |i: usize| (i as f64 + index as f64).sin();
            let values: Vec<f64> = (0..params.slots()).map(value).collect();
            let message = encoder.encode_real(&values, params.max_level(), params.scale())?;
            let fresh = encryptor.encrypt_secret(&message, &secret, index)?;
            let (operand, results) = match (&keys.galois, &keys.relinearization) {
                (Some(galois), _) => {
                    let rotated = evaluator.rotate_many(&fresh, &steps, galois)?;
                    (fresh, rotated)
                }
                (None, Some(relin)) => {
                    let product = evaluator.multiply(&fresh, &fresh)?;
                    let result = match what.purpose {
                        Purpose::RelinearizeRescale => {
                            evaluator.relinearize_rescale(&product, relin)?
                        }
                        _ => evaluator.rescale(&evaluator.relinearize(&product, relin)?)?,
                    };
                    (product, vec![result])
                }
                (None, None) => continue,
            };
            operands.push(operand);
            expected.push(results.iter().map(|one| one.to_bytes()).collect());
        }
        Ok(Self {
            keys,
            operands,
            expected,
        })
    }
}

/// The set: primes of the widest size that the security table allows, the special ones the largest.
///
/// # Errors
/// A build that this set does not suit, and what [`CkksParams::new`] refuses.
pub fn parameters(
    info: &BuildInfo,
    what: KeySwitches,
    policy: SecurityPolicy,
) -> Result<CkksParams, Error> {
    check(info, what)?;
    let refuse = |what: String| Err(Error::Input(what));
    let (n, most) = (what.n, info.n_max());
    let allowed = max_log2_qp(policy.table, SecretKind::Ternary, n, policy.level)?;
    let allowed = allowed.filter(|_| !policy.allow_insecure);
    let share = |all: u32| match what.data_bits {
        Some(data) => all.saturating_sub(data * what.primes as u32) / what.special as u32,
        None => all / (what.primes + what.special) as u32,
    };
    let bits = what
        .bits
        .min(info.word_bits)
        .min(allowed.map_or(u32::MAX, share));
    if let Some(data) = what.data_bits
        && !(info.modulus_bits_min..bits).contains(&data)
    {
        let least = info.modulus_bits_min;
        return refuse(format!(
            "data primes of {data} bits: {least} or more of the build, and fewer than the {bits} of a special prime"
        ));
    }
    if bits < info.modulus_bits_min {
        let (primes, special, least) = (what.primes, what.special, info.modulus_bits_min);
        return refuse(format!(
            "{primes} data primes and {special} special have {bits} bits each at n = {n}, the build takes {least} or \
             more: fewer primes, a larger n, or an insecure set"
        ));
    }
    let order = (2 * n.max(most) as u64).max(1 << info.montgomery_bits);
    let first = |bits, count| {
        let found = ntt_primes::<u64>(bits, order, count, Direction::Down, &[]);
        found.map_err(rns::RnsError::from)
    };
    let (p, q) = match what.data_bits {
        Some(data) => (first(bits, what.special)?, first(data, what.primes)?),
        None => {
            let mut p = first(bits, what.primes + what.special)?;
            let q = p.split_off(what.special);
            (p, q)
        }
    };
    let literal = CkksParamsLiteral {
        rlwe: RlweParamsLiteral {
            n,
            q,
            p,
            dnum: what.primes.div_ceil(what.digit_primes),
            ..RlweParamsLiteral::default()
        },
        scale: f64::from(what.data_bits.unwrap_or(bits).saturating_sub(8)).exp2(),
    };
    Ok(CkksParams::new(&literal, policy)?)
}

/// Fails unless a build can switch keys so.
fn check(info: &BuildInfo, what: KeySwitches) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::Input(what));
    let least = 8.max(4 * info.butterflies as usize);
    let (n, most) = (what.n, info.n_max());
    if !(least..=most).contains(&n) {
        return refuse(format!(
            "n = {n} is beyond the build, which has n = {least}..{most}"
        ));
    }
    if info.moves == 0 {
        return refuse("moves between lanes are not in this build".to_owned());
    }
    if what.primes == 0 || what.special == 0 || what.count == 0 || what.batch == 0 {
        return refuse(
            "a key switch needs a data prime and a special prime, and a measurement a key switch"
                .to_owned(),
        );
    }
    if what.purpose != Purpose::Rotation && what.primes < 2 {
        return refuse(
            "a product is divided by its last prime: it needs two data primes".to_owned(),
        );
    }
    if !(1..=what.primes).contains(&what.digit_primes) {
        let (digit, primes) = (what.digit_primes, what.primes);
        return refuse(format!(
            "digits of {digit} primes: a digit has 1 to all {primes} data primes"
        ));
    }
    if what.batch > MOST_BATCH || what.count > n {
        let (batch, count) = (what.batch, what.count);
        return refuse(format!(
            "{batch} ciphertexts, {count} rotations of each; a measurement has up to {MOST_BATCH} and {n}"
        ));
    }
    Ok(())
}

fn steps(params: &CkksParams, what: KeySwitches) -> Vec<Step> {
    let (scale, level) = (params.scale(), params.max_level() as u32);
    let below = level.saturating_sub(1);
    match what.purpose {
        Purpose::Rotation => {
            let rotation = |by| step(Operation::Rotate(0, by), 2, level, scale);
            let input = step(Operation::Input, 2, level, scale);
            let rotations = (1..=what.count as i32).map(rotation);
            std::iter::once(input).chain(rotations).collect()
        }
        Purpose::RelinearizeRescale => vec![
            step(Operation::Input, 3, level, scale * scale),
            step(Operation::RelinearizeRescale(0), 2, below, scale),
        ],
        Purpose::RelinearizeThenRescale => vec![
            step(Operation::Input, 3, level, scale * scale),
            step(Operation::Relinearize(0), 2, level, scale * scale),
            step(Operation::Rescale(1), 2, below, scale),
        ],
    }
}

fn program(params: &CkksParams, what: KeySwitches) -> Result<Program, Error> {
    let (slots, count) = (params.slots(), what.count);
    let steps = steps(params, what);
    let outputs: Vec<u32> = match what.purpose {
        Purpose::Rotation => (1..=count as u32).collect(),
        _ => vec![steps.len() as u32 - 1],
    };
    Ok(Program {
        name: "key-switch".into(),
        bootstrapping: None,
        variant: String::new(),
        // A product is no fresh ciphertext: nothing of it is drawn from a seed.
        encryption: match what.purpose {
            Purpose::Rotation => Encryption::Secret,
            _ => Encryption::Public,
        },
        guarantee: Guarantee {
            bits: 0.0,
            failure_bits: 0,
            tolerance: 1.0,
            publish: false,
            strength: ::program::Strength::Certain,
        },
        arguments: vec![argument(
            "a",
            slots,
            Range::Reals {
                low: -1.0,
                high: 1.0,
            },
        )?],
        expressions: vec![],
        plaintexts: vec![],
        transforms: vec![],
        lines: vec![SourceLine {
            file: "rotate".into(),
            number: 1,
            text: "roll(a, -k)".into(),
        }],
        steps,
        result_shape: vec![outputs.len() as u32, slots as u32],
        result: IndexMap::identity(outputs.len() * slots)?,
        outputs,
        reading: Reading::default(),
        parameters: Parameters::Ckks(params.clone()),
    })
}
