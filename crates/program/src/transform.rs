// SPDX-License-Identifier: Apache-2.0
//! Linear transforms of one ciphertext: sums of its rotations, each times a plaintext, in baby steps and giant steps
//! (Halevi and Shoup, CRYPTO 2018; double hoisting: Bossuat et al., ePrint 2020/1203).

use crate::step::Plaintext;
use std::collections::BTreeSet;

/// Σ over giants of the rotation by `giant.rotation` of Σ over its terms of plaintext · (a rotated by `term.rotation`).
/// Either every term has a plaintext or none has.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// Scale of the plaintexts; 1 in BFV and without plaintexts.
    pub scale: f64,
    /// The giant steps, by rising rotation; at least one.
    pub giants: Vec<Giant>,
}

/// A sum of terms that is rotated as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Giant {
    /// Slots to the left.
    pub rotation: i32,
    /// The baby steps, by rising rotation; at least one.
    pub terms: Vec<Term>,
}

/// A rotation of the operand, times a plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Slots to the left.
    pub rotation: i32,
    /// Number among the program's plaintexts; `None`: 1.
    pub plaintext: Option<u32>,
}

impl Transform {
    /// All terms of all giants.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.giants.iter().flat_map(|giant| &giant.terms)
    }

    /// The plaintexts of the terms in order, at the transform's scale; one may come several times.
    pub fn plaintexts(&self) -> impl Iterator<Item = Plaintext> {
        let scale = self.scale;
        let numbers = self.terms().filter_map(|term| term.plaintext);
        numbers.map(move |number| Plaintext { number, scale })
    }

    /// Whether its terms have plaintexts.
    pub fn multiplies(&self) -> bool {
        self.terms().any(|term| term.plaintext.is_some())
    }

    /// The distinct baby rotations without 0, rising: they share one decomposition.
    pub fn babies(&self) -> BTreeSet<i32> {
        let rotations = self.terms().map(|term| term.rotation);
        rotations.filter(|&by| by != 0).collect()
    }

    /// Every rotation that takes a key, giants and babies.
    pub fn rotations(&self) -> impl Iterator<Item = i32> {
        let giants = self.giants.iter().map(|giant| giant.rotation);
        self.babies()
            .into_iter()
            .chain(giants.filter(|&by| by != 0))
    }

    /// Inner products with a key that it takes: one for each distinct baby rotation and one for each giant rotation.
    pub fn key_switches(&self) -> usize {
        self.rotations().count()
    }
}
