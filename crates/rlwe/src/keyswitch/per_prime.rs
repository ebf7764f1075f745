// SPDX-License-Identifier: Apache-2.0
//! One prime's share of a key switch.
//!
//! The transforms of the digits are done in two steps ([`ntt::Form`]): first the outer stages of all digits, lifted as
//! they are read; then, block by block, the other stages of every digit, the products with the keys' block and the
//! division by P. A block of all digits fits the second cache level, so results meet the keys where they were made, and
//! the keys are prefetched while the transforms go on.

use super::division::Division;
use super::inner_product::{Add, Divide, Permuted, PostProcessing, Products, dot_pair};
use super::level::KeySwitchLevel;
use super::request::{Source, SwitchRequest};
use super::row::{Block, Row, form_for, outer, outer_len};
use crate::Threads;
use crate::keys::KeySwitchKey;
use ntt::NttPlan;
use rns::{Automorphism, CentredLift, Eval, RnsPoly};
use zq::{AlignedVec, Word};

/// The work modulo one prime of Q·P.
pub(super) struct PerPrime<'a, W: Word> {
    pub level: &'a KeySwitchLevel<W>,
    pub division: &'a Division<W>,
    /// Index of the prime.
    pub j: usize,
    pub sources: &'a [Source<'a, W>],
    pub requests: &'a [SwitchRequest<'a, W>],
}

/// The outer stages modulo one prime of the digits of several other primes: a row for each, source by source.
pub(super) type Lifted<'a, W> = Vec<&'a mut [W]>;

/// The rows of all components modulo each of their primes; limbs have `n` words.
pub(super) fn by_prime<W: Word>(
    components: &mut [AlignedVec<W>],
    (primes, n): (usize, usize),
) -> Vec<Vec<&mut [W]>> {
    let mut limbs: Vec<_> = components
        .iter_mut()
        .map(|component| component.chunks_exact_mut(n))
        .collect();
    let rows = (0..primes).map(|_| limbs.iter_mut().filter_map(Iterator::next).collect());
    rows.collect()
}

/// Destination of a request's sums: number of its two rows, and whether to accumulate.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub rows: usize,
    pub onto: bool,
}

/// Corrections before the division: for each component of every request a polynomial in coefficient form.
pub(super) enum Corrections<'a, W: Word> {
    /// Nothing is divided.
    None,
    /// Residues of the only prime that is divided away.
    Dropped(&'a [W], CentredLift<W>),
    /// Residues of this prime after the outer stages.
    Outer(Lifted<'a, W>),
}

/// The uniform components modulo one prime, a row for each digit, of the keys that do not keep them.
struct Grown<'a, W: Word>(Vec<(&'a KeySwitchKey<W>, AlignedVec<W>)>);

impl<W: Word> Grown<'_, W> {
    fn of(&self, key: &KeySwitchKey<W>) -> &[W] {
        let mut all = self.0.iter();
        all.find(|(known, _)| std::ptr::eq(*known, key))
            .map_or(&[], |(_, rows)| rows)
    }
}

/// For both components the keys of all digits.
type BlockKeys<'a, W> = [Vec<&'a [W]>; 2];

/// One request, and its destination.
struct Output<'a, W: Word> {
    index: usize,
    request: &'a SwitchRequest<'a, W>,
    components: [&'a mut [W]; 2],
}

/// One block of one request: destination of its components, and their corrections.
struct Target<'a, W: Word> {
    request: &'a SwitchRequest<'a, W>,
    /// Number of the block of the results; that of the digits differs under an automorphism.
    block: usize,
    components: [&'a mut [W]; 2],
    corrections: Option<[Block<'a, W>; 2]>,
    /// Whether the results are added to what the components hold.
    onto: bool,
}

impl<'a, W: Word> Target<'a, W> {
    fn permuted(&self) -> Permuted<'a> {
        let sources = self.request.automorphism.map(Automorphism::eval_sources);
        Permuted::block(sources, self.block, self.components[0].len())
    }
}

