// SPDX-License-Identifier: Apache-2.0
//! The driver's automorphisms and digits: limits of the build.

use model::Digit;

use crate::{DeviceError, Driver};

impl Driver {
    /// Set an automorphism x -> x^g of values.
    ///
    /// # Errors
    /// No such unit or number; g that is even.
    pub fn set_automorphism(&mut self, number: u8, element: u16) -> Result<(), DeviceError> {
        self.check_move("automorphism", number)?;
        if element.is_multiple_of(2) {
            return Err(DeviceError::data(format!(
                "automorphism {number}: x -> x^{element} is none, the exponent must be odd"
            )));
        }
        self.device.set_automorphism(number, element)?;
        self.state.automorphisms[usize::from(number)] = true;
        self.automorphisms[usize::from(number)] = Some(element);
        Ok(())
    }

    /// Set a digit.
    ///
    /// # Errors
    /// No such unit or number; the wrong number of lanes, a source lane that is not there,
    /// a bound that does not fit W bits.
    pub fn set_digit(&mut self, number: u8, digit: &Digit) -> Result<(), DeviceError> {
        self.check_move("digit", number)?;
        let (lanes, bits) = (self.info.lanes, self.info.word_bits);
        let refuse = |what: String| Err(DeviceError::data(format!("digit {number}: {what}")));
        let shares = digit.shares();
        if shares.len() != lanes as usize {
            let given = shares.len();
            return refuse(format!("{given} lanes given, the build has {lanes}"));
        }
        if let Some(share) = shares.iter().find(|share| u32::from(share.from) >= lanes) {
            let from = share.from;
            return refuse(format!("source lane {from}, the build has {lanes} lanes"));
        }
        if let Some(share) = shares.iter().find(|share| share.bound >> bits != 0) {
            let bound = share.bound;
            return refuse(format!("bound {bound}, the build has words of {bits} bits"));
        }
        self.device.set_digit(number, digit)?;
        self.state.digits[usize::from(number)] = true;
        self.digits[usize::from(number)] = Some(digit.clone());
        Ok(())
    }

    /// The automorphisms that are set.
    pub fn automorphisms(&self) -> &[Option<u16>] {
        &self.automorphisms
    }

    /// The digits that are set.
    pub fn digits(&self) -> &[Option<Digit>] {
        &self.digits
    }

    fn check_move(&self, what: &str, number: u8) -> Result<(), DeviceError> {
        let known = self.info.moves;
        if known == 0 {
            let missing = "moves between words and lanes are not in this build";
            return Err(DeviceError::data(missing.to_owned()));
        }
        if u32::from(number) >= known {
            return Err(DeviceError::data(format!(
                "{what} {number} does not exist, the build has {known}"
            )));
        }
        Ok(())
    }
}
