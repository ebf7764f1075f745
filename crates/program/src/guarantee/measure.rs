// SPDX-License-Identifier: Apache-2.0
//! Noise effect of given plaintexts.

use super::Effects;
use crate::Error;
use crate::expression::Numbers;
use crate::parameters::Parameters;
use crate::program::Program;
use crate::values::Values;
use bfv::{BatchEncoder, BfvParams, Plaintext};
use ckks::Encoder;
use rlwe::Threads;
use zq::Word;

/// The effect of numbers in slots at a scale.
type Meter = Box<dyn Fn(&Numbers, f64) -> Result<f64, String> + Sync + Send>;

impl Program {
    /// Measures the plaintexts whose values bear on the noise.
    ///
    /// # Errors
    /// [`Error::Values`] for slots that exceed their bound or cannot be encoded.
    pub fn measure(&self, values: &Values, threads: &Threads) -> Result<Effects, Error> {
        let encodings = self.encodings();
        let all: Vec<(u32, f64)> = encodings.iter().map(|e| (e.0, e.1)).collect();
        self.measure_encodings(values, &all, threads)
    }

    pub(super) fn measure_encodings(
        &self,
        values: &Values,
        encodings: &[(u32, f64)],
        threads: &Threads,
    ) -> Result<Effects, Error> {
        let mut effects = Effects::default();
        if encodings.is_empty() {
            return Ok(effects);
        }
        let meter = meter(&self.parameters).map_err(|message| self.refused(message))?;
        let found = threads.try_map(encodings, |&(number, scale)| {
            let slots = self.slots(values, number)?;
            meter(&slots, scale).map_err(|message| {
                self.refused(format!("the values of {}: {message}", self.origin(number)))
            })
        })?;
        for (&(number, scale), effect) in encodings.iter().zip(found) {
            effects.insert(number, scale, effect);
        }
        Ok(effects)
    }
}

fn meter(parameters: &Parameters) -> Result<Meter, String> {
    match parameters {
        Parameters::Ckks(p) => {
            let encoder = Encoder::new(p);
            Ok(Box::new(move |slots, scale| match slots {
                Numbers::Reals(slots) => encoder.rounding(slots, scale).map_err(|e| e.to_string()),
                Numbers::Integers(_) => Err("integers in CKKS".into()),
            }))
        }
        Parameters::Bfv(p) => gain(p),
        Parameters::BfvWide(p) => gain(p),
    }
}

/// log2 of the gain of slots.
fn gain<W: Word>(params: &BfvParams<W>) -> Result<Meter, String> {
    let params = params.clone();
    let encoder = params.batching().map(|_| BatchEncoder::new(&params));
    let encoder = encoder.transpose().map_err(|e| e.to_string())?;
    Ok(Box::new(move |slots, _| match slots {
        Numbers::Integers(slots) => {
            let plaintext = match &encoder {
                Some(encoder) => encoder.encode_signed(slots),
                None => Plaintext::from_signed(&params, slots),
            };
            plaintext.map(|p| p.gain().log2).map_err(|e| e.to_string())
        }
        Numbers::Reals(_) => Err("reals in BFV".into()),
    }))
}
