// SPDX-License-Identifier: Apache-2.0
//! The inner rotations of a linear transform modulo one prime, their products with the factors, and the sums.

use super::steps::{Steps, index_of};
use super::{GiantStep, Rotation, TransformSource};
use crate::keyswitch::inner_product::{Permuted, PostProcessing, Products, dot_pair, most_terms};
use crate::keyswitch::level::KeySwitchLevel;
use crate::keyswitch::per_prime::{Lifted, PerPrime, Place};
use crate::keyswitch::request::{Source, SwitchRequest};
use crate::keyswitch::work_space::Buffers;
use rns::Scratch;
use std::ops::Range;
use zq::Word;

/// Words of rotations that are summed a tile at a time: they stay in the second cache level while factors pass.
const TILE_WORDS: usize = 1 << 15;

/// Shortest tile: whole blocks of every kernel.
const MIN_TILE: usize = 64;

/// The work modulo one prime.
pub(super) struct Inner<'a, W: Word> {
    pub level: &'a KeySwitchLevel<W>,
    pub j: usize,
    pub source: TransformSource<'a, W>,
    pub steps: &'a Steps<'a, W>,
}

impl<W: Word> Inner<'_, W> {
    /// The sums of all giant steps to their rows of `out`, the last of which holds zeros.
    pub fn run<'b>(
        &self,
        mut out: Vec<[&'b mut [W]; 2]>,
        lifted: Lifted<'_, W>,
        buffers: &'b mut Buffers<W>,
    ) {
        let (n, last) = (self.level.q().n(), out.len() - 1);
        let babies = self.steps.babies.len();
        let tile = (TILE_WORDS / (2 * (babies + 1))).next_power_of_two();
        let tile = tile.clamp(MIN_TILE.min(n), n);
        let Buffers {
            rotations,
            transforms,
            ..
        } = buffers;
        // A tile between rows, or the tiles of all would share few sets of the caches.
        let values = rotations.take(2 * (babies + 1) * (n + tile));
        out.extend(values.chunks_exact_mut(2 * (n + tile)).map(|pair| {
            let (first, second) = pair.split_at_mut(n + tile);
            [&mut first[..n], &mut second[..n]]
        }));
        self.rotate((&mut out, last), lifted, transforms);
        let (sums, values) = out.split_at_mut(last + 1);
        let values: Vec<[&[W]; 2]> = values.iter().map(|pair| [&*pair[0], &*pair[1]]).collect();
        for start in (0..n).step_by(tile) {
            for (giant, number) in self.steps.giants.iter().zip(&self.steps.rotated) {
                let range = start..start + tile;
                let rows = sums[number.unwrap_or(last)].each_mut();
                let rows = rows.map(|row| &mut row[range.clone()]);
                self.add_products(giant, &values, range, rows);
            }
        }
    }

    /// The key switches of the inner rotations, not divided. Their rows follow those of the sums, of which `last` is
    /// the last, then come those of the ciphertext itself; terms without a factor go to their sums at once.
    fn rotate(
        &self,
        (out, last): (&mut [[&mut [W]; 2]], usize),
        lifted: Lifted<'_, W>,
        transforms: &mut Scratch<W>,
    ) {
        let babies = self.steps.babies.iter().enumerate();
        let mut rotations: Vec<(SwitchRequest<'_, W>, Place)> = babies
            .map(|(i, rotation)| {
                let (rows, onto) = (last + 1 + i, false);
                (self.request(*rotation), Place { rows, onto })
            })
            .collect();
        for (giant, number) in self.steps.giants.iter().zip(&self.steps.rotated) {
            let rows = number.unwrap_or(last);
            let plain = || giant.terms.iter().filter(|term| term.factor.is_none());
            if number.is_some() && plain().next().is_some() {
                out[rows].iter_mut().for_each(|row| row.fill(W::ZERO));
            }
            for term in plain() {
                match term.rotation {
                    Some(rotation) => {
                        let place = Place { rows, onto: true };
                        rotations.push((self.request(rotation), place));
                    }
                    None => self.add_source(&mut out[rows]),
                }
            }
        }
        let own = &mut out[last + 1 + self.steps.babies.len()];
        own.iter_mut().for_each(|row| row.fill(W::ZERO));
        self.add_source(own);
        let (requests, places): (Vec<_>, Vec<_>) = rotations.into_iter().unzip();
        if requests.is_empty() {
            return;
        }
        let per_prime = PerPrime {
            level: self.level,
            division: &self.level.undivided,
            j: self.j,
            sources: &[Source {
                coefficients: self.source.coefficients,
                values: Some(self.source.values[1]),
            }],
            requests: &requests,
        };
        let work = transforms.take(PerPrime::buffer_len(self.level, &[]));
        per_prime.run_to((work, lifted), out, &places);
    }

    fn request<'b>(&'b self, (auto, key): Rotation<'b, W>) -> SwitchRequest<'b, W> {
        SwitchRequest {
            source: 0,
            key,
            automorphism: Some(auto),
            add: [Some(self.source.values[0]), None],
        }
    }

    /// Adds P times the ciphertext, which is 0 modulo the special primes.
    fn add_source(&self, rows: &mut [&mut [W]; 2]) {
        let (n, m) = (self.level.q().n(), self.level.qp().modulus(self.j));
        let Some(factor) = self.level.undivided.addend.get(self.j) else {
            return;
        };
        for (row, values) in rows.iter_mut().zip(self.source.values) {
            let x = &values[self.j * n..][..n];
            match factor {
                Some(factor) => m.shoup_mul_add_assign(row, x, *factor),
                None => m.add_assign(row, x),
            }
        }
    }

    /// Adds the products of one tile of a sum to both rows. The rows of a sum that is rotated hold something only if it
    /// has terms without factors.
    fn add_products(
        &self,
        giant: &GiantStep<'_, W>,
        values: &[[&[W]; 2]],
        tile: Range<usize>,
        [first, second]: [&mut [W]; 2],
    ) {
        let m = self.level.qp().modulus(self.j);
        let special = self.j >= self.level.q().len();
        let with_factor = giant.terms.iter().filter_map(|term| {
            let at = match term.rotation {
                Some(rotation) => index_of(&self.steps.babies, rotation)?,
                None if special => return None,
                None => values.len() - 1,
            };
            let [a, b] = values[at].map(|row| &row[tile.clone()]);
            Some((&term.factor?.limb(self.j)[tile.clone()], a, b))
        });
        let rows: Vec<_> = with_factor.collect();
        let mut onto = giant.rotation.is_none() || giant.terms.iter().any(|t| t.factor.is_none());
        if rows.is_empty() && !onto {
            first.fill(W::ZERO);
            second.fill(W::ZERO);
        }
        for rows in rows.chunks(most_terms(m)) {
            let factors: Vec<&[W]> = rows.iter().map(|row| row.0).collect();
            let firsts: Vec<&[W]> = rows.iter().map(|row| row.1).collect();
            let seconds: Vec<&[W]> = rows.iter().map(|row| row.2).collect();
            let products = Products {
                digits: &factors,
                bound: 1,
                keys: [&firsts, &seconds],
                permuted: Permuted::default(),
                streamed: true,
            };
            let finish = PostProcessing {
                divide: None,
                add: None,
                onto,
            };
            dot_pair(m, products, [finish; 2], [&mut *first, &mut *second]);
            onto = true;
        }
    }
}
