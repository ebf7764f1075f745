// SPDX-License-Identifier: Apache-2.0
//! What lowering has to know of an engine.

/// The properties of an engine that lowering uses.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Limbs processed in parallel.
    pub lanes: usize,
    /// Bits of the widest primes, if a wide prime costs no more than a narrow one.
    pub wide_bits: Option<u32>,
    /// Whether the engine converts bases.
    pub converts: bool,
    /// Whether the engine moves residues from lane to lane and applies automorphisms to values.
    pub moves: bool,
    /// Sets of moduli, a table of twiddles for each, that the engine holds at the same time.
    pub tables: usize,
    /// Whether digits are made and transformed one after another, where the engine makes them.
    pub digit_major: bool,
    /// Whether encryptions of zero within a program are the engine's, as polynomial operations.
    pub zeros: bool,
}

impl Shape {
    /// Limb by limb, as they are.
    pub const PLAIN: Self = Self {
        lanes: 1,
        wide_bits: None,
        converts: false,
        moves: false,
        tables: 1,
        digit_major: false,
        zeros: false,
    };

    /// Primes as they are, none wide.
    pub fn narrow(self) -> Self {
        Self {
            wide_bits: None,
            ..self
        }
    }
}

/// The shape for a program of narrow primes: a device with words for two of them or more takes one wide prime in their
/// place (`Ok`), others work with them as they are (`Err`).
pub fn wide_shape(params: &::bfv::BfvParams<u64>, shape: Shape) -> Result<Shape, Shape> {
    let widest = params.rlwe().qp().moduli().iter().map(|q| q.bits()).max();
    let holds_two = |bits| bits >= 2 * widest.unwrap_or(64);
    match shape.wide_bits.is_some_and(holds_two) {
        true => Ok(shape),
        false => Err(shape.narrow()),
    }
}
