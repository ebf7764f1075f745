// SPDX-License-Identifier: Apache-2.0
//! Device files: opened for one program at a time, failures in words.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// What is said of a port that is taken.
pub const BUSY: &str = "another program has the port";

/// The operating system's words, without its number.
pub fn cause(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or(&text)
        .to_lowercase()
}

/// Open a device file to read and write, with more `flags` of open(2); `absent` is said where there is none.
pub fn open(path: &Path, flags: i32, absent: &str) -> Result<File, String> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(path);
    opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::BUSY) => BUSY.to_owned(),
        Some(Errno::NOENT) => absent.to_owned(),
        Some(Errno::ACCESS) => format!(
            "no permission: a user of {} is in the group that owns the file",
            path.display()
        ),
        _ => format!("{} cannot be opened: {}", path.display(), cause(&error)),
    })
}

/// Keep other programs of this driver away until the file is closed.
pub fn lock(file: &File) -> Result<(), String> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| BUSY.to_owned())
}

/// The text of an attribute, without the line's end; `None` where there is no such file.
pub fn attribute(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!(
            "{} cannot be read: {}",
            path.display(),
            cause(&error)
        )),
    }
}

/// The number that an attribute holds, decimal or with 0x.
pub fn number(path: &Path) -> Result<u64, String> {
    let text = attribute(path)?.ok_or_else(|| format!("{} is missing", path.display()))?;
    let read = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    read.map_err(|_| format!("{} holds {text:?}, no number", path.display()))
}

/// Names in a folder, sorted; none where there is no such folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    all.sort();
    all
}
