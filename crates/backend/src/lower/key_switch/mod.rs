// SPDX-License-Identifier: Apache-2.0
//! Key switching in polynomial operations, by the steps of `rlwe`'s key switching.
//!
//! | step | file |
//! |---|---|
//! | decompose a polynomial into digits | [`decompose`] |
//! | mod-up: each digit's residues modulo all primes | [`mod_up`], one prime after another [`mixed_radix`] |
//! | the key, its gadget's digits and halves | [`gadget`], what it is permuted by [`automorphism`] |
//! | inner product of the digits with the key | each arrangement |
//! | mod-down: division by P | [`mod_down`], in the order of each arrangement |
//!
//! How digits and both halves of the key share an engine's lanes is the [`KeySwitch`] of an arrangement, chosen in
//! [`arrangement`]. All give the same residues:
//!
//! | arrangement | of engines |
//! |---|---|
//! | [`half_by_half`] | that leave conversions to the host |
//! | [`wide`] | the same, with words for a few wide primes in place of all primes |
//! | [`digit_by_digit`] | that convert bases |
//! | [`divided_together`] | with lanes for all primes, special ones too |
//! | [`special_together`] | the same, with room for the special primes of both halves in a section of their own |
//! | [`mirrored`] | with lanes for all primes twice |

pub(super) mod arrangement;
mod automorphism;
mod decompose;
mod digit_by_digit;
mod divided_together;
mod gadget;
mod half_by_half;
mod mirrored;
mod mixed_radix;
mod mod_down;
mod mod_up;
mod rescale;
mod special_together;
mod steps;
mod wide;

use super::lowering::{Lower, Lowering};
use super::value::{Part, Value};
use crate::Error;
use ::polynomial::Form;
use arrangement::Arrangement;
pub(super) use decompose::Digits;
use divided_together::DividedTogether;
pub(super) use gadget::SwitchingKey;
use half_by_half::HalfByHalf;
use mirrored::Mirrored;
pub(super) use mod_down::quotient;
use rescale::RelinearizeRescale;
use steps::KeySwitch;
use wide::OverWidePrimes;

/// An expression with the lowering's arrangement under a name.
macro_rules! arranged {
    ($lowering:expr, $switch:ident => $result:expr) => {
        match $lowering.arrangement.clone() {
            Arrangement::HalfByHalf => {
                let $switch = HalfByHalf;
                $result
            }
            Arrangement::OverWidePrimes => {
                let $switch = OverWidePrimes;
                $result
            }
            Arrangement::DigitByDigit($switch) => $result,
            Arrangement::DividedTogether => {
                let $switch = DividedTogether;
                $result
            }
            Arrangement::SpecialTogether($switch) => $result,
            Arrangement::Mirrored => {
                let $switch = Mirrored;
                $result
            }
        }
    };
}

impl<S: Lower> Lowering<'_, S> {
    /// A ciphertext of three parts as one of two.
    pub(super) fn relinearize(&mut self, a: &Value) -> Result<Value, Error> {
        let parts = arranged!(self, switch => switch.relinearize(self, &a.parts))?;
        Ok(Value::computed(parts, a.scale))
    }

    /// The image under x -> x^`element`.
    pub(super) fn rotate(&mut self, a: &Value, element: u64) -> Result<Value, Error> {
        if element == 1 {
            let input = a.input.filter(|_| S::FORM == Form::Coefficients);
            return Ok(Value { input, ..a.clone() });
        }
        let key = self.galois_key(element);
        let parts = arranged!(self, switch => switch.rotate(self, &a.parts, key))?;
        Ok(Value::computed(parts, a.scale))
    }

    /// Back to two parts and divided by the last prime: one division by both it and the special primes.
    pub(super) fn relinearize_rescale(&mut self, a: &Value) -> Result<Value, Error> {
        let parts = match (&self.arrangement, self.arrangement.by_digits()) {
            (Arrangement::Mirrored, _) => Mirrored.relinearize_rescale(self, &a.parts)?,
            (_, Some(switch)) => switch.relinearize_rescale(self, &a.parts)?,
            (_, None) => HalfByHalf.relinearize_rescale(self, &a.parts)?,
        };
        Ok(Value::computed(parts, a.scale / self.last_prime(a)))
    }

    /// Mod-up for [`Lowering::inner_product`].
    pub(super) fn mod_up(&mut self, part: &Part) -> Result<Digits, Error> {
        match self.arrangement.by_digits() {
            Some(switch) => switch.mod_up(self, part),
            None => HalfByHalf.mod_up(self, part),
        }
    }

    /// Σ digit·key over all primes of the set, each half by itself, under the automorphism: what linear transforms sum
    /// before they divide.
    pub(super) fn inner_product(
        &mut self,
        digits: &Digits,
        key: SwitchingKey,
    ) -> Result<[Part; 2], Error> {
        let key = key.undivided();
        match self.arrangement.by_digits() {
            Some(switch) => switch.inner_product(self, digits, key),
            None => HalfByHalf.inner_product(self, digits, key),
        }
    }
}
