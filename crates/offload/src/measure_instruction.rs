// SPDX-License-Identifier: Apache-2.0
//! Measure one instruction on a device, its operands loaded before and its results stored after.
//!
//! At twice the build's degree it runs in parts: the halves of pointwise operands and copies one after the other, a
//! transform as a program of its own; cycles are then those of all the parts.

use isa::{BuildInfo, Draw, Instruction, IsaError, Modifier, Op, Slot, ZERO_SLOT};
use model::{Digit, Lane};
use rns::{Automorphism, BaseConverter, RnsBasis, Scratch};
use zq::{Modulus, Word};

use crate::OffloadError;
use crate::conversion::{Conversions, measure_conversion};
use crate::session::{Polynomial, Sections, Session};
use crate::simulate::{Outcome, check_moduli, draw, measure_graph, plan_for};
use crate::workload::transform;

/// The automorphism that is measured.
const ELEMENT: u16 = 5;

/// Operands and parameters of a measurement.
struct Case {
    op: Op,
    lanes: Vec<Lane>,
    /// a, b, c.
    operands: Vec<Polynomial>,
    /// Per lane the factor of CMODMUL.
    factor: Vec<u128>,
}

/// Measure one instruction on random operands.
///
/// # Errors
/// An instruction that the build cannot execute, or a device error.
pub fn measure_instruction(
    session: &mut Session,
    op: Op,
    moduli: &[u128],
    n: usize,
) -> Result<Outcome, OffloadError> {
    let info = session.info().clone();
    let conversion = Conversions::from_name(op.spec().mnemonic);
    if let Some(what) = conversion.filter(|_| op != Op::Decomp || info.moves == 0) {
        return measure_conversion(session, what, moduli, n);
    }
    // SYNC has no degree; what it waits for is loaded at one that fits.
    let n = if op == Op::Sync {
        n.min(info.n_max())
    } else {
        n
    };
    let in_parts = n == 2 * info.n_max() && op != Op::Auto;
    if !in_parts {
        check_degree(&info, n)?;
    }
    build_has(&info, op)?;
    check_moduli(&info, moduli)?;
    if in_parts && op.is_transform() {
        return measure_graph(session, &transform(op == Op::Ntt, moduli, n)?, moduli);
    }
    let case = Case::new(op, &info, moduli, n);
    session.driver().set_moduli(MODULI, moduli)?;
    session
        .driver()
        .set_constant(factor_index(&info), &case.carried_factor())?;
    case.set_move(session.driver(), &info)?;
    if op.is_transform() {
        session.driver().load_twiddles(MODULI, n)?;
    }
    session.take_usage();
    let (mut results, mut predicted_cycles) = (vec![Vec::new(); outputs(op) as usize], 0);
    for part in case.parts(in_parts) {
        let n = part[0][0].len();
        let sections = sections(&info, op, n, session.first());
        let found = session.transact(sections, n, &part, outputs(op))?;
        predicted_cycles += session.last().predicted.counters.cycles;
        results.iter_mut().zip(found).for_each(append);
    }
    let usage = session.take_usage();
    let last = session.last().clone();
    Ok(Outcome {
        cycles: usage.compute_cycles,
        predicted_cycles,
        correct: results == case.expected(info.word_bits)?,
        profile: last.profile,
        predicted: last.predicted,
        program: last.program,
        usage,
    })
}

/// Index of the moduli.
const MODULI: u8 = 0;

/// Puts the coefficients of a further part behind those that there are, lane by lane.
fn append((whole, part): (&mut Polynomial, Polynomial)) {
    whole.resize(part.len(), Vec::new());
    whole
        .iter_mut()
        .zip(part)
        .for_each(|(lane, more)| lane.extend(more));
}

/// Constant index of CMODMUL's factor: the last.
fn factor_index(info: &BuildInfo) -> u8 {
    info.constants as u8 - 1
}

/// Number of the automorphism and of the digit that are measured: the last.
fn move_index(info: &BuildInfo) -> u8 {
    (info.moves as u8).saturating_sub(1)
}

fn check_degree(info: &BuildInfo, n: usize) -> Result<(), OffloadError> {
    let least = 8.max(4 * info.butterflies as usize);
    if n.is_power_of_two() && (least..=info.n_max()).contains(&n) {
        return Ok(());
    }
    let most = info.n_max();
    let what =
        format!("n = {n} is beyond the build, which has n = {least}..{most} (powers of two)");
    Err(OffloadError::Shape { what })
}

fn build_has(info: &BuildInfo, op: Op) -> Result<(), OffloadError> {
    let mnemonic = op.spec().mnemonic;
    let missing = || device::DeviceError::from(IsaError::NotInBuild { index: 0, mnemonic });
    if info.has(op) {
        Ok(())
    } else {
        Err(missing().into())
    }
}

