// SPDX-License-Identifier: Apache-2.0
//! Keys of both schemes and their generator.

use crate::context::Context;
use crate::errors::{Kind, OrRaise};
use crate::numbers::number;
use crate::residues::{self, Polys, identity, narrow, wide};
use crate::word_width::{WordWidth, each, try_map, try_zip};
use crate::work::{Work, written};
use numpy::{PyArrayDyn, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rlwe::{Randomness, Seed};
use std::sync::Arc;

/// 32 bytes from Python, or fresh entropy of the system for one use.
pub fn seed_or_entropy(seed: Option<&[u8]>) -> PyResult<Seed> {
    randomness(seed)?.seed("the seed").or_raise()
}

/// The randomness of a generator: 32 bytes from Python, or the system's.
pub fn randomness(seed: Option<&[u8]>) -> PyResult<Randomness> {
    let Some(bytes) = seed else {
        return Ok(Randomness::SYSTEM);
    };
    let bytes = bytes.try_into().map_err(|_| {
        Kind::Input.error(format!("a seed of {} bytes; 32 are needed", bytes.len()))
    })?;
    Ok(Seed::from_bytes(bytes).into())
}

/// A key class: bytes in and out, pickling, and what else the key can say.
macro_rules! key_class {
    ($(#[$doc:meta])* $name:ident { $($extra:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "ringsmith._native")]
        pub struct $name {
            pub(crate) context: Context,
            pub(crate) key: WordWidth<Arc<rlwe::$name<u64>>, Arc<rlwe::$name<u128>>>,
        }

        #[pymethods]
        impl $name {
            /// Reads `to_bytes`; the key must belong to the context.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: Context, data: &[u8]) -> PyResult<Self> {
                let params = context.rlwe();
                let key = py.work(|| try_map!(params, p => rlwe::$name::from_bytes(&p, data).map(Arc::new)))?;
                Ok(Self { context, key })
            }

            /// The key in the byte format.
            fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                written(py, || each!(&self.key, key => key.to_bytes()))
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Context, Bound<'py, PyBytes>))> {
                Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.context.clone_ref(py), self.to_bytes(py)?)))
            }

            $($extra)*
        }
    };
}

key_class! {
    /// The secret key. It, and its bytes, decrypt everything.
    SecretKey {
        /// Which key set it is: the same for all keys made from it. Says nothing about the secret.
        #[getter]
        fn key_id(&self) -> String {
            each!(&self.key, key => key.id().to_string())
        }
    }
}

key_class! {
    /// The public encryption key; an extended one, over Q·P, encrypts with less noise.
    PublicKey {
        /// A key from both halves (b, a) in evaluation form, of shape (2, primes, n): those of Q, or of Q·P.
        #[staticmethod]
        fn from_halves(py: Python<'_>, context: Context, key_id: &[u8], halves: PyReadonlyArrayDyn<'_, u64>) -> PyResult<Self> {
            let (params, id) = (narrow(&context)?, identity(key_id)?);
            let halves = Polys::of(halves, params.n(), 3)?;
            let key = Arc::new(residues::public_key(&params, id, &halves).or_raise()?);
            Ok(Self { context: context.clone_ref(py), key: WordWidth::W64(key) })
        }

        /// Both halves, as `from_halves` takes them.
        fn halves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
            match &self.key {
                WordWidth::W64(key) => residues::array(py, &[2], &key.parts()),
                WordWidth::W128(_) => Err(wide()),
            }
        }

        /// Whether it is over Q·P.
        #[getter]
        fn extended(&self) -> bool {
            each!(&self.key, key => key.is_extended())
        }

        /// Which secret key it belongs to.
        #[getter]
        fn key_id(&self) -> String {
            each!(&self.key, key => key.id().to_string())
        }
    }
}

