// SPDX-License-Identifier: Apache-2.0
//! Keys, encryption, decryption: one prime at a time.

use crate::ciphertext::{Parts, Second, begin, polynomial};
use crate::error::Error;
use crate::modulus::Modulus;
use crate::ntt::{fill_roots, forward, inverse};
use crate::params::Params;
use crate::rules::{MAX_N, Scheme};
use crate::scaling::{Scaling, gather, round};
use crate::stream::{Seed, Stream, binomial, ternary, uniform};
use crate::wire::{Reader, Tag, Writer, packed, unpack};
use alloc::vec;
use alloc::vec::Vec;
use zeroize::Zeroizing;

/// Polynomials of words held at once: powers of ψ, two operands.
const WORDS: usize = 3;
/// Polynomials of small coefficients held at once: the secret, u, two errors.
const SMALL: usize = 4;

/// Bytes held at once for degree `n`, beside objects and messages, the stack apart.
pub const fn memory(n: usize) -> usize {
    n * (WORDS * size_of::<u64>() + SMALL)
}

const _: () = assert!(
    memory(MAX_N) <= 224 << 10,
    "a client of the largest degree fits into 224 KiB"
);
const _: () = assert!(
    memory(4096) <= 112 << 10,
    "a client of degree 4096 fits into 112 KiB"
);

/// A message as a polynomial.
pub type Message = Vec<i64>;

/// Holds the secret key.
pub struct Client {
    params: Params,
    secret: Zeroizing<Vec<i8>>,
    id: [u8; 16],
}

/// Buffers of one operation, wiped when dropped.
struct Work {
    roots: Vec<u64>,
    x: Zeroizing<Vec<u64>>,
    y: Zeroizing<Vec<u64>>,
}

impl Work {
    fn new(n: usize) -> Self {
        Self {
            roots: vec![0; n],
            x: vec![0; n].into(),
            y: vec![0; n].into(),
        }
    }

    /// Small coefficients in x.
    fn load(&mut self, q: &Modulus, small: &[i8]) {
        self.x
            .iter_mut()
            .zip(small)
            .for_each(|(x, v)| *x = q.small(*v));
    }

    fn evaluate(&mut self, q: &Modulus, root: u64) {
        fill_roots(q, root, &mut self.roots);
        forward(q, &self.roots, &mut self.x);
    }

    /// y becomes x·y, value by value.
    fn multiply(&mut self, q: &Modulus) {
        self.y
            .iter_mut()
            .zip(self.x.iter())
            .for_each(|(y, x)| *y = q.mul(*x, *y));
    }

    fn interpolate(&mut self, q: &Modulus, root: u64) {
        fill_roots(q, q.inverse_vt(root), &mut self.roots);
        inverse(q, &self.roots, &mut self.y);
    }
}

impl Client {
    /// The client that `seed` makes. 32 bytes of the device's true randomness; the same seed is the same key.
    pub fn new(params: &Params, seed: &[u8; 32]) -> Self {
        let own = Seed::new(*seed).bind("secret key", &params.set, &[]);
        let mut secret = Zeroizing::new(vec![0; params.n]);
        ternary(own.stream("secret", 0), &mut secret);
        let mut id = [0; 16];
        own.stream("key-id", 0).fill(&mut id);
        Self {
            params: params.clone(),
            secret,
            id,
        }
    }

    /// The client of a secret key's bytes.
    ///
    /// # Errors
    /// [`Error::Bytes`], [`Error::OtherParameters`].
    pub fn from_bytes(params: &Params, bytes: &[u8]) -> Result<Self, Error> {
        let mut input = Reader::open(Tag::SecretKey, &params.ring, bytes)?;
        let id = input.array()?;
        let mut secret = Zeroizing::new(vec![0; params.n]);
        let mut wrong = false;
        for (value, pair) in secret
            .iter_mut()
            .zip(input.take(2 * params.n)?.chunks_exact(2))
        {
            let wide = i16::from_le_bytes([pair[0], pair[1]]);
            wrong |= (wide + 1) as u16 > 2;
            *value = wide as i8;
        }
        input.finish()?;
        if wrong || id == [0; 16] {
            return Err(Error::Bytes("no secret key"));
        }
        Ok(Self {
            params: params.clone(),
            secret,
            id,
        })
    }

