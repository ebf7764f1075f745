// SPDX-License-Identifier: Apache-2.0
//! Prime search.

use crate::errors::Kind;
use crate::numbers::number;
use crate::work::Work;
use pyo3::prelude::*;
use zq::primes::{Direction, is_prime_vt};

/// Primes that one search finds or leaves out at most: no parameter set has a tenth of them.
const MOST: usize = 1024;

/// The `count` largest primes of exactly `bits` bits that are 1 mod 2n and not in `exclude`, largest first.
/// At most 1024 primes are searched for and excluded.
#[pyfunction]
#[pyo3(signature = (n, bits, count, *, exclude=Vec::new(), smallest=false))]
fn ntt_primes(
    py: Python<'_>,
    #[pyo3(from_py_with = number)] n: u64,
    #[pyo3(from_py_with = number)] bits: u32,
    #[pyo3(from_py_with = number)] count: usize,
    #[pyo3(from_py_with = number)] exclude: Vec<u128>,
    smallest: bool,
) -> PyResult<Vec<u128>> {
    let direction = if smallest {
        Direction::Up
    } else {
        Direction::Down
    };
    let asked = count.max(exclude.len());
    if asked > MOST {
        return Err(Kind::Parameter.error(format!(
            "{asked} primes; at most {MOST} are searched for and excluded"
        )));
    }
    let order = n.saturating_mul(2);
    py.work(|| zq::primes::ntt_primes::<u128>(bits, order, count, direction, &exclude))
}

/// Whether `value` is prime (certain below 2^81, beyond that wrong with probability below 2^-128).
#[pyfunction]
fn is_prime(py: Python<'_>, #[pyo3(from_py_with = number)] value: u128) -> bool {
    py.detach(|| is_prime_vt(value))
}

/// Adds this module's functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(ntt_primes, m)?)?;
    m.add_function(wrap_pyfunction!(is_prime, m)?)
}