/// Results of an instruction, each a polynomial.
fn outputs(op: Op) -> u32 {
    match op {
        Op::Pmul => 2,
        Op::Sync => 0,
        _ => 1,
    }
}

/// The instruction with its loads and stores: operands in slots 2, 3, 4; results in 2, which is dual-port, or of copies
/// and of PMUL in the work slots. LOAD brings the second operand, STORE writes the output's buffer itself. Operands
/// are in the buffers from the first on, results behind them.
fn sections(info: &BuildInfo, op: Op, n: usize, first: u32) -> Sections {
    let log2_n = n.trailing_zeros() as u8;
    let mut i = Instruction::new(op);
    for &slot in op.spec().operands {
        let number = match slot {
            Slot::Dst | Slot::SrcA => 2,
            Slot::SrcB => 3,
            Slot::SrcC => 4,
        };
        i.set_slot(slot, number);
    }
    match op {
        Op::Pmul => (i.dst, i.src_c) = (0, 1),
        Op::Memcpy | Op::Memcpyr | Op::Auto => i.dst = 1,
        Op::Intt => i.src_c = ZERO_SLOT,
        _ => {}
    }
    let uses = |modifier| op.spec().modifiers.contains(&modifier);
    if uses(Modifier::Log2N) {
        i.log2_n = log2_n;
    }
    if uses(Modifier::ModIdx) && op != Op::Load {
        i.mod_idx = MODULI;
    }
    i.const_idx = match op {
        Op::Auto | Op::Decomp => move_index(info),
        _ if uses(Modifier::ConstIdx) => factor_index(info),
        _ => 0,
    };
    i.buf_idx = match op {
        Op::Load => first + 1,
        Op::Store => first + 3,
        _ => 0,
    };
    let results: Vec<u8> = match op {
        Op::Store => Vec::new(),
        _ => i.writes().collect(),
    };
    Sections::new(log2_n, &[2, 3, 4], vec![i], &results, first)
}

impl Case {
    fn new(op: Op, info: &BuildInfo, moduli: &[u128], n: usize) -> Self {
        let mut source = Draw::new(n as u64 ^ (op as u64) << 32);
        let raw = (op == Op::Pmul).then_some(info.word_bits);
        let lane = |q: &u128| {
            Lane::new(
                info,
                Modulus::new(*q).expect("the moduli are primes of at least 5 bits"),
            )
        };
        Self {
            op,
            lanes: moduli.iter().map(lane).collect(),
            operands: (0..3).map(|_| draw(moduli, n, raw, &mut source)).collect(),
            factor: moduli
                .iter()
                .map(|q| u128::from(source.bits()) % q)
                .collect(),
        }
    }

