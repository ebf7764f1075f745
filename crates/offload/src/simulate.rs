// SPDX-License-Identifier: Apache-2.0
//! Measure one operation on a device: cycles, the prediction beside them, the result checked.
//!
//! The reference is the production arithmetic of the `zq` and `ntt` crates, not the device model.

use device::Profile;
use isa::{BuildInfo, Draw, Instruction};
use model::schedule;
use ntt::NttPlan;
use zq::Modulus;
use zq::primes::{Direction, ntt_primes};

use crate::operation::{Form, Operation, OperationProgram, ProgramArgs};
use crate::session::{Polynomial, Session};
use crate::{OffloadError, Usage};

/// Lanes of the largest build.
const MOST_LANES: usize = 15;

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Cycles on the device, from the first start to the last end, transfers outside.
    pub cycles: u64,
    /// Cycles by the latency formulas and the scheduling rules.
    pub predicted_cycles: u64,
    /// Whether every result is what the reference gives.
    pub correct: bool,
    /// The timeline on the device.
    pub profile: Profile,
    /// The timeline predicted.
    pub predicted: Profile,
    /// The program measured.
    pub program: Vec<Instruction>,
    /// Traffic and computation in all.
    pub usage: Usage,
}

/// The lanes' moduli: the largest primes of the bits given that serve degree `n` and the build's own.
///
/// # Errors
/// [`OffloadError::Shape`] if there is no such prime, and for more moduli than any build has lanes.
pub fn default_moduli(bits: &[u32], n: usize, n_max: usize) -> Result<Vec<u128>, OffloadError> {
    if bits.len() > MOST_LANES {
        return Err(OffloadError::Shape {
            what: format!(
                "{} moduli; a build has at most {MOST_LANES} lanes",
                bits.len()
            ),
        });
    }
    let order = (n.max(n_max) as u64).saturating_mul(2);
    let mut moduli: Vec<u128> = Vec::new();
    for &width in bits {
        let found = ntt_primes(width, order, 1, Direction::Down, &moduli);
        moduli.extend(found.map_err(|error| OffloadError::Shape {
            what: error.to_string(),
        })?);
    }
    Ok(moduli)
}

/// Fails unless there is one modulus for each lane, and arithmetic by it.
pub(crate) fn check_moduli(info: &BuildInfo, moduli: &[u128]) -> Result<(), OffloadError> {
    let refuse = |what| Err(OffloadError::Shape { what });
    if moduli.len() != info.lanes as usize {
        return refuse(format!(
            "{} moduli, the build has {} lanes",
            moduli.len(),
            info.lanes
        ));
    }
    match moduli.iter().find_map(|q| Modulus::new(*q).err()) {
        Some(error) => refuse(error.to_string()),
        None => Ok(()),
    }
}

/// Random residues of each lane, and words of W bits where `raw`.
pub(crate) fn draw(moduli: &[u128], n: usize, raw: Option<u32>, source: &mut Draw) -> Polynomial {
    let lane = |q: &u128| {
        let modulus = Modulus::new(*q).expect("moduli were accepted by the driver");
        let word = |source: &mut Draw| u128::from(source.bits()) << 64 | u128::from(source.bits());
        let value =
            |word: u128| raw.map_or_else(|| modulus.reduce(word), |bits| word >> (128 - bits));
        (0..n).map(|_| value(word(source))).collect()
    };
    moduli.iter().map(lane).collect()
}

pub(crate) fn outcome(
    profile: Profile,
    predicted: Profile,
    correct: bool,
    program: Vec<Instruction>,
    usage: Usage,
) -> Outcome {
    Outcome {
        cycles: profile.counters.cycles,
        predicted_cycles: predicted.counters.cycles,
        correct,
        profile,
        predicted,
        program,
        usage,
    }
}

pub(crate) fn plan_for(modulus: Modulus<u128>, n: usize) -> Result<NttPlan<u128>, OffloadError> {
    NttPlan::new(modulus, n).map_err(|error| OffloadError::Shape {
        what: error.to_string(),
    })
}

