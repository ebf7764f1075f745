// SPDX-License-Identifier: Apache-2.0
//! The driver: learns the build, checks programs, tracks the state of the device.

mod audit;
mod audited;

pub use audit::checksum;

use isa::{BuildInfo, Instruction, Op, State, TWIDDLE_SLOT, check, encode};
use model::{Conversion, Digit, Lane, Profile, schedule_from};
use ntt::NttPlan;
use zq::Modulus;

use crate::{Device, DeviceError, Entry, Injection, Stop};
use audit::Audit;

/// Bytes of host buffers that one call makes at most.
const HOST_BYTES: usize = 1 << 28;

/// Traffic between host and device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// Polynomials (all lanes) written to host buffers for the device.
    pub sent: u64,
    /// Polynomials read back.
    pub received: u64,
    /// Bytes written.
    pub bytes_sent: u64,
    /// Bytes read back.
    pub bytes_received: u64,
}

/// Cycles beyond twenty times the prediction that a program may take ([`Driver::set_patience`]).
pub const PATIENCE: u64 = 100_000;

/// A device with its driver. Residues are `[lane][n]`, each below its lane's modulus.
pub struct Driver {
    pub(crate) device: Box<dyn Device>,
    pub(crate) info: BuildInfo,
    pub(crate) state: State,
    moduli: Vec<Option<Vec<Modulus<u128>>>>,
    constants: Vec<Vec<u128>>,
    pub(crate) conversions: Vec<Option<Conversion>>,
    /// Per base conversion the entries it takes: first and number.
    pub(crate) entries: Vec<(u32, u32)>,
    pub(crate) automorphisms: Vec<Option<u16>>,
    pub(crate) digits: Vec<Option<Digit>>,
    audit: Option<Audit>,
    /// Host buffer that tables travel through.
    table_buffer: Option<u32>,
    transfers: Transfers,
    resets: u64,
    patience: u64,
}

impl Driver {
    /// Drive a device.
    ///
    /// # Errors
    /// [`DeviceError::Info`] if its info block describes no build.
    pub fn open(device: Box<dyn Device>) -> Result<Self, DeviceError> {
        let info = device.info().clone();
        info.validate()?;
        Ok(Self {
            conversions: vec![None; info.rns.map_or(0, |unit| unit.conversions as usize)],
            entries: vec![(0, 0); info.rns.map_or(0, |unit| unit.conversions as usize)],
            automorphisms: vec![None; info.moves as usize],
            digits: vec![None; info.moves as usize],
            state: State::new(&info),
            moduli: vec![None; info.moduli_slots as usize],
            constants: vec![vec![0; info.constants as usize]; info.lanes as usize],
            info,
            device,
            audit: None,
            table_buffer: None,
            transfers: Transfers::default(),
            resets: 0,
            patience: PATIENCE,
        })
    }

    /// The build.
    pub fn info(&self) -> &BuildInfo {
        &self.info
    }

    /// Traffic so far.
    pub fn transfers(&self) -> Transfers {
        self.transfers
    }

    /// Contents of slots and tables.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Check every instruction's result by a checksum from now on: slow, finds memory that does not keep its words.
    /// Forgets the contents of slots and twiddle tables.
    ///
    /// # Errors
    /// No room for the buffer it needs.
    pub fn audit(&mut self) -> Result<(), DeviceError> {
        let buffer = self.device.allocate(1)?;
        self.state.tables.fill(None);
        self.state.slots.fill(None);
        self.audit = Some(Audit::new(&self.info, buffer));
        Ok(())
    }

