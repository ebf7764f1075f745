// SPDX-License-Identifier: Apache-2.0
//! Sizes of keys and ciphertexts in memory and as bytes, and the peak memory of a small workload.

use crate::{bfv_sets, ckks_sets};
use rlwe::{GaloisKeys, PublicKey, RelinKey};

/// The scheme's set: what is printed for it is one JSON object.
pub fn run(scheme: &str) -> Result<(), String> {
    let (n, bits, correct, sizes) = match scheme {
        "bfv" => bfv(bfv_sets::SETS[1]).map_err(|e| e.to_string())?,
        "ckks" => ckks(ckks_sets::SETS[1]).map_err(|e| e.to_string())?,
        // The decompositions that OpenFHE chooses for these sets.
        "bfv-no-special" => bfv((8192, &[43, 43, 44, 44], 0)).map_err(|e| e.to_string())?,
        "ckks-3-digits" => ckks((16384, 7, 3, 3, ckks_sets::WIDTH)).map_err(|e| e.to_string())?,
        // The baseline of the process before it computes anything.
        "nothing" => (0, vec![], true, vec![]),
        _ => {
            return Err(format!(
                "no scheme {scheme}: bfv, ckks, bfv-no-special, ckks-3-digits or nothing"
            ));
        }
    };
    let sizes: Vec<String> = sizes
        .iter()
        .map(|(what, memory, wire)| {
            format!("\"{what}\":{{\"memory_bytes\":{memory},\"serialized_bytes\":{wire}}}")
        })
        .collect();
    println!(
        "{{\"scheme\":\"{scheme}\",\"n\":{n},\"moduli_bits\":{bits:?},\"library\":\"ringsmith\",\"objects\":{{{}}},\"peak_rss_bytes\":{},\"correct\":{correct}}}",
        sizes.join(","),
        peak_rss()?
    );
    Ok(())
}

/// The most memory in bytes that this process has had at a time.
fn peak_rss() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map(|kib| 1024 * kib)
        .ok_or_else(|| "no VmHWM in /proc/self/status".into())
}

type Sizes = (usize, Vec<u32>, bool, Vec<(&'static str, usize, usize)>);

/// Bytes of residues.
fn bytes<'a>(polynomials: impl IntoIterator<Item = &'a [u64]>) -> usize {
    polynomials.into_iter().map(size_of_val).sum()
}

/// Of each object its bytes of residues in memory, and its length as bytes.
fn sizes(
    public: &PublicKey<u64>,
    relin: &RelinKey<u64>,
    galois: &GaloisKeys<u64>,
    ciphertext: (usize, usize),
) -> Vec<(&'static str, usize, usize)> {
    let memory = bytes(public.parts().map(|p| p.data()));
    vec![
        ("public_key", memory, public.to_bytes().len()),
        ("relin_key", relin.key().memory(), relin.to_bytes().len()),
        ("rotation_key", galois.memory(), galois.to_bytes().len()),
        ("ciphertext", ciphertext.0, ciphertext.1),
    ]
}

fn bfv((n, data, special): (usize, &[u32], u32)) -> Result<Sizes, bfv::Error> {
    let kit = bfv_sets::Kit::new(n, data, special)?;
    let (correct, fresh) = kit.workload()?;
    let ciphertext = (fresh.memory(), fresh.to_bytes().len());
    let sizes = sizes(&kit.public, &kit.relin, &kit.galois, ciphertext);
    Ok((n, kit.bits, correct, sizes))
}

fn ckks(set: ckks_sets::Set) -> Result<Sizes, ckks::Error> {
    let (n, kit) = (set.0, ckks_sets::Kit::new(set)?);
    let (correct, fresh) = kit.workload()?;
    let memory = bytes(fresh.parts().iter().map(|p| p.data()));
    let ciphertext = (memory, fresh.to_bytes().len());
    let sizes = sizes(&kit.public, &kit.relin, &kit.galois, ciphertext);
    Ok((n, kit.bits, correct, sizes))
}
