// SPDX-License-Identifier: Apache-2.0
//! Moduli in lanes, and the factor of the ring that a section works in.

use isa::BuildInfo;
use model::Lane;
use ntt::NttPlan;
use polynomial::{Graph, Limb};
use zq::{Modulus, Word};

use super::half::Half;
use crate::OffloadError;

/// Moduli worked on in lockstep, in one ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The modulus of each lane; a last section repeats its last one.
    pub moduli: Vec<u128>,
    /// The root of each lane's transform.
    pub roots: Vec<u128>,
    /// The number of each lane's modulus in the graph.
    pub numbers: Vec<u16>,
    /// The factor of x^n + 1, where the build's degree is half the ring's.
    pub half: Option<Half>,
}

/// Which words of a limb a table or a section works on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Per lane.
    pub moduli: Vec<u128>,
    /// Per lane: a program may have another root than the smallest.
    pub roots: Vec<u128>,
    /// Degree of the whole ring.
    pub n: usize,
    /// Which half of a ring of twice the degree.
    pub right: Option<bool>,
}

/// The sections of a graph and where each modulus stands in them.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Degree of the polynomials in slots.
    pub n: usize,
    /// All sections; those of one set of moduli follow each other.
    pub sections: Vec<Section>,
    /// Sections for each set of moduli: 1, or 2 for halves.
    pub halves: usize,
    /// The set and lane of each modulus.
    places: Vec<(usize, usize)>,
    sets: Vec<Set>,
}

/// Moduli that are worked on in lockstep.
#[derive(Clone, Debug)]
struct Set {
    /// Lanes from a modulus to its second place, if the set stands twice in the lanes.
    mirror: Option<usize>,
    /// The first set with the same moduli: itself unless its moduli are repeated under further numbers.
    origin: usize,
}

impl Layout {
    /// The sections for a build.
    pub fn new<W: Word>(info: &BuildInfo, graph: &Graph<W>) -> Self {
        let lanes = info.lanes as usize;
        let split = graph.n() > info.n_max();
        let halves: &[Option<Half>] = if split {
            &[Some(Half::Left), Some(Half::Right)]
        } else {
            &[None]
        };
        let mut layout = Self {
            n: if split { graph.n() / 2 } else { graph.n() },
            sections: Vec::new(),
            halves: halves.len(),
            places: vec![(0, 0); graph.plans().len()],
            sets: Vec::new(),
        };
        let families = graph.families().iter();
        for numbers in families.flat_map(|family| family.chunks(lanes)) {
            let mirror = layout.add_set(graph, numbers, lanes);
            let numbers = padded(info, graph, numbers, mirror.is_some());
            let moduli = numbers.iter().map(|&m| value(graph, m)).collect();
            let plan = |m: &u16| &graph.plans()[usize::from(*m)];
            let roots = numbers.iter().map(|m| plan(m).psi().to_u128());
            let roots: Vec<u128> = roots.collect();
            let section = |&half: &Option<Half>| Section {
                moduli: Vec::clone(&moduli),
                roots: roots.clone(),
                numbers: numbers.clone(),
                half,
            };
            layout.sections.extend(halves.iter().map(section));
        }
        layout
    }

    /// Adds the set of these moduli; returns its mirror.
    fn add_set<W: Word>(
        &mut self,
        graph: &Graph<W>,
        numbers: &[u16],
        lanes: usize,
    ) -> Option<usize> {
        let set = self.sets.len();
        for (lane, &number) in numbers.iter().enumerate() {
            self.places[usize::from(number)] = (set, lane);
        }
        let first = numbers[0];
        let same = |m: &u16| value(graph, *m) == value(graph, first);
        let origin = (0..=first).find(same).unwrap_or(first);
        let count = numbers.len();
        let mirror = (graph.is_mirrored() && 2 * count <= lanes).then_some(count);
        self.sets.push(Set {
            mirror,
            origin: self.place(origin).0,
        });
        mirror
    }

    /// The first section with the moduli and the half of a section: itself unless its moduli are repeated.
    pub fn origin(&self, section: usize) -> usize {
        self.sets[section / self.halves].origin * self.halves + section % self.halves
    }

    /// The set and lane of a modulus.
    pub fn place(&self, modulus: u16) -> (usize, usize) {
        self.places[usize::from(modulus)]
    }

    /// The set and lane of a limb: a modulus that a result repeats is in the lanes that mirror the first ones.
    pub fn home<W: Word>(&self, graph: &Graph<W>, limb: Limb) -> (usize, usize) {
        let (set, lane) = self.place(graph.modulus_of(limb));
        (set, lane + self.mirror(set, graph.side_of(limb)))
    }

    /// The lanes of a set from a modulus to where it stands `side` times more.
    fn mirror(&self, set: usize, side: usize) -> usize {
        side * self.sets[set].mirror.unwrap_or(0)
    }

