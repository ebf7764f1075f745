// SPDX-License-Identifier: Apache-2.0
//! Which keys a bootstrapping takes, and what they weigh, before any is made.

use super::dft::{Direction, diagonal_numbers, factors};
use super::split::{Choice, fastest_within, least};
use super::steps::Steps;
use super::{BootstrapParams, Diagonals};
use crate::Error;
use rlwe::RlweParams;
use rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, packed_len};

/// Besides rotations: the relinearisation key and the two of the encapsulation.
pub(super) const OTHER_KEYS: usize = 3;

/// Bytes in the byte format, beside residues: of an object's envelope, of a seed, of an identity or fingerprint, of a
/// number, of a part's length.
const ENVELOPE: usize = HEADER_LEN + CHECKSUM_LEN;
const SEED: usize = 32;
const ID: usize = 16;
const NUMBER: usize = 4;
pub(super) const LENGTH: usize = 8;

/// What a refresh takes, each thing by its data primes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Key switches.
    pub switches: Vec<usize>,
    /// Keys.
    pub keys: Vec<usize>,
    /// Plaintexts of the matrices, which are over the special primes as well.
    pub plaintexts: Vec<usize>,
}

/// The rotation keys of one step: Galois elements, rising, and data primes.
#[derive(Debug)]
pub(super) struct Wanted {
    pub elements: Vec<u64>,
    pub limbs: usize,
}

/// A factor of a transform with its steps and level, and the factor between it and its plaintexts.
pub(super) struct Scaled<'a> {
    pub factor: Diagonals,
    pub steps: &'a Steps,
    pub level: usize,
    pub scale: f64,
}

/// The rotation keys of all steps.
pub(super) struct KeySet {
    pub slots_to_coeffs: Vec<Wanted>,
    pub trace: Wanted,
    pub coeffs_to_slots: Vec<Wanted>,
    pub conjugation: Wanted,
}

impl KeySet {
    pub fn galois(&self) -> impl Iterator<Item = &Wanted> {
        let stages = self.slots_to_coeffs.iter().chain(&self.coeffs_to_slots);
        stages.chain([&self.trace, &self.conjugation])
    }

    pub fn count(&self) -> usize {
        self.galois().map(|w| w.elements.len()).sum::<usize>() + OTHER_KEYS
    }
}

/// Bytes of a switching key in the byte format: of `digits` digits, over the first `limbs` data primes and the special
/// ones.
fn key_bytes(set: &RlweParams<u64>, (limbs, digits): (usize, usize)) -> usize {
    let special = set.p().map_or(&[][..], |p| p.moduli());
    let primes = set.q().moduli()[..limbs].iter().chain(special);
    let residues = primes.filter_map(|prime| packed_len(set.n(), prime.bits()));
    SEED + digits * residues.sum::<usize>()
}

impl BootstrapParams {
    /// Bytes of the keys in memory: without any uniform half of a rotation or relinearisation key, and with all.
    pub fn key_memory(&self) -> [usize; 2] {
        let (set, rlwe) = (self.key_set(), self.main().rlwe().params());
        let (n, special) = (self.main().n(), rlwe.special_primes());
        let half = |limbs: usize| rlwe.digits_at(limbs) * (limbs + special) * n * size_of::<u64>();
        let rotations = set.galois().map(|w| w.elements.len() * half(w.limbs));
        let halves = rotations.sum::<usize>() + half(set.conjugation.limbs);
        let sparse = self.sparse().params();
        let limbs = sparse.data_primes() + sparse.special_primes();
        let others = 2 * (rlwe.data_primes() + special + limbs) * n * size_of::<u64>();
        [halves + others, 2 * halves + others]
    }

