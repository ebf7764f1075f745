// SPDX-License-Identifier: Apache-2.0
//! Clients served by engines of polynomial operations.

use super::client;
use super::run::Engine;
use crate::client::{Client, Zero};
use crate::{Error, Observer};
use ::bfv::ZeroDraw;
use ::ckks::Draw;
use rns::{Coeff, Eval, RnsPoly};

/// Every engine of polynomial operations serves clients.
impl<E: Engine> Client for E {
    fn zero_narrow(
        &self,
        draw: &ZeroDraw<'_, u64>,
        observer: &dyn Observer,
    ) -> Result<Zero<u64>, Error> {
        client::bfv::zero_parts(self, draw, observer)
    }

    fn zero_wide(
        &self,
        draw: &ZeroDraw<'_, u128>,
        observer: &dyn Observer,
    ) -> Result<Zero<u128>, Error> {
        client::bfv::zero_parts(self, draw, observer)
    }

    fn phase_narrow(
        &self,
        parts: &[RnsPoly<u64, Coeff>],
        key: &RnsPoly<u64, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<u64, Coeff>, Error> {
        client::bfv::phase(self, parts, key, observer)
    }

    fn phase_wide(
        &self,
        parts: &[RnsPoly<u128, Coeff>],
        key: &RnsPoly<u128, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<u128, Coeff>, Error> {
        client::bfv::phase(self, parts, key, observer)
    }

    fn ckks_parts(
        &self,
        draw: Draw<'_>,
        observer: &dyn Observer,
    ) -> Result<[RnsPoly<u64, Eval>; 2], Error> {
        client::ckks::parts(self, draw, observer)
    }

    fn ckks_phase(
        &self,
        parts: &[RnsPoly<u64, Eval>],
        key: &RnsPoly<u64, Eval>,
        observer: &dyn Observer,
    ) -> Result<RnsPoly<u64, Eval>, Error> {
        client::ckks::phase(self, parts, key, observer)
    }
}
