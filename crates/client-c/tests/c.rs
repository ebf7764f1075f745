// SPDX-License-Identifier: Apache-2.0
//! A C program with the header and the static library makes the Rust client's bytes; the library builds for a device.

use client::{Client, Params, Scheme, Slots};
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn library(target: Option<&str>) -> PathBuf {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
    let mut build = Command::new(env!("CARGO"));
    build
        .current_dir(folder())
        .args(["build", "--locked", "--quiet", "--release", "--target-dir"])
        .arg(&built);
    if let Some(target) = target {
        build.args(["--target", target]);
    }
    assert!(build.status().unwrap().success());
    built
        .join(target.unwrap_or_default())
        .join("release/libringsmith_client.a")
}

#[test]
fn c_makes_the_same_bytes() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("round_trip");
    let status = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(folder().join("include"))
        .arg(folder().join("tests/round_trip.c"))
        .arg(library(None))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success());
    let done = Command::new(program).output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let params = Params::new(1024, &[8589852673], &[], 1, Scheme::Bfv { t: 12289 }).unwrap();
    let values: Vec<i64> = (0..1024).map(|i| i - 500).collect();
    let message = Slots::new(&params).unwrap().encode(&values).unwrap();
    let bytes = Client::new(&params, &[7; 32])
        .encrypt_secret(&message, &[9; 32], 0)
        .unwrap();
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), hex);
}

#[test]
fn it_builds_without_an_operating_system() {
    const TARGET: &str = "thumbv7em-none-eabihf";
    let found = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    if !found.is_ok_and(|done| Path::new(String::from_utf8_lossy(&done.stdout).trim()).exists()) {
        eprintln!("not run: needs rustup target add {TARGET}");
        return;
    }
    assert!(library(Some(TARGET)).exists());
}