/// Measure an operation on random operands. A ring of twice the build's degree runs in halves: cycles are then those of
/// all the work sections, and there is no single timeline.
///
/// # Errors
/// An operation, moduli or a degree that the build cannot take; a device error.
pub fn measure_operation(
    session: &mut Session,
    operation: Operation,
    moduli: &[u128],
    n: usize,
) -> Result<Outcome, OffloadError> {
    session.fits(moduli, n)?;
    check_moduli(session.info(), moduli)?;
    let info = session.info().clone();
    let mut source = Draw::new(n as u64);
    let inputs: Vec<Polynomial> = operation
        .inputs()
        .iter()
        .map(|_| draw(moduli, n, None, &mut source))
        .collect();
    let expected = reference(operation, moduli, &inputs)?;
    session.take_usage();
    let results = session.run(operation, moduli, &inputs)?;
    let profile = session.profile().clone();
    let predicted_work = session.predicted_work();
    let correct = results == expected;
    let usage = session.take_usage();
    let args = ProgramArgs {
        log2_n: n.trailing_zeros() as u8,
        mod_idx: 0,
        first: 0,
        tables: None,
    };
    if n <= info.n_max() {
        let work = OperationProgram::new(&info, operation, args)?.work;
        let predicted = schedule(&info, &work);
        return Ok(outcome(profile, predicted, correct, work, usage));
    }
    let mut whole = outcome(profile, Profile::default(), correct, Vec::new(), usage);
    (whole.cycles, whole.predicted_cycles) = (whole.usage.compute_cycles, predicted_work);
    Ok(whole)
}

/// The operation by the production transform, lane by lane.
fn reference(
    operation: Operation,
    moduli: &[u128],
    inputs: &[Polynomial],
) -> Result<Vec<Polynomial>, OffloadError> {
    let mut outputs = vec![Vec::new(); operation.outputs() as usize];
    for (lane, &q) in moduli.iter().enumerate() {
        let modulus = Modulus::new(q).map_err(|error| OffloadError::Shape {
            what: error.to_string(),
        })?;
        let plan = plan_for(modulus, inputs[0][lane].len())?;
        let values: Vec<Vec<u128>> = inputs
            .iter()
            .zip(operation.inputs())
            .map(|(input, form)| {
                let mut value = input[lane].clone();
                if form == Form::Coefficients {
                    plan.forward(&mut value);
                }
                value
            })
            .collect();
        for (output, mut value) in outputs
            .iter_mut()
            .zip(combine(operation, &modulus, &values))
        {
            if operation.output_form() == Form::Coefficients {
                plan.inverse(&mut value);
            }
            output.push(value);
        }
    }
    Ok(outputs)
}

/// The operation on values, where products are pointwise.
fn combine(operation: Operation, q: &Modulus<u128>, v: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let product = |x: &[u128], y: &[u128]| {
        let mut out = x.to_vec();
        q.mul_assign(&mut out, y);
        out
    };
    let sum = |x: Vec<u128>, y: &[u128]| {
        let mut out = x;
        q.add_assign(&mut out, y);
        out
    };
    match operation {
        Operation::Polymul => vec![product(&v[0], &v[1])],
        Operation::Tensor => {
            vec![
                product(&v[0], &v[2]),
                sum(product(&v[0], &v[3]), &product(&v[1], &v[2])),
                product(&v[1], &v[3]),
            ]
        }
        Operation::ZeroEncrypt(_) => (0..2)
            .map(|i| sum(product(&v[0], &v[1 + i]), &v[3 + i]))
            .collect(),
        Operation::Decrypt(_) => vec![sum(product(&v[0], &v[1]), &v[2])],
        Operation::KeySwitch => (1..3)
            .map(|part| {
                let digits = v.chunks_exact(3);
                digits.fold(vec![0; v[0].len()], |acc, digit| {
                    sum(product(&digit[0], &digit[part]), &acc)
                })
            })
            .collect(),
    }
}