key_class! {
    /// The relinearisation key: from s squared to s.
    RelinKey {
        /// A key from both halves of each digit in evaluation form, of shape (digits, 2, primes, n): b, then a.
        #[staticmethod]
        fn from_halves(py: Python<'_>, context: Context, key_id: &[u8], halves: PyReadonlyArrayDyn<'_, u64>) -> PyResult<Self> {
            let (params, id) = (narrow(&context)?, identity(key_id)?);
            let halves = Polys::of(halves, params.n(), 4)?;
            let limbs = halves.data_limbs(&params)?;
            let key = residues::switching_key(&params, id, &halves, limbs).or_raise()?;
            Ok(Self { context: context.clone_ref(py), key: WordWidth::W64(Arc::new(key.into())) })
        }

        /// Both halves, as `from_halves` takes them.
        fn halves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
            match &self.key {
                WordWidth::W64(key) => residues::halves_of(py, key.key()),
                WordWidth::W128(_) => Err(wide()),
            }
        }

        /// Which secret key it belongs to.
        #[getter]
        fn key_id(&self) -> String {
            each!(&self.key, key => key.key().id().to_string())
        }

        /// The highest level of a ciphertext it serves.
        #[getter]
        fn level(&self) -> usize {
            each!(&self.key, key => key.key().limbs() - 1)
        }
    }
}

key_class! {
    /// Keys for rotations, conjugation or the row swap.
    GaloisKeys {
        /// The key of one element from both its halves, as `RelinKey.from_halves` takes them; `united` joins several.
        #[staticmethod]
        fn from_halves(
            py: Python<'_>,
            context: Context,
            key_id: &[u8],
            #[pyo3(from_py_with = number)] element: u64,
            halves: PyReadonlyArrayDyn<'_, u64>,
        ) -> PyResult<Self> {
            let (params, id) = (narrow(&context)?, identity(key_id)?);
            let halves = Polys::of(halves, params.n(), 4)?;
            let limbs = halves.data_limbs(&params)?;
            let key = residues::switching_key(&params, id, &halves, limbs).or_raise()?;
            let keys = rlwe::GaloisKeys::from_keys(&params, id, limbs, [(element, key)]).or_raise()?;
            Ok(Self { context: context.clone_ref(py), key: WordWidth::W64(Arc::new(keys)) })
        }

        /// Both halves of an element's key.
        fn halves<'py>(
            &self,
            py: Python<'py>,
            #[pyo3(from_py_with = number)] element: u64,
        ) -> PyResult<Bound<'py, PyArrayDyn<u64>>> {
            match &self.key {
                WordWidth::W64(keys) => residues::halves_of(py, keys.get(element).or_raise()?.1),
                WordWidth::W128(_) => Err(wide()),
            }
        }

        /// Which secret key they belong to.
        #[getter]
        fn key_id(&self) -> String {
            each!(&self.key, key => key.id().to_string())
        }

        /// The highest level of a ciphertext they serve.
        #[getter]
        fn level(&self) -> usize {
            each!(&self.key, key => key.limbs() - 1)
        }

        /// The exponents g of x -> x^g there are keys for, rising.
        #[getter]
        fn elements(&self) -> Vec<u64> {
            each!(&self.key, key => key.elements().collect())
        }

        /// The keys of both; KeyMismatchError for another secret key, InputError for another level.
        fn united(&self, py: Python<'_>, keys: &Self) -> PyResult<Self> {
            let key = try_zip!(&self.key, &keys.key, (a, b) => a.united(b).map(Arc::new))?;
            Ok(Self { context: self.context.clone_ref(py), key })
        }

        /// Those of `steps` that there is no key for: what to look at before a rotation is needed.
        fn missing(&self, #[pyo3(from_py_with = number)] steps: Vec<i64>) -> Vec<i64> {
            let lacks = |step: &i64| {
                let wanted = self.context.galois_elements(&[*step], false);
                wanted.iter().any(|g| each!(&self.key, key => !key.elements().any(|known| known == *g)))
            };
            steps.into_iter().filter(lacks).collect()
        }
    }
}

/// The key of an encryptor.
#[derive(FromPyObject)]
pub enum EncryptionKey {
    /// Anybody's encryption.
    Public(Py<PublicKey>),
    /// The owner's: one component is a seed.
    Secret(Py<SecretKey>),
}

