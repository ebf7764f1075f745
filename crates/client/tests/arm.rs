// SPDX-License-Identifier: Apache-2.0
//! The client on a bare-metal Arm Cortex-M4 under QEMU makes the engine's bytes, within the memory it states.
//!
//! Needs `rustup target add thumbv7em-none-eabihf` and `qemu-system-arm`; without them it says so and passes.

use ckks::{CkksParams, CkksParamsLiteral};
use rlwe::{KeyGenerator, RlweParamsLiteral, SecurityPolicy, Seed};
use sha2::{Digest, Sha256};
use std::path::Path;
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

/// Builds the self-test, runs it and returns its output.
fn printed() -> String {
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
    let program = built.join(TARGET).join("release/ringsmith-client-arm");
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
fn expected() -> [Vec<String>; 2] {
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
    let q = [1152921504606830593, 1099511480321, 1099510890497];
    let set = CkksParamsLiteral {
        rlwe: rlwe(8192, &q, &[]),
        scale: 2f64.powi(40),
    };
    let params = CkksParams::new(&set, SecurityPolicy::insecure()).unwrap();
    let generator = KeyGenerator::new(&params, keys);
    let secret = generator.secret_key().unwrap();
    let public = generator.public_key(&secret).unwrap();
    let ckks = vec![
        line("secret-key", &secret.to_bytes()),
        line("public-key", &public.to_bytes()),
    ];
    [bfv, ckks]
}

#[test]
fn a_microcontroller_makes_the_engines_bytes() {
    if !has_target() || !there("qemu-system-arm", "--version") {
        eprintln!("not run: needs rustup target add {TARGET}, and qemu-system-arm");
        return;
    }
    let text = printed();
    println!("{text}");
    assert!(text.trim_end().ends_with("done"), "{text}");
    let (bfv, ckks) = text.split_once("ckks\n").expect("two schemes");
    for (found, wanted) in [bfv, ckks].into_iter().zip(expected()) {
        for line in wanted {
            assert!(
                found.lines().any(|other| other == line),
                "{line}\nnot in\n{found}"
            );
        }
    }
    // CKKS keeps its message up to the noise of an encryption.
    let error = ckks
        .lines()
        .find_map(|line| line.strip_prefix("error "))
        .unwrap();
    assert!(error.parse::<u64>().unwrap() < 4000, "{error}");
}
