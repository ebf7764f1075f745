// SPDX-License-Identifier: Apache-2.0
//! Measure base conversions on a device: one instruction, BFV's whole scaling, the digits of a relinearisation.
//!
//! The primes `p` are those of all lanes; `q`, one fewer, are further ones of the same widths. The reference is the
//! production arithmetic of the `rns` crate.

use isa::{BuildInfo, Draw, Instruction, IsaError, Op};
use model::Conversion;
use rns::{BaseConverter, RnsBasis, ScaleRounder, Scratch};
use zq::Modulus;
use zq::primes::{Direction, ntt_primes};

use crate::OffloadError;
use crate::session::{Polynomial, Sections, Session};
use crate::simulate::{Outcome, check_moduli, draw};
use crate::stream::Worked;

/// The scaling factor: BFV's plaintext modulus.
const NUMERATOR: u64 = 33;
/// Slots of the operands x and own, and where results may go: the work slots, then the slots behind.
const X: u8 = 2;
const OWN: u8 = 3;

/// The measurements of the base-conversion unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversions {
    /// LIFT of q to p.
    Lift,
    /// SCALE of a ciphertext modulo q p to p.
    Scale,
    /// The same back to q: SCALE, then LIFT.
    ScaleLift,
    /// The residues modulo each prime of q, modulo all of them.
    Decompose,
}

impl Conversions {
    /// By the name that a user writes.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "lift" => Some(Self::Lift),
            "scale" => Some(Self::Scale),
            "scale-lift" => Some(Self::ScaleLift),
            "decomp" => Some(Self::Decompose),
            _ => None,
        }
    }
}

/// The primes of both sides.
struct Bases {
    q: Vec<u128>,
    p: Vec<u128>,
}

impl Bases {
    fn new(p: &[u128], order: u64) -> Result<Self, OffloadError> {
        let (mut q, mut taken) = (Vec::new(), p.to_vec());
        for prime in &p[..p.len().max(2) - 1] {
            let found = ntt_primes(
                128 - prime.leading_zeros(),
                order,
                1,
                Direction::Down,
                &taken,
            );
            let found = found.map_err(|error| shape(error.to_string()))?[0];
            q.push(found);
            taken.push(found);
        }
        Ok(Self { q, p: p.to_vec() })
    }
}

fn shape(what: String) -> OffloadError {
    OffloadError::Shape { what }
}

fn moduli(primes: &[u128]) -> Vec<Modulus<u128>> {
    let modulus = |&prime: &u128| Modulus::new(prime).expect("a prime is a modulus");
    primes.iter().map(modulus).collect()
}

/// Measure a conversion on random operands; `moduli` are those of p.
///
/// # Errors
/// A build without the unit, primes or a degree that it cannot take, or a device error.
pub fn measure_conversion(
    session: &mut Session,
    what: Conversions,
    p: &[u128],
    n: usize,
) -> Result<Outcome, OffloadError> {
    let info = session.info().clone();
    if !info.has(Op::Lift) {
        let mnemonic = Op::Lift.spec().mnemonic;
        return Err(device::DeviceError::from(IsaError::NotInBuild { index: 0, mnemonic }).into());
    }
    let least = 8.max(4 * info.butterflies as usize);
    if !(least..=info.n_max()).contains(&n) {
        let most = info.n_max();
        return Err(shape(format!(
            "n = {n} is beyond the build, which has n = {least}..{most}"
        )));
    }
    check_moduli(&info, p)?;
    let bases = Bases::new(p, (info.n_max() as u64).max(n as u64) * 2)?;
    let (conversions, work) = program(what, &bases, &info, n)?;
    for (number, conversion) in (0..).zip(&conversions) {
        session.driver().set_conversion(number, conversion)?;
    }
    let mut source = Draw::new(n as u64);
    let mut x = draw(&bases.q, n, None, &mut source);
    x.resize(p.len(), vec![0; n]);
    let operands = [x, draw(&bases.p, n, None, &mut source)];
    // Slots that are written and never read are results.
    let results: Vec<u8> = (work.iter().flat_map(Instruction::writes))
        .filter(|&slot| !work.iter().any(|i| i.reads().any(|read| read == slot)))
        .collect();
    let log2_n = n.trailing_zeros() as u8;
    let sections = Sections::new(log2_n, &[X, OWN], work, &results, session.first());
    session.take_usage();
    let found = session.transact(sections, n, &operands, results.len() as u32)?;
    let Worked {
        profile,
        predicted,
        program,
    } = session.last().clone();
    Ok(Outcome {
        cycles: profile.counters.cycles,
        predicted_cycles: predicted.counters.cycles,
        correct: found == expected(what, &bases, &operands, results.len())?,
        profile,
        predicted,
        program,
        usage: session.take_usage(),
    })
}