/// Makes keys: the same ones on every machine from a seed, new ones at every call without.
///
/// A seed serves the process it was given in: after a fork the child's calls raise `SeedError`.
#[pyclass(frozen, module = "ringsmith._native")]
pub struct KeyGenerator {
    context: Context,
    pub(crate) generator: WordWidth<rlwe::KeyGenerator<u64>, rlwe::KeyGenerator<u128>>,
}

impl KeyGenerator {
    fn limbs(&self, level: Option<usize>) -> usize {
        let all = each!(self.context.rlwe(), params => params.data_primes());
        level.map_or(all, |level| level.saturating_add(1))
    }
}

#[pymethods]
impl KeyGenerator {
    #[new]
    #[pyo3(signature = (context, *, seed=None))]
    fn new(context: Context, seed: Option<&[u8]>) -> PyResult<Self> {
        let generator = context.key_generator(randomness(seed)?);
        Ok(Self { context, generator })
    }

    /// The secret key: a new one at every call unless the generator has a seed.
    fn secret_key(&self, py: Python<'_>) -> PyResult<SecretKey> {
        let key = py.work(|| try_map!(&self.generator, g => g.secret_key().map(Arc::new)))?;
        Ok(SecretKey {
            context: self.context.clone_ref(py),
            key,
        })
    }

    /// The public key of `secret_key`. `extended`: over Q·P, for sets with special primes: what it encrypts is divided
    /// by P, which leaves less noise.
    #[pyo3(signature = (secret_key, *, extended=false))]
    fn public_key(
        &self,
        py: Python<'_>,
        secret_key: &SecretKey,
        extended: bool,
    ) -> PyResult<PublicKey> {
        let secret = &secret_key.key;
        let key = py.work(|| match extended {
            false => try_zip!(&self.generator, secret, (g, s) => g.public_key(s).map(Arc::new)),
            true => {
                try_zip!(&self.generator, secret, (g, s) => g.extended_public_key(s).map(Arc::new))
            }
        })?;
        Ok(PublicKey {
            context: self.context.clone_ref(py),
            key,
        })
    }

    /// The relinearisation key for ciphertexts of at most `level` (default: fresh ones).
    #[pyo3(signature = (secret_key, *, level=None))]
    fn relin_key(
        &self,
        py: Python<'_>,
        secret_key: &SecretKey,
        #[pyo3(from_py_with = number)] level: Option<usize>,
    ) -> PyResult<RelinKey> {
        let (secret, limbs) = (&secret_key.key, self.limbs(level));
        let key = py.work(
            || try_zip!(&self.generator, secret, (g, s) => g.relin_key(s, limbs).map(Arc::new)),
        )?;
        Ok(RelinKey {
            context: self.context.clone_ref(py),
            key,
        })
    }

    /// Keys for rotations by these steps (left; negative: right), and for conjugation or the row swap.
    #[pyo3(signature = (secret_key, steps, *, conjugate=false, level=None))]
    fn galois_keys(
        &self,
        py: Python<'_>,
        secret_key: &SecretKey,
        #[pyo3(from_py_with = number)] steps: Vec<i64>,
        conjugate: bool,
        #[pyo3(from_py_with = number)] level: Option<usize>,
    ) -> PyResult<GaloisKeys> {
        let (secret, limbs) = (&secret_key.key, self.limbs(level));
        let elements = self.context.galois_elements(&steps, conjugate);
        let key = py.work(
            || try_zip!(&self.generator, secret, (g, s) => g.galois_keys(s, &elements, limbs).map(Arc::new)),
        )?;
        Ok(GaloisKeys {
            context: self.context.clone_ref(py),
            key,
        })
    }
}

/// Adds this module's classes.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<SecretKey>()?;
    m.add_class::<PublicKey>()?;
    m.add_class::<RelinKey>()?;
    m.add_class::<GaloisKeys>()?;
    m.add_class::<KeyGenerator>()
}
