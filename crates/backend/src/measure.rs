// SPDX-License-Identifier: Apache-2.0
//! Measure whole operations on a co-processor: [`multiply`], [`key_switch::switch_keys`].
//!
//! A BFV multiplication with relinearisation: operands, keys and result in the host's memory, all transfers included.
//! The reference is the evaluator on this machine.

pub mod key_switch;

use crate::{Backend, Coprocessor, Error, Input, KeySet, Keys, Request, Resources, Unobserved};
use ::bfv::{BfvParams, BfvParamsLiteral, Ciphertext, Encryptor, Evaluator, Plaintext};
use device::Profile;
use isa::{BuildInfo, Instruction};
use offload::{BatchStatistics, Usage};
use program::step::{Operation, Place, SourceLine, Step};
use program::{
    Argument, Encryption, Guarantee, IndexMap, Parameters, Program, Range, Reading, Secrecy,
};
use rlwe::{KeyGenerator, RelinKey, RlweParamsLiteral, SecurityPolicy, Seed, Threads};
use std::sync::Arc;
use zq::primes::{Direction, ntt_primes};

/// The plaintext modulus of the published set.
const PLAIN_MODULUS: u64 = 33;

/// The result of a measurement.
pub struct Measured {
    /// Transfers and computation of all cores, measured and predicted.
    pub usage: Usage,
    /// Statistics of the batch on all cores.
    pub shift: BatchStatistics,
    /// Whether all bytes are those of the evaluator.
    pub correct: bool,
    /// The timeline of the last submission of the first core.
    pub profile: Profile,
    /// Its instructions.
    pub program: Vec<Instruction>,
    /// The data primes.
    pub data_primes: Vec<u64>,
    /// The primes given for the second basis.
    pub auxiliary: Vec<u64>,
}

