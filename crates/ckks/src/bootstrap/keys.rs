// SPDX-License-Identifier: Apache-2.0
//! The keys of a bootstrapping: the rotations it performs, each for the level it is performed at.

use super::dft::{Direction, factors};
use super::{BootstrapParams, Diagonals};
use crate::Error;
use rlwe::wire::{Reader, Tag, WireError, Writer};
use rlwe::{EncapsulationKeys, GaloisKeys, KeyGenerator, ParameterSet, RelinKey, SecretKey};

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
        let set = params.key_set()?;
        let galois =
            |wanted: &Wanted| generator.galois_keys(secret, &wanted.elements, wanted.limbs);
        let stages = |all: &[Wanted]| all.iter().map(galois).collect::<Result<_, _>>();
        Ok(Self {
            encapsulation: generator.encapsulation_keys(secret, params.sparse())?,
            slots_to_coeffs: stages(&set.slots_to_coeffs)?,
            trace: galois(&set.trace)?,
            coeffs_to_slots: stages(&set.coeffs_to_slots)?,
            conjugation: galois(&set.conjugation)?,
            relin: generator.relin_key(secret, set.conjugation.limbs)?,
        })
    }

    /// The keys as bytes: the object of each part, its length before it; uniform components as seeds.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        let mut part = |bytes: Vec<u8>| {
            out.u64(bytes.len() as u64);
            out.bytes(&bytes);
        };
        part(self.encapsulation.to_bytes());
        part(self.relin.to_bytes());
        self.galois().for_each(|keys| part(keys.to_bytes()));
        out.seal(Tag::BootstrapKeys, self.relin.key().fingerprint())
    }

    /// Reads [`BootstrapKeys::to_bytes`], for the bootstrapping they were made for.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for damaged bytes, another set's keys or another secret's among them; [`Error::Bootstrap`] for
    /// keys of another bootstrapping: other rotations or levels.
    pub fn from_bytes(params: &BootstrapParams, bytes: &[u8]) -> Result<Self, Error> {
        let (set, rlwe) = (params.key_set()?, params.main().rlwe().params());
        let mut input = rlwe.open(Tag::BootstrapKeys, "the bootstrapping keys", bytes)?;
        let encapsulation =
            EncapsulationKeys::from_bytes(rlwe, params.sparse(), part(&mut input)?)?;
        let relin = RelinKey::from_bytes(rlwe, part(&mut input)?)?;
        if relin.key().limbs() != set.conjugation.limbs {
            return Err(other_keys(relin.key().limbs(), &set.conjugation));
        }
        let owner = encapsulation.to_dense().id();
        owner.join(relin.key().id(), "the relinearisation key")?;
        let mut galois = |wanted: &Wanted| {
            let keys = GaloisKeys::from_bytes(rlwe, part(&mut input)?)?;
            owner.join(keys.id(), "a rotation key")?;
            match keys.limbs() == wanted.limbs
                && keys.elements().eq(wanted.elements.iter().copied())
            {
                true => Ok(keys),
                false => Err(other_keys(keys.limbs(), wanted)),
            }
        };
        let mut stages = |all: &[Wanted]| all.iter().map(&mut galois).collect::<Result<_, Error>>();
        let (slots_to_coeffs, coeffs_to_slots) =
            (stages(&set.slots_to_coeffs)?, stages(&set.coeffs_to_slots)?);
        let (trace, conjugation) = (galois(&set.trace)?, galois(&set.conjugation)?);
        input.finish().map_err(rlwe::Error::from)?;
        Ok(Self {
            encapsulation,
            slots_to_coeffs,
            trace,
            coeffs_to_slots,
            conjugation,
            relin,
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

/// The rotation keys of one step: Galois elements, rising, and data primes.
struct Wanted {
    elements: Vec<u64>,
    limbs: usize,
}

/// The rotation keys of all steps.
struct KeySet {
    slots_to_coeffs: Vec<Wanted>,
    trace: Wanted,
    coeffs_to_slots: Vec<Wanted>,
    conjugation: Wanted,
}

/// The next object of a payload.
fn part<'a>(input: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let mut read = || {
        let len = input.u64("the length of a part")?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        input.bytes(len, "a part of the bootstrapping keys")
    };
    let bytes: Result<_, WireError> = read();
    Ok(bytes.map_err(rlwe::Error::from)?)
}

fn other_keys(limbs: usize, wanted: &Wanted) -> Error {
    Error::Bootstrap {
        what: "a key",
        got: format!("of {limbs} primes or for other rotations"),
        allowed: format!(
            "{} primes, Galois elements {:?}: keys made for this very bootstrapping",
            wanted.limbs, wanted.elements
        ),
    }
}

impl BootstrapParams {
    fn key_set(&self) -> Result<KeySet, Error> {
        let (main, top) = (self.main(), self.main().max_level());
        let wanted = |rotations: &[i64], conjugate, level: usize| Wanted {
            elements: main.galois_elements(rotations, conjugate),
            limbs: level + 1,
        };
        let stages = |direction, level: usize| {
            let factors = self.factors(direction)?;
            let steps = factors.iter().enumerate().map(|(i, factor)| {
                let rotations: Vec<i64> = factor.rotations().into_iter().collect();
                wanted(&rotations, false, level - i)
            });
            Ok::<_, Error>(steps.collect())
        };
        Ok(KeySet {
            slots_to_coeffs: stages(Direction::SlotsToCoeffs, self.input_level())?,
            trace: wanted(&self.trace_steps(), false, top),
            coeffs_to_slots: stages(Direction::CoeffsToSlots, top)?,
            conjugation: wanted(&[], true, top - self.literal().coeffs_to_slots),
        })
    }

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
