// SPDX-License-Identifier: Apache-2.0
//! Index maps: the element that each position takes its value from, kept as arithmetic progressions.
//!
//! Packings and gathers are regular (rows, diagonals, repetitions), so a map of a million positions is a few runs. The
//! runs are canonical: from the left, each is as long as it can be. A map has one form, hence a program has one hash.

use crate::Error;

/// Most positions of one map, and one more than the largest element number.
pub const MAX_ELEMENTS: usize = 1 << 30;

/// `length` positions in a row that take elements `first`, `first + step`, …; `None`: they take zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first position's element.
    pub first: Option<u32>,
    /// From one position's element to the next one's; 0 for a single position and where there is no element.
    pub step: i32,
    /// Number of positions, at least 1.
    pub length: u32,
}

impl Run {
    /// The element at `offset` of this run.
    pub fn element(&self, offset: u32) -> Option<u32> {
        self.at(i64::from(offset))
            .and_then(|element| u32::try_from(element).ok())
    }

    /// The element that continues the progression at `offset`, in or out of range.
    fn at(&self, offset: i64) -> Option<i64> {
        self.first
            .map(|first| i64::from(first) + i64::from(self.step) * offset)
    }

    /// Whether a map whose next position takes `next` would have made this run longer.
    fn swallows(&self, next: Option<u32>) -> bool {
        match (self.first, next) {
            (None, None) => true,
            (Some(_), Some(_)) if self.length == 1 => true,
            (Some(_), Some(next)) => self.at(i64::from(self.length)) == Some(i64::from(next)),
            _ => false,
        }
    }

    fn push(&mut self, next: Option<u32>) {
        if let (1, Some(first), Some(next)) = (self.length, self.first, next) {
            self.step = (i64::from(next) - i64::from(first)) as i32;
        }
        self.length += 1;
    }
}

/// A map from positions `0..len` to elements; a position without one takes zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexMap {
    runs: Vec<Run>,
    len: usize,
}

impl IndexMap {
    /// The map with these elements. Element numbers and the number of positions are below [`MAX_ELEMENTS`].
    ///
    /// # Errors
    /// [`Error::Map`] beyond that.
    pub fn new(elements: impl IntoIterator<Item = Option<u32>>) -> Result<Self, Error> {
        let mut map = Self::default();
        for element in elements {
            map.push(element)?;
        }
        Ok(map)
    }

    /// The map with these elements, −1 where there is none.
    ///
    /// # Errors
    /// As [`IndexMap::new`], and for a number below −1.
    pub fn from_signed(elements: &[i64]) -> Result<Self, Error> {
        let mut map = Self::default();
        for &element in elements {
            map.push(match element {
                -1 => None,
                _ => {
                    let outside = |_| Error::Map(format!("element {element}"));
                    Some(u32::try_from(element).map_err(outside)?)
                }
            })?;
        }
        Ok(map)
    }

    /// The map that takes element i at position i.
    pub fn identity(len: usize) -> Result<Self, Error> {
        Self::new((0..len).map(|i| u32::try_from(i).ok()))
    }

    fn push(&mut self, element: Option<u32>) -> Result<(), Error> {
        if self.len == MAX_ELEMENTS || element.is_some_and(|e| e as usize >= MAX_ELEMENTS) {
            return Err(Error::Map("more than 2^30 positions or elements".into()));
        }
        match self.runs.last_mut() {
            Some(last) if last.swallows(element) => last.push(element),
            _ => self.runs.push(Run {
                first: element,
                step: 0,
                length: 1,
            }),
        }
        self.len += 1;
        Ok(())
    }

    /// The elements of all positions, −1 where there is none.
    pub fn signed(&self) -> Vec<i64> {
        let mut elements = Vec::with_capacity(self.len);
        for run in &self.runs {
            let (first, step) = run
                .first
                .map_or((-1, 0), |first| (i64::from(first), run.step));
            elements.extend((0..i64::from(run.length)).map(|i| first + i64::from(step) * i));
        }
        elements
    }

    /// The map of these runs, as a reader found them.
    ///
    /// # Errors
    /// [`Error::Map`] for runs that [`IndexMap::new`] does not make, and for an element not below `elements`.
    pub fn from_runs(runs: Vec<Run>, elements: usize) -> Result<Self, Error> {
        for (number, run) in runs.iter().enumerate() {
            check_run(run, elements)
                .map_err(|message| Error::Map(format!("run {number}: {message}")))?;
        }
        if let Some(at) = runs
            .windows(2)
            .position(|pair| pair[0].swallows(pair[1].first))
        {
            return Err(Error::Map(format!(
                "run {} belongs to run {at} before it",
                at + 1
            )));
        }
        let len: u64 = runs.iter().map(|run| u64::from(run.length)).sum();
        match usize::try_from(len) {
            Ok(len) if len <= MAX_ELEMENTS => Ok(Self { runs, len }),
            _ => Err(Error::Map(format!(
                "{len} positions; at most {MAX_ELEMENTS}"
            ))),
        }
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The canonical runs.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// One more than the largest element, 0 without any.
    pub fn elements(&self) -> usize {
        let ends = |run: &Run| run.element(0).max(run.element(run.length - 1));
        self.runs
            .iter()
            .filter_map(ends)
            .max()
            .map_or(0, |e| e as usize + 1)
    }

    /// The element of every position in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        self.runs
            .iter()
            .flat_map(|run| (0..run.length).map(|offset| run.element(offset)))
    }
}

