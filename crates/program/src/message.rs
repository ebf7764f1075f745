// SPDX-License-Identifier: Apache-2.0
//! Messages beside a program: keys, arguments and results, each with a label of its owner and kind.
//!
//! The label is the role, the hash of the program by section (so that a refusal can say what differs) and the public
//! identity of the secret key. The parts are objects of the byte format, readable with the parameters. Labels
//! find mistakes, not forgery: a program that can change the bytes can change the label.

use crate::Error;
use rlwe::wire::{self, Fingerprint, Reader, Tag, WireError, Writer};

/// Most sections of a program's hash, and the longest name of a section and of a key in bytes.
const MAX_SECTIONS: u64 = 16;
const MAX_NAME: u64 = 64;

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The key that others encrypt under.
    PublicKey = 0,
    /// The keys that a server evaluates with.
    EvaluationKeys = 1,
    /// Encrypted arguments.
    Arguments = 2,
    /// An encrypted result.
    Result = 3,
    /// A client: its program, its secret key and all the others.
    Client = 4,
    /// A client-aided program: how its rounds follow each other, and the program of each.
    Rounds = 5,
}

impl Role {
    /// Every role, by its code.
    pub const ALL: [Self; 6] = [
        Self::PublicKey,
        Self::EvaluationKeys,
        Self::Arguments,
        Self::Result,
        Self::Client,
        Self::Rounds,
    ];
}

/// The hash of one section of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// The first 16 bytes of SHA-256.
    pub hash: [u8; 16],
}

/// Labelled objects, lent: they are long. `Debug` tells sizes alone: a client's parts are secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its purpose.
    pub role: Role,
    /// The program it is of.
    pub program: Vec<Section>,
    /// The public identity of the secret key it belongs to.
    pub key: String,
    /// The objects, which may be empty.
    pub parts: Vec<&'a [u8]>,
}

impl std::fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sizes: Vec<usize> = self.parts.iter().map(|part| part.len()).collect();
        f.debug_struct("Message")
            .field("role", &self.role)
            .field("key", &self.key)
            .field("sizes", &sizes)
            .finish_non_exhaustive()
    }
}

