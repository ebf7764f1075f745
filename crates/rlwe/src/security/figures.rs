// SPDX-License-Identifier: Apache-2.0
// Generated from spec/params/security.toml by `python -m ringsmith.gen`.
//! The figures of the security tables.

use super::fixed_weight::Rows;
use super::table::{SecretKind, Table};

pub(super) static TABLES: &[Table] = &[
    Table {
        id: "2024-classical",
        name: "2024 guidelines (ePrint 2024/463, table 5.2, classical)",
        secret: SecretKind::Ternary,
        rows: &[
            [1024, 26, 0, 0],
            [2048, 53, 36, 27],
            [4096, 106, 73, 56],
            [8192, 214, 147, 114],
            [16384, 430, 297, 230],
            [32768, 868, 597, 462],
            [65536, 1747, 1199, 929],
            [131072, 3523, 2411, 1866],
        ],
    },
    Table {
        id: "2024-classical",
        name: "2024 guidelines (ePrint 2024/463, classical, Gaussian secret)",
        secret: SecretKind::Gaussian,
        rows: &[
            [1024, 28, 0, 0],
            [2048, 55, 38, 30],
            [4096, 108, 75, 58],
            [8192, 216, 149, 116],
            [16384, 432, 299, 232],
            [32768, 870, 599, 464],
            [65536, 1749, 1201, 931],
            [131072, 3525, 2413, 1868],
        ],
    },
    Table {
        id: "2024-quantum",
        name: "2024 guidelines (script of ePrint 2024/463, quantum)",
        secret: SecretKind::Ternary,
        rows: &[
            [1024, 20, 0, 0],
            [2048, 40, 29, 22],
            [4096, 80, 59, 47],
            [8192, 161, 119, 95],
            [16384, 322, 239, 192],
            [32768, 644, 479, 385],
            [65536, 1289, 959, 773],
            [131072, 2578, 1920, 0],
        ],
    },
    Table {
        id: "2018-classical",
        name: "HE standard 2018 (classical)",
        secret: SecretKind::Ternary,
        rows: &[
            [1024, 27, 19, 14],
            [2048, 54, 37, 29],
            [4096, 109, 75, 58],
            [8192, 218, 152, 118],
            [16384, 438, 305, 237],
            [32768, 881, 611, 476],
        ],
    },
    Table {
        id: "2018-quantum",
        name: "HE standard 2018 (quantum)",
        secret: SecretKind::Ternary,
        rows: &[
            [1024, 25, 17, 13],
            [2048, 51, 35, 27],
            [4096, 101, 70, 54],
            [8192, 202, 141, 109],
            [16384, 411, 284, 220],
            [32768, 827, 571, 443],
        ],
    },
];

/// `[n, log2(QP), bits]` of single runs, for ternary secrets and classical attacks.
pub(super) static ESTIMATES: &[[u32; 3]] = &[
    [2048, 54, 126],
    [2048, 72, 94],
    [4096, 75, 187],
    [4096, 99, 139],
    [4096, 100, 137],
    [4096, 109, 125],
    [4096, 180, 75],
    [8192, 75, 416],
    [8192, 99, 301],
    [8192, 129, 224],
    [8192, 210, 131],
    [8192, 218, 126],
];

pub(super) static FIXED_WEIGHT: Rows = Rows {
    name: "published figures for secrets of fixed weight (poulpy 0.8.3; lattice-estimator 27a581b)",
    rows: &[
        [32, 16384, 82],
        [32, 65536, 120],
        [1024, 32768, 854],
        [1024, 65536, 1714],
    ],
};
