// SPDX-License-Identifier: Apache-2.0
//! The steps of all factors together: the fastest whose keys fit into a limit of bytes.

use super::steps::Steps;

/// What there is to choose from for one factor.
#[derive(Clone)]
pub(super) struct Choice {
    /// The splits that are worth it.
    pub candidates: Vec<Steps>,
    /// Bytes of one of its keys, which its time is proportional to as well.
    pub key_bytes: usize,
}

/// A choice for the first factors.
#[derive(Clone)]
struct Chosen {
    cost: usize,
    bytes: usize,
    steps: Vec<Steps>,
}

/// The least bytes of keys that there are steps for.
pub(super) fn least(choices: &[Choice]) -> usize {
    let each = choices.iter().map(|choice| {
        let keys = choice.candidates.iter().map(Steps::keys);
        keys.min().unwrap_or(0) * choice.key_bytes
    });
    each.sum()
}

/// The fastest steps whose keys take `room` bytes at most.
///
/// # Errors
/// The least bytes there are, where no choice fits.
pub(super) fn fastest_within(choices: &[Choice], room: usize) -> Result<Vec<Steps>, usize> {
    let none = Chosen {
        cost: 0,
        bytes: 0,
        steps: Vec::new(),
    };
    let all = choices.iter().fold(vec![none], extended);
    let least = all.last().map_or(0, |chosen| chosen.bytes);
    let fits = all.into_iter().find(|chosen| chosen.bytes <= room);
    fits.map(|chosen| chosen.steps).ok_or(least)
}

/// All choices with one factor more that no other beats in both time and bytes, the fastest first.
fn extended(known: Vec<Chosen>, choice: &Choice) -> Vec<Chosen> {
    let with = |chosen: &Chosen, steps: &Steps| Chosen {
        cost: chosen.cost + steps.cost() * choice.key_bytes,
        bytes: chosen.bytes + steps.keys() * choice.key_bytes,
        steps: chosen.steps.iter().chain([steps]).cloned().collect(),
    };
    let all = known.iter().flat_map(|chosen| {
        let candidates = choice.candidates.iter();
        candidates.map(move |steps| with(chosen, steps))
    });
    let mut all: Vec<Chosen> = all.collect();
    all.sort_by_key(|chosen| (chosen.cost, chosen.bytes));
    let mut fewest = usize::MAX;
    all.retain(|chosen| {
        let better = chosen.bytes < fewest;
        fewest = fewest.min(chosen.bytes);
        better
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_choice_is_the_fastest_of_all_that_fit() {
        let diagonals = |d: usize| -> BTreeSet<usize> { (0..=d).chain(512 - d..512).collect() };
        let choice = |d, key_bytes| Choice {
            candidates: Steps::candidates(&diagonals(d), 512),
            key_bytes,
        };
        let choices = [choice(15, 100), choice(31, 80), choice(7, 30)];
        let totals = |steps: &[&Steps]| {
            let sum = |of: fn(&Steps) -> usize| -> usize {
                let all = steps.iter().zip(&choices);
                all.map(|(steps, choice)| of(steps) * choice.key_bytes)
                    .sum()
            };
            (sum(Steps::cost), sum(Steps::keys))
        };
        let [a, b, c] = choices.each_ref().map(|choice| &choice.candidates);
        let all = a
            .iter()
            .flat_map(|a| b.iter().flat_map(move |b| c.iter().map(move |c| [a, b, c])));
        let all: Vec<_> = all.map(|steps| totals(&steps)).collect();
        let least = all.iter().map(|(_, bytes)| *bytes).min().unwrap();
        for room in [least, 2 * least, 3 * least, usize::MAX] {
            let best = all.iter().filter(|(_, bytes)| *bytes <= room).min();
            let found = fastest_within(&choices, room).unwrap();
            let found: Vec<&Steps> = found.iter().collect();
            assert_eq!(Some(&totals(&found)), best, "{room}");
        }
        assert_eq!(fastest_within(&choices, least - 1), Err(least));
        assert_eq!(super::least(&choices), least);
    }
}
