// SPDX-License-Identifier: Apache-2.0
//! BFV's slots: vectors modulo a prime t that is 1 modulo 2n, as two rows of n/2.

use crate::client::Message;
use crate::error::Error;
use crate::modulus::Modulus;
use crate::ntt::{fill_roots, forward, inverse, smallest_root};
use crate::params::Params;
use crate::rules::{Scheme, prime};
use alloc::vec;
use alloc::vec::Vec;
use zeroize::Zeroizing;

/// Encodes and decodes slots: slot i < n/2 is the value at ψ^(3^i), slot n/2 + i that at ψ^(−3^i).
pub struct Slots {
    t: Modulus,
    root: u64,
    /// Slot to position in the transform's output.
    positions: Vec<u16>,
}

impl Slots {
    /// Of a BFV set.
    ///
    /// # Errors
    /// [`Error::Parameters`] for CKKS, and for a plaintext modulus without slots.
    pub fn new(params: &Params) -> Result<Self, Error> {
        let none = Error::Parameters("no slots: t has to be a prime that is 1 modulo 2n");
        let Scheme::Bfv { t } = params.scheme else {
            return Err(none);
        };
        let n = params.n;
        let t = prime(t, n).ok_or(none)?;
        let root = smallest_root(&t, n).ok_or(none)?;
        let bits = n.trailing_zeros();
        // The value at ψ^e stands at position brv((e − 1)/2).
        let position = |e: usize| ((e / 2).reverse_bits() >> (usize::BITS - bits)) as u16;
        let mut positions = vec![0; n];
        let mut power = 1;
        for i in 0..n / 2 {
            (positions[i], positions[n / 2 + i]) = (position(power), position(2 * n - power));
            power = power * 3 % (2 * n);
        }
        Ok(Self { t, root, positions })
    }

    /// The message of up to n values in −t/2..=t/2; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::Message`].
    pub fn encode(&self, values: &[i64]) -> Result<Zeroizing<Message>, Error> {
        let half = (self.t.value / 2) as i64;
        let outside = |v: &i64| v.wrapping_add(half) | half.wrapping_sub(*v);
        if values.len() > self.positions.len()
            || values.iter().fold(0, |wrong, v| wrong | outside(v)) < 0
        {
            return Err(Error::Message("up to n values in -t/2..=t/2 are needed"));
        }
        let n = self.positions.len();
        let mut x = Zeroizing::new(vec![0; n]);
        values
            .iter()
            .zip(&self.positions)
            .for_each(|(v, p)| x[usize::from(*p)] = self.t.signed(*v));
        let mut roots = vec![0; n];
        fill_roots(&self.t, self.t.inverse_vt(self.root), &mut roots);
        inverse(&self.t, &roots, &mut x);
        Ok(Zeroizing::new(x.iter().map(|c| *c as i64).collect()))
    }

    /// All n values of a message, in −t/2..=t/2.
    ///
    /// # Errors
    /// [`Error::Message`].
    pub fn decode(&self, message: &[i64]) -> Result<Zeroizing<Message>, Error> {
        let n = self.positions.len();
        let last = self.t.value as i64 - 1;
        if message.len() != n
            || message
                .iter()
                .fold(0, |wrong, c| wrong | *c | last.wrapping_sub(*c))
                < 0
        {
            return Err(Error::Message("n coefficients in 0..t are needed"));
        }
        let mut x: Zeroizing<Vec<u64>> =
            Zeroizing::new(message.iter().map(|c| *c as u64).collect());
        let mut roots = vec![0; n];
        fill_roots(&self.t, self.root, &mut roots);
        forward(&self.t, &roots, &mut x);
        let centred = |p: &u16| self.t.centred(x[usize::from(*p)]);
        Ok(Zeroizing::new(self.positions.iter().map(centred).collect()))
    }
}
