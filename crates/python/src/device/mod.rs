// SPDX-License-Identifier: Apache-2.0
//! Devices: instructions, programs and measurements on the model or on Verilated RTL.

mod board;
mod build;
mod instructions;
pub mod reports;

pub use build::build_info;
use build::port_memory;

use crate::backend::Backend;
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::work::Work;
use ::backend::measure::key_switch::{KeySwitches, Purpose, switch_keys};
use ::backend::{Coprocessor, measure};
use ::device::{Conversion, DeviceError, Digit, Driver, Hardware, Injection, Modeled, PATIENCE};
use instructions::{log2_degree, workload};
use isa::{Mix, Op, Route};
use offload::{OffloadError, Ran, Session, simulate};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use reports::{
    info_dict, measured_dict, outcome_dict, profile_dict, ran_dict, shift_dict, usage_dict,
};
use rlwe::SecurityPolicy;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// `[lane][n]` residues as Python integers.
type Residues = Vec<Vec<u128>>;

/// A co-processor: its driver, and operations on it. A `Session` runs programs on it,
/// a client encrypts and decrypts.
#[pyclass(frozen, extends = Backend, module = "ringsmith._native")]
pub struct Device {
    pub(crate) coprocessor: Coprocessor,
}

impl Device {
    fn new<D: ::device::Device + 'static>(
        py: Python<'_>,
        name: String,
        operations: Vec<String>,
        cores: Vec<D>,
    ) -> PyResult<Py<Self>> {
        let mut sessions = Vec::with_capacity(cores.len());
        for core in cores {
            let driver = Driver::open(Box::new(core)).or_raise()?;
            sessions.push(Session::new(driver).or_raise()?);
        }
        let first = sessions.remove(0);
        let coprocessor = Coprocessor::new(name, first, operations);
        Self::of(py, coprocessor.with_cores(sessions))
    }

    fn of(py: Python<'_>, coprocessor: Coprocessor) -> PyResult<Py<Self>> {
        let backend = Backend {
            inner: Arc::new(coprocessor.clone()),
        };
        let device = PyClassInitializer::from(backend).add_subclass(Self { coprocessor });
        Py::new(py, device)
    }

    fn with_driver<T>(
        &self,
        py: Python<'_>,
        f: impl Send + FnOnce(&mut Driver) -> Result<T, DeviceError>,
    ) -> PyResult<T>
    where
        T: Send,
    {
        py.work(|| f(self.coprocessor.session().driver()))
    }

    fn outcome<'py>(
        &self,
        py: Python<'py>,
        f: impl Send + FnOnce(&mut Session) -> Result<simulate::Outcome, OffloadError>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let outcome = py.work(|| f(&mut self.coprocessor.session()))?;
        outcome_dict(py, &outcome)
    }
}

#[pymethods]
impl Device {
    /// The model of a build described by the numbers of a preset's knobs; of the memory behind its data port, GB/s,
    /// latency in ns (0: ideal) and the clock in MHz.
    #[staticmethod]
    fn model(
        py: Python<'_>,
        name: String,
        operations: Vec<String>,
        #[pyo3(from_py_with = number)] knobs: HashMap<String, i32>,
        #[pyo3(from_py_with = number)] memory: (f64, f64, f64),
    ) -> PyResult<Py<Self>> {
        let info = build_info(&knobs, memory)?;
        Self::new(py, name, operations, Modeled::open_cores(info).or_raise()?)
    }

    /// Verilated RTL in a simulator library, with such a memory behind its data port, firmware for its controller if it
    /// has one, and options of the simulation.
    #[staticmethod]
    #[pyo3(signature = (name, operations, library, memory, *, firmware=Vec::new(), options=""))]
    fn rtl(
        py: Python<'_>,
        name: String,
        operations: Vec<String>,
        library: PathBuf,
        #[pyo3(from_py_with = number)] memory: (f64, f64, f64),
        #[pyo3(from_py_with = number)] firmware: Vec<u8>,
        options: &str,
    ) -> PyResult<Py<Self>> {
        let cores = Hardware::open_cores(&library, port_memory(memory), &firmware, options);
        Self::new(py, name, operations, cores.or_raise()?)
    }

