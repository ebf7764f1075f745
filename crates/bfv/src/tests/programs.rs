// SPDX-License-Identifier: Apache-2.0
//! Random programs of 20 operations against clear evaluation.

use super::*;
use crate::noise::Estimator;
use rlwe::noise::Noise;

/// A ciphertext, what it ought to hold, and the estimate of its noise.
#[derive(Clone)]
struct Cell<W: Word> {
    ct: Ciphertext<W>,
    slots: Vec<u64>,
    noise: Noise,
}

struct Machine<'a, W: Word> {
    kit: &'a Kit<W>,
    evaluator: Evaluator<W>,
    encoder: BatchEncoder<W>,
    estimate: Estimator,
}

impl<W: Word> Machine<'_, W> {
    fn fresh(&self, label: &str) -> Cell<W> {
        let slots = values(label, self.kit.params.n(), self.kit.params.plain_modulus());
        let ct = self
            .kit
            .encryptor
            .encrypt(&self.encoder.encode(&slots).unwrap())
            .unwrap();
        Cell {
            ct,
            slots,
            noise: self.estimate.fresh_public(),
        }
    }

    fn zip(&self, a: &[u64], b: &[u64], f: impl Fn(u128, u128) -> u128) -> Vec<u64> {
        let t = u128::from(self.kit.params.plain_modulus());
        a.iter()
            .zip(b)
            .map(|(x, y)| (f(u128::from(*x), u128::from(*y)) % t) as u64)
            .collect()
    }

    /// One operation; `None` when the estimate says the budget would not last.
    fn step(&self, code: u8, a: &Cell<W>, b: &Cell<W>, label: &str) -> Option<Cell<W>> {
        let (ev, est, keys) = (&self.evaluator, &self.estimate, &self.kit.galois);
        let t = u128::from(self.kit.params.plain_modulus());
        let limbs = a.ct.limbs().min(b.ct.limbs());
        let (a, b) = (self.lower(a, limbs), self.lower(b, limbs));
        let (n, plain) = (
            self.kit.params.n(),
            values(label, self.kit.params.n(), t as u64),
        );
        let encoded = self.encoder.encode(&plain).unwrap();
        let switched = |v| est.key_switch(v, limbs).unwrap();
        let cell = match code % 11 {
            0 => Cell {
                ct: ev.add(&a.ct, &b.ct).unwrap(),
                slots: self.zip(&a.slots, &b.slots, |x, y| x + y),
                noise: est.add(a.noise, b.noise),
            },
            1 => Cell {
                ct: ev.sub(&a.ct, &b.ct).unwrap(),
                slots: self.zip(&a.slots, &b.slots, |x, y| x + t - y),
                noise: est.add(a.noise, b.noise),
            },
            2 => Cell {
                ct: ev.negate(&a.ct).unwrap(),
                slots: self.zip(&a.slots, &a.slots, |x, _| t - x),
                ..a
            },
            3 => Cell {
                ct: ev.add_plain(&a.ct, &encoded).unwrap(),
                slots: self.zip(&a.slots, &plain, |x, y| x + y),
                noise: est.add_plain(a.noise),
            },
            4 => Cell {
                ct: ev.sub_plain(&a.ct, &encoded).unwrap(),
                slots: self.zip(&a.slots, &plain, |x, y| x + t - y),
                noise: est.add_plain(a.noise),
            },
            5 => Cell {
                ct: ev.multiply_plain(&a.ct, &encoded).unwrap(),
                slots: self.zip(&a.slots, &plain, |x, y| x * y),
                noise: est.multiply_plain(a.noise, encoded.gain()),
            },
            6 | 7 => Cell {
                ct: ev.multiply_relin(&a.ct, &b.ct, &self.kit.relin).unwrap(),
                slots: self.zip(&a.slots, &b.slots, |x, y| x * y),
                noise: switched(est.multiply(a.noise, b.noise, [2, 2], limbs).unwrap()),
            },
            8 => {
                let rotated = (0..n)
                    .map(|i| a.slots[i / (n / 2) * (n / 2) + (i + 1) % (n / 2)])
                    .collect();
                Cell {
                    ct: ev.rotate_rows(&a.ct, 1, keys).unwrap(),
                    slots: rotated,
                    noise: switched(a.noise),
                }
            }
            9 => {
                let swapped = [&a.slots[n / 2..], &a.slots[..n / 2]].concat();
                Cell {
                    ct: ev.swap_rows(&a.ct, keys).unwrap(),
                    slots: swapped,
                    noise: switched(a.noise),
                }
            }
            _ if limbs > 2 => self.lower(&a, limbs - 1),
            _ => Cell {
                ct: ev
                    .relinearize(&ev.square(&a.ct).unwrap(), &self.kit.relin)
                    .unwrap(),
                slots: self.zip(&a.slots, &a.slots, |x, y| x * y),
                noise: switched(est.multiply(a.noise, a.noise, [2, 2], limbs).unwrap()),
            },
        };
        (est.budget(cell.noise, cell.ct.limbs()).unwrap() > 0.0).then_some(cell)
    }

    fn lower(&self, cell: &Cell<W>, limbs: usize) -> Cell<W> {
        let mut out = cell.clone();
        while out.ct.limbs() > limbs {
            let (limbs, size) = (out.ct.limbs(), out.ct.size());
            out.noise = self.estimate.mod_switch(out.noise, limbs, size).unwrap();
            out.ct = self.evaluator.mod_switch(&out.ct).unwrap();
        }
        out
    }

    fn check(&self, cell: &Cell<W>, what: &str) {
        let plain = self.kit.decryptor.decrypt(&cell.ct).unwrap();
        assert_eq!(self.encoder.decode(&plain).unwrap(), cell.slots, "{what}");
        let (measured, bound) = (
            self.kit.decryptor.noise_bits(&cell.ct).unwrap(),
            self.estimate.log2_bound(cell.noise),
        );
        assert!(
            measured <= bound,
            "{what}: measured 2^{measured:.1} above the bound 2^{bound:.1}"
        );
    }
}

