// SPDX-License-Identifier: Apache-2.0
//! The keys of a bootstrapping: the rotations it performs, each for the level it is performed at.

use super::dft::{Direction, factors};
use super::{BootstrapParams, Diagonals};
use crate::Error;
use rlwe::{EncapsulationKeys, GaloisKeys, KeyGenerator, RelinKey, SecretKey};

/// What a server needs to refresh the ciphertexts of one secret; see [`super::Bootstrapper`].
#[derive(Clone, Debug)]
pub struct BootstrapKeys {
    pub(super) encapsulation: EncapsulationKeys<u64>,
    /// For each factor, at its level.
    pub(super) slots_to_coeffs: Vec<GaloisKeys<u64>>,
    pub(super) trace: GaloisKeys<u64>,
    pub(super) coeffs_to_slots: Vec<GaloisKeys<u64>>,
    pub(super) conjugation: GaloisKeys<u64>,
    pub(super) relin: RelinKey<u64>,
}

impl BootstrapKeys {
    /// The keys of `secret`, from the generator of its set. Keys of one rotation at several levels are one key cut.
    ///
    /// # Errors
    /// Those of [`KeyGenerator::galois_keys`] and [`KeyGenerator::encapsulation_keys`].
    pub fn generate(
        params: &BootstrapParams,
        generator: &KeyGenerator<u64>,
        secret: &SecretKey<u64>,
    ) -> Result<Self, Error> {
        let main = params.main();
        let top = main.max_level();
        let after = top - params.literal().coeffs_to_slots;
        let galois = |rotations: &[i64], conjugate: bool, level: usize| {
            let elements = main.galois_elements(rotations, conjugate);
            generator.galois_keys(secret, &elements, level + 1)
        };
        let stages = |direction, level: usize| {
            let factors = params.factors(direction)?;
            let keys = factors.iter().enumerate().map(|(i, factor)| {
                let rotations: Vec<i64> = factor.rotations().into_iter().collect();
                Ok(galois(&rotations, false, level - i)?)
            });
            keys.collect::<Result<Vec<_>, Error>>()
        };
        Ok(Self {
            encapsulation: generator.encapsulation_keys(secret, params.sparse())?,
            slots_to_coeffs: stages(Direction::SlotsToCoeffs, params.input_level())?,
            trace: galois(&params.trace_steps(), false, top)?,
            coeffs_to_slots: stages(Direction::CoeffsToSlots, top)?,
            conjugation: galois(&[], true, after)?,
            relin: generator.relin_key(secret, after + 1)?,
        })
    }

    /// Number of switching keys.
    pub fn count(&self) -> usize {
        let galois = self.galois().map(|keys| keys.elements().count());
        // Besides them the relinearisation key and the two of the encapsulation.
        galois.sum::<usize>() + 3
    }

    /// Bytes of the residues in memory.
    pub fn memory(&self) -> usize {
        let galois: usize = self.galois().map(GaloisKeys::memory).sum();
        galois + self.encapsulation.memory() + self.relin.key().memory()
    }

    fn galois(&self) -> impl Iterator<Item = &GaloisKeys<u64>> {
        let stages = self.slots_to_coeffs.iter().chain(&self.coeffs_to_slots);
        stages.chain([&self.trace, &self.conjugation])
    }
}

impl BootstrapParams {
    /// The factors of one of the two transforms, in the order they are applied.
    pub(super) fn factors(&self, direction: Direction) -> Result<Vec<Diagonals>, Error> {
        let [before, after] = self.splits();
        let split = match direction {
            Direction::SlotsToCoeffs => before,
            Direction::CoeffsToSlots => after,
        };
        factors(direction, self.literal().slots, &split)
    }

    /// Rotations whose sums repeat the first slots in all: by the slots, twice as many, …
    pub(super) fn trace_steps(&self) -> Vec<i64> {
        let (slots, all) = (self.literal().slots, self.main().slots());
        let steps = std::iter::successors(Some(slots), |k| Some(2 * k));
        steps.take_while(|k| *k < all).map(|k| k as i64).collect()
    }
}
