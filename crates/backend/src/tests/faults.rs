// SPDX-License-Identifier: Apache-2.0
//! Faults planted in key switches on a device are found: the bytes are no longer those of the walk step by step.

use super::clear;
use super::coprocessor::ALL;
use super::moves::{ending, moves};
use super::reference::Client;
use super::requests::{Asked, ones};
use crate::{Coprocessor, Error, Keys, Unobserved};
use device::{Conversion, Device, DeviceError, Digit, Driver, Entry, Modeled, Profile, Stop};
use isa::BuildInfo;
use offload::Session;
use program::Program;
use program::step::Operation;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zq::Modulus;

/// A mistake in the tables that a key switch needs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The first two digits take each other's place, so that they meet each other's keys.
    DigitOrder,
    /// Residues of negative numbers are not corrected.
    Correction,
    /// x -> x^(g + 2) for x -> x^g.
    Automorphism,
}

/// A model whose tables are filled with a mistake, or with little memory, or whose memory refuses what is written.
pub struct Faulty {
    model: Modeled,
    fault: Fault,
    /// Host buffers.
    room: u32,
    refuses: Arc<AtomicBool>,
}

impl Faulty {
    fn new(model: Modeled, fault: Fault) -> Self {
        Self {
            model,
            fault,
            room: u32::MAX,
            refuses: Arc::default(),
        }
    }

    /// A model with that many host buffers, which refuse to be written to where the flag says so.
    pub fn small(info: BuildInfo, room: u32, refuses: &Arc<AtomicBool>) -> Self {
        Self {
            room,
            refuses: Arc::clone(refuses),
            ..Self::new(Modeled::open(info).unwrap(), Fault::None)
        }
    }
}

impl Device for Faulty {
    fn info(&self) -> &BuildInfo {
        self.model.info()
    }

    fn allocate(&mut self, count: u32) -> Result<u32, DeviceError> {
        let Some(room) = self.room.checked_sub(count) else {
            let what = format!("no room for {count} host buffers");
            return Err(DeviceError::Data { what });
        };
        self.room = room;
        self.model.allocate(count)
    }

    fn write(&mut self, buffer: u32, lane: usize, words: &[u128]) -> Result<(), DeviceError> {
        if self.refuses.load(Ordering::Relaxed) {
            let what = "the link is down".into();
            return Err(DeviceError::Data { what });
        }
        self.model.write(buffer, lane, words)
    }

    fn read(&mut self, buffer: u32, lane: usize, n: usize) -> Result<Vec<u128>, DeviceError> {
        self.model.read(buffer, lane, n)
    }

    fn set(&mut self, entry: Entry, lane: usize, value: u128) -> Result<(), DeviceError> {
        self.model.set(entry, lane, value)
    }

    fn set_conversion(
        &mut self,
        number: u8,
        base: u8,
        conversion: &Conversion,
    ) -> Result<(), DeviceError> {
        self.model.set_conversion(number, base, conversion)
    }

    fn set_automorphism(&mut self, number: u8, element: u16) -> Result<(), DeviceError> {
        let off = if self.fault == Fault::Automorphism {
            2
        } else {
            0
        };
        self.model.set_automorphism(number, element ^ off)
    }

    fn set_digit(&mut self, number: u8, digit: &Digit) -> Result<(), DeviceError> {
        match self.fault {
            Fault::DigitOrder if number < 2 => self.model.set_digit(1 - number, digit),
            Fault::Correction => self.model.set_digit(number, &uncorrected(digit)),
            _ => self.model.set_digit(number, digit),
        }
    }

    fn submit(&mut self, words: &[u64]) -> Result<(), DeviceError> {
        self.model.submit(words)
    }

    fn wait(&mut self, limit: u64, stop: Stop<'_>) -> Result<Profile, DeviceError> {
        self.model.wait(limit, stop)
    }

    fn counters(&self) -> model::Counters {
        self.model.counters()
    }

    fn reset(&mut self) -> Result<(), DeviceError> {
        self.model.reset()
    }
}

/// The same sources, and nothing added: a share between equal primes has no offset.
fn uncorrected(digit: &Digit) -> Digit {
    let prime = Modulus::new(12289).unwrap();
    let shares = digit
        .shares()
        .iter()
        .map(|share| (share.from, prime, prime));
    Digit::new(&shares.collect::<Vec<_>>()).unwrap()
}

/// Whether a program on eight lanes with a mistake, in either order, gives the outputs of the walk.
fn agrees(program: &Program, fault: Fault, digit_major: bool) -> bool {
    let client = Client::new(program, &clear::inputs(program, 1));
    let ours = outputs(program, &client, &client.keys, (fault, digit_major)).unwrap();
    ours == client.reference(program, &ones(program))
}

fn outputs(
    program: &Program,
    client: &Client,
    keys: &Keys,
    (fault, digit_major): (Fault, bool),
) -> Result<Vec<Vec<u8>>, Error> {
    let (inputs, plain) = (client.lent(), ones(program));
    let request = Asked::new(program, keys, &inputs, &plain);
    let device = Faulty::new(Modeled::open(moves(46, 8, 10)).unwrap(), fault);
    let session = Session::new(Driver::open(Box::new(device)).unwrap()).unwrap();
    let backend = Coprocessor::new("model:faulty", session, ALL.map(str::to_owned));
    let backend = backend.digit_major(digit_major);
    let outcome = request.of(&backend, &Unobserved)?;
    Ok(outcome.outputs)
}

#[test]
fn planted_faults_are_found() {
    use Operation::{Multiply, Relinearize, Rotate};
    let programs = [
        ending(&[(Rotate(0, 1), 2, 0)]),
        ending(&[(Multiply(0, 1), 3, 0), (Relinearize(3), 2, 0)]),
    ];
    for program in &programs {
        for digit_major in [false, true] {
            assert!(agrees(program, Fault::None, digit_major), "{program}");
            for fault in [Fault::DigitOrder, Fault::Correction] {
                let found = !agrees(program, fault, digit_major);
                assert!(found, "{fault:?}, digit-major {digit_major}\n{program}");
            }
        }
    }
    assert!(!agrees(&programs[0], Fault::Automorphism, false));
}

/// Keys of the same shape, another client's.
#[test]
fn keys_of_another_client_are_refused_by_their_name() {
    let program = ending(&[(Operation::Rotate(0, 1), 2, 0)]);
    let rows = clear::inputs(&program, 1);
    let [client, other] = ["client", "another"].map(|seed| Client::seeded(&program, &rows, seed));
    let ours = outputs(&program, &client, &other.keys, (Fault::None, false));
    let Err(Error::Keys(message)) = ours else {
        panic!("{:?}", ours.map(|outputs| outputs.len()));
    };
    assert!(message.contains("belongs to key"), "{message}");
}