impl<'a, W: Word> PerPrime<'a, W> {
    fn plan(&self) -> &'a NttPlan<W> {
        self.level.qp().plan(self.j)
    }

    /// Words of buffers that [`PerPrime::run`] needs: one source's digits, two corrections for each of its requests.
    pub fn buffer_len(level: &KeySwitchLevel<W>, requests: &[SwitchRequest<'_, W>]) -> usize {
        let of_source = |s: usize| {
            requests
                .iter()
                .filter(|request| request.source == s)
                .count()
        };
        let most = requests
            .iter()
            .map(|request| of_source(request.source))
            .max();
        let rows = level.digit_count() + 2 * most.unwrap_or(0);
        rows * outer_len(level.qp())
    }

    /// `out[2·request + component]` = sum of products, divided if there are corrections, plus what the request adds.
    pub fn run(
        &self,
        mut corrections: Corrections<'_, W>,
        (buffers, lifted): (&mut [W], Lifted<'_, W>),
        out: Vec<&mut [W]>,
        threads: &Threads,
    ) {
        let grown = self.grown(threads);
        let digits = self.level.digit_count() * self.plan().outer_len();
        let (digits, fixes) = buffers.split_at_mut(digits);
        let (mut out, mut lifted) = (out.into_iter(), lifted.into_iter());
        let mut outputs: Vec<_> = (self.requests.iter().enumerate())
            .map_while(|(index, request)| {
                let components = [out.next()?, out.next()?];
                Some(Output {
                    index,
                    request,
                    components,
                })
            })
            .collect();
        for (s, source) in self.sources.iter().enumerate() {
            let outputs: Vec<_> = outputs.extract_if(.., |o| o.request.source == s).collect();
            let fixes = self.corrections(&mut corrections, &outputs, fixes, threads);
            let rows = self.digits(source, (digits, &mut lifted), threads);
            self.blocks(rows, outputs, fixes, &grown, threads);
        }
    }

    /// The sums of products of every request, not divided, plus what it adds, to its place among the pairs of rows
    /// `out`: several requests may share one.
    pub fn run_to(
        &self,
        (buffers, lifted): (&mut [W], Lifted<'_, W>),
        out: &mut [[&mut [W]; 2]],
        places: &[Place],
    ) {
        let (plan, blocks) = (self.plan(), self.plan().blocks());
        let (len, grown) = (plan.n() / blocks, self.grown(&Threads::ONE));
        let digits = self.level.digit_count() * plan.outer_len();
        let mut lifted = lifted.into_iter();
        for (s, source) in self.sources.iter().enumerate() {
            let outputs = self.requests.iter().zip(places);
            let outputs: Vec<_> = outputs.filter(|(request, _)| request.source == s).collect();
            let rows = self.digits(source, (&mut buffers[..digits], &mut lifted), &Threads::ONE);
            let mut rows: Vec<_> = rows.into_iter().map(|row| row.blocks(plan)).collect();
            for from in 0..blocks {
                let to = |request| (0..blocks).find(|to| block_from(request, *to, len) == from);
                let mut first = outputs.first().and_then(|(request, _)| {
                    let keys = self.block_keys(request, &grown, to(request)?, len);
                    Some(keys)
                });
                let digits = rows.iter_mut().filter_map(Iterator::next).collect();
                let (digits, bound) = self.finish(from, digits, first.as_ref());
                let digits: Vec<&[W]> = digits.iter().map(Block::words).collect();
                for (request, place) in &outputs {
                    let Some(block) = to(request) else { continue };
                    let keys = (first.take())
                        .unwrap_or_else(|| self.block_keys(request, &grown, block, len));
                    let components = out[place.rows].each_mut();
                    let target = Target {
                        request,
                        block,
                        components: components
                            .map(|component| &mut component[block * len..][..len]),
                        corrections: None,
                        onto: place.onto,
                    };
                    self.target(from, (&digits, bound), &keys, target);
                }
            }
        }
    }

    /// The outer stages of one source's digits; those of several primes without this one are in `lifted`, in order.
    fn digits<'b, 'l: 'b>(
        &self,
        source: &Source<'b, W>,
        (buffers, lifted): (&'b mut [W], &mut impl Iterator<Item = &'l mut [W]>),
        threads: &Threads,
    ) -> Vec<Row<'b, W>>
    where
        'a: 'b,
    {
        let (plan, j, level) = (self.plan(), self.j, self.level);
        let n = plan.n();
        let mut rows: Vec<Option<Row<'b, W>>> = Vec::new();
        rows.resize_with(level.digit_count(), || None);
        let digits = level.digits.iter().zip(&mut rows);
        let work = digits.zip(buffers.chunks_exact_mut(plan.outer_len()));
        let work: Vec<_> = work
            .filter_map(|((digit, row), buffer)| {
                if digit.own.len() > 1 && !digit.own.contains(&j) {
                    *row = lifted
                        .next()
                        .map(|row| Row::Outer(&mut row[..plan.outer_len()]));
                    return None;
                }
                Some((digit, row, buffer))
            })
            .collect();
        threads.for_each(work.into_iter(), |(digit, row, buffer)| {
            let coefficients = |i: usize| &source.coefficients[i * n..][..n];
            *row = Some(match (digit.own.contains(&j), source.values) {
                (true, Some(values)) => Row::Finished(&values[j * n..][..n]),
                (true, None) => outer(plan, coefficients(j), None, buffer),
                (false, _) => {
                    let start = digit.own.start;
                    let lift = CentredLift::new(level.q().modulus(start), plan.modulus());
                    outer(plan, coefficients(start), Some(&lift), buffer)
                }
            });
        });
        rows.into_iter().flatten().collect()
    }

    /// The outer stages of the corrections of these outputs, two for each, or none.
    fn corrections<'b, 'c: 'b>(
        &self,
        corrections: &mut Corrections<'c, W>,
        outputs: &[Output<'_, W>],
        buffers: &'b mut [W],
        threads: &Threads,
    ) -> Vec<Row<'b, W>> {
        let (plan, n) = (self.plan(), self.plan().n());
        let components = outputs.iter().flat_map(|o| [2 * o.index, 2 * o.index + 1]);
        match corrections {
            Corrections::None => Vec::new(),
            Corrections::Outer(rows) => components
                .map(|k| Row::Outer(&mut std::mem::take(&mut rows[k])[..plan.outer_len()]))
                .collect(),
            Corrections::Dropped(limbs, lift) => {
                let mut rows: Vec<Option<Row<'b, W>>> = Vec::new();
                rows.resize_with(2 * outputs.len(), || None);
                let (limbs, lift): (&[W], &CentredLift<W>) = (limbs, lift);
                let buffers = buffers.chunks_exact_mut(plan.outer_len());
                let work = components.zip(buffers).zip(&mut rows);
                threads.for_each(work, |((k, buffer), row)| {
                    *row = Some(outer(plan, &limbs[k * n..][..n], Some(lift), buffer));
                });
                rows.into_iter().flatten().collect()
            }
        }
    }

    /// Block by block: the other stages, the sums, the division.
    fn blocks<'b>(
        &self,
        rows: Vec<Row<'b, W>>,
        outputs: Vec<Output<'b, W>>,
        fixes: Vec<Row<'b, W>>,
        grown: &'b Grown<'b, W>,
        threads: &Threads,
    ) {
        let plan = self.plan();
        let (blocks, len) = (plan.blocks(), plan.n() / plan.blocks());
        let mut rows: Vec<_> = rows.into_iter().map(|row| row.blocks(plan)).collect();
        let digits = (0..blocks).map(|_| rows.iter_mut().filter_map(Iterator::next).collect());
        let mut targets: Vec<Vec<Target<'b, W>>> = (0..blocks)
            .map(|_| Vec::with_capacity(outputs.len()))
            .collect();
        let mut fixes = fixes.into_iter().map(|row| row.blocks(plan));
        for Output {
            request,
            components: [first, second],
            ..
        } in outputs
        {
            let mut fixes = fixes.next().zip(fixes.next());
            let components = first
                .chunks_exact_mut(len)
                .zip(second.chunks_exact_mut(len));
            for (block, (a, b)) in components.enumerate() {
                let corrections = fixes
                    .as_mut()
                    .and_then(|(a, b)| Some([a.next()?, b.next()?]));
                targets[block_from(request, block, len)].push(Target {
                    request,
                    block,
                    components: [a, b],
                    corrections,
                    onto: false,
                });
            }
        }
        let work = digits.zip(targets).enumerate();
        threads.for_each(work, |(block, (digits, targets))| {
            self.block(block, digits, targets, grown);
        });
    }

    fn block<'b>(
        &self,
        block: usize,
        digits: Vec<Block<'_, W>>,
        targets: Vec<Target<'b, W>>,
        grown: &'b Grown<'b, W>,
    ) {
        let keys =
            |t: &Target<'b, W>| self.block_keys(t.request, grown, t.block, t.components[0].len());
        let mut first = targets.first().map(keys);
        let (digits, bound) = self.finish(block, digits, first.as_ref());
        let digits: Vec<&[W]> = digits.iter().map(Block::words).collect();
        for target in targets {
            let keys = first.take().unwrap_or_else(|| keys(&target));
            self.target(block, (&digits, bound), &keys, target);
        }
    }

    /// The other stages of block `block` of the digits, while `keys`, and the digits that come next, are prefetched;
    /// the multiple of q that the results are below.
    fn finish<'b>(
        &self,
        block: usize,
        mut digits: Vec<Block<'b, W>>,
        keys: Option<&BlockKeys<'_, W>>,
    ) -> (Vec<Block<'b, W>>, u64) {
        let plan = self.plan();
        let (form, bound) = form_for(plan, digits.len());
        for d in 0..digits.len() {
            let (now, later) = digits.split_at_mut(d + 1);
            let ahead = later.first().map_or(&[][..], |next| next.words());
            let prefetch = keys.map_or([&[][..]; 3], |[a, b]| [a[d], b[d], ahead]);
            now[d].finish(plan, block, form, prefetch);
        }
        (digits, bound)
    }

    /// The sums of one block of one request, divided, from block `from` of the digits.
    fn target(
        &self,
        from: usize,
        (digits, bound): (&[&[W]], u64),
        keys: &BlockKeys<'_, W>,
        target: Target<'_, W>,
    ) {
        let plan = self.plan();
        let products = Products {
            digits,
            bound,
            keys: [&keys[0], &keys[1]],
            permuted: target.permuted(),
            streamed: false,
        };
        let Target {
            request,
            block,
            components,
            mut corrections,
            onto,
        } = target;
        let (form, bound) = form_for(plan, digits.len());
        for correction in corrections.iter_mut().flatten() {
            correction.finish(plan, block, form, [&[]; 3]);
        }
        let start = self.j * plan.n() + from * components[0].len();
        let finish = [0, 1].map(|component| {
            // The addend may have data primes only.
            let add = request.add[component].filter(|limbs| start < limbs.len());
            PostProcessing {
                divide: corrections.as_ref().map(|corrections| Divide {
                    correction: corrections[component].words(),
                    bound: corrections[component].bound(bound),
                    factor: self.division.inverses[self.j],
                }),
                add: add.map(|limbs| Add {
                    words: &limbs[start..][..components[0].len()],
                    factor: self.division.addend.get(self.j).copied().flatten(),
                }),
                onto,
            }
        });
        dot_pair(plan.modulus(), products, finish, components);
    }

    /// Block `block`, of `len` words, of the limbs of all digits' keys modulo this prime.
    fn block_keys<'b>(
        &self,
        request: &SwitchRequest<'b, W>,
        grown: &'b Grown<'_, W>,
        block: usize,
        len: usize,
    ) -> BlockKeys<'b, W> {
        let l = self.level.q().len();
        let limb = if self.j < l {
            self.j
        } else {
            request.key.limbs() + self.j - l
        };
        let (digits, range) = (self.level.digit_count(), block * len..(block + 1) * len);
        let of = |polys: &'b [RnsPoly<W, Eval>]| {
            let limbs = polys[..digits].iter().map(|poly| poly.limb(limb));
            limbs.map(|limb| &limb[range.clone()]).collect()
        };
        let uniform = match request.key.uniform() {
            Some(kept) => of(kept),
            None => {
                let rows = grown.of(request.key).chunks_exact(self.plan().n());
                rows.map(|row| &row[range.clone()]).collect()
            }
        };
        [of(request.key.masked()), uniform]
    }

    fn grown(&self, threads: &Threads) -> Grown<'a, W> {
        let mut keys: Vec<&'a KeySwitchKey<W>> = Vec::new();
        for request in self.requests {
            let known = keys.iter().any(|key| std::ptr::eq(*key, request.key));
            if request.key.uniform().is_none() && !known {
                keys.push(request.key);
            }
        }
        let n = self.plan().n();
        let words = self.level.digit_count() * n;
        let mut rows: Vec<_> = keys
            .into_iter()
            .map(|key| (key, AlignedVec::for_overwrite(words)))
            .collect();
        let (modulus, index) = (self.plan().modulus(), self.level.index_in_set(self.j));
        threads.for_each(rows.iter_mut(), |(key, rows)| {
            key.grow(modulus, index, rows, n);
        });
        Grown(rows)
    }
}

/// The block of the source that block `to` of a request's results comes from: an automorphism maps blocks to blocks.
fn block_from<W: Word>(request: &SwitchRequest<'_, W>, to: usize, len: usize) -> usize {
    request
        .automorphism
        .map_or(to, |a| a.eval_sources()[to * len] as usize / len)
}
