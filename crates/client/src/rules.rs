// SPDX-License-Identifier: Apache-2.0
//! What a parameter set has to keep: the engine's rules, within this crate's limits. `spec/vectors/bad-sets.txt` holds
//! engine, client and C to the same answers.

use crate::error::Error;
use crate::modulus::Modulus;

/// Largest ring degree.
pub const MAX_N: usize = 8192;
/// Most primes of a set, special ones included.
pub const MAX_PRIMES: usize = 8;

/// Lengths of primes in bits.
const PRIME_BITS: core::ops::RangeInclusive<u32> = 32..=60;
/// Largest log2(QP) of 128 bits for ternary secrets by the engine's default table, from degree 1024 on, doubling
/// (`spec/params/security.toml`; `tests/rules.rs` compares); no smaller degree has 128 bits.
const SECURE_BITS: [u64; 4] = [26, 53, 106, 214];

/// The scheme of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheme {
    /// BFV with the plaintext modulus t, below 2^31 and every prime.
    Bfv {
        /// t.
        t: u64,
    },
    /// CKKS with the scale of fresh ciphertexts.
    Ckks {
        /// Δ.
        scale: f64,
    },
}

/// Unchecked input of [`Params`](crate::Params), any field of which may be wrong: that of the engine's set, since what
/// is encrypted names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamsLiteral<'a> {
    /// Ring degree.
    pub n: usize,
    /// Data primes.
    pub data: &'a [u64],
    /// Special primes.
    pub special: &'a [u64],
    /// Digits of key switching, as many as the engine's set has.
    pub dnum: u32,
    /// The scheme.
    pub scheme: Scheme,
}

impl ParamsLiteral<'_> {
    /// The data primes, then the special ones.
    pub(crate) fn primes(&self) -> impl Iterator<Item = u64> + Clone {
        self.data.iter().chain(self.special).copied()
    }
}

fn keep(kept: bool, broken: &'static str) -> Result<(), Error> {
    match kept {
        true => Ok(()),
        false => Err(Error::Parameters(broken)),
    }
}

/// The refusal of moduli that are no primes of the ring's degree.
pub(crate) const NO_PRIMES: Error =
    Error::Parameters("data and special primes have to be primes that are 1 modulo 2n");

/// Every rule but security; nothing is made for a literal that breaks one.
///
/// # Errors
/// [`Error::Parameters`].
pub(crate) fn check(literal: &ParamsLiteral<'_>) -> Result<(), Error> {
    shape(literal)?;
    lengths(literal.primes())?;
    scheme(literal.scheme, literal.data)?;
    let fits = |value| prime(value, literal.n).is_some();
    match literal.primes().all(fits) {
        true => Ok(()),
        false => Err(NO_PRIMES),
    }
}

/// Degree, counts of primes and of digits.
fn shape(literal: &ParamsLiteral<'_>) -> Result<(), Error> {
    let ParamsLiteral {
        n, data, special, ..
    } = *literal;
    keep(
        n.is_power_of_two() && (16..=MAX_N).contains(&n),
        "the degree has to be a power of two from 16 to 8192",
    )?;
    let (most, digits) = (
        data.len().saturating_add(special.len()),
        literal.dnum as usize,
    );
    keep(
        !data.is_empty() && most <= MAX_PRIMES,
        "1 data prime or more is needed, and 8 primes at most",
    )?;
    keep(
        (1..=data.len()).contains(&digits),
        "dnum has to be from 1 to the number of data primes",
    )?;
    // The engine cuts L primes into digits of ⌈L/dnum⌉ and names the set by the digits that gives.
    keep(
        data.len().div_ceil(data.len().div_ceil(digits)) == digits,
        "dnum has to be the number of digits that the engine's set has: L/ceil(L/dnum), rounded up",
    )
}

/// Primes of data and special ones together: their lengths, and none twice. A prime twice would give the same error
/// under both, and the public key alone the secret.
fn lengths(all: impl Iterator<Item = u64> + Clone) -> Result<(), Error> {
    for (i, value) in all.clone().enumerate() {
        keep(
            PRIME_BITS.contains(&(u64::BITS - value.leading_zeros())),
            "primes have to be of 32 to 60 bits",
        )?;
        keep(
            all.clone().take(i).all(|other| other != value),
            "a prime may stand only once among data and special primes",
        )?;
    }
    Ok(())
}

/// `value` as a modulus, if it is a prime that is 1 modulo 2n.
pub(crate) fn prime(value: u64, n: usize) -> Option<Modulus> {
    let fits = value % (2 * n as u64) == 1;
    fits.then(|| Modulus::new(value))
        .filter(Modulus::is_prime_vt)
}

/// Plaintext modulus or scale beside the data primes.
fn scheme(scheme: Scheme, data: &[u64]) -> Result<(), Error> {
    match scheme {
        Scheme::Bfv { t } => {
            keep(
                (2..1 << 31).contains(&t),
                "the plaintext modulus has to be from 2 to 2^31 - 1",
            )?;
            // t is below every prime of 32 bits, and so divides none.
            keep(
                data.len() > 1 || 4.0 * t as f64 <= data[0] as f64,
                "the plaintext modulus has to be a quarter of the only data prime at most",
            )
        }
        Scheme::Ckks { scale } => {
            let product: f64 = data.iter().map(|q| *q as f64).product();
            keep(
                scale >= 2.0 && scale < (1u64 << 60) as f64 && scale < product / 2.0,
                "the scale has to be at least 2, below 2^60 and below half the product of the data primes",
            )
        }
    }
}

/// Whether the engine's default table grants 128 bits.
pub(crate) fn secure(literal: &ParamsLiteral<'_>) -> bool {
    let row = (literal.n.trailing_zeros() as usize).checked_sub(10);
    // 8 primes of 60 bits stay below 2^481: the product is finite, and 2^most is written by its exponent.
    let most = row.and_then(|row| SECURE_BITS.get(row)).unwrap_or(&0);
    let product: f64 = literal.primes().map(|q| q as f64).product();
    product <= f64::from_bits((1023 + most) << 52)
}
