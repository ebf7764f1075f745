// SPDX-License-Identifier: Apache-2.0
//! A C program with the header and the static library makes the Rust client's bytes; the library builds for a device.

#[path = "../../client/tests/sets/mod.rs"]
mod sets;

use client::{Client, Params, ParamsLiteral, Scheme, Slots};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// A program of `tests/` with the header and the library.
fn compiled(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let status = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(folder().join("include"))
        .arg(folder().join("tests").join(name).with_extension("c"))
        .arg(library(None))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success());
    program
}

#[test]
fn c_makes_the_same_bytes() {
    let done = Command::new(compiled("round_trip")).output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let params = Params::insecure(&ParamsLiteral {
        n: 1024,
        data: &[8589852673],
        special: &[],
        dnum: 1,
        scheme: Scheme::Bfv { t: 12289 },
    })
    .unwrap();
    let values: Vec<i64> = (0..1024).map(|i| i - 500).collect();
    let message = Slots::new(&params).unwrap().encode(&values).unwrap();
    let bytes = Client::new(&params, &[7; 32])
        .encrypt_secret(&message, &[9; 32], 0)
        .unwrap();
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), hex);
}

#[test]
fn the_table_of_sets_holds_and_a_refusal_writes_nothing() {
    let list = |values: &[u64]| {
        let words = values.iter().map(|value| format!(" {value}"));
        format!("{}{}", values.len(), words.collect::<String>())
    };
    let (mut lines, mut wanted) = (String::new(), vec![]);
    for set in sets::cases() {
        for allow in [0, 1] {
            let (data, special) = (list(&set.data), list(&set.special));
            let (n, dnum, t, scale) = (set.n, set.dnum, set.t, set.scale);
            lines += &format!("{n} {dnum} {data} {special} {t} {scale} {allow}\n");
            let code = match (set.verdict.as_str(), allow) {
                ("parameters", _) => "1",
                ("insecure", 0) => "8",
                _ => "0",
            };
            wanted.push((set.name.clone(), code));
        }
    }
    let mut program = Command::new(compiled("sets"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    drop(input);
    let done = program.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", done.status);
    let found = String::from_utf8_lossy(&done.stdout);
    assert_eq!(found.lines().count(), wanted.len());
    for ((name, code), found) in wanted.iter().zip(found.lines()) {
        assert_eq!(found, *code, "{name}");
    }
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
