// SPDX-License-Identifier: Apache-2.0
//! Keys in a file: a refresh reads those of a factor when it comes to it, so that memory holds one factor's at a time.
//!
//! The file is what [`BootstrapKeys::to_bytes`] writes. It is read piece by piece, not mapped: a file that another
//! program cuts short is an error then, and no signal that ends this one. The system's cache keeps what memory allows.

use super::dft::Direction;
use super::key_set::{KeySet, LENGTH, Wanted};
use super::{BootstrapKeys, BootstrapParams};
use crate::Error;
use rlwe::wire::{HEADER_LEN, Tag, envelope};
use rlwe::{GaloisKeys, ParameterSet, RlweParams};
use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Bytes of a header before the length of the payload.
const BEFORE_LENGTH: usize = HEADER_LEN - LENGTH;

/// Bootstrapping keys in a file. Those that every refresh uses throughout are in memory: encapsulation, conjugation,
/// trace and relinearisation; those of the transforms are read, and checked, whenever they are used.
#[derive(Debug)]
pub struct KeyFile {
    path: PathBuf,
    file: Mutex<File>,
    set: RlweParams<u64>,
    kept: BootstrapKeys,
    /// For each factor of both transforms the keys that are wanted and where they are.
    transforms: [Vec<(Wanted, Range<u64>)>; 2],
}

/// Where the keys of a refresh are.
#[derive(Clone, Copy, Debug)]
pub enum KeySource<'a> {
    /// In memory, all of them.
    Memory(&'a BootstrapKeys),
    /// In a file.
    File(&'a KeyFile),
}

impl<'a> From<&'a BootstrapKeys> for KeySource<'a> {
    fn from(keys: &'a BootstrapKeys) -> Self {
        Self::Memory(keys)
    }
}

impl<'a> From<&'a KeyFile> for KeySource<'a> {
    fn from(keys: &'a KeyFile) -> Self {
        Self::File(keys)
    }
}

impl<'a> KeySource<'a> {
    /// The keys that are not the transforms'.
    pub(super) fn kept(self) -> &'a BootstrapKeys {
        match self {
            Self::Memory(keys) => keys,
            Self::File(file) => &file.kept,
        }
    }

    /// The rotation keys of factor `index` of a transform.
    pub(super) fn rotations(
        self,
        direction: Direction,
        index: usize,
    ) -> Result<Cow<'a, GaloisKeys<u64>>, Error> {
        match self {
            Self::Memory(keys) => Ok(Cow::Borrowed(&keys.transform(direction)[index])),
            Self::File(file) => Ok(Cow::Owned(file.rotations(direction, index)?)),
        }
    }
}

impl KeyFile {
    /// Opens a file of keys for the bootstrapping they were made for. Its length and layout are held against what the
    /// bootstrapping needs before anything is read; the keys that stay in memory are read.
    ///
    /// # Errors
    /// [`Error::KeyFile`] when the system cannot read it; [`Error::Bootstrap`] for other keys; [`Error::Rlwe`] for
    /// damaged ones.
    pub fn open(params: &BootstrapParams, path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_path_buf();
        let mut file = File::open(&path).map_err(|e| unreadable(&path, &e))?;
        let parts = parts(params, (&path, &mut file))?;
        let (set, rlwe) = (params.key_set(), params.main().rlwe().params());
        let mut read = |part: &Range<u64>| piece(&path, &mut file, part);
        let [encapsulation, relin, transforms @ .., trace, conjugation] = &parts[..] else {
            unreachable!("two parts before the transforms' and two after them");
        };
        let owner = BootstrapKeys::read_encapsulation(params, &read(encapsulation)?)?;
        let relin = BootstrapKeys::read_relin(rlwe, &set, &owner, &read(relin)?)?;
        let mut galois = |wanted: &Wanted, part| {
            BootstrapKeys::read_rotations(rlwe, wanted, owner.to_dense().id(), &read(part)?)
        };
        let (trace, conjugation) = (
            galois(&set.trace, trace)?,
            galois(&set.conjugation, conjugation)?,
        );
        let KeySet {
            slots_to_coeffs,
            coeffs_to_slots,
            ..
        } = set;
        let mut places = transforms.iter().cloned();
        let mut placed = |all: Vec<Wanted>| all.into_iter().zip(places.by_ref()).collect();
        Ok(Self {
            transforms: [placed(slots_to_coeffs), placed(coeffs_to_slots)],
            kept: BootstrapKeys {
                encapsulation: owner,
                slots_to_coeffs: Vec::new(),
                trace,
                coeffs_to_slots: Vec::new(),
                conjugation,
                relin,
            },
            set: rlwe.clone(),
            file: Mutex::new(file),
            path,
        })
    }

    /// Bytes of the keys that stay in memory.
    pub fn memory(&self) -> usize {
        self.kept.memory()
    }

    fn rotations(&self, direction: Direction, index: usize) -> Result<GaloisKeys<u64>, Error> {
        let (wanted, place) = &self.transforms[direction as usize][index];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = piece(&self.path, &mut file, place)?;
        drop(file);
        BootstrapKeys::read_rotations(&self.set, wanted, self.kept.id(), &bytes)
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::KeyFile {
        path: path.to_path_buf(),
        reason: error.to_string(),
    }
}

/// Where the parts are. The file has exactly the bytes of the keys of this bootstrapping, or it is refused unread.
fn parts(
    params: &BootstrapParams,
    (path, file): (&Path, &mut File),
) -> Result<Vec<Range<u64>>, Error> {
    let wanted = params.key_bytes() as u64;
    let len = file.metadata().map_err(|e| unreadable(path, &e))?.len();
    let other = |got: String| {
        Err(Error::Bootstrap {
            what: "the key file",
            got,
            allowed: format!("the {wanted} bytes of keys made for this very bootstrapping"),
        })
    };
    if len != wanted {
        return other(format!("{len} bytes long"));
    }
    let (header, _) = envelope(Tag::BootstrapKeys, params.main().rlwe().fingerprint(), &[]);
    let found = piece(path, file, &(0..HEADER_LEN as u64))?;
    if found[..BEFORE_LENGTH] != header[..BEFORE_LENGTH] {
        return other("of other parameters, or no bootstrapping keys".into());
    }
    let mut at = HEADER_LEN as u64;
    let mut parts = Vec::new();
    for part in params.part_bytes() {
        let start = at + LENGTH as u64;
        let said = piece(path, file, &(at..start))?;
        if said != (part as u64).to_le_bytes() {
            return other(format!("cut otherwise at byte {at}"));
        }
        at = start + part as u64;
        parts.push(start..at);
    }
    Ok(parts)
}

/// The bytes of a range that lies within the file.
fn piece(path: &Path, file: &mut File, range: &Range<u64>) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    let mut read = || {
        file.seek(SeekFrom::Start(range.start))?;
        file.read_exact(&mut bytes)
    };
    read().map_err(|e| unreadable(path, &e))?;
    Ok(bytes)
}
