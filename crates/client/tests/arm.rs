// SPDX-License-Identifier: Apache-2.0
//! The client on a bare-metal Arm Cortex-M4 under QEMU makes the engine's bytes, within the memory it states.
//!
//! Needs `rustup target add thumbv7em-none-eabihf` and `qemu-system-arm`; without them it says so and passes.

use ckks::{CkksParams, CkksParamsLiteral};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const TARGET: &str = "thumbv7em-none-eabihf";

fn there(command: &str, argument: &str) -> bool {
    Command::new(command)
        .arg(argument)
        .output()
        .is_ok_and(|done| done.status.success())
}

fn has_target() -> bool {
    let found = Command::new(env!("CARGO"))
        .args(["rustc", "--version"])
        .output();
    let rustc = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    found.is_ok()
        && rustc.is_ok_and(|done| Path::new(String::from_utf8_lossy(&done.stdout).trim()).exists())
}

/// Builds the self-test and returns its path.
fn built() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arm");
    let script = folder.join("src/arm/memory.ld");
    let status = Command::new(env!("CARGO"))
        .current_dir(folder)
        .args([
            "build",
            "--locked",
            "--quiet",
            "--release",
            "--features",
            "arm",
            "--bin",
            "ringsmith-client-arm",
        ])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&built)
        .env("RUSTFLAGS", format!("-C link-arg=-T{}", script.display()))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .unwrap();
    assert!(status.success(), "the build for {TARGET} failed");
    built.join(TARGET).join("release/ringsmith-client-arm")
}

/// What the self-test prints.
fn printed(program: &Path) -> String {
    let done = Command::new("timeout")
        .args([
            "300",
            "qemu-system-arm",
            "-M",
            "mps2-an386",
            "-nographic",
            "-monitor",
            "none",
            "-serial",
            "none",
        ])
        // The clock counts instructions: 1 ns each.
        .args(["-icount", "shift=0"])
        .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
        .arg(program)
        .output()
        .unwrap();
    let text = [done.stdout, done.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    assert!(done.status.success(), "{text}");
    text
}

fn line(name: &str, bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    format!("{name} {} {hex}", bytes.len())
}

/// The same by the engine: the sets, seeds and messages of `src/arm/main.rs`.
fn expected() -> [(&'static str, Vec<String>); 3] {
    let (keys, messages) = (Seed::from_bytes([7; 32]), Seed::from_bytes([9; 32]));
    let rlwe = |n, q: &[u64], p: &[u64]| RlweParamsLiteral {
        n,
        q: q.to_vec(),
        p: p.to_vec(),
        ..Default::default()
    };
    let set = bfv::BfvParamsLiteral {
        rlwe: rlwe(4096, &[68719403009, 68719230977], &[137438822401]),
        plain_modulus: 65537,
        auxiliary: vec![],
    };
    let params = bfv::BfvParams::new(&set, SecurityPolicy::insecure()).unwrap();
    let generator = KeyGenerator::new(&params, keys.clone());
    let secret = Arc::new(generator.secret_key().unwrap());
    let public = Arc::new(generator.public_key(&secret).unwrap());
    let coefficients: Vec<u64> = (0..4096).map(|i| i * 31 % 65537).collect();
    let message = bfv::Plaintext::from_coefficients(&params, &coefficients).unwrap();
    let symmetric = bfv::Encryptor::symmetric(&params, secret.clone(), messages.clone()).unwrap();
    let asymmetric = bfv::Encryptor::new(&params, public.clone(), messages.clone()).unwrap();
    let bfv = vec![
        line("secret-key", &secret.to_bytes()),
        line("public-key", &public.to_bytes()),
        line(
            "secret",
            &symmetric.encrypt_at(&message, 0).unwrap().to_bytes(),
        ),
        line(
            "public",
            &asymmetric.encrypt_at(&message, 0).unwrap().to_bytes(),
        ),
        "error 0".into(),
    ];
    let small = rlwe(4096, &[4294828033, 4294729729, 4294483969], &[]);
    let large = [1152921504606830593, 1099511480321, 1099510890497];
    [
        ("bfv", bfv),
        ("ckks-small", ckks_keys(small, 25)),
        ("ckks", ckks_keys(rlwe(8192, &large, &[]), 40)),
    ]
}

fn ckks_keys(rlwe: RlweParamsLiteral<u64>, log_scale: i32) -> Vec<String> {
    let set = CkksParamsLiteral {
        rlwe,
        scale: 2f64.powi(log_scale),
    };
    let params = CkksParams::new(&set, SecurityPolicy::insecure()).unwrap();
    let generator = KeyGenerator::new(&params, Seed::from_bytes([7; 32]));
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    vec![
        line("secret-key", &secret.to_bytes()),
        line("public-key", &public.to_bytes()),
    ]
}

/// The number on the line of `text` that starts with `name`.
fn number(text: &str, name: &str) -> u64 {
    let found = text.lines().find_map(|line| line.strip_prefix(name));
    let found = found.unwrap_or_else(|| panic!("no {name} in\n{text}"));
    found.trim().parse().unwrap()
}

/// Most instructions of each operation: some tenth more than docs/client.md tells, in millions.
fn most(set: &str) -> [(&'static str, u64); 4] {
    let [keys, secret, public, decryption] = match set {
        "bfv" => [13, 19, 29, 16],
        "ckks-small" => [18, 20, 36, 6],
        _ => [38, 41, 77, 13],
    };
    [
        ("public-key", keys),
        ("encrypt-secret", secret),
        ("encrypt-public", public),
        ("decrypt", decryption),
    ]
}

fn assert_counts(set: &str, text: &str) {
    for (operation, millions) in most(set) {
        let count = number(text, &format!("instructions {operation} "));
        assert!(count < millions * 1_000_000, "{set} {operation}: {count}");
    }
}

#[test]
fn a_microcontroller_makes_the_engines_bytes() {
    if !has_target() || !there("qemu-system-arm", "--version") {
        eprintln!("not run: needs rustup target add {TARGET}, and qemu-system-arm");
        return;
    }
    let program = built();
    let text = printed(&program);
    println!("{text}");
    assert!(text.trim_end().ends_with("done"), "{text}");
    assert_eq!(text, printed(&program), "another count in another run");
    // A million rounds of two instructions, to within the timer's ticks.
    let spin = number(&text, "instructions spin ");
    assert!(spin.abs_diff(2_000_000) <= 200, "{spin}");
    for (found, (set, wanted)) in text.split("set ").skip(1).zip(expected()) {
        let (name, found) = found.split_once('\n').expect("a set's lines");
        assert_eq!(name, set);
        for line in wanted {
            assert!(
                found.lines().any(|other| other == line),
                "{line}\nnot in\n{found}"
            );
        }
        assert_counts(set, found);
        // CKKS keeps its message up to the noise of an encryption.
        assert!(number(found, "error ") < 4000, "{found}");
    }
}
