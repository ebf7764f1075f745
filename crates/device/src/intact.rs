// SPDX-License-Identifier: Apache-2.0
//! A simulator library is hashed before it is loaded: one that was cut short kills the process that maps it with
//! SIGBUS.
//!
//! The flow keeps the SHA-256 of `NAME` beside it in `NAME.sha256`, as `sha256sum` writes it.

use std::fs::{File, read_to_string};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const AGAIN: &str = "delete it, and it is built again";

/// Checks that the library is the one that was built.
pub(crate) fn check(path: &Path) -> Result<(), String> {
    let found = hash(path).map_err(|error| error.to_string())?;
    let beside = checksum_file(path);
    let kept = read_to_string(&beside)
        .map_err(|error| format!("no checksum in {}: {error}; {AGAIN}", beside.display()))?;
    if kept.split_whitespace().next() == Some(found.as_str()) {
        Ok(())
    } else {
        Err(format!(
            "is cut short or changed since it was built; {AGAIN}"
        ))
    }
}

fn checksum_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    name.into()
}

fn hash(path: &Path) -> io::Result<String> {
    let (mut file, mut state) = (File::open(path)?, Sha256::new());
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => state.update(&block[..read]),
        }
    }
    Ok(format!("{:x}", state.finalize()))
}

#[cfg(test)]
mod tests {
    use super::{check, checksum_file, hash};
    use std::fs;

    #[test]
    fn only_what_was_built_is_loaded() {
        let folder = std::env::temp_dir().join(format!("ringsmith-intact-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("device.so");
        let whole: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
        fs::write(&path, &whole).unwrap();
        assert!(check(&path).unwrap_err().starts_with("no checksum in "));
        fs::write(
            checksum_file(&path),
            format!("{}  device.so\n", hash(&path).unwrap()),
        )
        .unwrap();
        check(&path).unwrap();
        for damaged in [&whole[..50_000], &whole[..0], &[&whole[..], b"x"].concat()] {
            fs::write(&path, damaged).unwrap();
            assert!(
                check(&path)
                    .unwrap_err()
                    .starts_with("is cut short or changed")
            );
        }
        assert!(check(&folder).is_err());
        fs::remove_dir_all(&folder).unwrap();
        assert!(check(&path).unwrap_err().contains("No such file"));
    }

    #[test]
    fn the_hash_is_sha256() {
        let path = std::env::temp_dir().join(format!("ringsmith-abc-{}", std::process::id()));
        fs::write(&path, "abc").unwrap();
        assert_eq!(
            hash(&path).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        fs::remove_file(&path).unwrap();
    }
}
