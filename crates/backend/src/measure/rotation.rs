// SPDX-License-Identifier: Apache-2.0
//! Measure rotations of CKKS ciphertexts on a co-processor, each with its key switch: operands, keys and results in the
//! host's memory, all transfers included. The reference is the evaluator on this machine.

use super::{Measured, argument, step};
use crate::{Backend, Coprocessor, Error, Inputs, KeySet, Keys, Request, Unobserved};
use ::ckks::{
    Ciphertext, CkksParams, CkksParamsLiteral, Encoder, Encryptor, Evaluator, slot_rotation_element,
};
use isa::BuildInfo;
use offload::Usage;
use program::step::{Operation, SourceLine};
use program::{Encryption, Guarantee, IndexMap, Parameters, Program, Range, Reading};
use rlwe::security::{SecretKind, max_log2_qp};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

/// Ciphertexts of a measurement at most.
const MOST_BATCH: usize = 1024;

/// The workload: rotations of ciphertexts, under a set of data primes and one special prime, all of one size.
#[derive(Clone, Copy, Debug)]
pub struct Rotations {
    /// Ring degree.
    pub n: usize,
    /// Data primes.
    pub primes: usize,
    /// Bits of a prime at most.
    pub bits: u32,
    /// Rotations of each ciphertext, by 1 and so on; they share its decomposition.
    pub count: usize,
    /// Fresh ciphertexts, shared out to all cores.
    pub batch: usize,
    /// Whether digits are transformed and multiplied one after another, each before the next, instead of all at a time.
    pub digit_major: bool,
}

/// Fresh ciphertexts rotated.
///
/// # Errors
/// A set or a degree that the build cannot take, a set less secure than the policy wants, a device error.
pub fn rotate(
    coprocessor: &Coprocessor,
    what: Rotations,
    policy: SecurityPolicy,
) -> Result<Measured, Error> {
    let info = coprocessor.session().info().clone();
    let params = parameters(&info, what, policy)?;
    let program = program(&params, what.count)?;
    let generator = KeyGenerator::new(params.rlwe(), Seed::from_text("measure keys"));
    let secret = generator.secret_key()?;
    let steps: Vec<i64> = (1..=what.count as i64).collect();
    let elements = steps.iter().map(|&by| slot_rotation_element(what.n, by));
    let elements: Vec<u64> = elements.collect();
    let galois = Arc::new(generator.galois_keys(&secret, &elements, what.primes)?);
    let encoder = Encoder::new(&params);
    let encryptor = Encryptor::new(&params, Seed::from_text("measure messages"));
    let evaluator = Evaluator::new(&params);
    let (mut operands, mut expected) = (Vec::new(), Vec::new());
    for index in 0..what.batch as u64 {
        let value = |i: usize| (i as f64 + index as f64).sin();
        let values: Vec<f64> = (0..params.slots()).map(value).collect();
        let message = encoder.encode_real(&values, params.max_level(), params.scale())?;
        let operand = encryptor.encrypt_secret(&message, &secret, index)?;
        let rotated = evaluator.rotate_many(&operand, &steps, &galois)?;
        expected.push(rotated.iter().map(|one| one.to_bytes()).collect::<Vec<_>>());
        operands.push(operand);
    }
    let keys = Keys::Narrow(KeySet {
        galois: Some(galois),
        ..KeySet::default()
    });
    let lent: Vec<[&Ciphertext; 1]> = operands.iter().map(|one| [one]).collect();
    let request = |inputs| Request {
        program: &program,
        keys: &keys,
        inputs: Inputs::Ckks(inputs),
        plain: &[],
        seed: Seed::from_text("measure zeros"),
    };
    let requests: Vec<Request<'_>> = lent.iter().map(|one| request(one)).collect();
    let coprocessor = coprocessor.clone().digit_major(what.digit_major);
    coprocessor.take_usage();
    coprocessor.take_shift();
    let outcomes = coprocessor.run_batch(&requests, &Unobserved)?;
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
            .eq(&expected),
        profile,
        program: instructions,
        data_primes: params.rlwe().q().values(),
        auxiliary: params.rlwe().p().map_or_else(Vec::new, |p| p.values()),
    })
}

/// The set: primes of the widest size that the security table allows, the special one the largest.
///
/// # Errors
/// A build that this set does not suit, and what [`CkksParams::new`] refuses.
pub fn parameters(
    info: &BuildInfo,
    what: Rotations,
    policy: SecurityPolicy,
) -> Result<CkksParams, Error> {
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
    if what.primes == 0 || what.count == 0 || what.batch == 0 {
        return refuse("a rotation needs a data prime, and a measurement a rotation".to_owned());
    }
    if what.batch > MOST_BATCH || what.count > n {
        let (batch, count) = (what.batch, what.count);
        return refuse(format!(
            "{batch} ciphertexts, {count} rotations of each; a measurement has up to {MOST_BATCH} and {n}"
        ));
    }
    let allowed = max_log2_qp(policy.table, SecretKind::Ternary, n, policy.level)?;
    let allowed = allowed.filter(|_| !policy.allow_insecure);
    let share = allowed.map_or(u32::MAX, |all| all / (what.primes as u32 + 1));
    let bits = what.bits.min(info.word_bits).min(share);
    if bits < info.modulus_bits_min {
        let (primes, least) = (what.primes, info.modulus_bits_min);
        return refuse(format!(
            "{primes} data primes and a special one have {bits} bits each at n = {n}, the build takes {least} or more: \
             fewer primes, a larger n, or an insecure set"
        ));
    }
    let order = (2 * n.max(most) as u64).max(1 << info.montgomery_bits);
    let all = ntt_primes::<u64>(bits, order, what.primes + 1, Direction::Down, &[]);
    let mut p = all.map_err(rns::RnsError::from)?;
    let q = p.split_off(1);
    let literal = CkksParamsLiteral {
        rlwe: RlweParamsLiteral {
            n,
            q,
            p,
            ..RlweParamsLiteral::default()
        },
        scale: f64::from(bits.saturating_sub(8)).exp2(),
    };
    Ok(CkksParams::new(&literal, policy)?)
}

fn program(params: &CkksParams, count: usize) -> Result<Program, Error> {
    let (slots, scale) = (params.slots(), params.scale());
    let level = params.max_level() as u32;
    let mut steps = vec![step(Operation::Input, 2, (level, scale))];
    let rotations = (1..=count as i32).map(|by| step(Operation::Rotate(0, by), 2, (level, scale)));
    steps.extend(rotations);
    Ok(Program {
        name: "rotate".into(),
        variant: String::new(),
        encryption: Encryption::Secret,
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
        outputs: (1..=count as u32).collect(),
        result_shape: vec![count as u32, slots as u32],
        result: IndexMap::identity(count * slots)?,
        reading: Reading::default(),
        parameters: Parameters::Ckks(params.clone()),
    })
}
