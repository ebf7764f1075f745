// SPDX-License-Identifier: Apache-2.0
//! Memory of a build: slots, tables of moduli, constants and twiddles, and the host buffers it reaches.

use std::collections::BTreeMap;

use isa::BuildInfo;
use zq::Modulus;

use crate::cause::Cause;
use crate::conversion::Conversion;
use crate::fault::Fault;
use crate::lane::Lane;
use crate::moves::Digit;
use crate::polynomial::Polynomial;

/// A twiddle table and the degree it serves.
#[derive(Clone, Debug)]
pub struct Table {
    /// log2 of the degree.
    pub log2_n: u8,
    /// Per lane the entries psi^bitrev(j), j < n.
    pub entries: Polynomial,
}

/// Everything a program can see.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The build.
    pub info: BuildInfo,
    /// Per slot its polynomial, None while never written.
    pub slots: Vec<Option<Polynomial>>,
    /// Per modulus index and lane.
    pub moduli: Vec<Vec<Option<Modulus<u128>>>>,
    /// Per lane and constant index.
    pub constants: Vec<Vec<u128>>,
    /// Per modulus index its twiddle table.
    pub tables: Vec<Option<Table>>,
    /// Base conversions by number.
    pub conversions: Vec<Option<Conversion>>,
    /// Automorphisms by number: g of x -> x^g.
    pub automorphisms: Vec<Option<u16>>,
    /// Digits by number.
    pub digits: Vec<Option<Digit>>,
    /// What was loaded into the stream and not read yet.
    pub stream: Option<Polynomial>,
    /// Host buffers by number.
    pub host: BTreeMap<u32, Polynomial>,
}

impl Memory {
    /// A build after reset, with no host buffer.
    pub fn new(info: BuildInfo) -> Self {
        let (lanes, moduli) = (info.lanes as usize, info.moduli_slots as usize);
        Self {
            slots: vec![None; info.slots() as usize],
            moduli: vec![vec![None; lanes]; moduli],
            constants: vec![vec![0; info.constants as usize]; lanes],
            tables: vec![None; moduli],
            conversions: vec![None; info.rns.map_or(0, |unit| unit.conversions as usize)],
            automorphisms: vec![None; info.moves as usize],
            digits: vec![None; info.moves as usize],
            stream: None,
            host: BTreeMap::new(),
            info,
        }
    }

    /// A polynomial of zeros.
    pub fn zeros(&self) -> Polynomial {
        vec![vec![0; self.info.n_max()]; self.info.lanes as usize]
    }

    /// The first `n` words of every lane of a slot; the zero slot gives zeros.
    ///
    /// # Errors
    /// [`Cause::Unwritten`] or [`Cause::Slot`].
    pub fn read(&self, slot: u8, n: usize) -> Result<Polynomial, Fault> {
        if slot == isa::ZERO_SLOT {
            return Ok(vec![vec![0; n]; self.info.lanes as usize]);
        }
        let held = self
            .slots
            .get(usize::from(slot))
            .ok_or(Fault::new(Cause::Slot))?;
        let held = held.as_ref().ok_or(Fault::new(Cause::Unwritten))?;
        Ok(held.iter().map(|lane| lane[..n].to_vec()).collect())
    }

    /// Replace the first words of every lane of a slot.
    ///
    /// # Errors
    /// [`Cause::Slot`].
    pub fn write(&mut self, slot: u8, polynomial: Polynomial) -> Result<(), Fault> {
        let zeros = self.zeros();
        let held = self
            .slots
            .get_mut(usize::from(slot))
            .ok_or(Fault::new(Cause::Slot))?;
        for (lane, words) in held.get_or_insert(zeros).iter_mut().zip(polynomial) {
            lane[..words.len()].copy_from_slice(&words);
        }
        Ok(())
    }

    /// The arithmetic of each lane for a modulus index.
    ///
    /// # Errors
    /// [`Cause::Index`] if the index does not exist or a lane has no modulus.
    pub fn lanes(&self, mod_idx: u8) -> Result<Vec<Lane>, Fault> {
        let lanes = self
            .moduli
            .get(usize::from(mod_idx))
            .ok_or(Fault::new(Cause::Index))?;
        let lane = |modulus: &Option<Modulus<u128>>| modulus.map(|q| Lane::new(&self.info, q));
        lanes
            .iter()
            .map(|modulus| lane(modulus).ok_or(Fault::new(Cause::Index)))
            .collect()
    }
}
