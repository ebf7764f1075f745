// SPDX-License-Identifier: Apache-2.0
//! Numbers in messages.

/// A number in three digits, as C's `%.3g`.
pub fn three_digits(x: f64) -> String {
    let scientific = format!("{x:.2e}");
    let Some((digits, Ok(exponent))) = scientific
        .split_once('e')
        .map(|(digits, exponent)| (digits, exponent.parse::<i32>()))
    else {
        return scientific;
    };
    match exponent {
        -4..3 => without_zeros(&format!("{x:.*}", (2 - exponent) as usize)).into(),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
        }
    }
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// 2^log2 in three digits, as a power where a double does not hold it, or infinity.
pub fn power_of_two(log2: f64) -> String {
    match log2 {
        _ if !log2.is_finite() => "infinity".into(),
        _ if log2.abs() < 1000.0 => three_digits(log2.exp2()),
        _ => format!("2^{log2:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_those_of_python() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (12.345, "12.3"),
            (999.6, "1e+03"),
            (0.001234, "0.00123"),
            (1.5e-9, "1.5e-09"),
            (-250.0, "-250"),
            (1e120, "1e+120"),
        ];
        for (number, text) in cases {
            assert_eq!(three_digits(number), text);
        }
        assert_eq!(power_of_two(-10.0), "0.000977");
        assert_eq!(power_of_two(2000.0), "2^2000");
        assert_eq!(power_of_two(f64::NAN), "infinity");
    }
}