impl<'a> Message<'a> {
    /// The message as an object of the byte format.
    ///
    /// # Errors
    /// [`Error::Layout`] for names and counts that a reader would refuse.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(Self::labelled(&self.label()?, &self.parts))
    }

    /// Role, program and key as they begin a payload: equal labels are equal bytes.
    ///
    /// # Errors
    /// [`Error::Layout`] for names and counts that a reader would refuse.
    pub fn label(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        let mut out = Writer::public();
        out.u8(self.role as u8);
        out.u8(self.program.len() as u8);
        for section in &self.program {
            write_name(&mut out, &section.name);
            out.bytes(&section.hash);
        }
        write_name(&mut out, &self.key);
        Ok(out.as_bytes().to_vec())
    }

    /// The message of a [`Self::label`] and fewer than 2^32 parts.
    pub fn labelled(label: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        let room = parts.iter().map(|part| 8 + part.len()).sum::<usize>();
        let mut out = Writer::with_room(label.len() + 4 + room);
        out.bytes(label);
        out.u32(parts.len() as u32);
        for part in parts {
            out.u64(part.len() as u64);
            out.bytes(part);
        }
        out.seal(Tag::Message, Fingerprint::default())
    }

    /// The bytes of [`Self::labelled`] around the parts, of which no copy is made: before the first, before each
    /// further one, and behind the last.
    pub fn around(label: &[u8], parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let lengths: Vec<[u8; 8]> = parts
            .iter()
            .map(|part| (part.len() as u64).to_le_bytes())
            .collect();
        let count = (parts.len() as u32).to_le_bytes();
        let mut payload = vec![label, &count];
        for (length, part) in lengths.iter().zip(parts) {
            payload.extend([&length[..], part]);
        }
        let (header, checksum) = wire::envelope(Tag::Message, Fingerprint::default(), &payload);
        let mut out = vec![[&header[..], label, &count].concat()];
        for length in &lengths {
            out.last_mut().expect("a head").extend(length);
            out.push(vec![]);
        }
        out.last_mut().expect("a head").extend(checksum);
        out
    }

    /// The label and the parts of a message.
    ///
    /// # Errors
    /// [`Error::Wire`].
    pub fn opened(bytes: &'a [u8]) -> Result<(&'a [u8], Vec<&'a [u8]>), Error> {
        let payload = open(bytes)?;
        let mut input = Reader::new(payload);
        read_label(&mut input)?;
        let label = &payload[..payload.len() - input.left()];
        Ok((label, read_parts(input)?))
    }

    /// The parts of a message with this [`Self::label`]; `None` for one with another.
    ///
    /// # Errors
    /// [`Error::Wire`].
    pub fn parts_labelled(bytes: &'a [u8], label: &[u8]) -> Result<Option<Vec<&'a [u8]>>, Error> {
        match open(bytes)?.strip_prefix(label) {
            Some(rest) => read_parts(Reader::new(rest)).map(Some),
            None => Ok(None),
        }
    }

    fn check(&self) -> Result<(), Error> {
        let named = |name: &str| !name.is_empty() && name.len() as u64 <= MAX_NAME && plain(name);
        let right = self.program.len() as u64 <= MAX_SECTIONS
            && self.program.iter().all(|section| named(&section.name))
            && named(&self.key)
            && u32::try_from(self.parts.len()).is_ok();
        if right {
            return Ok(());
        }
        Err(Error::Layout {
            what: "message".into(),
            message: format!("names of 1 to {MAX_NAME} printable ASCII characters are needed"),
        })
    }

    /// Reads [`Message::to_bytes`]. The parts are bounded by the bytes that are there.
    ///
    /// # Errors
    /// [`Error::Wire`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        let (label, parts) = Self::opened(bytes)?;
        Ok(Self {
            parts,
            ..Self::from_label(label)?
        })
    }

    /// Reads [`Message::label`]: a message without parts.
    ///
    /// # Errors
    /// [`Error::Wire`].
    pub fn from_label(label: &'a [u8]) -> Result<Self, Error> {
        let mut input = Reader::new(label);
        let message = read_label(&mut input)?;
        input.finish()?;
        Ok(message)
    }
}

fn read_label<'a>(input: &mut Reader<'_>) -> Result<Message<'a>, Error> {
    let code = input.u8("the role")?;
    let role = *Role::ALL
        .get(usize::from(code))
        .ok_or_else(|| refused("the role", code.into(), "0..=5"))?;
    let sections = input.u8("the number of sections")?;
    if u64::from(sections) > MAX_SECTIONS {
        return Err(refused("the number of sections", sections.into(), "0..=16"));
    }
    let program = (0..sections)
        .map(|_| read_section(input))
        .collect::<Result<_, _>>()?;
    Ok(Message {
        role,
        program,
        key: read_name(input, "a key's identity")?,
        parts: vec![],
    })
}

/// The payload of a message.
fn open(bytes: &[u8]) -> Result<&[u8], Error> {
    let (header, payload) = wire::open_as(Tag::Message, bytes)?;
    if header.params != Fingerprint::default() {
        return Err(refused("the fingerprint of a message", 1, "zeros"));
    }
    Ok(payload)
}

/// The parts, which end the payload.
fn read_parts(mut input: Reader<'_>) -> Result<Vec<&[u8]>, Error> {
    let count = input.u32("the number of parts")?;
    let mut parts = vec![];
    for _ in 0..count {
        let len = input.u64("the length of a part")?;
        let len = usize::try_from(len)
            .map_err(|_| refused("the length of a part", len, "what memory can hold"))?;
        parts.push(input.bytes(len, "a part")?);
    }
    input.finish()?;
    Ok(parts)
}

