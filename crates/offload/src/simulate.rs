// SPDX-License-Identifier: Apache-2.0
//! Measure one instruction or one operation on a device: cycles, the prediction beside them, the result checked.
//!
//! The reference is the production arithmetic of the `zq` and `ntt` crates, not the device model.

use device::Profile;
use isa::{Draw, Instruction, Modifier, Op};
use model::{Lane, schedule};
use ntt::NttPlan;
use zq::primes::{Direction, ntt_primes};
use zq::{Modulus, Word};

use crate::plan::{Form, Frame, Operation, Plan};
use crate::session::{Polynomial, Session};
use crate::{OffloadError, Usage};

/// What was measured.
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
    /// What was moved and computed in all.
    pub usage: Usage,
}

/// The lanes' moduli: the largest primes of the bits given that serve degree `n` and the build's own.
///
/// # Errors
/// [`OffloadError::Shape`] if there is no such prime.
pub fn default_moduli(bits: &[u32], n: usize, n_max: usize) -> Result<Vec<u128>, OffloadError> {
    let order = 2 * n.max(n_max) as u64;
    let mut moduli: Vec<u128> = Vec::new();
    for &width in bits {
        let found = ntt_primes(width, order, 1, Direction::Down, &moduli);
        moduli.extend(found.map_err(|error| OffloadError::Shape {
            what: error.to_string(),
        })?);
    }
    Ok(moduli)
}

/// Random residues of each lane, and words of W bits where `raw`.
fn draw(moduli: &[u128], n: usize, raw: Option<u32>, source: &mut Draw) -> Polynomial {
    let lane = |q: &u128| {
        let modulus = Modulus::new(*q).expect("moduli were accepted by the driver");
        let word = |source: &mut Draw| u128::from(source.bits()) << 64 | u128::from(source.bits());
        let value =
            |word: u128| raw.map_or_else(|| modulus.reduce(word), |bits| word >> (128 - bits));
        (0..n).map(|_| value(word(source))).collect()
    };
    moduli.iter().map(lane).collect()
}

/// Measure one instruction, its operands loaded before and its result stored after.
///
/// # Errors
/// What the build cannot execute, or a device error.
pub fn instruction(
    session: &mut Session,
    op: Op,
    moduli: &[u128],
    n: usize,
) -> Result<Outcome, OffloadError> {
    let info = session.info().clone();
    let driver = session.driver();
    let mut source = Draw::new(n as u64 ^ (op as u64) << 32);
    let mut i = place(op, n);
    driver.set_moduli(0, moduli)?;
    let buffers = driver.allocate(5)?;
    i.buf_idx = if op.spec().modifiers.contains(&Modifier::BufIdx) {
        buffers
    } else {
        0
    };
    degree(&info, n)?;
    build_has(&info, op)?;
    let raw = (op == Op::Pmul).then_some(info.word_bits);
    let operands: Vec<Polynomial> = (0..3).map(|_| draw(moduli, n, raw, &mut source)).collect();
    let factor: Vec<u128> = moduli
        .iter()
        .map(|q| u128::from(source.bits()) % q)
        .collect();
    let lanes = lanes(&info, moduli);
    let scaled = lanes
        .iter()
        .zip(&factor)
        .map(|(lane, &x)| lane.modulus.mul(x, lane.factor()))
        .collect::<Vec<_>>();
    driver.set_constant(0, &scaled)?;
    if op.is_transform() {
        driver.load_twiddles(0, n)?;
    }
    for ((buffer, slot), operand) in (buffers..).zip([2u8, 3, 4]).zip(&operands) {
        driver.upload(buffer, operand)?;
        if u32::from(slot) < info.slots() {
            driver.run(&[transfer(Op::Load, slot, n, buffer)])?;
        }
    }
    let profile = driver.run(&[i])?;
    let expected = expected_of(op, &lanes, &operands, &factor, info.word_bits)?;
    let mut correct = true;
    for (slot, want) in i.writes().collect::<Vec<_>>().into_iter().zip(&expected) {
        driver.run(&[transfer(Op::Store, slot, n, buffers + 3)])?;
        correct &= driver.download(buffers + 3, n)? == *want;
    }
    if op == Op::Store {
        correct = driver.download(buffers, n)? == operands[0];
    }
    let predicted = schedule(&info, &[i]);
    let usage = session.usage().clone();
    Ok(outcome(profile, predicted, correct, vec![i], usage))
}