    /// The secret key as bytes. Secret.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Writer::new(Tag::SecretKey, &self.params.ring, 16 + 2 * self.params.n);
        out.bytes(&self.id);
        self.secret
            .iter()
            .for_each(|c| out.bytes(&i16::from(*c).to_le_bytes()));
        Zeroizing::new(out.seal())
    }

    /// The public key, as bytes.
    pub fn public_key(&self, seed: &[u8; 32]) -> Vec<u8> {
        let (params, n) = (&self.params, self.params.n);
        let own = Seed::new(*seed).bind("public key", &params.set, &[&self.id]);
        let (grown, error) = (own.derive("a", 0), own.derive("e", 0));
        let mut e = Zeroizing::new(vec![0; n]);
        binomial(error.stream("e", 0), &mut e);
        let mut out = Writer::new(
            Tag::PublicKey,
            &params.ring,
            48 + polynomial(params, params.limbs),
        );
        out.bytes(&self.id);
        out.bytes(&*grown.0);
        let mut work = Work::new(n);
        for (j, q) in params.data().iter().enumerate() {
            work.load(q, &self.secret);
            work.evaluate(q, params.roots[j]);
            uniform(uniform_stream(params, &grown, j), q, &mut work.y);
            work.multiply(q);
            work.load(q, &e);
            forward(q, &work.roots, &mut work.x);
            subtract(q, &mut work.x, &work.y);
            let place = out.room(packed(n, q.bits()));
            out.pack_at(place, &work.x, q.bits());
        }
        out.seal()
    }

    /// A message under the secret key, as bytes half as long. The pair (`seed`, `index`) serves one message.
    ///
    /// # Errors
    /// [`Error::Message`].
    pub fn encrypt_secret(
        &self,
        message: &[i64],
        seed: &[u8; 32],
        index: u64,
    ) -> Result<Vec<u8>, Error> {
        let (params, n) = (&self.params, self.params.n);
        check(params, message)?;
        let role = match params.scheme {
            Scheme::Bfv { .. } => "bfv encrypt secret",
            Scheme::Ckks { .. } => "ckks encrypt secret",
        };
        let own = Seed::new(*seed)
            .bind(role, &params.set, &[&self.id])
            .derive("encrypt", index);
        let grown = own.derive("a", 0);
        let mut e = Zeroizing::new(vec![0; n]);
        binomial(own.stream("e", 0), &mut e);
        let mut out = begin(params, &self.id, 1);
        let mut work = Work::new(n);
        for (j, q) in params.data().iter().enumerate() {
            uniform(uniform_stream(params, &grown, j), q, &mut work.y);
            work.load(q, &self.secret);
            work.evaluate(q, params.roots[j]);
            if let Scheme::Bfv { .. } = params.scheme {
                forward(q, &work.roots, &mut work.y);
            }
            work.multiply(q);
            if let Scheme::Bfv { .. } = params.scheme {
                work.interpolate(q, params.roots[j]);
            }
            hidden(params, q, message, &e, &mut work);
            subtract(q, &mut work.x, &work.y);
            let place = out.room(packed(n, q.bits()));
            out.pack_at(place, &work.x, q.bits());
        }
        out.bytes(&*grown.0);
        Ok(out.seal())
    }

    /// The message of a ciphertext of two polynomials: coefficients 0..t (BFV), or centred (CKKS).
    ///
    /// A CKKS message is read modulo the first prime: |scale·value| < q_0/2, as at the lowest level, which is where a
    /// server best sends it.
    ///
    /// # Errors
    /// [`Error::Bytes`], [`Error::OtherParameters`], [`Error::OtherKey`].
    pub fn decrypt(&self, ciphertext: &[u8]) -> Result<Zeroizing<Message>, Error> {
        let (params, n) = (&self.params, self.params.n);
        let parts = Parts::read(params, &self.id, ciphertext)?;
        let used = match params.scheme {
            Scheme::Bfv { .. } => parts.limbs,
            Scheme::Ckks { .. } => 1,
        };
        let mut result = Zeroizing::new(vec![0i64; n]);
        let mut work = Work::new(n);
        let mut place = 0;
        for (j, q) in params.data()[..used].iter().enumerate() {
            let length = packed(n, q.bits());
            work.load(q, &self.secret);
            work.evaluate(q, params.roots[j]);
            match parts.second {
                Second::Bytes(bytes) => unpack(&bytes[place..place + length], q, &mut work.y)?,
                Second::Seed(ref seed) => uniform(uniform_stream(params, seed, j), q, &mut work.y),
            }
            if let Scheme::Bfv { .. } = params.scheme {
                forward(q, &work.roots, &mut work.y);
            }
            work.multiply(q);
            if let Scheme::Bfv { .. } = params.scheme {
                work.interpolate(q, params.roots[j]);
            }
            unpack(&parts.first[place..place + length], q, &mut work.x)?;
            add(q, &mut work.y, &work.x);
            place += length;
            match params.scheme {
                Scheme::Bfv { t } => gather(&params.data()[..used], j, t, &work.y, &mut result),
                Scheme::Ckks { .. } => {
                    work.interpolate(q, params.roots[j]);
                    for (value, y) in result.iter_mut().zip(work.y.iter()) {
                        *value = q.centred(*y);
                    }
                }
            }
        }
        if let Scheme::Bfv { t } = params.scheme {
            round(t, used, &mut result);
        }
        Ok(result)
    }
}

