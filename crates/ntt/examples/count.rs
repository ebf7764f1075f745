// SPDX-License-Identifier: Apache-2.0
//! A transform some times over, for a count of its instructions (`tools/aarch64.sh count`). Arguments: bits of the
//! modulus, length, `forward` or `inverse`, times. `RINGSMITH_SIMD` names the path.

use ntt::NttPlan;
use zq::Modulus;
use zq::primes::{Direction, ntt_primes};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bits, n, direction, times] = &arguments[..] else {
        panic!("arguments: BITS N forward|inverse TIMES");
    };
    let number = |text: &str| {
        text.parse()
            .unwrap_or_else(|_| panic!("{text} is no number"))
    };
    let (bits, n, times) = (number(bits), number(n), number(times));
    let primes = ntt_primes(bits as u32, 2 * n as u64, 1, Direction::Down, &[]);
    let modulus = Modulus::new(primes.expect("a prime of this width")[0]).expect("a modulus");
    let plan = NttPlan::new(modulus, n).expect("a length of transforms");
    let mut values: Vec<u64> = (0..n as u64).collect();
    for _ in 0..times {
        match direction.as_str() {
            "forward" => plan.forward(&mut values),
            _ => plan.inverse(&mut values),
        }
    }
    println!("{}", values[0]);
}
