// SPDX-License-Identifier: Apache-2.0
//! Source of a generator's randomness, and its behaviour under fork.

use super::Seed;
use crate::Error;
use zq::fork;

/// The operating system, queried for every use, or a seed that was given to make a result reproducible.
///
/// A fork copies the memory. Randomness of the system is not stored, so it is never shared. A given seed would be
/// shared to the byte: it serves the process it was given in, and in a fork every use fails.
#[derive(Clone, Debug)]
pub struct Randomness(Origin);

#[derive(Clone, Debug)]
enum Origin {
    System,
    Given { seed: Seed, generation: u64 },
}

impl From<Seed> for Randomness {
    fn from(seed: Seed) -> Self {
        let generation = fork::generation();
        Self(Origin::Given { seed, generation })
    }
}

impl Randomness {
    /// The operating system's.
    pub const SYSTEM: Self = Self(Origin::System);

    /// The seed of one use: fresh, or the given one, from which the user derives one stream for each number. `what`
    /// names the user in the error.
    ///
    /// # Errors
    /// [`Error::Entropy`] when the system has no randomness; [`Error::Forked`] for a seed given before a fork.
    pub fn seed(&self, what: &'static str) -> Result<Seed, Error> {
        match &self.0 {
            Origin::System => Seed::random(),
            Origin::Given { seed, generation } if *generation == fork::generation() => {
                Ok(seed.clone())
            }
            Origin::Given { .. } => Err(Error::Forked { what }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_gives_something_new_each_time() {
        let draw = || Randomness::SYSTEM.seed("a test").unwrap();
        assert!(draw() != draw());
    }

    #[test]
    fn a_given_seed_stays_in_its_process() {
        let (seed, generation) = (Seed::from_text("x"), fork::generation());
        assert!(Randomness::from(seed.clone()).seed("a test") == Ok(seed.clone()));
        let generation = generation + 1;
        let inherited = Randomness(Origin::Given { seed, generation });
        let message = inherited.seed("the encryptor").unwrap_err().to_string();
        assert!(
            message.starts_with("the encryptor was seeded before this process"),
            "{message}"
        );
    }
}
