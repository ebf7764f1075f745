// SPDX-License-Identifier: Apache-2.0
//! The co-processor as the engine of the schemes' polynomial part. What the device cannot take stays on the processor.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use polynomial::{Graph, Host, Memory};
use rlwe::{CpuEngine, Error, KeySwitchKey, PolyEngine};
use rns::{Coeff, Domain, Eval, RnsBasis, RnsPoly};
use zq::Word;

use crate::plan::Operation;
use crate::session::{Polynomial, Session};
use crate::{Ended, OffloadError, Progress, Usage};

/// A device behind the engine trait of the schemes. The same residues as on the processor come out.
pub struct CoEngine {
    name: String,
    session: Mutex<Session>,
    operations: BTreeSet<String>,
}

impl CoEngine {
    /// An engine named for reports (`rtl:cofhee`) that hands over the operations named (`tensor`, `zero-encrypt`, …).
    pub fn new(
        name: impl Into<String>,
        session: Session,
        operations: impl IntoIterator<Item = String>,
    ) -> Self {
        Self {
            name: name.into(),
            session: Mutex::new(session),
            operations: operations.into_iter().collect(),
        }
    }

    /// What ran where so far.
    pub fn usage(&self) -> Usage {
        self.session().usage().clone()
    }

    /// Forget what was used, and return it.
    pub fn take_usage(&self) -> Usage {
        self.session().take_usage()
    }

    /// The session; waits for whoever uses it.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        // A panic elsewhere leaves counters behind at worst; the driver checks every program anew.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The engine's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it takes an operation of that name.
    pub fn takes_named(&self, name: &str) -> bool {
        self.operations.contains(name)
    }

    /// Computes a program of polynomial operations; its outputs are in the memory that is returned.
    ///
    /// # Errors
    /// [`Ended`]. A device that failed was reset.
    pub fn run_program<'g, W: Word, H: Host<W>>(
        &self,
        graph: &'g Graph<W>,
        host: &H,
        progress: &dyn Progress,
    ) -> Result<Memory<'g, W>, Ended<H::Error>> {
        self.session()
            .run_program(&self.operations, graph, host, progress)
    }

    /// Whether the device takes an operation over these moduli; counts it either way.
    fn takes<W: Word>(&self, operation: Operation, basis: &RnsBasis<W>) -> bool {
        let moduli: Vec<u128> = basis.moduli().iter().map(|q| q.value().to_u128()).collect();
        let mut session = self.session();
        let named = self.operations.contains(operation.name());
        let takes = named && session.fits(&moduli, basis.n()).is_ok();
        session.usage_mut().count(operation.name(), takes);
        takes
    }

    /// Run an operation over a basis, as many residues at a time as there are lanes.
    ///
    /// `inputs` are lists of limbs, one limb for each modulus of the basis.
    fn offload<W: Word>(
        &self,
        operation: Operation,
        basis: &RnsBasis<W>,
        inputs: &[Vec<&[W]>],
    ) -> Result<Vec<RnsPoly<W, Coeff>>, Error> {
        let begin = Instant::now();
        let mut session = self.session();
        let lanes = session.info().lanes as usize;
        let mut outputs = vec![RnsPoly::zeros(basis); operation.outputs() as usize];
        for first in (0..basis.len()).step_by(lanes) {
            // A last group that is not full repeats its last residue.
            let limb = |lane: usize| (first + lane).min(basis.len() - 1);
            let moduli: Vec<u128> = (0..lanes)
                .map(|lane| basis.modulus(limb(lane)).value().to_u128())
                .collect();
            let widen = |limbs: &Vec<&[W]>| -> Polynomial {
                (0..lanes)
                    .map(|lane| {
                        limbs[limb(lane)]
                            .iter()
                            .map(|word| word.to_u128())
                            .collect()
                    })
                    .collect()
            };
            let operands: Vec<Polynomial> = inputs.iter().map(widen).collect();
            let results = session
                .run(operation, &moduli, &operands)
                .map_err(|error| self.failed(&error))?;
            for (output, result) in outputs.iter_mut().zip(&results) {
                for (lane, residues) in result.iter().enumerate().take(basis.len() - first) {
                    let words = residues.iter().map(|&word| W::from_u128_lossy(word));
                    output
                        .limb_mut(first + lane)
                        .iter_mut()
                        .zip(words)
                        .for_each(|(to, word)| *to = word);
                }
            }
        }
        session.usage_mut().device_seconds += begin.elapsed().as_secs_f64();
        Ok(outputs)
    }

    fn failed(&self, error: &OffloadError) -> Error {
        Error::Engine {
            engine: self.name.clone(),
            message: error.to_string(),
        }
    }
}

