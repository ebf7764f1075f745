// SPDX-License-Identifier: Apache-2.0
//! The driver's base conversions: limits of the build, and allocation of their constants.

use model::{Conversion, MOST_PRIMES};

use crate::{DeviceError, Driver};

impl Driver {
    /// Set a base conversion.
    ///
    /// # Errors
    /// No such unit or number; primes that the build or its lanes cannot take, a constants' table that is full.
    pub fn set_conversion(
        &mut self,
        number: u8,
        conversion: &Conversion,
    ) -> Result<(), DeviceError> {
        let refuse = |what: String| Err(DeviceError::data(what));
        let Some(unit) = self.info.rns else {
            return refuse("base conversion is not in this build".to_owned());
        };
        if u32::from(number) >= unit.conversions {
            let known = unit.conversions;
            return refuse(format!(
                "conversion {number} does not exist, the build has {known}"
            ));
        }
        let (inputs, outputs) = (conversion.inputs(), conversion.outputs());
        let (first, lanes) = (usize::from(conversion.first()), self.info.lanes as usize);
        if inputs.is_empty()
            || inputs.len() > MOST_PRIMES
            || first + inputs.len() > lanes
            || outputs.len() > lanes
        {
            return refuse(format!(
                "conversion {number}: {} input primes from lane {first} on and {} output primes, the build has {lanes} lanes",
                inputs.len(),
                outputs.len()
            ));
        }
        let moduli = inputs.iter().map(|input| input.modulus);
        for modulus in moduli.chain(outputs.iter().map(|output| output.modulus)) {
            self.check_modulus(modulus.value())
                .map_err(|what| DeviceError::data(format!("conversion {number}: {what}")))?;
        }
        let place = usize::from(number);
        // The old conversion is removed even if there is no room for the new one.
        self.forget_conversion(number);
        let length = inputs.len() as u32 + 1;
        let base = free_entries(&self.entries, length, unit.entries).ok_or_else(|| {
            let total = unit.entries;
            DeviceError::data(format!(
                "conversion {number} takes {length} entries of constants in a row, which the build's {total} no longer have"
            ))
        })?;
        self.device.set_conversion(number, base as u8, conversion)?;
        self.entries[place] = (base, length);
        self.state.conversions[place] = Some(conversion.shape());
        self.conversions[place] = Some(conversion.clone());
        Ok(())
    }

    /// Give up a base conversion: its entries may be another's.
    pub fn forget_conversion(&mut self, number: u8) {
        let place = usize::from(number);
        if place < self.entries.len() {
            self.entries[place] = (0, 0);
            self.state.conversions[place] = None;
            self.conversions[place] = None;
        }
    }

    /// The base conversions that are set.
    pub fn conversions(&self) -> &[Option<Conversion>] {
        &self.conversions
    }
}

/// First fit: the lowest index of `length` consecutive entries, of `total`, that no base conversion takes.
pub fn free_entries(taken: &[(u32, u32)], length: u32, total: u32) -> Option<u32> {
    let free = |base: &u32| {
        let clash = |&(first, count): &(u32, u32)| *base < first + count && first < base + length;
        !taken.iter().any(clash)
    };
    (0..=total.checked_sub(length)?).find(free)
}
