// SPDX-License-Identifier: Apache-2.0
//! The bootstrapping of a program: what its refreshes are made of, its bytes, and the facts that guarantee and price
//! are reckoned from. Messages are real numbers in all n/2 slots.

use crate::Error;
use crate::codec::refused;
use ckks::CkksParams;
use ckks::bootstrap::{BootstrapLiteral, BootstrapParams, Effort, Message};
use rlwe::SecurityPolicy;
use rlwe::wire::{Reader, Writer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A checked bootstrapping of a program's set. Clones share what was computed about it.
#[derive(Clone, Debug)]
pub struct Bootstrapping {
    params: BootstrapParams,
    /// The error that a refresh adds, by failure bits.
    added: Arc<Mutex<BTreeMap<u32, f64>>>,
    effort: Arc<OnceLock<Effort>>,
}

impl PartialEq for Bootstrapping {
    fn eq(&self, other: &Self) -> bool {
        self.params.literal() == other.params.literal() && self.params.main() == other.params.main()
    }
}

/// What is known of every refresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refresh {
    /// Scale of the set, which operands have about and results have.
    pub scale: f64,
    /// Bound on the slots of an operand, error included.
    pub bound: f64,
    /// Bound on the error that is added.
    pub added: f64,
    /// log2 of the probability that a refresh fails.
    pub log2_failure: f64,
}

impl Bootstrapping {
    /// Checks a literal, its slots and kind of message aside, against a set; both secrets by the policy.
    ///
    /// # Errors
    /// [`Error::Parameters`] for what does not fit, fails too often or is insecure, and for a limit on the bytes of
    /// keys that no keys meet.
    pub fn new(
        main: &CkksParams,
        literal: &BootstrapLiteral,
        policy: SecurityPolicy,
    ) -> Result<Self, Error> {
        let literal = BootstrapLiteral {
            slots: main.slots(),
            message: Message::Real,
            ..literal.clone()
        };
        Self::of(BootstrapParams::new(main, &literal, policy).map_err(parameters)?)
    }

    /// Of parameters for real messages in all slots.
    ///
    /// # Errors
    /// [`Error::Parameters`] for others.
    pub fn of(params: BootstrapParams) -> Result<Self, Error> {
        let literal = params.literal();
        if literal.slots != params.main().slots() || literal.message != Message::Real {
            let told = format!(
                "bootstrapping: {} slots, {:?}",
                literal.slots, literal.message
            );
            return Err(Error::Parameters(told));
        }
        Ok(Self {
            params,
            added: Arc::default(),
            effort: Arc::default(),
        })
    }

    /// The checked parameters.
    pub fn params(&self) -> &BootstrapParams {
        &self.params
    }

    /// The facts of a refresh, where each noise in it exceeds what is reckoned with probability 2^-`failure_bits`.
    ///
    /// # Errors
    /// [`Error::Parameters`] where the matrices do not fit their levels.
    pub fn refresh(&self, failure_bits: u32) -> Result<Refresh, Error> {
        let literal = self.params.literal();
        Ok(Refresh {
            scale: self.params.main().scale(),
            bound: literal.bound,
            added: self.added(failure_bits)?,
            log2_failure: self.params.log2_failure().map_err(parameters)?,
        })
    }

    /// What a refresh takes.
    pub fn effort(&self) -> &Effort {
        self.effort.get_or_init(|| self.params.effort())
    }

    fn added(&self, failure_bits: u32) -> Result<f64, Error> {
        let known = || self.added.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(added) = known().get(&failure_bits) {
            return Ok(*added);
        }
        let params = self.params.clone().with_failure_bits(failure_bits);
        let added = params.error_bound(0.0).map_err(parameters)?;
        known().insert(failure_bits, added);
        Ok(added)
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        let literal = self.params.literal();
        out.f64(literal.bound);
        out.u8(literal.slots_to_coeffs as u8);
        out.u8(literal.coeffs_to_slots as u8);
        out.f64(literal.log2_ratio);
        out.u32(literal.weight);
        out.f64(literal.log2_failure);
        out.u16(literal.degree as u16);
        out.u8(literal.doublings as u8);
        out.u8(literal.arcsine as u8);
        // A program ends here: no limit takes no bytes, and one pass none.
        literal
            .key_bytes
            .iter()
            .for_each(|&limit| out.u64(limit as u64));
        if literal.passes != 1 {
            out.u8(literal.passes as u8);
        }
    }

    /// Reads a literal to the end of the program; what it is for is told by the program.
    pub(crate) fn read(input: &mut Reader<'_>) -> Result<BootstrapLiteral, Error> {
        let literal = BootstrapLiteral {
            bound: input.f64("the bound on refreshed messages")?,
            slots_to_coeffs: usize::from(input.u8("levels of slots to coefficients")?),
            coeffs_to_slots: usize::from(input.u8("levels of coefficients to slots")?),
            log2_ratio: input.f64("the ratio of message to modulus")?,
            weight: input.u32("the weight of the sparse secret")?,
            log2_failure: input.f64("the failure of a refresh")?,
            degree: usize::from(input.u16("the cosine's degree")?),
            doublings: u32::from(input.u8("double angles")?),
            arcsine: u32::from(input.u8("the arcsine's degree")?),
            ..BootstrapLiteral::default()
        };
        let what = "the limit on the bytes of keys";
        let key_bytes = match input.left() {
            0 | 1 => None,
            _ => Some(input.u64(what)?),
        };
        let passes = match input.left() {
            0 => 1,
            _ => match input.u8("the number of passes")? {
                2 => 2,
                passes => {
                    return Err(refused(
                        "the number of passes",
                        passes.into(),
                        "2, or no byte for 1",
                    ));
                }
            },
        };
        let addressed = |limit: u64| {
            usize::try_from(limit).map_err(|_| refused(what, limit, format!("0..={}", usize::MAX)))
        };
        Ok(BootstrapLiteral {
            key_bytes: key_bytes.map(addressed).transpose()?,
            passes,
            ..literal
        })
    }
}

fn parameters(error: ckks::Error) -> Error {
    Error::Parameters(format!("bootstrapping: {error}"))
}
