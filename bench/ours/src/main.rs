// SPDX-License-Identifier: Apache-2.0
//! Times our own operations with the parameters of the peers in `bench/peers` and prints one JSON line each.
//!
//! Every result is checked: transforms by their inverse, homomorphic operations by decryption.

mod bfv_sets;
mod ckks_sets;
mod measure;
mod transforms;

fn main() {
    transforms::run();
    for (n, data, special) in [
        (4096, &[36, 36][..], 37),
        (8192, &[43, 43, 44, 44], 44),
        (4096, &[30; 6], 30),
    ] {
        bfv_sets::run(n, data, special).expect("a known set");
    }
    for (n, data, special, dnum) in [
        (8192, 3, 1, 3),
        (16384, 7, 1, 7),
        (32768, 14, 1, 14),
        (32768, 12, 3, 4),
    ] {
        ckks_sets::run(n, data, special, dnum).expect("a known set");
    }
}
