// SPDX-License-Identifier: Apache-2.0
//! The tables are the published ones, and the estimate between their points falls as it should.

use super::*;
use SecretKind::{Gaussian, Ternary};
use SecurityTable::{Guidelines2024, Standard2018};

#[test]
fn tables_hold_the_published_figures() {
    assert_eq!(
        max_log2_qp(Guidelines2024, Ternary, 4096, 128).unwrap(),
        Some(106)
    );
    assert_eq!(
        max_log2_qp(Guidelines2024, Gaussian, 4096, 128).unwrap(),
        Some(108)
    );
    assert_eq!(
        max_log2_qp(Standard2018, Ternary, 8192, 192).unwrap(),
        Some(152)
    );
    assert_eq!(
        max_log2_qp(Guidelines2024, Ternary, 1024, 192).unwrap(),
        None
    );
    assert_eq!(max_log2_qp(Guidelines2024, Ternary, 64, 128).unwrap(), None);
    assert!(max_log2_qp(Guidelines2024, Ternary, 4096, 100).is_err());
    assert!(
        SecurityTable::ALL
            .iter()
            .all(|t| SecurityTable::from_id(t.id()) == Some(*t))
    );
}

fn drawn(secret: SecretDistribution) -> Drawn {
    Drawn {
        secret,
        error: ErrorDistribution::default(),
    }
}

#[test]
fn the_weakest_distribution_in_play_limits_every_table_and_degree() {
    let gaussian = drawn(SecretDistribution::Gaussian { sigma: 3.2 });
    let wide = drawn(SecretDistribution::Binomial { eta: 21 });
    let ternary = drawn(SecretDistribution::Ternary);
    for t in TABLES {
        let table = SecurityTable::from_id(t.id).unwrap();
        for (row, (column, level)) in t
            .rows
            .iter()
            .flat_map(|r| LEVELS.iter().enumerate().map(move |l| (r, l)))
        {
            let n = row[0] as usize;
            let own = max_log2_qp(table, Ternary, n, *level).unwrap();
            for set in [gaussian, wide, ternary] {
                assert_eq!(
                    set.max_log2_qp(table, n, *level).unwrap(),
                    own,
                    "{set:?} {n} {level}"
                );
                assert!(row[column + 1] == 0 || own.unwrap_or(0) <= row[column + 1]);
            }
            for set in [
                drawn(SecretDistribution::Binary),
                drawn(SecretDistribution::Binomial { eta: 2 }),
            ] {
                assert_eq!(set.max_log2_qp(table, n, *level).unwrap(), None, "{set:?}");
            }
        }
    }
}

#[test]
fn estimates_are_those_of_the_weakest_distribution() {
    let bits = |secret| drawn(secret).estimated_bits(Guidelines2024, 4096, 108.0);
    let ternary = bits(SecretDistribution::Ternary);
    assert!(ternary < 128.0);
    assert_eq!(bits(SecretDistribution::Gaussian { sigma: 3.2 }), ternary);
    assert!(bits(SecretDistribution::Binary) < ternary);
    let narrow = ErrorDistribution::Binomial { eta: 2 };
    let weak = Drawn {
        error: narrow,
        ..drawn(SecretDistribution::Ternary)
    };
    assert!(weak.estimated_bits(Guidelines2024, 4096, 108.0) < ternary);
    assert!(!weak.covered(Guidelines2024, 4096));
}

#[test]
fn narrowness_explains_the_gap_between_the_rows() {
    // The Gaussian rows allow about log2(3.19 / 0.816) = 1.97 bits more than the ternary ones.
    let ternary = SecretDistribution::Ternary.deviation(4096);
    for (a, b) in TABLES[0].rows.iter().zip(TABLES[1].rows) {
        assert!((f64::from(b[1] - a[1]) - (MIN_TABLE_SIGMA / ternary).log2()).abs() < 0.1);
    }
}

#[test]
fn every_row_falls_with_the_level_and_rises_with_n() {
    for t in TABLES {
        for r in t.rows {
            assert!(r[1] >= r[2] && r[2] >= r[3], "{} {r:?}", t.id);
        }
        assert!(
            t.rows
                .windows(2)
                .all(|w| w[1][0] == 2 * w[0][0] && w[1][1] > w[0][1]),
            "{}",
            t.id
        );
    }
}

#[test]
fn estimates_fall_and_meet_the_known_points() {
    let bits = |n, q| estimated_bits(Guidelines2024, Ternary, n, q);
    assert!((bits(4096, 109.0) - 125.0).abs() < 0.1);
    assert!((bits(4096, 180.0) - 75.0).abs() < 0.1);
    assert!((bits(16384, 430.0) - 128.0).abs() < 0.1);
    for n in [1024, 2048, 4096, 8192, 32768] {
        let curve: Vec<f64> = (10..1000).map(|q| bits(n, f64::from(q))).collect();
        assert!(curve.windows(2).all(|w| w[1] <= w[0]), "n = {n}");
    }
    assert_eq!(bits(100, 50.0), 0.0);
}

#[test]
fn only_covered_secrets_have_a_table() {
    assert_eq!(SecretDistribution::Binary.kind(), None);
    assert_eq!(SecretDistribution::Binomial { eta: 2 }.kind(), None);
    assert_eq!(
        SecretDistribution::Binomial { eta: 21 }.kind(),
        Some(Gaussian)
    );
}