fn degree(info: &isa::BuildInfo, n: usize) -> Result<(), OffloadError> {
    let least = 8.max(4 * info.butterflies as usize);
    if n.is_power_of_two() && (least..=info.n_max()).contains(&n) {
        return Ok(());
    }
    let what = format!(
        "n = {n} is beyond the build, which has n = {least}..{} (powers of two)",
        info.n_max()
    );
    Err(OffloadError::Shape { what })
}

fn build_has(info: &isa::BuildInfo, op: Op) -> Result<(), OffloadError> {
    let mnemonic = op.spec().mnemonic;
    let missing = || device::DeviceError::from(isa::IsaError::NotInBuild { index: 0, mnemonic });
    if info.has(op) {
        Ok(())
    } else {
        Err(missing().into())
    }
}

fn outcome(
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

/// The instruction on slots 2, 3 and 4, results in 2 (which is dual-port) or, of PMUL, in the work slots.
fn place(op: Op, n: usize) -> Instruction {
    let mut i = Instruction::new(op);
    for &slot in op.spec().operands {
        let number = match slot {
            isa::Slot::Dst | isa::Slot::SrcA => 2,
            isa::Slot::SrcB => 3,
            isa::Slot::SrcC => 4,
        };
        i.set_slot(slot, number);
    }
    match op {
        Op::Pmul => (i.dst, i.src_c) = (0, 1),
        Op::Memcpy | Op::Memcpyr => i.dst = 1,
        Op::Intt => i.src_c = isa::ZERO_SLOT,
        _ => {}
    }
    if op.spec().modifiers.contains(&Modifier::Log2N) {
        i.log2_n = n.trailing_zeros() as u8;
    }
    i
}

fn transfer(op: Op, slot: u8, n: usize, buffer: u32) -> Instruction {
    let mut i = Instruction::new(op);
    if op == Op::Load {
        i.dst = slot
    } else {
        i.src_a = slot
    }
    (i.log2_n, i.buf_idx) = (n.trailing_zeros() as u8, buffer);
    i
}

fn lanes(info: &isa::BuildInfo, moduli: &[u128]) -> Vec<Lane> {
    let lane = |q: &u128| {
        Lane::new(
            info,
            Modulus::new(*q).expect("moduli were accepted by the driver"),
        )
    };
    moduli.iter().map(lane).collect()
}

fn plan_for(modulus: Modulus<u128>, n: usize) -> Result<NttPlan<u128>, OffloadError> {
    NttPlan::new(modulus, n).map_err(|error| OffloadError::Shape {
        what: error.to_string(),
    })
}

/// What an instruction on operands a, b, c (slots 2, 3, 4) must give, a polynomial for each slot written.
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
            Op::Cmodmul => map(&|i| q.mul(a[i], factor[l])),
            Op::Pmac => map(&|i| q.add(product(a[i], b[i]), c[i])),
            Op::Pmul => map(&|i| a[i].wrapping_mul(b[i]) & (u128::MAX >> (128 - word_bits))),
            Op::Memcpyr => map(&|i| a[ntt::bit_reverse(i, a.len().trailing_zeros())]),
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

/// Measure an operation on random operands. A ring of twice the build's degree runs in halves: cycles are then those of all the
/// work sections, and there is no single timeline.
///
/// # Errors
/// What the build cannot take, or a device error.
pub fn operation(
    session: &mut Session,
    operation: Operation,
    moduli: &[u128],
    n: usize,
) -> Result<Outcome, OffloadError> {
    session.fits(moduli, n)?;
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
    let frame = Frame {
        log2_n: n.trailing_zeros() as u8,
        mod_idx: 0,
        first: 0,
        tables: None,
    };
    if n <= info.n_max() {
        let work = Plan::new(&info, operation, frame)?.work;
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
            plan.inverse(&mut value);
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
        Operation::ZeroEncrypt => (0..2)
            .map(|i| sum(product(&v[0], &v[1 + i]), &v[3 + i]))
            .collect(),
        Operation::Decrypt => vec![sum(product(&v[0], &v[1]), &v[2])],
        Operation::Decrypt3 => vec![sum(
            product(&sum(product(&v[3], &v[1]), &v[0]), &v[1]),
            &v[2],
        )],
        Operation::KeySwitch(_) => (1..3)
            .map(|part| {
                let digits = v.chunks_exact(3);
                digits.fold(vec![0; v[0].len()], |acc, digit| {
                    sum(product(&digit[0], &digit[part]), &acc)
                })
            })
            .collect(),
    }
}