    /// The board at a serial port, at a rate; `patience`: seconds that it may take to begin an answer.
    #[staticmethod]
    fn serial(
        py: Python<'_>,
        name: String,
        operations: Vec<String>,
        port: PathBuf,
        #[pyo3(from_py_with = number)] baud: u32,
        #[pyo3(from_py_with = number)] patience: f64,
    ) -> PyResult<Py<Self>> {
        let patience = board::patience(baud, patience)?;
        let cores = py.work(|| Hardware::open_serial(&port, baud, patience))?;
        Self::new(py, name, operations, cores)
    }

    /// The core behind the UIO device of a name (in the device tree, or `uioN`), with a u-dma-buf (without: of the name
    /// in the device tree), by interrupts unless it `polls`; `root` has `dev` and `sys`.
    #[staticmethod]
    #[pyo3(signature = (name, operations, device, buffers=None, *, polls=false, root=PathBuf::from("/")))]
    fn uio(
        py: Python<'_>,
        name: String,
        operations: Vec<String>,
        device: String,
        buffers: Option<String>,
        polls: bool,
        root: PathBuf,
    ) -> PyResult<Py<Self>> {
        let at = board::uio(device, buffers, polls, root);
        let cores = py.work(|| Hardware::open_uio(&name, &at))?;
        Self::new(py, name, operations, cores)
    }

    /// The core on the card N behind XDMA, with the card's memory by its first address and its bytes, by interrupts
    /// unless it `polls`; `root` has `dev`.
    #[staticmethod]
    #[pyo3(signature = (name, operations, card, memory, *, polls=false, root=PathBuf::from("/")))]
    fn xdma(
        py: Python<'_>,
        name: String,
        operations: Vec<String>,
        #[pyo3(from_py_with = number)] card: u32,
        #[pyo3(from_py_with = number)] memory: (u64, u64),
        polls: bool,
        root: PathBuf,
    ) -> PyResult<Py<Self>> {
        let at = board::xdma(card, memory, polls, root);
        let cores = py.work(|| Hardware::open_xdma(&name, &at))?;
        Self::new(py, name, operations, cores)
    }

    /// The same device for programs that leave nothing to the host: others are refused, with what the build lacks.
    fn alone(&self, py: Python<'_>) -> PyResult<Py<Self>> {
        Self::of(py, self.coprocessor.clone().alone(true))
    }