    /// Set the modulus of every lane for a modulus index.
    ///
    /// # Errors
    /// A modulus wider than W, below the build's smallest, or even; the wrong number of lanes; no such index.
    pub fn set_moduli(&mut self, index: u8, moduli: &[u128]) -> Result<(), DeviceError> {
        if u32::from(index) >= self.info.moduli_slots {
            let what = format!(
                "modulus index {index} does not exist, the build has {}",
                self.info.moduli_slots
            );
            return Err(DeviceError::Data { what });
        }
        self.expect_lanes(moduli.len())?;
        let mut lanes = Vec::with_capacity(moduli.len());
        for (lane, &value) in moduli.iter().enumerate() {
            let refuse = |what| DeviceError::Modulus {
                index: index.into(),
                lane,
                what,
            };
            lanes.push(self.check_modulus(value).map_err(refuse)?);
        }
        for (lane, &value) in moduli.iter().enumerate() {
            self.device.set(Entry::Modulus(index), lane, value)?;
        }
        if self.moduli[usize::from(index)].as_ref() != Some(&lanes) {
            self.state.tables[usize::from(index)] = None;
        }
        self.moduli[usize::from(index)] = Some(lanes);
        self.state.moduli[usize::from(index)] = true;
        Ok(())
    }

    pub(crate) fn check_modulus(&self, value: u128) -> Result<Modulus<u128>, String> {
        let bits = 128 - value.leading_zeros();
        if bits > self.info.word_bits {
            return Err(format!(
                "modulus {value} has {bits} bits, the build has words of {}",
                self.info.word_bits
            ));
        }
        if bits < self.info.modulus_bits_min {
            return Err(format!(
                "modulus {value} has {bits} bits, the build needs {}",
                self.info.modulus_bits_min
            ));
        }
        if value.is_multiple_of(2) {
            return Err(format!("modulus {value} is even"));
        }
        if self.info.montgomery_bits > 0 && value % (1 << self.info.montgomery_bits) != 1 {
            return Err(format!(
                "modulus {value} is not 1 mod 2^{}, as the build needs",
                self.info.montgomery_bits
            ));
        }
        Modulus::new(value).map_err(|error| error.to_string())
    }

    /// Per lane, the scaling of one factor of a product: 1 with Barrett, R with Montgomery.
    ///
    /// # Errors
    /// The modulus was never set.
    pub fn factors(&self, index: u8) -> Result<Vec<u128>, DeviceError> {
        let moduli = self
            .moduli(index)
            .ok_or_else(|| DeviceError::data(format!("modulus {index} was never set")))?;
        Ok(moduli
            .iter()
            .map(|modulus| Lane::new(&self.info, *modulus).factor())
            .collect())
    }

    /// Set a constant of every lane; on Montgomery builds it must carry [`Driver::factors`].
    ///
    /// # Errors
    /// No such constant, a value that does not fit W bits, or the wrong number of lanes.
    pub fn set_constant(&mut self, index: u8, values: &[u128]) -> Result<(), DeviceError> {
        self.expect_lanes(values.len())?;
        if u32::from(index) >= self.info.constants {
            let what = format!(
                "constant {index} does not exist, the build has {}",
                self.info.constants
            );
            return Err(DeviceError::Data { what });
        }
        for (lane, &value) in values.iter().enumerate() {
            if 128 - value.leading_zeros() > self.info.word_bits {
                let what = format!("constant {value} does not fit {} bits", self.info.word_bits);
                return Err(DeviceError::Modulus {
                    index: index.into(),
                    lane,
                    what,
                });
            }
            self.device.set(Entry::Constant(index), lane, value)?;
            self.constants[lane][usize::from(index)] = value;
        }
        Ok(())
    }

    /// Load the twiddle tables of a modulus index for degree `n`, unless they are there. Returns the cycles it took.
    ///
    /// # Errors
    /// A modulus that is not 1 mod 2n (or not prime), the modulus not set, or a device error.
    pub fn load_twiddles(&mut self, index: u8, n: usize) -> Result<u64, DeviceError> {
        let log2_n = n.trailing_zeros() as u8;
        if self.state.tables.get(usize::from(index)) == Some(&Some(log2_n)) {
            return Ok(0);
        }
        let moduli = self.moduli.get(usize::from(index)).cloned().flatten();
        let moduli =
            moduli.ok_or_else(|| DeviceError::data(format!("modulus {index} was never set")))?;
        let mut tables = Vec::with_capacity(moduli.len());
        for (lane, modulus) in moduli.iter().enumerate() {
            let plan = NttPlan::new(*modulus, n).map_err(|error| DeviceError::Modulus {
                index: index.into(),
                lane,
                what: format!(
                    "modulus {} is not NTT-friendly for n = {n}: {error}",
                    modulus.value()
                ),
            })?;
            let mut entries = plan.psi_rev().to_vec();
            modulus.scalar_mul_assign(&mut entries, Lane::new(&self.info, *modulus).factor());
            tables.push(entries);
        }
        self.load_table(index, &tables)
    }