    pub(super) fn check_key_memory(&self, limit: Option<usize>) -> Result<(), Error> {
        let [least, whole] = self.key_memory();
        match limit {
            Some(limit) if limit < least => Err(Error::Bootstrap {
                what: "the memory limit for keys",
                got: format!("{limit} bytes"),
                allowed: format!(
                    "{least} bytes or more; from {whole} bytes on nothing is grown again at each use"
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Bytes of the keys as [`super::BootstrapKeys::to_bytes`] writes them.
    pub fn key_bytes(&self) -> usize {
        ENVELOPE + self.part_bytes().map(|part| LENGTH + part).sum::<usize>()
    }

    /// Of each part, without its length, in order.
    pub(super) fn part_bytes(&self) -> impl Iterator<Item = usize> + use<> {
        let set = self.key_set();
        let galois: Vec<usize> = set
            .galois()
            .map(|wanted| self.galois_bytes(wanted))
            .collect();
        [self.encapsulation_bytes(), self.relin_bytes()]
            .into_iter()
            .chain(galois)
    }

    /// Of rotation keys.
    fn galois_bytes(&self, wanted: &Wanted) -> usize {
        let own = wanted.elements.len() * self.rotation_key_bytes(wanted.limbs);
        ENVELOPE + ID + 2 * NUMBER + own
    }

    /// Of one rotation key, its element before it.
    fn rotation_key_bytes(&self, limbs: usize) -> usize {
        let rlwe = self.main().rlwe().params();
        NUMBER + key_bytes(rlwe, (limbs, rlwe.digits_at(limbs)))
    }

    fn relin_bytes(&self) -> usize {
        let (rlwe, limbs) = (self.main().rlwe().params(), self.conjugation().limbs);
        ENVELOPE + ID + NUMBER + key_bytes(rlwe, (limbs, rlwe.digits_at(limbs)))
    }

    fn encapsulation_bytes(&self) -> usize {
        let (rlwe, sparse) = (self.main().rlwe().params(), self.sparse().params());
        let to_sparse = key_bytes(sparse, (sparse.data_primes(), sparse.dnum()));
        ENVELOPE + 3 * ID + to_sparse + key_bytes(rlwe, (rlwe.data_primes(), 1))
    }

    /// Of all but the rotation keys of the transforms, of which there are `factors` parts.
    fn other_key_bytes(&self, factors: usize) -> usize {
        let none = self.galois_bytes(&self.wanted(&[], false, 0));
        let galois = [self.trace(), self.conjugation()].map(|wanted| self.galois_bytes(&wanted));
        let parts = self.encapsulation_bytes() + self.relin_bytes() + galois[0] + galois[1];
        ENVELOPE + parts + 4 * LENGTH + factors * (LENGTH + none)
    }

    /// What a refresh of real messages is made of, without making it.
    pub fn effort(&self) -> Effort {
        let set = self.key_set();
        let (mut switches, mut keys, mut plaintexts) = (Vec::new(), Vec::new(), Vec::new());
        for direction in Direction::ALL {
            for (steps, level) in self.steps_of(direction) {
                switches.extend(vec![level + 1; steps.switches()]);
                plaintexts.extend(vec![level + 1; steps.diagonals()]);
            }
        }
        for wanted in set.galois() {
            keys.extend(vec![wanted.limbs; wanted.elements.len()]);
        }
        for wanted in [&set.trace, &set.conjugation] {
            switches.extend(vec![wanted.limbs; wanted.elements.len()]);
        }
        // Products of the reduction: of baby and giant steps about twice the root of the degree, of double angles one.
        let (literal, top) = (self.literal(), set.conjugation.limbs);
        let products = (2.0 * (literal.degree as f64).sqrt()).ceil() as usize;
        let products = products + literal.doublings as usize;
        let depth = self.reduction().depth();
        switches.extend((0..products).map(|i| top - i * depth / products));
        let switches = switches.repeat(literal.passes as usize);
        // The relinearisation key, and the one from the sparse secret.
        keys.extend([top, self.main().max_level() + 1]);
        Effort {
            switches,
            keys,
            plaintexts,
        }
    }

    pub(super) fn key_set(&self) -> KeySet {
        let [slots_to_coeffs, coeffs_to_slots] = Direction::ALL.map(|direction| {
            let wanted = self.steps_of(direction).map(|(steps, level)| {
                let rotations: Vec<i64> = steps.rotations().into_iter().collect();
                self.wanted(&rotations, false, level)
            });
            wanted.collect()
        });
        KeySet {
            slots_to_coeffs,
            trace: self.trace(),
            coeffs_to_slots,
            conjugation: self.conjugation(),
        }
    }

    fn wanted(&self, rotations: &[i64], conjugate: bool, level: usize) -> Wanted {
        Wanted {
            elements: self.main().galois_elements(rotations, conjugate),
            limbs: level + 1,
        }
    }

    fn trace(&self) -> Wanted {
        self.wanted(&self.trace_steps(), false, self.main().max_level())
    }

    fn conjugation(&self) -> Wanted {
        let level = self.main().max_level() - self.literal().coeffs_to_slots;
        self.wanted(&[], true, level)
    }

    /// The steps of a transform's factors, each with its level.
    pub(super) fn steps_of(&self, direction: Direction) -> impl Iterator<Item = (&Steps, usize)> {
        let steps = match direction {
            Direction::SlotsToCoeffs => &self.steps[0],
            Direction::CoeffsToSlots => &self.steps[1],
        };
        steps.iter().zip(self.levels_of(direction))
    }

    /// The levels of a transform's factors.
    fn levels_of(&self, direction: Direction) -> impl Iterator<Item = usize> + use<> {
        (0..=self.outline().first_level(direction)).rev()
    }

    /// The least bytes that the keys take with any steps: what [`super::BootstrapLiteral::key_bytes`] may be.
    pub fn least_key_bytes(&self) -> usize {
        let [before, after] = self.choices();
        let others = self.other_key_bytes(before.len() + after.len());
        others + least(&before) + least(&after)
    }

    /// The steps of both transforms, the fastest whose keys fit the literal's limit.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] for a limit below what any steps need.
    pub(super) fn chosen_steps(&self) -> Result<[Vec<Steps>; 2], Error> {
        let choices = self.choices();
        let before = choices[0].len();
        let choices = choices.concat();
        let others = self.other_key_bytes(choices.len());
        let limit = self.literal().key_bytes.unwrap_or(usize::MAX);
        let mut first =
            fastest_within(&choices, limit.saturating_sub(others)).map_err(|least| {
                Error::Bootstrap {
                    what: "the limit on the bytes of keys",
                    got: format!("{limit} bytes"),
                    allowed: format!("{} bytes or more", least + others),
                }
            })?;
        let second = first.split_off(before);
        Ok([first, second])
    }

    /// What steps there are to choose from for the factors of both transforms.
    fn choices(&self) -> [Vec<Choice>; 2] {
        let slots = self.literal().slots;
        Direction::ALL.map(|direction| {
            let factors = diagonal_numbers(direction, slots, &self.split_of(direction));
            let levels = factors.iter().zip(self.levels_of(direction));
            let choices = levels.map(|(diagonals, level)| Choice {
                candidates: Steps::candidates(diagonals, slots),
                key_bytes: self.rotation_key_bytes(level + 1),
            });
            choices.collect()
        })
    }

    /// The factors of a transform, in the order they are applied, with the scales that take its ciphertext to where
    /// the next part of a refresh wants it, each factor with its share.
    ///
    /// # Errors
    /// Those of [`factors`].
    pub(super) fn scaled_factors(&self, direction: Direction) -> Result<Vec<Scaled<'_>>, Error> {
        let factors = factors(direction, self.literal().slots, &self.split_of(direction))?;
        let places = self.outline().factor_scales(direction);
        let steps = self.steps_of(direction);
        let scaled = factors.into_iter().zip(steps).zip(places);
        let scaled = scaled.map(|((factor, (steps, _)), (level, scale))| Scaled {
            factor,
            steps,
            level,
            scale,
        });
        Ok(scaled.collect())
    }

    /// How many stages each factor takes.
    fn split_of(&self, direction: Direction) -> Vec<u32> {
        let [before, after] = self.outline().splits();
        match direction {
            Direction::SlotsToCoeffs => before,
            Direction::CoeffsToSlots => after,
        }
    }

    /// Rotations whose sums repeat the first slots in all: by the slots, twice as many, …
    pub(super) fn trace_steps(&self) -> Vec<i64> {
        let (slots, all) = (self.literal().slots, self.main().slots());
        let steps = std::iter::successors(Some(slots), |k| Some(2 * k));
        steps.take_while(|k| *k < all).map(|k| k as i64).collect()
    }
}
