// SPDX-License-Identifier: Apache-2.0
//! Moduli, constants, base conversions and twiddle tables that the device holds. All but the last are set while it is
//! idle, so a submission that has used all indices ends before another is set.

use device::free_entries;
use isa::BuildInfo;

use super::plan::Submission;
use crate::stream::partition::{Section, Table};
use crate::stream::select::{Move, Spec};

/// An index of a table, and when it was used last.
#[derive(Clone, Debug)]
struct Entry<T> {
    content: Option<T>,
    used: u64,
}

const UNUSED: Entry<Move> = Entry {
    content: None,
    used: 0,
};

/// Contents of the device's tables.
pub struct Held {
    moduli: Vec<Entry<Vec<u128>>>,
    constants: Vec<Entry<(Vec<u128>, Vec<u128>)>>,
    conversions: Vec<Entry<Spec>>,
    /// Per conversion its entries in the unit's tables, and how many there are.
    entries: Vec<(u32, u32)>,
    automorphisms: Vec<Entry<Move>>,
    digits: Vec<Entry<Move>>,
    all_entries: u32,
    tables: Vec<Option<Table>>,
    is_shared: bool,
    clock: u64,
    /// Entries used since then belong to the open submission.
    opened: u64,
}

/// The index that holds `wanted`, or one not used since `opened`, which then holds it; and whether it is new there.
fn find<T: PartialEq>(
    entries: &mut [Entry<T>],
    wanted: T,
    clock: u64,
    opened: u64,
) -> Option<(u8, bool)> {
    let held = entries
        .iter()
        .position(|entry| entry.content.as_ref() == Some(&wanted));
    let is_new = held.is_none();
    let index = held.or_else(|| {
        let idle = (0..entries.len()).filter(|&index| entries[index].used < opened);
        idle.min_by_key(|&index| entries[index].used)
    })?;
    entries[index] = Entry {
        content: Some(wanted),
        used: clock,
    };
    Some((index as u8, is_new))
}

impl Held {
    pub fn new(info: &BuildInfo) -> Self {
        let empty = |_| Entry {
            content: None,
            used: 0,
        };
        Self {
            moduli: (0..info.moduli_slots).map(empty).collect(),
            constants: (0..info.constants)
                .map(|_| Entry {
                    content: None,
                    used: 0,
                })
                .collect(),
            conversions: (0..info.rns.map_or(0, |unit| unit.conversions))
                .map(|_| Entry {
                    content: None,
                    used: 0,
                })
                .collect(),
            entries: vec![(0, 0); info.rns.map_or(0, |unit| unit.conversions as usize)],
            automorphisms: vec![UNUSED; info.moves as usize],
            digits: vec![UNUSED; info.moves as usize],
            all_entries: info.rns.map_or(0, |unit| unit.entries),
            tables: vec![None; info.moduli_slots as usize],
            is_shared: info.twiddle_tables == 1,
            clock: 1,
            opened: 1,
        }
    }

    /// The open submission has ended.
    pub fn submitted(&mut self) {
        self.clock += 1;
        self.opened = self.clock;
    }

    /// The index of these moduli; `None` if the open submission has used all.
    pub fn modulus(&mut self, moduli: &[u128], open: &mut Submission) -> Option<u8> {
        let (index, is_new) = find(&mut self.moduli, moduli.to_vec(), self.clock, self.opened)?;
        if is_new {
            self.tables[usize::from(index)] = None;
            open.moduli.push((index, moduli.to_vec()));
        }
        Some(index)
    }

    /// The index of these constants; `None` if the open submission has used all.
    pub fn constant(
        &mut self,
        constants: &[u128],
        section: &Section,
        open: &mut Submission,
    ) -> Option<u8> {
        let wanted = (constants.to_vec(), section.moduli.clone());
        let (index, is_new) = find(&mut self.constants, wanted, self.clock, self.opened)?;
        if is_new {
            open.constants
                .push((index, constants.to_vec(), section.moduli.clone()));
        }
        Some(index)
    }

    /// The number of a base conversion; `None` if the open submission has used all, or all entries of their tables.
    pub fn conversion(&mut self, spec: &Spec, open: &mut Submission) -> Option<u8> {
        let known = |entry: &Entry<Spec>| entry.content.as_ref() == Some(spec);
        if let Some(number) = self.conversions.iter().position(known) {
            self.conversions[number].used = self.clock;
            return Some(number as u8);
        }
        loop {
            let empty = (self.conversions.iter()).position(|entry| entry.content.is_none());
            let base = free_entries(&self.entries, spec.entries(), self.all_entries);
            if let (Some(number), Some(base)) = (empty, base) {
                self.entries[number] = (base, spec.entries());
                self.conversions[number] = Entry {
                    content: Some(spec.clone()),
                    used: self.clock,
                };
                open.conversions.push((number as u8, Some(spec.clone())));
                return Some(number as u8);
            }
            let idle = |number: &usize| {
                let entry = &self.conversions[*number];
                entry.content.is_some() && entry.used < self.opened
            };
            let oldest = (0..self.conversions.len()).filter(idle);
            let oldest = oldest.min_by_key(|&number| self.conversions[number].used)?;
            self.conversions[oldest].content = None;
            self.entries[oldest] = (0, 0);
            open.conversions.push((oldest as u8, None));
        }
    }

    /// The number of an automorphism or a digit; `None` if the open submission has used all.
    pub fn moved(&mut self, moved: &Move, open: &mut Submission) -> Option<u8> {
        let table = match moved {
            Move::Automorphism(_) => &mut self.automorphisms,
            Move::Digit(_) => &mut self.digits,
        };
        let (number, is_new) = find(table, moved.clone(), self.clock, self.opened)?;
        if is_new {
            open.moves.push((number, moved.clone()));
        }
        Some(number)
    }

    pub fn has_table(&self, index: u8, table: &Table) -> bool {
        self.tables[usize::from(index)].as_ref() == Some(table)
    }

    pub fn load_table(&mut self, index: u8, table: Table) {
        if self.is_shared {
            self.tables.fill(None);
        }
        self.tables[usize::from(index)] = Some(table);
    }
}
