// SPDX-License-Identifier: Apache-2.0
//! Workloads that are measured, as polynomial programs: the polynomial part of an operation on one set of moduli.

use polynomial::{Form, Graph, Limb, Origin, PolyOp};
use rns::RnsBasis;

use crate::OffloadError;

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// a b.
    Polymul,
    /// (a0 b0, a0 b1 + a1 b0, a1 b1).
    Tensor,
    /// (pk0 u + e0, pk1 u + e1), the key in evaluation form, u and the errors coefficients; the results in this form.
    ZeroEncrypt(Form),
    /// c0 + c1 s, the secret in evaluation form, the rest in this form.
    Decrypt(Form),
    /// (sum of d_i k0_i, sum of d_i k1_i) over [`DIGITS`], keys in evaluation form.
    KeySwitch,
}

/// Digits of a key switch that is measured.
const DIGITS: usize = 2;

impl Workload {
    /// Name in presets and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Polymul => "polymul",
            Self::Tensor => "tensor",
            Self::ZeroEncrypt(_) => "zero-encrypt",
            Self::Decrypt(Form::Coefficients) => "delta-m-decrypt",
            Self::Decrypt(Form::Values) => "decrypt",
            Self::KeySwitch => "key-switch",
        }
    }

    /// The workload of that name, of a scheme that keeps ciphertexts in this form.
    pub fn from_name(name: &str, ciphertexts: Form) -> Option<Self> {
        let all = [
            Self::Polymul,
            Self::Tensor,
            Self::ZeroEncrypt(ciphertexts),
            Self::Decrypt(Form::Coefficients),
            Self::Decrypt(Form::Values),
            Self::KeySwitch,
        ];
        all.into_iter().find(|workload| workload.name() == name)
    }

    /// The program over Z_q[x] / (x^n + 1) for each of these moduli, its sources numbered from 0 on.
    ///
    /// # Errors
    /// [`OffloadError::Shape`] for moduli that are no primes for degree n, or not distinct.
    pub fn graph(self, moduli: &[u128], n: usize) -> Result<Graph<u128>, OffloadError> {
        let mut w = Writer::new(self.name(), moduli, n)?;
        match self {
            Self::Polymul => w.polymul(),
            Self::Tensor => w.tensor(),
            Self::ZeroEncrypt(form) => w.zero_encrypt(form),
            Self::Decrypt(form) => w.decrypt(form),
            Self::KeySwitch => w.key_switch(),
        }
        Ok(w.graph)
    }
}

/// The program that is one transform.
///
/// # Errors
/// As [`Workload::graph`].
pub(crate) fn transform(
    forward: bool,
    moduli: &[u128],
    n: usize,
) -> Result<Graph<u128>, OffloadError> {
    let mut w = Writer::new("transform", moduli, n)?;
    let result = if forward {
        let given = w.given(Form::Coefficients, Origin::Ciphertext);
        w.graph.ntt(&given, w.task)
    } else {
        let given = w.given(Form::Values, Origin::Ciphertext);
        w.graph.intt(&given, w.task)
    };
    w.graph.output(&result);
    Ok(w.graph)
}

struct Writer {
    graph: Graph<u128>,
    moduli: Vec<u16>,
    task: u32,
    sources: u32,
}

impl Writer {
    fn new(name: &'static str, moduli: &[u128], n: usize) -> Result<Self, OffloadError> {
        let mut graph = Graph::new(n);
        let basis = RnsBasis::new(n, moduli).map_err(|error| OffloadError::Shape {
            what: error.to_string(),
        })?;
        let moduli = graph.basis(&basis);
        let task = graph.task(name, 0);
        Ok(Self {
            graph,
            moduli,
            task,
            sources: 0,
        })
    }

    fn given(&mut self, form: Form, origin: Origin) -> Vec<Limb> {
        self.graph.label(self.sources, origin);
        self.sources += 1;
        let source = (self.sources - 1, form);
        self.graph.source(source, &self.moduli, self.task)
    }

    fn key(&mut self) -> Vec<Limb> {
        self.given(Form::Values, Origin::Key)
    }

    /// Values of a polynomial that is given as coefficients.
    fn values(&mut self, origin: Origin) -> Vec<Limb> {
        let given = self.given(Form::Coefficients, origin);
        self.graph.ntt(&given, self.task)
    }

    fn mul(&mut self, a: &[Limb], b: &[Limb]) -> Vec<Limb> {
        self.graph.by_limb(PolyOp::Mul, &[a, b], self.task)
    }

    fn mul_add(&mut self, a: &[Limb], b: &[Limb], c: &[Limb]) -> Vec<Limb> {
        self.graph.by_limb(PolyOp::MulAdd, &[a, b, c], self.task)
    }

    /// Coefficients of values, as an output.
    fn output(&mut self, values: &[Limb]) {
        let coefficients = self.graph.intt(values, self.task);
        self.graph.output(&coefficients);
    }

    /// The same plus coefficients.
    fn output_plus(&mut self, values: &[Limb], addend: &[Limb]) {
        let coefficients = self.graph.intt(values, self.task);
        let operands = [&coefficients[..], addend];
        let sum = self.graph.by_limb(PolyOp::Add, &operands, self.task);
        self.graph.output(&sum);
    }

    fn polymul(&mut self) {
        let [a, b] = [(); 2].map(|()| self.values(Origin::Ciphertext));
        let product = self.mul(&a, &b);
        self.output(&product);
    }

    fn tensor(&mut self) {
        let [a0, a1, b0, b1] = [(); 4].map(|()| self.values(Origin::Ciphertext));
        let first = self.mul(&a0, &b0);
        let cross = self.mul(&a0, &b1);
        let middle = self.mul_add(&a1, &b0, &cross);
        let last = self.mul(&a1, &b1);
        [first, middle, last]
            .iter()
            .for_each(|one| self.output(one));
    }

    fn zero_encrypt(&mut self, form: Form) {
        let u = self.values(Origin::Randomness);
        let keys = [(); 2].map(|()| self.key());
        match form {
            Form::Coefficients => {
                let products = keys.map(|key| self.mul(&u, &key));
                let errors = [(); 2].map(|()| self.given(form, Origin::Randomness));
                for (product, error) in products.iter().zip(&errors) {
                    self.output_plus(product, error);
                }
            }
            Form::Values => {
                let errors = [(); 2].map(|()| self.values(Origin::Randomness));
                for (key, error) in keys.iter().zip(&errors) {
                    let sum = self.mul_add(&u, key, error);
                    self.graph.output(&sum);
                }
            }
        }
    }

    fn decrypt(&mut self, form: Form) {
        let [c1, c0] = [(); 2].map(|()| self.given(form, Origin::Ciphertext));
        let secret = self.key();
        match form {
            Form::Coefficients => {
                let values = self.graph.ntt(&c1, self.task);
                let product = self.mul(&values, &secret);
                self.output_plus(&product, &c0);
            }
            Form::Values => {
                let sum = self.mul_add(&c1, &secret, &c0);
                self.graph.output(&sum);
            }
        }
    }

    fn key_switch(&mut self) {
        let digits = [(); DIGITS].map(|()| self.values(Origin::Ciphertext));
        let sums = [(); 2].map(|()| {
            let mut sum: Option<Vec<Limb>> = None;
            for digit in &digits {
                let key = self.key();
                sum = Some(match sum {
                    Some(sum) => self.mul_add(digit, &key, &sum),
                    None => self.mul(digit, &key),
                });
            }
            sum.unwrap_or_default()
        });
        sums.iter().for_each(|sum| self.output(sum));
    }
}