fn plain(name: &str) -> bool {
    name.bytes().all(|b| (b' '..=b'~').contains(&b))
}

fn write_name(out: &mut Writer, name: &str) {
    out.u8(name.len() as u8);
    out.bytes(name.as_bytes());
}

fn read_name(input: &mut Reader<'_>, what: &'static str) -> Result<String, Error> {
    let len = input.u8(what)?;
    if len == 0 || u64::from(len) > MAX_NAME {
        return Err(refused(what, len.into(), "1 to 64 characters"));
    }
    match std::str::from_utf8(input.bytes(len.into(), what)?) {
        Ok(name) if plain(name) => Ok(name.into()),
        _ => Err(refused(what, len.into(), "printable ASCII")),
    }
}

fn read_section(input: &mut Reader<'_>) -> Result<Section, Error> {
    let name = read_name(input, "a section's name")?;
    let hash = input.bytes(16, "a section's hash")?;
    Ok(Section {
        name,
        hash: hash.try_into().expect("16 bytes were read"),
    })
}

fn refused(what: &'static str, got: u64, allowed: &str) -> Error {
    WireError::Value {
        what,
        got,
        allowed: allowed.into(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rlwe::mutate;

    fn message(parts: Vec<&[u8]>) -> Message<'_> {
        Message {
            role: Role::Arguments,
            program: vec![Section {
                name: "circuit".into(),
                hash: [7; 16],
            }],
            key: "00ff".into(),
            parts,
        }
    }

    proptest! {
        #[test]
        fn bytes_give_the_message_back(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5)) {
            let made = message(parts.iter().map(Vec::as_slice).collect());
            let bytes = made.to_bytes().unwrap();
            prop_assert_eq!(&Message::from_bytes(&bytes).unwrap(), &made);
            let label = made.label().unwrap();
            prop_assert_eq!(Message::parts_labelled(&bytes, &label).unwrap(), Some(made.parts.clone()));
            let whole: Vec<u8> = Message::around(&label, &made.parts)
                .iter()
                .zip(made.parts.iter().chain([&&[][..]]))
                .flat_map(|(between, part)| [between, *part].concat())
                .collect();
            prop_assert_eq!(&whole, &bytes);
            prop_assert_eq!(Message::opened(&bytes).unwrap(), (&label[..], made.parts.clone()));
            prop_assert_eq!(Message::from_label(&label).unwrap(), Message { parts: vec![], ..made.clone() });
            let other = Message { role: Role::Result, ..message(vec![]) }.label().unwrap();
            prop_assert_eq!(Message::parts_labelled(&bytes, &other).unwrap(), None);
        }
    }

    #[test]
    fn a_damaged_message_is_refused_or_read_as_it_stands() {
        let made = message(vec![&[1, 2, 3], &[]]);
        let (bytes, label) = (made.to_bytes().unwrap(), made.label().unwrap());
        mutate::for_each_mutation(&bytes, 20_000, |broken| {
            let parts = Message::parts_labelled(broken, &label);
            if let Ok(read) = Message::from_bytes(broken) {
                assert_eq!(read.to_bytes().unwrap(), broken);
                let same = read.label().unwrap() == label;
                assert_eq!(parts.unwrap(), same.then_some(read.parts));
            } else {
                assert!(!matches!(parts, Ok(Some(_))));
            }
        });
        for cut in 0..bytes.len() {
            assert!(Message::from_bytes(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn names_no_reader_takes_are_not_written() {
        for key in ["", "a\nb", &"x".repeat(65)] {
            let made = Message {
                key: key.into(),
                ..message(vec![])
            };
            assert!(made.to_bytes().is_err(), "{key:?}");
        }
    }

    #[test]
    fn parts_are_not_shown() {
        let shown = format!("{:?}", message(vec![&[42; 7]]));
        assert!(shown.contains('7') && !shown.contains("42"), "{shown}");
    }
}
