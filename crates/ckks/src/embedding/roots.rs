// SPDX-License-Identifier: Apache-2.0
//! Roots of unity in `f64`, the same to the last bit on every machine.
//!
//! The C library's `sin` and `cos` differ between platforms in the last place, and one bit of a root can move a rounded
//! coefficient. Here they come from Taylor series in 62-bit fixed point: absolute error below 2^-58 before the one
//! rounding to `f64`.

/// Fractional bits of the fixed-point numbers.
const FRAC: u32 = 62;
const ONE: i128 = 1 << FRAC;
/// π · 2^62, rounded down (π = 0x3.243F6A8885A308D3...).
const PI: i128 = 0xC90F_DAA2_2168_C234;

/// Product of two fixed-point numbers of magnitude at most 1 (rounded towards minus infinity).
const fn mul(a: i128, b: i128) -> i128 {
    (a * b) >> FRAC
}

/// `Σ_k (-1)^k x^(2k+first) / (2k+first)!` for `0 <= x <= π/4`; `first` is 0 for the cosine and 1 for the sine.
fn alternating_series(x: i128, first: i128) -> i128 {
    let square = mul(x, x);
    let mut term = if first == 0 { ONE } else { x };
    let mut sum = term;
    let mut k = first;
    while term != 0 {
        term = -mul(term, square) / ((k + 1) * (k + 2));
        sum += term;
        k += 2;
    }
    sum
}

fn to_f64(x: i128) -> f64 {
    // |x| <= 2^62: the conversion rounds once, the division by a power of two is exact.
    x as f64 / ONE as f64
}

/// `exp(2πi · numerator / 2^log_order)` as `(re, im)`; `log_order` between 3 and 40.
pub(crate) fn root_of_unity(numerator: u64, log_order: u32) -> (f64, f64) {
    debug_assert!((3..=40).contains(&log_order));
    let order = 1u64 << log_order;
    let numerator = numerator & (order - 1);
    let eighth = order / 8;
    let (octant, rest) = (numerator / eighth, numerator % eighth);
    // Fold the angle into [0, π/4]: odd octants are mirrored at their upper end.
    let folded = if octant % 2 == 0 { rest } else { eighth - rest };
    let angle = (PI * i128::from(folded)) >> (log_order - 1);
    let (c, s) = (
        to_f64(alternating_series(angle, 0)),
        to_f64(alternating_series(angle, 1)),
    );
    match octant {
        0 => (c, s),
        1 => (s, c),
        2 => (-s, c),
        3 => (-c, s),
        4 => (-c, -s),
        5 => (-s, -c),
        6 => (s, -c),
        _ => (c, -s),
    }
}

/// cos(2πx) for |x| below 2^20, with the rounding of x to 2^-62 and the error of the series: below 2^-52.
pub(crate) fn cosine_of_turns(x: f64) -> f64 {
    debug_assert!(x.abs() < f64::from(1 << 20));
    let fraction = x.abs().fract();
    // From 0 to 1/2 by cos(2π(1 − x)) = cos(2πx), to 1/4 by cos(2π(1/2 − x)) = −cos(2πx); all exact.
    let folded = if fraction > 0.5 {
        1.0 - fraction
    } else {
        fraction
    };
    let (quarter, sign) = match folded > 0.25 {
        true => (0.5 - folded, -1.0),
        false => (folded, 1.0),
    };
    // 8·x turns are x·2π/(π/4): below an eighth of a turn the cosine's own series, above the sine's of what is missing.
    let angle = |turns: f64| ((turns * ONE as f64) as i128 * PI) >> (FRAC - 1);
    sign * match quarter > 0.125 {
        true => to_f64(alternating_series(angle(0.25 - quarter), 1)),
        false => to_f64(alternating_series(angle(quarter), 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_of_any_argument_agree_with_the_c_library() {
        for k in -4000..4000 {
            let x = f64::from(k) * 0.00137;
            let want = (std::f64::consts::TAU * x).cos();
            assert!((cosine_of_turns(x) - want).abs() < 1e-14, "{x}");
        }
        for (x, want) in [
            (0.0, 1.0),
            (0.25, 0.0),
            (0.5, -1.0),
            (0.75, 0.0),
            (7.0, 1.0),
        ] {
            assert_eq!(cosine_of_turns(x), want);
        }
    }

    #[test]
    fn agrees_with_the_c_library_to_one_unit_in_the_last_place() {
        for log_order in [3, 4, 10, 17] {
            let order = 1u64 << log_order;
            for k in (0..order).step_by((order as usize / 512).max(1)) {
                let angle = std::f64::consts::TAU * k as f64 / order as f64;
                let (re, im) = root_of_unity(k, log_order);
                assert!((re - angle.cos()).abs() < 1e-15, "cos {k}/{order}");
                assert!((im - angle.sin()).abs() < 1e-15, "sin {k}/{order}");
            }
        }
    }

    #[test]
    fn quarter_turns_are_exact() {
        assert_eq!(root_of_unity(0, 4), (1.0, 0.0));
        assert_eq!(root_of_unity(4, 4), (0.0, 1.0));
        assert_eq!(root_of_unity(8, 4), (-1.0, 0.0));
        assert_eq!(root_of_unity(12, 4), (0.0, -1.0));
    }

    #[test]
    fn roots_lie_on_the_unit_circle() {
        for k in 0..1 << 12 {
            let (re, im) = root_of_unity(k, 12);
            assert!((re.mul_add(re, im * im) - 1.0).abs() < 4e-16);
        }
    }
}
