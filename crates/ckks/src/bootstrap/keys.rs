// SPDX-License-Identifier: Apache-2.0
//! The keys of a bootstrapping: the rotations it performs, each for the level it is performed at.

use super::BootstrapParams;
use super::dft::Direction;
use super::key_set::{KeySet, OTHER_KEYS, Wanted};
use crate::Error;
use rlwe::wire::{Fingerprint, Reader, Tag, WireError, Writer};
use rlwe::{
    EncapsulationKeys, GaloisKeys, KeyGenerator, KeyId, KeySwitchKey, ParameterSet, RelinKey,
    RlweParams, SecretKey, Threads, UniformHalf,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How keys are made and kept.
#[derive(Clone, Default)]
pub struct KeyOptions<'a> {
    /// Bytes of memory that the keys may take: see [`BootstrapKeys::limit_memory`].
    pub memory: Option<usize>,
    /// Threads that make them.
    pub threads: Threads,
    /// Called after each key, on any thread, with the number of keys made and of all.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

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
    /// The keys of `secret`, from the generator of its set, all of them in memory. Keys of one rotation at several
    /// levels are one key cut.
    ///
    /// # Errors
    /// Those of [`KeyGenerator::galois_keys`] and [`KeyGenerator::encapsulation_keys`].
    pub fn generate(
        params: &BootstrapParams,
        generator: &KeyGenerator<u64>,
        secret: &SecretKey<u64>,
    ) -> Result<Self, Error> {
        Self::generate_with(params, generator, secret, &KeyOptions::default())
    }

    /// [`BootstrapKeys::generate`] on several threads, with a limit on memory and a report of progress. The keys are
    /// the same.
    ///
    /// # Errors
    /// As [`BootstrapKeys::generate`], and [`Error::Bootstrap`] for a limit that is too low, before any key is made.
    pub fn generate_with(
        params: &BootstrapParams,
        generator: &KeyGenerator<u64>,
        secret: &SecretKey<u64>,
        options: &KeyOptions<'_>,
    ) -> Result<Self, Error> {
        params.check_key_memory(options.memory)?;
        let (set, done) = (params.key_set(), AtomicUsize::new(0));
        let made = || {
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            if let Some(progress) = options.progress {
                progress(done, set.count());
            }
        };
        let galois = |wanted: &Wanted| {
            let (elements, limbs) = (&wanted.elements, wanted.limbs);
            generator.galois_keys_grown(secret, elements, limbs, &options.threads, &made)
        };
        let stages = |all: &[Wanted]| all.iter().map(galois).collect::<Result<_, _>>();
        let mut keys = Self {
            encapsulation: generator.encapsulation_keys(secret, params.sparse())?,
            slots_to_coeffs: stages(&set.slots_to_coeffs)?,
            trace: galois(&set.trace)?,
            coeffs_to_slots: stages(&set.coeffs_to_slots)?,
            conjugation: galois(&set.conjugation)?,
            relin: generator.relin_key(secret, set.conjugation.limbs)?,
        };
        // Those of the encapsulation and the relinearisation.
        (0..OTHER_KEYS).for_each(|_| made());
        keys.limit_memory(params, options.memory)?;
        Ok(keys)
    }

    /// Keeps the uniform halves that fit into `memory` bytes (all of them for `None`) and grows the others from their
    /// seeds at each use. Keys used often come first: relinearisation, conjugation, then the transforms.
    ///
    /// # Errors
    /// [`Error::Bootstrap`] for a limit below what the keys take without any such half, saying what would do.
    pub fn limit_memory(
        &mut self,
        params: &BootstrapParams,
        memory: Option<usize>,
    ) -> Result<(), Error> {
        params.check_key_memory(memory)?;
        let set = params.main().rlwe().params();
        let others = self.encapsulation.memory();
        let mut keys: Vec<&mut KeySwitchKey<u64>> = vec![self.relin.key_mut()];
        keys.extend(self.conjugation.keys_mut());
        let transforms = self.slots_to_coeffs.iter_mut().chain([&mut self.trace]);
        let transforms = transforms.chain(&mut self.coeffs_to_slots);
        keys.extend(transforms.flat_map(GaloisKeys::keys_mut));
        let masked = |key: &KeySwitchKey<u64>| -> usize {
            key.masked().iter().map(|b| size_of_val(b.data())).sum()
        };
        let least = others + keys.iter().map(|key| masked(key)).sum::<usize>();
        let mut room = memory.unwrap_or(usize::MAX).saturating_sub(least);
        for key in keys {
            let half = masked(key);
            let keeps = half <= room;
            room -= if keeps { half } else { 0 };
            let half = match keeps {
                true => UniformHalf::Kept,
                false => UniformHalf::Grown,
            };
            key.set_uniform(set, half)?;
        }
        Ok(())
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

    /// Reads [`BootstrapKeys::to_bytes`], for the bootstrapping they were made for, and keeps all of it in memory.
    ///
    /// # Errors
    /// [`Error::Rlwe`] for damaged bytes, another set's keys or another secret's among them; [`Error::Bootstrap`] for
    /// keys of another bootstrapping: other rotations or levels.
    pub fn from_bytes(params: &BootstrapParams, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_within(params, bytes, None)
    }

    /// [`BootstrapKeys::from_bytes`] with a limit on memory, as [`BootstrapKeys::limit_memory`] takes it.
    ///
    /// # Errors
    /// As [`BootstrapKeys::from_bytes`] and [`BootstrapKeys::limit_memory`].
    pub fn from_bytes_within(
        params: &BootstrapParams,
        bytes: &[u8],
        memory: Option<usize>,
    ) -> Result<Self, Error> {
        params.check_key_memory(memory)?;
        let (set, rlwe) = (params.key_set(), params.main().rlwe().params());
        let mut input = rlwe.open(Tag::BootstrapKeys, "the bootstrapping keys", bytes)?;
        let encapsulation = Self::read_encapsulation(params, part(&mut input)?)?;
        let relin = Self::read_relin(rlwe, &set, &encapsulation, part(&mut input)?)?;
        let owner = encapsulation.to_dense().id();
        let mut galois =
            |wanted: &Wanted| Self::read_rotations(rlwe, wanted, owner, part(&mut input)?);
        let mut stages = |all: &[Wanted]| all.iter().map(&mut galois).collect::<Result<_, Error>>();
        let (slots_to_coeffs, coeffs_to_slots) =
            (stages(&set.slots_to_coeffs)?, stages(&set.coeffs_to_slots)?);
        let (trace, conjugation) = (galois(&set.trace)?, galois(&set.conjugation)?);
        input.finish().map_err(rlwe::Error::from)?;
        let mut keys = Self {
            encapsulation,
            slots_to_coeffs,
            trace,
            coeffs_to_slots,
            conjugation,
            relin,
        };
        keys.limit_memory(params, memory)?;
        Ok(keys)
    }

    pub(super) fn read_encapsulation(
        params: &BootstrapParams,
        bytes: &[u8],
    ) -> Result<EncapsulationKeys<u64>, Error> {
        let main = params.main().rlwe().params();
        Ok(EncapsulationKeys::from_bytes(main, params.sparse(), bytes)?)
    }

    pub(super) fn read_relin(
        rlwe: &RlweParams<u64>,
        set: &KeySet,
        encapsulation: &EncapsulationKeys<u64>,
        bytes: &[u8],
    ) -> Result<RelinKey<u64>, Error> {
        let relin = RelinKey::from_bytes_with(rlwe, bytes, UniformHalf::Grown)?;
        if relin.key().limbs() != set.conjugation.limbs {
            return Err(other_keys(relin.key().limbs(), &set.conjugation));
        }
        let owner = encapsulation.to_dense().id();
        owner.join(relin.key().id(), "the relinearisation key")?;
        Ok(relin)
    }

    pub(super) fn read_rotations(
        rlwe: &RlweParams<u64>,
        wanted: &Wanted,
        owner: KeyId,
        bytes: &[u8],
    ) -> Result<GaloisKeys<u64>, Error> {
        let keys = GaloisKeys::from_bytes_with(rlwe, bytes, UniformHalf::Grown)?;
        owner.join(keys.id(), "a rotation key")?;
        match keys.limbs() == wanted.limbs && keys.elements().eq(wanted.elements.iter().copied()) {
            true => Ok(keys),
            false => Err(other_keys(keys.limbs(), wanted)),
        }
    }

    /// Those of a transform's factors.
    pub(super) fn transform(&self, direction: Direction) -> &[GaloisKeys<u64>] {
        match direction {
            Direction::SlotsToCoeffs => &self.slots_to_coeffs,
            Direction::CoeffsToSlots => &self.coeffs_to_slots,
        }
    }

    /// The secret they belong to.
    pub fn id(&self) -> KeyId {
        self.relin.key().id()
    }

    /// The set they belong to.
    pub fn fingerprint(&self) -> Fingerprint {
        self.relin.key().fingerprint()
    }

    /// Whether they are the keys of this bootstrapping: the rotations and levels it uses.
    pub fn serve(&self, params: &BootstrapParams) -> bool {
        let set = params.key_set();
        let wanted = set.slots_to_coeffs.iter().chain(&set.coeffs_to_slots);
        let wanted: Vec<&Wanted> = wanted.chain([&set.trace, &set.conjugation]).collect();
        let same = |(keys, wanted): (&GaloisKeys<u64>, &&Wanted)| {
            keys.limbs() == wanted.limbs && keys.elements().eq(wanted.elements.iter().copied())
        };
        self.galois().count() == wanted.len()
            && self.galois().zip(&wanted).all(same)
            && self.relin.key().limbs() == set.conjugation.limbs
            && self.encapsulation.to_sparse().fingerprint() == params.sparse().fingerprint()
    }

    /// Number of switching keys.
    pub fn count(&self) -> usize {
        let galois = self.galois().map(|keys| keys.elements().count());
        galois.sum::<usize>() + OTHER_KEYS
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