    /// Sets what AUTO and DECOMP take: x -> x^5; the lane with the smallest prime, in every lane.
    fn set_move(&self, driver: &mut device::Driver, info: &BuildInfo) -> Result<(), OffloadError> {
        let number = move_index(info);
        match self.op {
            Op::Auto => driver.set_automorphism(number, ELEMENT)?,
            Op::Decomp => {
                let (source, q) = self.digit_source();
                let share = |lane: &Lane| (source as u8, q, lane.modulus);
                let shares: Vec<_> = self.lanes.iter().map(share).collect();
                let digit = Digit::new(&shares).map_err(|error| OffloadError::Shape {
                    what: error.to_string(),
                })?;
                driver.set_digit(number, &digit)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn digit_source(&self) -> (usize, Modulus<u128>) {
        let moduli = self.lanes.iter().map(|lane| lane.modulus).enumerate();
        moduli
            .min_by_key(|(_, q)| q.value())
            .expect("a build has a lane")
    }

    /// The factor as the build's products need it.
    fn carried_factor(&self) -> Vec<u128> {
        self.lanes
            .iter()
            .zip(&self.factor)
            .map(|(lane, &x)| lane.modulus.mul(x, lane.factor()))
            .collect()
    }

    /// The operands, or their halves; of the bit-reversed copy the even and the odd coefficients, whose places differ
    /// in the top bit.
    fn parts(&self, in_halves: bool) -> Vec<Vec<Polynomial>> {
        if !in_halves {
            return vec![self.operands.clone()];
        }
        let half = |side: usize, lane: &Vec<u128>| -> Vec<u128> {
            if self.op == Op::Memcpyr {
                return lane.iter().copied().skip(side).step_by(2).collect();
            }
            lane.chunks(lane.len() / 2)
                .nth(side)
                .unwrap_or_default()
                .to_vec()
        };
        let polynomial =
            |side, operand: &Polynomial| operand.iter().map(|lane| half(side, lane)).collect();
        let part = |side| {
            self.operands
                .iter()
                .map(|one| polynomial(side, one))
                .collect()
        };
        [0, 1].map(part).to_vec()
    }

    /// The expected result, by the production arithmetic.
    fn expected(&self, word_bits: u32) -> Result<Vec<Polynomial>, OffloadError> {
        match self.op {
            Op::Auto => return self.expected_automorphism().map(|one| vec![one]),
            Op::Decomp => return self.expected_digit().map(|one| vec![one]),
            _ => {}
        }
        let mut results = expected_of(
            self.op,
            &self.lanes,
            &self.operands,
            &self.factor,
            word_bits,
        )?;
        results.truncate(outputs(self.op) as usize);
        Ok(results)
    }
}

impl Case {
    fn expected_automorphism(&self) -> Result<Polynomial, OffloadError> {
        let n = self.operands[0][0].len();
        let map = Automorphism::new(n, usize::from(ELEMENT) % (2 * n));
        let map = map.map_err(|error| shape(&error))?;
        let lane = |words: &Vec<u128>| {
            let mut out = vec![0; n];
            map.eval_into(words, &mut out);
            out
        };
        Ok(self.operands[0].iter().map(lane).collect())
    }

    /// By base conversion from the one prime.
    fn expected_digit(&self) -> Result<Polynomial, OffloadError> {
        let (source, q) = self.digit_source();
        let words: Vec<u64> = (self.operands[0][source].iter())
            .map(|&word| word as u64)
            .collect();
        let basis = |q: &Modulus<u128>| {
            RnsBasis::<u64>::new(words.len(), &[q.value() as u64]).map_err(|error| shape(&error))
        };
        let from = basis(&q)?;
        let lane = |lane: &Lane| {
            let mut out = vec![0; words.len()];
            let to = basis(&lane.modulus)?;
            let converter = BaseConverter::new(&from, &to).map_err(|error| shape(&error))?;
            converter.convert_into(&words, &mut out, &mut Scratch::new());
            Ok(out.into_iter().map(u128::from).collect())
        };
        self.lanes.iter().map(lane).collect()
    }
}

fn shape(error: &rns::RnsError) -> OffloadError {
    OffloadError::Shape {
        what: error.to_string(),
    }
}

/// Expected results of an instruction on a, b, c (slots 2, 3, 4): a polynomial for each slot written.
fn expected_of(
    op: Op,
    lanes: &[Lane],
    operands: &[Polynomial],
    factor: &[u128],
    word_bits: u32,
) -> Result<Vec<Polynomial>, OffloadError> {
    let mut results = vec![Vec::new(), Vec::new()];
    for (l, lane) in lanes.iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|operand| &operands[operand][l]);
        let q = &lane.modulus;
        // Products of Montgomery builds lack a factor that the reference takes out.
        let lost = q.inv_vt(lane.factor()).unwrap_or(1);
        let map = |f: &dyn Fn(usize) -> u128| (0..a.len()).map(f).collect::<Vec<_>>();
        let product = |x: u128, y: u128| q.mul(q.mul(x, y), lost);
        let low = match op {
            Op::Ntt | Op::Intt => {
                let plan = plan_for(*q, a.len())?;
                let mut value = a.clone();
                if op == Op::Ntt {
                    plan.forward(&mut value)
                } else {
                    plan.inverse(&mut value)
                }
                value
            }
            Op::Pmodadd => map(&|i| q.add(a[i], b[i])),
            Op::Pmodsub => map(&|i| q.sub(a[i], b[i])),
            Op::Pmodmul => map(&|i| product(a[i], b[i])),
            Op::Pmodsqr => map(&|i| product(a[i], a[i])),
            Op::Cmodmul => map(&|i| q.add(q.mul(a[i], factor[l]), c[i])),
            Op::Pmac => map(&|i| q.add(product(a[i], b[i]), c[i])),
            Op::Pmul => map(&|i| a[i].wrapping_mul(b[i]) & (u128::MAX >> (128 - word_bits))),
            Op::Memcpyr => map(&|i| a[ntt::bit_reverse(i, a.len().trailing_zeros())]),
            Op::Load => b.clone(),
            _ => a.clone(),
        };
        results[0].push(low);
        let high = |i: usize| {
            let (low, high) = Word::mul_wide(a[i], b[i]);
            if word_bits == 128 {
                high
            } else {
                low >> word_bits | high << (128 - word_bits)
            }
        };
        results[1].push(if op == Op::Pmul {
            map(&high)
        } else {
            Vec::new()
        });
    }
    Ok(results)
}