    /// For each lane of a set the row of an operation's result that it works on.
    pub fn rows(&self, set: usize, moduli: &[u16], lanes: usize) -> Vec<Option<usize>> {
        let mut rows = vec![None; lanes];
        for (row, modulus) in moduli.iter().enumerate() {
            let (place, lane) = self.place(*modulus);
            if place == set {
                let side = moduli[..row].iter().filter(|m| *m == modulus).count();
                rows[lane + self.mirror(set, side)] = Some(row);
            }
        }
        rows
    }

    /// The table of a section's transforms: the mirror image of one half's twiddles lies in the other's table.
    pub fn table(&self, section: usize, inverse: bool) -> Table {
        let section = &self.sections[section];
        Table {
            moduli: section.moduli.clone(),
            roots: section.roots.clone(),
            n: self.n * self.halves,
            right: section.half.map(|half| (half == Half::Right) != inverse),
        }
    }
}

fn value<W: Word>(graph: &Graph<W>, modulus: u16) -> u128 {
    graph.plans()[usize::from(modulus)]
        .modulus()
        .value()
        .to_u128()
}

/// The modulus of each lane: those of a set, twice if it is mirrored, then the last one again. A modulus that the build
/// cannot take is replaced by another: no operation uses its lane.
fn padded<W: Word>(
    info: &BuildInfo,
    graph: &Graph<W>,
    numbers: &[u16],
    is_mirrored: bool,
) -> Vec<u16> {
    let count = numbers.len();
    let all = count * if is_mirrored { 2 } else { 1 };
    let fit = |m: u16| fits(info, value(graph, m));
    let spare = numbers.iter().copied().find(|&m| fit(m));
    let chosen = |lane: usize| {
        let number = numbers[lane.min(all - 1) % count];
        spare.filter(|_| !fit(number)).unwrap_or(number)
    };
    (0..info.lanes as usize).map(chosen).collect()
}

/// The words of a table, `[lane][n]`.
pub fn words<W: Word>(
    info: &BuildInfo,
    graph: &Graph<W>,
    section: &Section,
    table: &Table,
) -> Result<Vec<Vec<u128>>, OffloadError> {
    let lane = |(number, &value): (&u16, &u128)| {
        let plan: &NttPlan<W> = &graph.plans()[usize::from(*number)];
        let lane = Lane::new(info, modulus(value)?);
        let psi: Vec<u128> = plan.psi_rev().iter().map(|w| w.to_u128()).collect();
        Ok(match table.right {
            None => {
                let factor = lane.factor();
                psi.iter().map(|&w| lane.modulus.mul(w, factor)).collect()
            }
            Some(false) => Half::Left.table(&lane, &psi),
            Some(true) => Half::Right.table(&lane, &psi),
        })
    };
    section
        .numbers
        .iter()
        .zip(&section.moduli)
        .map(lane)
        .collect()
}

/// Arithmetic modulo a lane's modulus.
pub fn modulus(value: u128) -> Result<Modulus<u128>, OffloadError> {
    Modulus::new(value).map_err(|error| OffloadError::Shape {
        what: error.to_string(),
    })
}

/// z with x^n + 1 = (x^(n/2) − z)(x^(n/2) + z), for the modulus of a limb.
fn root<W: Word>(graph: &Graph<W>, number: u16) -> (Modulus<W>, W) {
    let plan = &graph.plans()[usize::from(number)];
    (*plan.modulus(), plan.psi_rev()[1])
}

/// Coefficients modulo x^n + 1 to those modulo one factor.
pub fn split<W: Word>(graph: &Graph<W>, number: u16, half: Half, words: &[W]) -> Vec<W> {
    let (q, z) = root(graph, number);
    let z = q.shoup(if half == Half::Left { z } else { q.neg(z) });
    let (low, high) = words.split_at(words.len() / 2);
    low.iter()
        .zip(high)
        .map(|(&l, &h)| q.add(l, q.mul_shoup(h, z)))
        .collect()
}

/// Coefficients modulo both factors, left then right, to those modulo x^n + 1.
pub fn join<W: Word>(graph: &Graph<W>, number: u16, [left, right]: [&[W]; 2]) -> Vec<W> {
    let (q, z) = root(graph, number);
    let inverse = |x| q.inv_vt(x).expect("a unit modulo a prime");
    let half = inverse(q.reduce_u64(2));
    let over_z = q.shoup(q.mul(half, inverse(z)));
    let half = q.shoup(half);
    let pairs = || left.iter().zip(right);
    let low = pairs().map(|(&l, &r)| q.mul_shoup(q.add(l, r), half));
    low.chain(pairs().map(|(&l, &r)| q.mul_shoup(q.sub(l, r), over_z)))
        .collect()
}

/// Whether a build works at this degree, whole or in halves.
pub fn fits_degree(info: &BuildInfo, n: usize) -> bool {
    let least = 8.max(4 * info.butterflies as usize);
    (least..=info.n_max()).contains(&n) || n == 2 * info.n_max() && n / 2 >= least
}

/// Whether a build works modulo a prime.
pub fn fits(info: &BuildInfo, q: u128) -> bool {
    let bits = 128 - q.leading_zeros();
    let suits = info.montgomery_bits == 0 || q % (1 << info.montgomery_bits) == 1;
    (info.modulus_bits_min..=info.word_bits).contains(&bits) && suits
}