/// The conversions, numbered from 0 on, and the instructions. Results go to work slots first.
fn program(
    what: Conversions,
    bases: &Bases,
    info: &BuildInfo,
    n: usize,
) -> Result<(Vec<Conversion>, Vec<Instruction>), OffloadError> {
    let (q, p) = (moduli(&bases.q), moduli(&bases.p));
    let lift = |from: &[Modulus<u128>], to: &[Modulus<u128>]| Conversion::lift(0, from, to);
    let scale = Conversion::scale(0, &q, &p, NUMERATOR);
    let slots = [0, 1].into_iter().chain(OWN..info.slots() as u8);
    let made: Result<Vec<Conversion>, _> = match what {
        Conversions::Lift => lift(&q, &p).map(|one| vec![one]),
        Conversions::Scale => scale.map(|one| vec![one]),
        Conversions::ScaleLift => scale.and_then(|one| Ok(vec![one, lift(&p, &q)?])),
        Conversions::Decompose => {
            let unit = info.rns.map_or(0, |unit| unit.conversions as usize);
            let digits = (0..q.len()).take(unit.min(info.slots() as usize - 1));
            Ok(digits
                .map(|i| Conversion::digit(i as u8, q[i], &q))
                .collect())
        }
    };
    let made = made.map_err(|error| shape(error.to_string()))?;
    let instruction = |(number, dst): (u8, u8)| {
        let scales = made[usize::from(number)].shape().own;
        let second = what == Conversions::ScaleLift && number == 1;
        Instruction {
            dst,
            src_a: if second { 0 } else { X },
            src_b: if scales { OWN } else { isa::ZERO_SLOT },
            log2_n: n.trailing_zeros() as u8,
            const_idx: number,
            ..Instruction::new(if scales { Op::Scale } else { Op::Lift })
        }
    };
    let work = (0..made.len() as u8).zip(slots).map(instruction).collect();
    Ok((made, work))
}

/// The results by the production arithmetic, lanes beyond them 0.
fn expected(
    what: Conversions,
    bases: &Bases,
    [x, own]: &[Polynomial; 2],
    results: usize,
) -> Result<Vec<Polynomial>, OffloadError> {
    let (n, lanes) = (own[0].len(), own.len());
    let basis = |primes: &[u128]| {
        let primes: Vec<u64> = primes.iter().map(|&prime| prime as u64).collect();
        RnsBasis::<u64>::new(n, &primes).map_err(|error| shape(error.to_string()))
    };
    let (q, p) = (basis(&bases.q)?, basis(&bases.p)?);
    let limbs = |polynomial: &Polynomial, count: usize| -> Vec<u64> {
        let words = polynomial[..count].iter().flatten();
        words.map(|&word| word as u64).collect()
    };
    let wide = |limbs: &[u64]| -> Polynomial {
        let lane = |limb: &[u64]| limb.iter().map(|&word| word.into()).collect();
        let mut out: Polynomial = limbs.chunks(n).map(lane).collect();
        out.resize(lanes, vec![0; n]);
        out
    };
    let convert = |from: &RnsBasis<u64>,
                   to: &RnsBasis<u64>,
                   input: &[u64]|
     -> Result<Polynomial, OffloadError> {
        let mut out = vec![0; to.len() * n];
        let converter = BaseConverter::new(from, to);
        let converter = converter.map_err(|error| shape(error.to_string()))?;
        converter.convert_into(input, &mut out, &mut Scratch::new());
        Ok(wide(&out))
    };
    let residues = limbs(x, q.len());
    let scaled = || -> Result<Vec<u64>, OffloadError> {
        let mut out = vec![0; p.len() * n];
        let scaler = ScaleRounder::new(&q, &p, NUMERATOR);
        let scaler = scaler.map_err(|error| shape(error.to_string()))?;
        scaler.scale_into(
            &residues,
            &limbs(own, p.len()),
            &mut out,
            &mut Scratch::new(),
        );
        Ok(out)
    };
    Ok(match what {
        Conversions::Lift => vec![convert(&q, &p, &residues)?],
        Conversions::Scale => vec![wide(&scaled()?)],
        Conversions::ScaleLift => vec![convert(&p, &q, &scaled()?)?],
        Conversions::Decompose => (0..results)
            .map(|digit| {
                let lane = |m: &u128| x[digit].iter().map(|word| word % m).collect();
                let mut out: Polynomial = bases.q.iter().map(lane).collect();
                out.resize(lanes, vec![0; n]);
                out
            })
            .collect(),
    })
}