    /// The build as the info block describes it.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info_dict(py, &self.coprocessor.session().info().clone())
    }

    /// Set the modulus of each lane for a modulus index.
    fn set_moduli(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] index: u8,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
    ) -> PyResult<()> {
        self.with_driver(py, |driver| driver.set_moduli(index, &moduli))
    }

    /// Set a constant of each lane.
    fn set_constant(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] index: u8,
        #[pyo3(from_py_with = number)] values: Vec<u128>,
    ) -> PyResult<()> {
        self.with_driver(py, |driver| driver.set_constant(index, &values))
    }

    /// Load the twiddle tables of a modulus index for degree n; the cycles it took (0: they were there).
    fn load_twiddles(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] index: u8,
        #[pyo3(from_py_with = number)] n: usize,
    ) -> PyResult<u64> {
        log2_degree(n)?;
        self.with_driver(py, |driver| driver.load_twiddles(index, n))
    }

    /// Make host buffers; the number of the first.
    fn allocate(&self, py: Python<'_>, #[pyo3(from_py_with = number)] count: u32) -> PyResult<u32> {
        self.with_driver(py, |driver| driver.allocate(count))
    }

    /// Write a polynomial, one list of residues a lane, to a host buffer.
    fn upload(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] buffer: u32,
        polynomial: Residues,
    ) -> PyResult<()> {
        self.with_driver(py, |driver| driver.upload(buffer, &polynomial))
    }

    /// Read n coefficients of each lane of a host buffer.
    fn download(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] buffer: u32,
        #[pyo3(from_py_with = number)] n: usize,
    ) -> PyResult<Residues> {
        self.with_driver(py, |driver| driver.download(buffer, n))
    }

    /// Check and execute a program of instruction words; its timeline.
    fn run<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number)] words: Vec<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let profile = self.with_driver(py, |driver| driver.run(&isa::decode(&words)?))?;
        profile_dict(py, &profile)
    }

    /// Check each result by a checksum from now on.
    fn audit(&self, py: Python<'_>) -> PyResult<()> {
        self.with_driver(py, Driver::audit)
    }

    /// Reset the device; slots, moduli and tables are forgotten.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.with_driver(py, Driver::reset)
    }

    /// Test hook: the host memory stops answering, or answers again; the driver waits `patience` cycles more than
    /// twenty times the predicted ones.
    #[pyo3(signature = (on, *, patience=PATIENCE))]
    fn inject_stall(
        &self,
        py: Python<'_>,
        on: bool,
        #[pyo3(from_py_with = number)] patience: u64,
    ) -> PyResult<()> {
        self.with_driver(py, |driver| {
            driver.set_patience(patience);
            driver.inject(Injection::Stall(on))
        })
    }

    /// Test hook: results are wrong for a while.
    fn inject_faulty_results(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] after_cycles: u64,
        #[pyo3(from_py_with = number)] for_cycles: u64,
    ) -> PyResult<()> {
        self.with_driver(py, |driver| {
            driver.inject(Injection::FaultyResults {
                after_cycles,
                for_cycles,
            })
        })
    }

    /// A random program of the mix that the device can run now: instruction words from a seed.
    /// `routes`: per base conversion that is set the modulus indices from and to; `digits` likewise;
    /// `automorphisms`: how many.
    #[pyo3(signature = (seed, *, length, n, moduli, outputs, routes=Vec::new(), digits=Vec::new(), automorphisms=0))]
    #[allow(clippy::too_many_arguments, reason = "keywords of a test hook")]
    fn random_program(
        &self,
        #[pyo3(from_py_with = number)] seed: u64,
        #[pyo3(from_py_with = number)] length: usize,
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] moduli: u8,
        #[pyo3(from_py_with = number)] outputs: u32,
        #[pyo3(from_py_with = number)] routes: Vec<(u8, u8)>,
        #[pyo3(from_py_with = number)] digits: Vec<(u8, u8)>,
        #[pyo3(from_py_with = number)] automorphisms: u8,
    ) -> PyResult<Vec<u64>> {
        let route = |(from, to)| Route { from, to };
        let mix = Mix {
            length,
            log2_n: log2_degree(n)?,
            moduli,
            routes: routes.into_iter().map(route).collect(),
            digits: digits.into_iter().map(route).collect(),
            automorphisms,
            inputs: moduli.into(),
            outputs,
        };
        let mut session = self.coprocessor.session();
        let info = session.info().clone();
        instructions::random(&info, session.driver().state(), &mix, seed)
    }

    /// The timeline the latency formulas predict for a program.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number)] words: Vec<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let program = isa::decode(&words).or_raise()?;
        let mut session = self.coprocessor.session();
        let info = session.info().clone();
        let profile = model::schedule_from(&info, session.driver().state(), &program);
        profile_dict(py, &profile)
    }

    /// Measure an instruction on random operands; the result is checked against the production arithmetic.
    fn simulate_instruction<'py>(
        &self,
        py: Python<'py>,
        mnemonic: &str,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
        #[pyo3(from_py_with = number)] n: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let op = Op::from_mnemonic(mnemonic);
        let op = op.ok_or_else(|| Kind::Input.error(format!("{mnemonic:?} is no instruction")))?;
        log2_degree(n)?;
        self.outcome(py, |session| {
            offload::measure_instruction(session, op, &moduli, n)
        })
    }

    /// Measure an operation (`tensor`, `zero-encrypt`, …) on random operands, checked likewise; `values`: of a scheme
    /// whose ciphertexts are values, as CKKS's are.
    #[pyo3(signature = (name, moduli, n, *, values=false))]
    fn simulate_operation<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
        #[pyo3(from_py_with = number)] n: usize,
        values: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let workload = workload(name, values)?;
        log2_degree(n)?;
        self.outcome(py, |session| {
            simulate::measure_workload(session, workload, &moduli, n)
        })
    }

    /// Measure base conversions (`lift`, `scale`, `scale-lift`, `decomp`), checked likewise.
    fn simulate_conversion<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
        #[pyo3(from_py_with = number)] n: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let what = offload::Conversions::from_name(name)
            .ok_or_else(|| Kind::Input.error(format!("{name:?} is no base conversion")))?;
        log2_degree(n)?;
        self.outcome(py, |session| {
            offload::measure_conversion(session, what, &moduli, n)
        })
    }

    /// Measure BFV multiplications with relinearisation on all cores, primes of `bits` bits, a data prime for each
    /// lane but one unless `primes` says how many: operands, keys and results in the host's memory.
    #[pyo3(signature = (bits, n, *, primes=None, allow_insecure=false, batch=1))]
    fn simulate_multiplication<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number)] bits: u32,
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] primes: Option<usize>,
        allow_insecure: bool,
        #[pyo3(from_py_with = number)] batch: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        log2_degree(n)?;
        let policy = SecurityPolicy {
            allow_insecure,
            ..SecurityPolicy::default()
        };
        let measured =
            py.work(|| measure::multiply(&self.coprocessor, (bits, n), primes, policy, batch))?;
        measured_dict(py, &measured)
    }

    /// Measure key switches of `batch` CKKS ciphertexts on all cores, of data primes and special primes of `bits` bits
    /// at most, or as many as are secure; data primes of `data_bits` if those are shorter. `purpose`: "rotation",
    /// `count` of each; "relinearize-rescale", with one division, or "relinearize-then-rescale". `digit_major`: in the
    /// order of HEAX, one digit and one half after another.
    #[pyo3(signature = (
        bits, n, *, primes, special=1, digit_primes=1, data_bits=None, purpose="rotation", count=1, batch=1,
        digit_major=false, allow_insecure=false,
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of a measurement")]
    fn simulate_key_switch<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number)] bits: u32,
        #[pyo3(from_py_with = number)] n: usize,
        #[pyo3(from_py_with = number)] primes: usize,
        #[pyo3(from_py_with = number)] special: usize,
        #[pyo3(from_py_with = number)] digit_primes: usize,
        #[pyo3(from_py_with = number)] data_bits: Option<u32>,
        purpose: &str,
        #[pyo3(from_py_with = number)] count: usize,
        #[pyo3(from_py_with = number)] batch: usize,
        digit_major: bool,
        allow_insecure: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        log2_degree(n)?;
        let policy = SecurityPolicy {
            allow_insecure,
            ..SecurityPolicy::default()
        };
        let purpose = Purpose::from_name(purpose).ok_or_else(|| {
            Kind::Input.error(format!("{purpose:?} is no purpose of a key switch"))
        })?;
        let what = KeySwitches {
            purpose,
            n,
            primes,
            special,
            digit_primes,
            bits,
            data_bits,
            count,
            batch,
            digit_major,
        };
        let measured = py.work(|| switch_keys(&self.coprocessor, what, policy))?;
        measured_dict(py, &measured)
    }

    /// Set a base conversion: the residues modulo `inputs`, the first of them in lane `first`, to residues modulo
    /// `outputs`; with a numerator scaled by it over the product of `inputs` and rounded,
    /// else the centred representative.
    #[pyo3(signature = (number, first, inputs, outputs, numerator=None))]
    fn set_conversion(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] number: u8,
        #[pyo3(from_py_with = number)] first: u8,
        #[pyo3(from_py_with = number)] inputs: Vec<u128>,
        #[pyo3(from_py_with = number)] outputs: Vec<u128>,
        #[pyo3(from_py_with = number)] numerator: Option<u64>,
    ) -> PyResult<()> {
        let moduli = |values: Vec<u128>| -> PyResult<Vec<zq::Modulus<u128>>> {
            let modulus = |q| zq::Modulus::new(q).map_err(|e| Kind::Parameter.error(e.to_string()));
            values.into_iter().map(modulus).collect()
        };
        let (inputs, outputs) = (moduli(inputs)?, moduli(outputs)?);
        let made = match numerator {
            None => Conversion::lift(first, &inputs, &outputs),
            Some(numerator) => Conversion::scale(first, &inputs, &outputs, numerator),
        };
        let made = made.map_err(|error| Kind::Parameter.error(error.to_string()))?;
        self.with_driver(py, |driver| driver.set_conversion(number, &made))
    }

    /// Set an automorphism x -> x^element of values.
    fn set_automorphism(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] number: u8,
        #[pyo3(from_py_with = number)] element: u16,
    ) -> PyResult<()> {
        self.with_driver(py, |driver| driver.set_automorphism(number, element))
    }

    /// Set a digit: in each lane the residue, modulo `lanes`, of the centred representative of what lane `sources`
    /// holds modulo `primes`, each below twice the lane's.
    fn set_digit(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] number: u8,
        #[pyo3(from_py_with = number)] sources: Vec<u8>,
        #[pyo3(from_py_with = number)] primes: Vec<u128>,
        #[pyo3(from_py_with = number)] lanes: Vec<u128>,
    ) -> PyResult<()> {
        let modulus = |q| zq::Modulus::new(q).map_err(|e| Kind::Parameter.error(e.to_string()));
        let shares = sources.into_iter().zip(primes).zip(lanes);
        let shares = shares.map(|((from, q), p)| Ok((from, modulus(q)?, modulus(p)?)));
        let digit = Digit::new(&shares.collect::<PyResult<Vec<_>>>()?);
        let digit = digit.map_err(|error| Kind::Parameter.error(error.to_string()))?;
        self.with_driver(py, |driver| driver.set_digit(number, &digit))
    }

    /// The instructions of an operation as assembly, a comment before each part; `values` as of `simulate_operation`.
    #[pyo3(signature = (name, moduli, n, *, values=false))]
    fn program(
        &self,
        py: Python<'_>,
        name: &str,
        #[pyo3(from_py_with = number)] moduli: Vec<u128>,
        #[pyo3(from_py_with = number)] n: usize,
        values: bool,
    ) -> PyResult<String> {
        let workload = workload(name, values)?;
        log2_degree(n)?;
        py.work(|| simulate::assembly(self.coprocessor.session().info(), workload, &moduli, n))
    }

    /// Usage since the last call: operations by place of execution, transfers, cycles.
    fn take_usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        usage_dict(py, &self.coprocessor.take_usage())
    }

    /// Bytes of the host buffers that programs use: tiles and tables, and keys and plaintexts that stay for later
    /// requests.
    fn memory_in_use(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.coprocessor.memory_in_use())
    }

    /// Statistics of all cores since the last call: cycles from the first start to the last end, of each core by kind.
    fn take_shift<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        shift_dict(py, &self.coprocessor.take_shift())
    }

    /// Timeline of the work section that ran last.
    fn last_profile<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let profile = self.coprocessor.session().profile().clone();
        profile_dict(py, &profile)
    }

    /// Keep what each core runs from now on, for `take_timeline`: its first 2^18 instructions, the rest summed up.
    fn keep_timeline(&self, py: Python<'_>) {
        py.detach(|| self.coprocessor.keep_timeline());
    }

    /// Of each core its device programs since `keep_timeline` or the last call, in order: how many seconds ago each
    /// began and ended, its cycles and instructions, and the programs it stands for (1, or all after the bound).
    fn take_timeline<'py>(&self, py: Python<'py>) -> PyResult<Vec<Vec<Bound<'py, PyDict>>>> {
        let cores = py.detach(|| self.coprocessor.take_timeline());
        let now = Instant::now();
        let of_core = |ran: &Vec<Ran>| ran.iter().map(|one| ran_dict(py, one, now)).collect();
        cores.iter().map(of_core).collect()
    }

    /// Bytes that crossed the serial link or a board's port since open, to and from the device; None without one.
    fn link_bytes(&self) -> Option<(u64, u64)> {
        let mut session = self.coprocessor.session();
        let used = session.driver().device().link()?;
        Some((used.bytes_to_device, used.bytes_from_device))
    }

    /// Of a board its clock in kHz, seconds and frames on its port since open, those sent again, and cycles in which it
    /// computed; None of another device.
    fn port_use<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut session = self.coprocessor.session();
        board::used(py, session.driver().device())
    }

    /// What the last program took of a simulated host: register accesses and cycles, and those that loaded it before
    /// into the controller's memory; None of the model.
    fn last_round<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let round = self.coprocessor.session().driver().device().round();
        let Some(round) = round else { return Ok(None) };
        let dict = PyDict::new(py);
        dict.set_item("transactions", round.transactions)?;
        dict.set_item("cycles", round.cycles)?;
        dict.set_item("load_transactions", round.load_transactions)?;
        dict.set_item("load_cycles", round.load_cycles)?;
        Ok(Some(dict))
    }

    /// Clock cycles simulated since open.
    fn simulated_cycles(&self) -> u64 {
        self.coprocessor
            .session()
            .driver()
            .device()
            .simulated_cycles()
    }
}

/// Add the class and the functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Device>()?;
    instructions::register(m)
}
