// SPDX-License-Identifier: Apache-2.0
//! CKKS plaintexts and ciphertexts.

use crate::context::CkksContext;
use crate::errors::OrRaise;
use crate::residues::{Polys, array, identity};
use crate::scheme::data_class;
use ckks::{Ciphertext, Plaintext};
use numpy::{PyArrayDyn, PyReadonlyArrayDyn};
use pyo3::prelude::*;

data_class! {
    /// An encoded vector.
    CkksPlaintext(Plaintext) in CkksContext;
    from_bytes |context, data| Plaintext::from_bytes(&context.params, data).or_raise();
    to_bytes |context, inner| inner.to_bytes();
    more {
        /// Factor between the slots and the polynomial.
        #[getter]
        fn scale(&self) -> f64 {
            self.inner.scale()
        }

        /// Rescales left.
        #[getter]
        fn level(&self) -> usize {
            self.inner.level()
        }
    }
}

data_class! {
    /// An encrypted vector.
    CkksCiphertext(Ciphertext) in CkksContext;
    from_bytes |context, data| Ciphertext::from_bytes(&context.params, data).or_raise();
    to_bytes |context, inner| inner.to_bytes();
    more {
        /// A ciphertext of n/2 slots from its polynomials in evaluation form, of shape (size, primes, n).
        #[staticmethod]
        fn from_residues(
            context: Py<CkksContext>,
            key_id: &[u8],
            #[pyo3(from_py_with = crate::numbers::number)] scale: f64,
            residues: PyReadonlyArrayDyn<'_, u64>,
        ) -> PyResult<Self> {
            let params = &context.get().params;
            let polys = Polys::of(residues, params.rlwe().n(), 3)?;
            let parts = polys.over(&params.rlwe().q_prefix(polys.limbs).or_raise()?).or_raise()?;
            let inner = Ciphertext::from_parts(params, parts, scale, params.slots(), identity(key_id)?).or_raise()?;
            Ok(Self { inner, context })
        }

        /// The polynomials, as `from_residues` takes them.
        fn residues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
            array(py, &[self.inner.size()], &self.inner.parts().iter().collect::<Vec<_>>())
        }

        /// Factor between the slots and the polynomial.
        #[getter]
        fn scale(&self) -> f64 {
            self.inner.scale()
        }

        /// Rescales left.
        #[getter]
        fn level(&self) -> usize {
            self.inner.level()
        }

        /// Number of components: 2, or 3 after a multiplication.
        #[getter]
        fn size(&self) -> usize {
            self.inner.size()
        }

        /// Number of slots.
        #[getter]
        fn slots(&self) -> usize {
            self.inner.slots()
        }

        /// Which secret key decrypts it.
        #[getter]
        fn key_id(&self) -> String {
            self.inner.key_id().to_string()
        }

        /// Whether its second component is a seed: a fresh encryption under the secret key.
        #[getter]
        fn seeded(&self) -> bool {
            self.inner.is_seeded()
        }

        /// Bytes of `to_bytes`, without making them.
        #[getter]
        fn nbytes(&self) -> usize {
            self.inner.byte_len()
        }

        fn __repr__(&self) -> String {
            let (level, size, scale) = (self.inner.level(), self.inner.size(), self.inner.scale().log2());
            format!("<CkksCiphertext level={level} size={size} scale=2^{scale:.2}>")
        }
    }
}