    /// Load a twiddle table of one's own: `[lane][n]`, entry j = psi^bitrev(j) times [`Driver::factors`].
    /// Returns the cycles it took.
    ///
    /// # Errors
    /// As [`Driver::upload`] and [`Driver::run`].
    pub fn load_table(&mut self, index: u8, tables: &[Vec<u128>]) -> Result<u64, DeviceError> {
        let buffer = match self.table_buffer {
            Some(buffer) => buffer,
            None => *self.table_buffer.insert(self.device.allocate(1)?),
        };
        self.upload(buffer, tables)?;
        let mut load = Instruction::new(Op::Load);
        load.dst = TWIDDLE_SLOT;
        (load.log2_n, load.mod_idx, load.buf_idx) =
            (tables[0].len().trailing_zeros() as u8, index, buffer);
        Ok(self.run(&[load])?.counters.cycles)
    }

    /// Make host buffers; the number of the first, the others follow.
    ///
    /// # Errors
    /// No room.
    pub fn allocate(&mut self, count: u32) -> Result<u32, DeviceError> {
        // Simulated host memory has two machine words for each coefficient.
        let each = 16 * self.info.lanes as usize * self.info.n_max();
        if (count as usize).saturating_mul(each) > HOST_BYTES {
            let what = format!("{count} buffers of {each} bytes, the host memory has {HOST_BYTES}");
            return Err(DeviceError::Data { what });
        }
        self.device.allocate(count)
    }

    /// Write a polynomial, `[lane][n]`, to a host buffer.
    ///
    /// # Errors
    /// The wrong number of lanes, lanes of different lengths or longer than n_max, no such buffer.
    pub fn upload(&mut self, buffer: u32, polynomial: &[Vec<u128>]) -> Result<(), DeviceError> {
        self.expect_lanes(polynomial.len())?;
        let n = polynomial[0].len();
        if n > self.info.n_max() || polynomial.iter().any(|lane| lane.len() != n) {
            let what = format!(
                "{n} coefficients a lane, the build takes up to {}, all lanes alike",
                self.info.n_max()
            );
            return Err(DeviceError::Data { what });
        }
        for (lane, words) in polynomial.iter().enumerate() {
            self.device.write(buffer, lane, words)?;
        }
        self.transfers.sent += 1;
        self.transfers.bytes_sent += self.bytes(n);
        Ok(())
    }

    /// Read the first `n` coefficients of every lane of a host buffer.
    ///
    /// # Errors
    /// No such buffer.
    pub fn download(&mut self, buffer: u32, n: usize) -> Result<Vec<Vec<u128>>, DeviceError> {
        if n > self.info.n_max() {
            let most = self.info.n_max();
            let what = format!("{n} coefficients a lane, the build has up to {most}");
            return Err(DeviceError::Data { what });
        }
        self.transfers.received += 1;
        self.transfers.bytes_received += self.bytes(n);
        self.peek(buffer, n)
    }

    /// Check a program, execute it and wait for its end.
    ///
    /// # Errors
    /// [`DeviceError::Program`] if the build cannot execute it; what the device reports otherwise. A device that
    /// stopped or hung is reset: moduli, tables and slots must be written again.
    pub fn run(&mut self, program: &[Instruction]) -> Result<Profile, DeviceError> {
        self.run_until(program, &|| false)
    }

