// SPDX-License-Identifier: Apache-2.0
//! BFV plaintexts and ciphertexts.

use crate::context::BfvContext;
use crate::errors::OrRaise;
use crate::residues::{Polys, array, identity, wide};
use crate::scheme::data_class;
use crate::word_width::{WordWidth, each};
use crate::work::Work;
use bfv::{Ciphertext, Plaintext};
use numpy::{PyArray1, PyArrayDyn, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use rns::{Coeff, Eval, RnsPoly};

/// Reads an object of this set's width.
macro_rules! read {
    ($context:expr, $type:ident, $data:expr) => {
        $crate::word_width::try_map!(&$context.params, params => ::bfv::$type::from_bytes(params, $data))
    };
}

/// A ciphertext of either width.
pub type Cipher = WordWidth<Ciphertext<u64>, Ciphertext<u128>>;

data_class! {
    /// A polynomial modulo t.
    BfvPlaintext(Plaintext) in BfvContext;
    from_bytes |context, data| each!(&context.params, params => Plaintext::from_bytes(params, data).or_raise());
    to_bytes |context, inner| inner.to_bytes();
    more {
        /// A plaintext from its coefficients, lowest first; negative ones count modulo t.
        #[staticmethod]
        fn from_coefficients(context: Py<BfvContext>, #[pyo3(from_py_with = crate::numbers::number)] values: Vec<i64>) -> PyResult<Self> {
            let inner = each!(&context.get().params, params => Plaintext::from_signed(params, &values)).or_raise()?;
            Ok(Self { context, inner })
        }

        /// log2 of how much multiplying by this plaintext raises the variance of noise: max |m(ζ)|² over the roots ζ.
        #[getter]
        fn log2_gain(&self) -> f64 {
            self.inner.gain().log2
        }

        /// The coefficients, from -t/2 to t/2.
        fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
            PyArray1::from_vec(py, self.inner.signed())
        }
    }
}

data_class! {
    /// An encrypted polynomial modulo t.
    BfvCiphertext(Cipher) in BfvContext;
    from_bytes |context, data| read!(context, Ciphertext, data);
    to_bytes |context, inner| each!(inner, ct => ct.to_bytes());
    more {
        /// A ciphertext from its polynomials in coefficient form, or in evaluation form, of shape (size, primes, n).
        #[staticmethod]
        #[pyo3(signature = (context, key_id, residues, *, evaluation=false))]
        fn from_residues(
            py: Python<'_>,
            context: Py<BfvContext>,
            key_id: &[u8],
            residues: PyReadonlyArrayDyn<'_, u64>,
            evaluation: bool,
        ) -> PyResult<Self> {
            let WordWidth::W64(params) = &context.get().params else {
                return Err(wide());
            };
            let polys = Polys::of(residues, params.rlwe().n(), 3)?;
            let basis = params.rlwe().q_prefix(polys.limbs).or_raise()?;
            let parts = match evaluation {
                false => polys.over::<Coeff>(&basis).or_raise()?,
                true => {
                    let parts = polys.over::<Eval>(&basis).or_raise()?;
                    py.work(|| Ok::<_, PyErr>(parts.into_iter().map(RnsPoly::to_coeff).collect()))?
                }
            };
            let inner = Ciphertext::from_parts(params, identity(key_id)?, parts).or_raise()?;
            Ok(Self { inner: WordWidth::W64(inner), context })
        }

        /// The polynomials, as `from_residues` takes them.
        #[pyo3(signature = (*, evaluation=false))]
        fn residues<'py>(&self, py: Python<'py>, evaluation: bool) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
            let WordWidth::W64(ct) = &self.inner else {
                return Err(wide());
            };
            if !evaluation {
                return array(py, &[ct.size()], &ct.parts().iter().collect::<Vec<_>>());
            }
            let parts = ct.parts();
            let values: Vec<_> = py.work(|| Ok::<_, PyErr>(parts.iter().map(|part| part.clone().to_eval()).collect()))?;
            array(py, &[ct.size()], &values.iter().collect::<Vec<_>>())
        }

        /// Number of components: 2, or more after a multiplication.
        #[getter]
        fn size(&self) -> usize {
            each!(&self.inner, ct => ct.size())
        }

        /// Data primes left minus 1.
        #[getter]
        fn level(&self) -> usize {
            each!(&self.inner, ct => ct.limbs() - 1)
        }

        /// Which secret key decrypts it.
        #[getter]
        fn key_id(&self) -> String {
            each!(&self.inner, ct => ct.key_id().to_string())
        }

        /// Whether its second component is a seed: a fresh encryption under the secret key.
        #[getter]
        fn seeded(&self) -> bool {
            each!(&self.inner, ct => ct.is_seeded())
        }

        fn __repr__(&self) -> String {
            format!("<BfvCiphertext level={} size={}>", self.level(), self.size())
        }
    }
}