/// `batch` pairs of random ciphertexts, each multiplied and relinearised, on all cores; [`parameters`] makes their set.
///
/// # Errors
/// A set or a degree that the build cannot take, a set less secure than the policy wants, a device error.
pub fn multiply(
    coprocessor: &Coprocessor,
    (bits, n): (u32, usize),
    primes: Option<usize>,
    policy: SecurityPolicy,
    batch: usize,
) -> Result<Measured, Error> {
    let info = coprocessor.session().info().clone();
    let params = parameters(&info, (bits, n), primes, policy)?;
    let program = program(&params)?;
    let Pairs {
        relin,
        pairs,
        expected,
    } = Pairs::new(&params, batch)?;
    let keys = Keys::Narrow(KeySet {
        relinearization: Some(relin),
        ..KeySet::default()
    });
    let lent: Vec<[Input<'_>; 2]> = (pairs.iter())
        .map(|pair| pair.each_ref().map(|one| Input::Ciphertext(one)))
        .collect();
    let requests: Vec<Request<'_>> = lent
        .iter()
        .map(|pair| Request {
            inputs: pair,
            plain: &[],
            seed: Seed::from_text("measure zeros"),
        })
        .collect();
    coprocessor.take_usage();
    coprocessor.take_shift();
    let run = coprocessor.open(&Arc::new(program), &keys, &alone())?;
    let outcomes = run.evaluate_batch(&requests, &Unobserved)?;
    let session = coprocessor.session();
    let (profile, instructions) = (session.profile().clone(), session.program().to_vec());
    drop(session);
    Ok(Measured {
        usage: coprocessor.take_usage(),
        shift: coprocessor.take_shift(),
        correct: outcomes
            .iter()
            .map(|outcome| &outcome.outputs)
            .eq(&expected),
        profile,
        program: instructions,
        data_primes: params.rlwe().q().values(),
        auxiliary: params.auxiliary().to_vec(),
    })
}

/// Pairs of random ciphertexts and their products by the evaluator.
struct Pairs {
    relin: Arc<RelinKey<u64>>,
    pairs: Vec<[Ciphertext<u64>; 2]>,
    /// As bytes, each the only output of its run.
    expected: Vec<Vec<Vec<u8>>>,
}

impl Pairs {
    fn new(params: &BfvParams<u64>, count: usize) -> Result<Self, Error> {
        let generator = KeyGenerator::new(params, Seed::from_text("measure keys"));
        let secret = Arc::new(generator.secret_key()?);
        let relin = Arc::new(generator.relin_key(&secret, params.rlwe().data_primes())?);
        let encryptor = Encryptor::symmetric(params, secret, Seed::from_text("measure messages"))?;
        let encrypted = |index: u64| -> Result<Ciphertext<u64>, Error> {
            let coefficients = 0..params.n() as u64;
            let message: Vec<u64> = coefficients
                .map(|i| (i * i + (index + 3) * i) % PLAIN_MODULUS)
                .collect();
            let message = Plaintext::from_coefficients(params, &message)?;
            Ok(encryptor.encrypt_at(&message, index)?)
        };
        let evaluator = Evaluator::new(params);
        let (mut pairs, mut expected) = (Vec::new(), Vec::new());
        for pair in 0..count as u64 {
            let [a, b] = [encrypted(2 * pair)?, encrypted(2 * pair + 1)?];
            expected.push(vec![evaluator.multiply_relin(&a, &b, &relin)?.to_bytes()]);
            pairs.push([a, b]);
        }
        Ok(Self {
            relin,
            pairs,
            expected,
        })
    }
}

/// The set of the published shape for a build: a data prime for each lane but one, a further prime for each lane, no
/// special primes, digits of one prime. The second basis has the largest primes, so that as many of them as data primes
/// exceed Q.
///
/// With `primes`, as many data primes and one further prime, on any number of lanes: more primes than lanes take
/// turns, and conversions that the build cannot do stay on the host.
///
/// # Errors
/// A build that this set does not suit, and what [`BfvParams::new`] refuses.
pub fn parameters(
    info: &BuildInfo,
    (bits, n): (u32, usize),
    primes: Option<usize>,
    policy: SecurityPolicy,
) -> Result<BfvParams<u64>, Error> {
    let refuse = |what: String| Err(Error::Input(what));
    let least = 8.max(4 * info.butterflies as usize);
    if !(least..=info.n_max()).contains(&n) {
        let most = info.n_max();
        return refuse(format!(
            "n = {n} is beyond the build, which has n = {least}..{most}"
        ));
    }
    let lanes = info.lanes as usize;
    if primes.is_none() && info.rns.is_none() {
        return refuse(
            "base conversion is not in this build; with a number of primes the host converts"
                .to_owned(),
        );
    }
    if primes.is_none() && lanes < 2 {
        return refuse(format!(
            "a multiplication needs two lanes or more, the build has {lanes}"
        ));
    }
    if !(info.modulus_bits_min..=info.word_bits).contains(&bits) {
        let (least, most) = (info.modulus_bits_min, info.word_bits);
        return refuse(format!(
            "primes of {bits} bits do not fit the build, which takes {least} to {most}"
        ));
    }
    let order = (2 * n.max(info.n_max()) as u64).max(1 << info.montgomery_bits);
    let further = primes.map_or(lanes, |primes| primes + 1);
    let all = ntt_primes::<u64>(bits, order, 2 * further - 1, Direction::Down, &[]);
    let mut auxiliary = all.map_err(rns::RnsError::from)?;
    let q = auxiliary.split_off(further);
    let literal = BfvParamsLiteral {
        rlwe: RlweParamsLiteral {
            n,
            q,
            ..RlweParamsLiteral::default()
        },
        plain_modulus: PLAIN_MODULUS,
        auxiliary,
    };
    Ok(BfvParams::new(&literal, policy)?)
}

/// One thread; nothing is kept, as each measurement is of one batch.
fn alone() -> Resources {
    Resources {
        threads: Threads::ONE,
        memory: 0,
    }
}

fn program(params: &BfvParams<u64>) -> Result<Program, Error> {
    let parameters = Parameters::Bfv(params.clone());
    let slots = parameters.slots();
    let argument = |name| argument(name, slots, Range::Integers { low: 0, high: 32 });
    let level = params.rlwe().data_primes() as u32 - 1;
    let step = |operation, size| step(operation, size, level, 1.0);
    Ok(Program {
        name: "multiply".into(),
        bootstrapping: None,
        variant: String::new(),
        encryption: Encryption::Secret,
        guarantee: Guarantee {
            bits: 0.0,
            failure_bits: 0,
            tolerance: 0.0,
            publish: false,
            strength: ::program::Strength::Certain,
        },
        arguments: vec![argument("a")?, argument("b")?],
        expressions: vec![],
        plaintexts: vec![],
        transforms: vec![],
        lines: vec![SourceLine {
            file: "multiply".into(),
            number: 1,
            text: "a * b".into(),
        }],
        steps: vec![
            step(Operation::Input, 2),
            step(Operation::Input, 2),
            step(Operation::Multiply(0, 1), 3),
            step(Operation::Relinearize(2), 2),
        ],
        outputs: vec![3],
        result_shape: vec![slots as u32],
        result: IndexMap::identity(slots)?,
        reading: Reading::default(),
        parameters,
    })
}

fn argument(name: &str, slots: usize, range: Range) -> Result<Argument, Error> {
    Ok(Argument {
        name: name.into(),
        shape: vec![slots as u32],
        range,
        secrecy: Secrecy::Encrypted(IndexMap::identity(slots)?),
        producer: None,
    })
}

fn step(operation: Operation, size: u8, level: u32, scale: f64) -> Step {
    Step {
        operation,
        level,
        scale,
        size,
        place: Place {
            line: 0,
            column: 0,
            end_column: 1,
        },
    }
}
