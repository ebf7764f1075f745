// SPDX-License-Identifier: Apache-2.0
//! Largest moduli for secrets of fixed weight: the rows `fixed_weight` of `spec/params/security.toml`.

/// Classical attacks on secrets of fixed weight.
pub(super) struct Rows {
    /// Source of the rows.
    pub(super) name: &'static str,
    /// [weight, n, largest log2(QP) at 128 bits].
    pub(super) rows: &'static [[u32; 3]],
}

impl Rows {
    /// The largest log2(QP) that reaches 128 bits with `weight` coefficients ±1 at degree `n`; `None` if no row says.
    ///
    /// A row holds for larger degrees: columns for coefficients that are 0, shuffled among the others, make of an
    /// instance one of a larger degree. It holds for larger weights, up to n/2, as a secret of more non-zero
    /// coefficients is no easier to guess, and longer.
    pub(super) fn max_log2_qp(&self, weight: u32, n: usize) -> Option<u32> {
        let rows = self.rows.iter().filter(|_| weight as usize <= n / 2);
        rows.filter(|r| r[1] as usize <= n && r[0] <= weight)
            .map(|r| r[2])
            .max()
    }

    /// Estimated bits: 128 at the row's modulus and proportional to 1/log2(QP) elsewhere, if there is a row; and never
    /// more than half the logarithm of the number of secrets, the cost of meeting in the middle.
    pub(super) fn estimated_bits(&self, weight: u32, n: usize, log2_qp: f64) -> f64 {
        let guessed = log2_count(weight, n) / 2.0;
        match self.max_log2_qp(weight, n) {
            Some(max) => guessed.min(128.0 * f64::from(max) / log2_qp.max(1.0)),
            None => guessed,
        }
    }
}

/// log2 of the number C(n, weight)·2^weight of secrets.
fn log2_count(weight: u32, n: usize) -> f64 {
    let ratio = |i: u32| (2.0 * (n as f64 - f64::from(i)) / f64::from(i + 1)).log2();
    (0..weight).map(ratio).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::{ErrorDistribution, SecretDistribution};
    use crate::security::figures::FIXED_WEIGHT;
    use crate::security::{Drawn, Security, SecurityPolicy, SecurityTable};

    fn drawn(weight: u32) -> Drawn {
        Drawn {
            secret: SecretDistribution::FixedWeight { weight },
            error: ErrorDistribution::default(),
        }
    }

    #[test]
    fn secrets_are_counted() {
        assert!((log2_count(1, 8) - 4.0).abs() < 1e-12);
        // C(8, 2)·4 = 112.
        assert!((log2_count(2, 8) - 112f64.log2()).abs() < 1e-12);
        assert!((log2_count(8, 8) - 8.0).abs() < 1e-12);
    }

    #[test]
    fn each_row_is_secure_at_its_modulus_and_refused_beyond() {
        let policy = SecurityPolicy::default();
        for &[weight, n, max] in FIXED_WEIGHT.rows {
            let judge = |bits| Security::judge(drawn(weight), n as usize, bits, policy);
            let good = judge(f64::from(max)).unwrap();
            let other = SecretDistribution::FixedWeight { weight };
            assert!(
                Drawn {
                    secret: other,
                    ..drawn(1)
                }
                .covered(policy.table, 2 * n as usize)
            );
            assert!(good.level == Some(128) && good.estimated_bits >= 128.0);
            assert_eq!(good.source, FIXED_WEIGHT.name);
            let error = judge(f64::from(max) + 0.1).unwrap_err().to_string();
            assert!(error.contains(&max.to_string()), "{error}");
            let lax = Security::judge(
                drawn(weight),
                n as usize,
                2.0 * f64::from(max),
                SecurityPolicy::insecure(),
            );
            assert!((60.0..70.0).contains(&lax.unwrap().estimated_bits));
        }
    }

    #[test]
    fn what_no_row_covers_needs_the_opt_in() {
        let lightest = |n: u32| {
            FIXED_WEIGHT
                .rows
                .iter()
                .filter(|r| r[1] == n)
                .map(|r| r[0])
                .min()
        };
        let light = lightest(1 << 16).unwrap() - 1;
        for (weight, n) in [(light, 1usize << 16), (32, 1 << 10), (1 << 15 | 1, 1 << 16)] {
            let refused = Security::judge(drawn(weight), n, 20.0, SecurityPolicy::default());
            assert!(refused.is_err(), "{weight} of {n}");
        }
        for which in [
            SecurityTable::Guidelines2024Quantum,
            SecurityTable::Standard2018Quantum,
        ] {
            assert!(!drawn(32).covered(which, 1 << 16));
        }
    }

    #[test]
    fn heavier_secrets_allow_no_less_and_no_more_than_ternary_ones() {
        let max = |weight, n| {
            drawn(weight)
                .max_log2_qp(SecurityTable::default(), n, 128)
                .unwrap()
        };
        for n in [1usize << 15, 1 << 16] {
            let ternary = Drawn {
                secret: SecretDistribution::Ternary,
                ..drawn(1)
            };
            let ternary = ternary
                .max_log2_qp(SecurityTable::default(), n, 128)
                .unwrap();
            let limits = [32, 64, 1024, 8192].map(|weight| max(weight, n).unwrap_or(0));
            assert!(
                limits.is_sorted() && Some(limits[3]) <= ternary,
                "{limits:?}"
            );
        }
    }
}