/// The first `count` limbs of a polynomial.
fn limbs<W: Word, D: Domain>(poly: &RnsPoly<W, D>, count: usize) -> Vec<&[W]> {
    poly.limbs().take(count).collect()
}

/// Two results as an array.
fn pair<W: Word>(results: Vec<RnsPoly<W, Coeff>>) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
    results.try_into().map_err(|all: Vec<_>| Error::Shape {
        what: "results",
        got: all.len(),
        expected: 2,
    })
}

impl<W: Word> PolyEngine<W> for CoEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn encrypt_zero(
        &self,
        pk: [&RnsPoly<W, Eval>; 2],
        u: RnsPoly<W, Coeff>,
        e: [RnsPoly<W, Coeff>; 2],
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        let (basis, count) = (u.basis().clone(), u.limb_count());
        let covered = pk.iter().all(|key| key.limb_count() >= count);
        if !self.takes(Operation::ZeroEncrypt, &basis) || !covered {
            return CpuEngine.encrypt_zero(pk, u, e);
        }
        let inputs = [
            limbs(&u, count),
            limbs(pk[0], count),
            limbs(pk[1], count),
            limbs(&e[0], count),
            limbs(&e[1], count),
        ];
        pair(self.offload(Operation::ZeroEncrypt, &basis, &inputs)?)
    }

    fn phase(
        &self,
        ct: &[RnsPoly<W, Coeff>],
        s: &RnsPoly<W, Eval>,
    ) -> Result<RnsPoly<W, Coeff>, Error> {
        let operation = match ct.len() {
            2 => Operation::Decrypt,
            3 => Operation::Decrypt3,
            _ => return CpuEngine.phase(ct, s),
        };
        let (basis, count) = (ct[0].basis().clone(), ct[0].limb_count());
        if !self.takes(operation, &basis) || s.limb_count() < count {
            return CpuEngine.phase(ct, s);
        }
        let mut inputs = vec![limbs(&ct[1], count), limbs(s, count), limbs(&ct[0], count)];
        inputs.extend(ct.get(2).map(|high| limbs(high, count)));
        let mut results = self.offload(operation, &basis, &inputs)?;
        Ok(results.remove(0))
    }

    fn tensor(
        &self,
        a: &[RnsPoly<W, Coeff>],
        b: &[RnsPoly<W, Coeff>],
    ) -> Result<Vec<RnsPoly<W, Coeff>>, Error> {
        let pairs = a.len() == 2 && b.len() == 2;
        if !pairs || a.iter().chain(b).any(|part| part.basis() != a[0].basis()) {
            return CpuEngine.tensor(a, b);
        }
        let basis = a[0].basis().clone();
        if !self.takes(Operation::Tensor, &basis) {
            return CpuEngine.tensor(a, b);
        }
        let inputs: Vec<_> = a
            .iter()
            .chain(b)
            .map(|part| limbs(part, basis.len()))
            .collect();
        self.offload(Operation::Tensor, &basis, &inputs)
    }

    fn key_switch_inner(
        &self,
        digits: &[RnsPoly<W, Coeff>],
        key: &KeySwitchKey<W>,
    ) -> Result<[RnsPoly<W, Coeff>; 2], Error> {
        // 12 digits fill the operand buffers; more are rare and stay on the processor.
        let count = u8::try_from(digits.len())
            .ok()
            .filter(|count| (1..=12).contains(count));
        let Some(count) = count else {
            return CpuEngine.key_switch_inner(digits, key);
        };
        let basis = digits[0].basis().clone();
        let operation = Operation::KeySwitch(count);
        if !self.takes(operation, &basis) {
            return CpuEngine.key_switch_inner(digits, key);
        }
        let data = key.data_limbs_of(basis.len())?;
        key.check_covers(data, digits.len())?;
        let mut inputs = Vec::with_capacity(3 * digits.len());
        for (d, digit) in digits.iter().enumerate() {
            inputs.push(limbs(digit, basis.len()));
            inputs.extend((0..2).map(|part| key.limbs_at(d, part, data).collect::<Vec<_>>()));
        }
        pair(self.offload(operation, &basis, &inputs)?)
    }
}
