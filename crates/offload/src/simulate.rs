// SPDX-License-Identifier: Apache-2.0
//! Measure a workload on a device: cycles, the prediction beside them, the result checked.
//!
//! The reference is the production arithmetic of the `zq` and `ntt` crates, not the device model.

use device::{DeviceError, Profile};
use isa::{BuildInfo, Draw, Instruction, Op, disassemble};
use ntt::NttPlan;
use polynomial::{Bundle, Graph, Host, Memory, PolyOp, Words};
use rns::RnsError;
use zq::Modulus;
use zq::primes::{Direction, ntt_primes};

use crate::session::{Polynomial, Session};
use crate::stream::{Ended, Worked, resident_programs};
use crate::workload::Workload;
use crate::{OffloadError, Usage};

/// Lanes of the largest build.
const MOST_LANES: usize = 15;

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Cycles on the device, from the first start to the last end, transfers outside; of several parts in all.
    pub cycles: u64,
    /// Cycles by the latency formulas and the scheduling rules.
    pub predicted_cycles: u64,
    /// Whether every result is what the reference gives.
    pub correct: bool,
    /// The timeline on the device, of the last part.
    pub profile: Profile,
    /// The timeline predicted.
    pub predicted: Profile,
    /// The program measured, of the last part.
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

pub(crate) fn plan_for(modulus: Modulus<u128>, n: usize) -> Result<NttPlan<u128>, OffloadError> {
    NttPlan::new(modulus, n).map_err(|error| OffloadError::Shape {
        what: error.to_string(),
    })
}

/// Measures a workload on random operands. A ring of twice the build's degree runs in halves, which the host splits and
/// joins: cycles are then those of the work on both.
///
/// # Errors
/// Moduli or a degree that the build cannot take; a device error.
pub fn measure_workload(
    session: &mut Session,
    workload: Workload,
    moduli: &[u128],
    n: usize,
) -> Result<Outcome, OffloadError> {
    session.fits(moduli, n)?;
    check_moduli(session.info(), moduli)?;
    measure_graph(session, &workload.graph(moduli, n)?, moduli)
}

/// The instructions of a workload as assembly: for each submission a comment that says whether it has work.
///
/// # Errors
/// As [`measure_workload`].
pub fn assembly(
    info: &BuildInfo,
    workload: Workload,
    moduli: &[u128],
    n: usize,
) -> Result<String, OffloadError> {
    check_moduli(info, moduli)?;
    let submissions = resident_programs(info, &workload.graph(moduli, n)?)?;
    let text = |program: &Vec<Instruction>| {
        let is_work = |i: &Instruction| !matches!(i.op, Op::Load | Op::Store);
        let name = match program.iter().any(is_work) {
            true => "work",
            false => "transfers",
        };
        format!("; {name}\n{}", disassemble(program))
    };
    Ok(submissions.iter().map(text).collect())
}

/// Measures a program on random operands: what the device makes of them is what this machine does.
pub(crate) fn measure_graph(
    session: &mut Session,
    graph: &Graph<u128>,
    moduli: &[u128],
) -> Result<Outcome, OffloadError> {
    let given = Given::draw(graph, moduli);
    session.take_usage();
    let (found, [cycles, predicted_cycles]) =
        session.run_resident(graph, &given).map_err(failed)?;
    let mut memory = Memory::whole(graph);
    let expected = graph
        .outputs()
        .iter()
        .map(|limb| memory.take(*limb, &given));
    let expected: Vec<Words<u128>> = expected.collect::<Result<_, _>>().map_err(shape)?;
    let Worked {
        profile,
        predicted,
        program,
    } = session.last().clone();
    Ok(Outcome {
        cycles,
        predicted_cycles,
        correct: found == expected,
        profile,
        predicted,
        program,
        usage: session.take_usage(),
    })
}

/// Random polynomials as the sources of a program, each as its limbs.
struct Given(Vec<Vec<Words<u128>>>);

impl Given {
    fn draw(graph: &Graph<u128>, moduli: &[u128]) -> Self {
        let mut source = Draw::new(graph.n() as u64);
        let is_given = |bundle: &&Bundle| matches!(bundle.operation, PolyOp::Source(..));
        let given = graph.bundles().iter().filter(is_given);
        Self(
            given
                .map(|_| {
                    let limbs = draw(moduli, graph.n(), None, &mut source);
                    limbs
                        .into_iter()
                        .map(|limb| Words::new(limb.into()))
                        .collect()
                })
                .collect(),
        )
    }
}

impl Host<u128> for Given {
    type Error = RnsError;

    fn source(&self, number: u32) -> Result<Vec<Words<u128>>, RnsError> {
        Ok(self.0[number as usize].clone())
    }

    fn step(&self, _: u32, _: &[Vec<Words<u128>>]) -> Result<Polynomial, RnsError> {
        unreachable!("a workload has no step that the host does")
    }
}

fn failed(ended: Ended<RnsError>) -> OffloadError {
    match ended {
        Ended::Device(error) => error,
        Ended::Host(error) => shape(error),
        Ended::Stopped => DeviceError::Interrupted.into(),
    }
}

fn shape(error: RnsError) -> OffloadError {
    OffloadError::Shape {
        what: error.to_string(),
    }
}
