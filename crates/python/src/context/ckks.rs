// SPDX-License-Identifier: Apache-2.0
//! CKKS parameters.

use crate::scheme::context_class;
use crate::word_width::only;
use crate::work::Work;
use ckks::{CkksParams, CkksParamsLiteral};
use pyo3::prelude::*;

context_class! {
    /// A checked, immutable CKKS parameter set.
    CkksContext(CkksParams) by only;
    new(scale: f64) {
        /// Data primes `moduli` (the first stays to the end), special primes `special`, default scale `scale`.
        ///
        /// `dnum`: digits of key switching (default: one prime each). `secret`: ternary, binary, binomial:ETA,
        /// gaussian:SIGMA or weight:H; `error`: binomial:ETA or gaussian:SIGMA. A set below `security` bits by `table`
        /// is refused unless `allow_insecure`.
        |py, ring, policy| {
            ring.refuse_wide("CKKS")?;
            let rlwe = ring.literal()?;
            let policy = policy()?;
            py.work(|| CkksParams::new(&CkksParamsLiteral { rlwe, scale }, policy))
        }
    }
    read |data, policy, limits| CkksParams::from_bytes_within(data, policy, limits);
    fingerprint {
        /// Identity of the set, scale included.
    }
    more {
        /// Slots of a ciphertext: n/2.
        #[getter]
        fn slots(&self) -> usize {
            self.params.slots()
        }

        /// Default scale.
        #[getter]
        fn scale(&self) -> f64 {
            self.params.scale()
        }
    }
}
