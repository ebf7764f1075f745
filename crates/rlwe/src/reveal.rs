// SPDX-License-Identifier: Apache-2.0
//! The one door through which a bit about secrets is let out.

/// A bit about secrets that may be known: the outcome of one range check over a whole message.
///
/// The only branch on it is in here, so that a test that follows secrets can let this function pass, by its name, and
/// nothing else (`tools/constant_time.supp`).
#[inline(never)]
pub fn reveal(bit: bool) -> bool {
    let mut seen = false;
    if bit {
        set(&mut seen);
    }
    seen
}

/// A call under a condition stays a branch; an assignment could become a selection,
/// whose result is as secret as the bit.
#[cold]
#[inline(never)]
fn set(seen: &mut bool) {
    *seen = true;
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_bit_comes_out_as_it_went_in() {
        assert!(super::reveal(true) && !super::reveal(false));
    }
}