/// A message under a public key, as bytes. The pair (`seed`, `index`) serves one message.
///
/// # Errors
/// [`Error::Message`], and those of a public key's bytes.
pub fn encrypt_public(
    params: &Params,
    public_key: &[u8],
    message: &[i64],
    seed: &[u8; 32],
    index: u64,
) -> Result<Vec<u8>, Error> {
    let n = params.n;
    check(params, message)?;
    let mut input = Reader::open(Tag::PublicKey, &params.ring, public_key)?;
    let (id, grown) = (input.array::<16>()?, Seed::new(input.array()?));
    let b = input.take(polynomial(params, params.limbs))?;
    input.finish()?;
    let role = match params.scheme {
        Scheme::Bfv { .. } => "bfv encrypt public",
        Scheme::Ckks { .. } => "ckks encrypt public",
    };
    let own = Seed::new(*seed)
        .bind(role, &params.set, &[&id, &*grown.0])
        .derive("encrypt", index);
    let [mut u, mut e0, mut e1] = [(); 3].map(|()| Zeroizing::new(vec![0; n]));
    ternary(own.stream("u", 0), &mut u);
    binomial(own.stream("e0", 0), &mut e0);
    binomial(own.stream("e1", 0), &mut e1);
    let mut out = begin(params, &id, 2);
    let start = out.room(2 * polynomial(params, params.limbs));
    let mut work = Work::new(n);
    let zeros: &[i64] = &[];
    let mut place = 0;
    for (j, q) in params.data().iter().enumerate() {
        let length = packed(n, q.bits());
        for (half, e, message) in [(0, &e0, message), (1, &e1, zeros)] {
            match half {
                0 => unpack(&b[place..place + length], q, &mut work.y)?,
                _ => uniform(uniform_stream(params, &grown, j), q, &mut work.y),
            }
            work.load(q, &u);
            work.evaluate(q, params.roots[j]);
            work.multiply(q);
            if let Scheme::Bfv { .. } = params.scheme {
                work.interpolate(q, params.roots[j]);
            }
            hidden(params, q, message, e, &mut work);
            add(q, &mut work.y, &work.x);
            out.pack_at(
                start + half * polynomial(params, params.limbs) + place,
                &work.y,
                q.bits(),
            );
        }
        place += length;
    }
    Ok(out.seal())
}

/// Error and message in x: in coefficients (BFV) or values (CKKS).
fn hidden(params: &Params, q: &Modulus, message: &[i64], e: &[i8], work: &mut Work) {
    work.load(q, e);
    match params.scheme {
        Scheme::Bfv { t } => {
            let scaling = Scaling::new(params.data(), q, t);
            work.x
                .iter_mut()
                .zip(message)
                .for_each(|(x, m)| *x = q.add(*x, scaling.of(q, *m as u64)));
        }
        Scheme::Ckks { .. } => {
            work.x
                .iter_mut()
                .zip(message)
                .for_each(|(x, m)| *x = q.add(*x, q.signed(*m)));
            forward(q, &work.roots, &mut work.x);
        }
    }
}

fn uniform_stream(params: &Params, seed: &Seed, limb: usize) -> Stream {
    seed.bind("uniform", &params.ring, &[])
        .stream("uniform", limb as u64)
}

/// Refuses a message of another length, or of coefficients out of range; only whether one is may be told.
fn check(params: &Params, message: &[i64]) -> Result<(), Error> {
    if message.len() != params.n {
        return Err(Error::Message("n coefficients are needed"));
    }
    let wrong = match params.scheme {
        Scheme::Bfv { t } => {
            message
                .iter()
                .fold(0, |wrong, m| wrong | *m | (t as i64 - 1).wrapping_sub(*m))
                < 0
        }
        Scheme::Ckks { .. } => {
            let outside = |m: i64| m.wrapping_add(1 << 61) | (1i64 << 61).wrapping_sub(m);
            message.iter().fold(0, |wrong, m| wrong | outside(*m)) < 0
        }
    };
    match wrong {
        true => Err(Error::Message(
            "coefficients in 0..t (BFV), or up to 2^61 in magnitude (CKKS)",
        )),
        false => Ok(()),
    }
}

fn add(q: &Modulus, x: &mut [u64], y: &[u64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = q.add(*x, *y));
}

fn subtract(q: &Modulus, x: &mut [u64], y: &[u64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = q.sub(*x, *y));
}