    /// As [`Driver::run`], until `stop` says so: it is asked every few hundred cycles of a simulated device.
    ///
    /// # Errors
    /// As [`Driver::run`], and [`DeviceError::Interrupted`]; such a device is reset, too.
    pub fn run_until(
        &mut self,
        program: &[Instruction],
        stop: Stop<'_>,
    ) -> Result<Profile, DeviceError> {
        let after = check(&self.info, &self.state, program)?;
        let profile = match self.audit.take() {
            None => self.execute(program, stop)?,
            Some(mut audit) => {
                let outcome = self.audited(&mut audit, program, stop);
                if outcome.is_err() {
                    audit.forget();
                }
                self.audit = Some(audit);
                outcome?
            }
        };
        self.state = after;
        Ok(profile)
    }

    /// Set how many cycles a program may take beyond twenty times the prediction before the device counts as hung.
    pub fn set_patience(&mut self, cycles: u64) {
        self.patience = cycles;
    }

    /// Cycles that a program may take, by its predicted cycles.
    pub(crate) fn limit(&self, predicted: u64) -> u64 {
        predicted.saturating_mul(20).saturating_add(self.patience)
    }

    /// Execute without a check; a generous limit of cycles turns a device that hangs into an error. Resets what failed.
    pub(crate) fn execute(
        &mut self,
        program: &[Instruction],
        stop: Stop<'_>,
    ) -> Result<Profile, DeviceError> {
        let expected = schedule_from(&self.info, &self.state, program)
            .counters
            .cycles;
        let outcome = self
            .device
            .submit(&encode(program))
            .and_then(|()| self.device.wait(self.limit(expected), stop));
        if outcome.is_err() {
            // The first error is the one to report, even if the device cannot be reset either.
            let _ = self.reset();
        }
        outcome
    }

    /// The moduli of an index, if set.
    pub fn moduli(&self, index: u8) -> Option<&[Modulus<u128>]> {
        self.moduli.get(usize::from(index))?.as_deref()
    }

    /// The constants of every lane.
    pub fn constants(&self) -> &[Vec<u128>] {
        &self.constants
    }

    /// Read a host buffer without counting it as a transfer of the user's.
    pub(crate) fn peek(&mut self, buffer: u32, n: usize) -> Result<Vec<Vec<u128>>, DeviceError> {
        (0..self.info.lanes as usize)
            .map(|lane| self.device.read(buffer, lane, n))
            .collect()
    }

    /// Whether a host buffer holds these words, `[lane][n]`.
    ///
    /// # Errors
    /// No such buffer.
    pub fn holds(&mut self, buffer: u32, words: &[Vec<u128>]) -> Result<bool, DeviceError> {
        for (lane, words) in words.iter().enumerate() {
            if self.device.read(buffer, lane, words.len())? != *words {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The device itself, unchecked.
    pub fn device(&mut self) -> &mut dyn Device {
        self.device.as_mut()
    }

    /// How often it was reset.
    pub fn resets(&self) -> u64 {
        self.resets
    }

    /// Reset the device and forget its state.
    ///
    /// # Errors
    /// The transport failed.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        self.resets += 1;
        self.device.reset()?;
        self.state = State::new(&self.info);
        self.moduli.fill(None);
        self.constants.iter_mut().for_each(|lane| lane.fill(0));
        self.conversions.fill(None);
        self.entries.fill((0, 0));
        self.automorphisms.fill(None);
        self.digits.fill(None);
        if let Some(audit) = &mut self.audit {
            audit.forget();
        }
        Ok(())
    }

    /// Injects a fault into a simulated device, for tests.
    ///
    /// # Errors
    /// [`DeviceError::NoInjection`].
    pub fn inject(&mut self, fault: Injection) -> Result<(), DeviceError> {
        self.device.inject(fault)
    }

    fn expect_lanes(&self, got: usize) -> Result<(), DeviceError> {
        if got == self.info.lanes as usize {
            return Ok(());
        }
        Err(DeviceError::data(format!(
            "{got} lanes given, the build has {}",
            self.info.lanes
        )))
    }

    /// Bytes of a polynomial of degree n as it travels.
    fn bytes(&self, n: usize) -> u64 {
        n as u64 * u64::from(self.info.lanes) * self.info.word_bytes() as u64
    }
}