fn run<W: Word>(kit: &Kit<W>, programs: u64, algorithm: MultiplyAlgorithm) {
    let machine = Machine {
        kit,
        evaluator: kit.evaluator.clone().with_algorithm(algorithm),
        encoder: BatchEncoder::new(&kit.params).unwrap(),
        estimate: Estimator::new(&kit.params),
    };
    for program in 0..programs {
        let mut choices = [0u8; 3 * 60];
        Seed::from_text("programs")
            .stream("choices", program)
            .fill(&mut choices);
        let mut cells: Vec<_> = (0..3)
            .map(|i| machine.fresh(&format!("{program}/{i}")))
            .collect();
        let mut done = 0;
        for (index, choice) in choices.chunks_exact(3).enumerate() {
            let (a, b) = (
                choice[1] as usize % cells.len(),
                choice[2] as usize % cells.len(),
            );
            let label = format!("{program}/p{index}");
            if let Some(cell) = machine.step(choice[0], &cells[a], &cells[b], &label) {
                machine.check(
                    &cell,
                    &format!(
                        "program {program}, step {index}, operation {}",
                        choice[0] % 11
                    ),
                );
                cells.push(cell);
                done += 1;
            }
            if done == 20 {
                break;
            }
        }
        assert_eq!(done, 20, "program {program} ran out of budget");
    }
}

#[test]
fn random_programs_of_twenty_operations() {
    run(
        &Kit::new(params::<u64>(64, &[55; 5], &[56], 257)),
        12,
        MultiplyAlgorithm::Hps,
    );
    run(
        &Kit::new(params::<u64>(64, &[45; 6], &[], 257)),
        12,
        MultiplyAlgorithm::HpsOverQ,
    );
    run(
        &Kit::new(params::<u128>(16, &[107, 107, 107], &[109], 97)),
        6,
        MultiplyAlgorithm::Hps,
    );
    run(
        &Kit::new(params::<u128>(16, &[128, 109], &[], 97)),
        6,
        MultiplyAlgorithm::HpsOverQ,
    );
}
