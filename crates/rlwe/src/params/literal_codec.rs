// SPDX-License-Identifier: Apache-2.0
//! What a parameter set is made of as bytes: the payload that its fingerprint is of.

use super::literal::{MAX_PRIMES, RlweParamsLiteral};
use crate::Error;
use crate::sampling::{ErrorDistribution, SecretDistribution};
use crate::wire::{Reader, WireError, Writer};
use zq::Word;

/// A distribution as (code, parameter).
fn secret_code(d: &SecretDistribution) -> (u8, u64) {
    match *d {
        SecretDistribution::Ternary => (0, 0),
        SecretDistribution::Binary => (1, 0),
        SecretDistribution::Binomial { eta } => (2, u64::from(eta)),
        SecretDistribution::Gaussian { sigma } => (3, sigma.to_bits()),
        SecretDistribution::FixedWeight { weight } => (4, u64::from(weight)),
    }
}

fn error_code(d: &ErrorDistribution) -> (u8, u64) {
    match *d {
        ErrorDistribution::Binomial { eta } => (2, u64::from(eta)),
        ErrorDistribution::Gaussian { sigma } => (3, sigma.to_bits()),
    }
}

pub(super) fn encode<W: Word>(literal: &RlweParamsLiteral<W>) -> Writer {
    let mut out = Writer::new();
    out.u8(W::BITS as u8);
    out.u8(literal.n.trailing_zeros() as u8);
    for (code, value) in [secret_code(&literal.secret), error_code(&literal.error)] {
        out.u8(code);
        out.u64(value);
    }
    out.u32(literal.digits() as u32);
    out.u32(literal.q.len() as u32);
    out.u32(literal.p.len() as u32);
    literal
        .q
        .iter()
        .chain(&literal.p)
        .for_each(|m| out.u128(m.to_u128()));
    out
}

pub(super) fn decode<W: Word>(input: &mut Reader<'_>) -> Result<RlweParamsLiteral<W>, Error> {
    let bits = input.u8("the word size")?;
    if u32::from(bits) != W::BITS {
        let allowed = format!("{} (the word size in use)", W::BITS);
        return Err(WireError::Value {
            what: "the word size",
            got: u64::from(bits),
            allowed,
        }
        .into());
    }
    let log_n = input.u8("log2 n")?;
    if !(ntt::MIN_LOG_N..=ntt::MAX_LOG_N).contains(&u32::from(log_n)) {
        let allowed = format!("{}..={}", ntt::MIN_LOG_N, ntt::MAX_LOG_N);
        return Err(WireError::Value {
            what: "log2 n",
            got: u64::from(log_n),
            allowed,
        }
        .into());
    }
    let secret = decode_secret(input)?;
    let error = match decode_secret(input)? {
        SecretDistribution::Binomial { eta } => ErrorDistribution::Binomial { eta },
        SecretDistribution::Gaussian { sigma } => ErrorDistribution::Gaussian { sigma },
        other => {
            return Err(
                unknown_code("the error distribution", secret_code(&other).0, "2, 3").into(),
            );
        }
    };
    let dnum = input.ranged("dnum", 1..=MAX_PRIMES)? as usize;
    let l = input.ranged("the number of data primes", 1..=MAX_PRIMES)? as usize;
    let k = input.ranged("the number of special primes", 0..=MAX_PRIMES)? as usize;
    let mut primes = Vec::with_capacity(l + k);
    for _ in 0..l + k {
        primes.push(decode_prime(input)?);
    }
    let p = primes.split_off(l);
    Ok(RlweParamsLiteral {
        n: 1 << log_n,
        q: primes,
        p,
        dnum,
        secret,
        error,
    })
}

fn decode_prime<W: Word>(input: &mut Reader<'_>) -> Result<W, WireError> {
    let wide = input.u128("a prime")?;
    let prime = W::from_u128_lossy(wide);
    if prime.to_u128() != wide {
        let allowed = format!("below 2^{}", W::MAX_MODULUS_BITS);
        return Err(WireError::Value {
            what: "a prime",
            got: u64::MAX,
            allowed,
        });
    }
    Ok(prime)
}

fn decode_secret(input: &mut Reader<'_>) -> Result<SecretDistribution, WireError> {
    let (code, value) = (
        input.u8("a distribution")?,
        input.u64("a distribution's parameter")?,
    );
    let none = |d| {
        if value == 0 {
            Ok(d)
        } else {
            Err(unknown_value(value, "0"))
        }
    };
    match code {
        0 => none(SecretDistribution::Ternary),
        1 => none(SecretDistribution::Binary),
        2 => match u32::try_from(value) {
            Ok(eta) => Ok(SecretDistribution::Binomial { eta }),
            Err(_) => Err(unknown_value(value, "1..=20808")),
        },
        3 => Ok(SecretDistribution::Gaussian {
            sigma: f64::from_bits(value),
        }),
        4 => match u32::try_from(value) {
            Ok(weight) => Ok(SecretDistribution::FixedWeight { weight }),
            Err(_) => Err(unknown_value(value, "1..=n")),
        },
        other => Err(unknown_code("a distribution", other, "0..=4")),
    }
}

fn unknown_code(what: &'static str, code: u8, allowed: &str) -> WireError {
    WireError::Value {
        what,
        got: u64::from(code),
        allowed: allowed.into(),
    }
}

fn unknown_value(got: u64, allowed: &str) -> WireError {
    WireError::Value {
        what: "a distribution's parameter",
        got,
        allowed: allowed.into(),
    }
}
