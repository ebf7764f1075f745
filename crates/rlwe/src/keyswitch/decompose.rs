// SPDX-License-Identifier: Apache-2.0
//! Decomposition: the digits of a polynomial.

use super::level::KeySwitchLevel;
use rns::{Coeff, RnsPoly, Scratch};
use zq::Word;

impl<W: Word> KeySwitchLevel<W> {
    /// The digits of `c`, each a centred representative over Q·P.
    ///
    /// # Panics
    /// If `c` is not over this level's data basis.
    #[inline(never)]
    pub fn decompose(&self, c: &RnsPoly<W, Coeff>) -> Vec<RnsPoly<W, Coeff>> {
        assert!(c.basis() == self.q(), "decompose: wrong basis");
        let mut scratch = Scratch::new();
        self.digits
            .iter()
            .map(|d| d.lift(c, self.qp(), &mut scratch))
            .collect()
    }
}