fn check_run(run: &Run, elements: usize) -> Result<(), String> {
    let inside = |element: Option<i64>| element.is_none_or(|e| (0..elements as i64).contains(&e));
    if run.length == 0 {
        return Err("its length is 0".into());
    }
    if (run.first.is_none() || run.length == 1) && run.step != 0 {
        return Err(format!("step {} where only 0 means anything", run.step));
    }
    let last = run.at(i64::from(run.length) - 1);
    if !(inside(run.at(0)) && inside(last)) {
        let (first, last) = (run.at(0).unwrap_or(0), last.unwrap_or(0));
        return Err(format!("elements {first} to {last}, there are {elements}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(elements: &[i64]) -> IndexMap {
        IndexMap::new(elements.iter().map(|&e| u32::try_from(e).ok())).unwrap()
    }

    #[test]
    fn regular_maps_are_a_few_runs() {
        assert_eq!(IndexMap::identity(1 << 20).unwrap().runs().len(), 1);
        assert_eq!(map(&[5; 100]).runs().len(), 1);
        // Eight values, then zeros: a packed vector.
        let packed = IndexMap::new((0..64).map(|i| (i < 8).then_some(i))).unwrap();
        assert_eq!(packed.runs().len(), 2);
        // A diagonal of an 8×8 matrix wraps once.
        let diagonal = IndexMap::new((0..8).map(|i| Some(i * 8 + (i + 3) % 8))).unwrap();
        assert_eq!(diagonal.runs().len(), 2);
    }

    #[test]
    fn what_no_writer_makes_is_refused() {
        let run = |first, step, length| Run {
            first,
            step,
            length,
        };
        let refused = |runs: &[Run]| {
            IndexMap::from_runs(runs.to_vec(), 10)
                .unwrap_err()
                .to_string()
        };
        assert!(refused(&[run(Some(0), 1, 0)]).contains("length is 0"));
        assert!(refused(&[run(Some(0), 1, 1)]).contains("only 0 means"));
        assert!(refused(&[run(None, 1, 4)]).contains("only 0 means"));
        assert!(refused(&[run(Some(5), 1, 6)]).contains("elements 5 to 10, there are 10"));
        assert!(refused(&[run(Some(5), -1, 7)]).contains("elements 5 to -1"));
        assert!(
            refused(&[run(Some(0), 1, 3), run(Some(3), 0, 1)]).contains("run 1 belongs to run 0")
        );
        assert!(
            refused(&[run(Some(0), 0, 1), run(Some(7), 0, 1)]).contains("run 1 belongs to run 0")
        );
        assert!(refused(&[run(None, 0, u32::MAX), run(Some(1), 0, 2)]).contains("positions"));
        for element in [-2, 1 << 30, 1 << 32, i64::MIN] {
            assert!(IndexMap::from_signed(&[0, element]).is_err(), "{element}");
        }
    }

    proptest! {
        #[test]
        fn any_map_returns_its_elements_and_is_canonical(
            // Steps drawn small make progressions; −1 stands for no element.
            parts in prop::collection::vec((-1_i64..40, -3_i64..4, 1_usize..6), 0..12)
        ) {
            let elements: Vec<i64> = parts.iter()
                .flat_map(|&(first, step, length)| (0..length as i64).map(move |i| (first + i * step).max(-1)))
                .collect();
            let made = map(&elements);
            let back: Vec<i64> = made.iter().map(|e| e.map_or(-1, i64::from)).collect();
            prop_assert_eq!(&back, &elements);
            prop_assert_eq!(&made.signed(), &elements);
            prop_assert_eq!(&IndexMap::from_signed(&elements).unwrap(), &made);
            let bound = made.elements();
            prop_assert_eq!(bound as i64, elements.iter().max().map_or(0, |m| m + 1));
            prop_assert_eq!(IndexMap::from_runs(made.runs().to_vec(), bound).unwrap(), made.clone());
            // One element fewer in range and the largest is refused.
            if bound > 0 {
                prop_assert!(IndexMap::from_runs(made.runs().to_vec(), bound - 1).is_err());
            }
        }
    }
}
