// SPDX-License-Identifier: Apache-2.0
//! Encryptions before they are computed: sampling, separate from transforms and products.

use rlwe::SignedPoly;
use rns::{Eval, RnsBasis, RnsPoly};
use zeroize::Zeroizing;
use zq::AlignedVec;

/// Random polynomials of an encryption of zero, and its key. Secret ones are wiped when dropped.
pub enum ZeroDraw<'k> {
    /// For `(b·u + e_0, a·u + e_1)`, over Q·P with an extended key: the encryptor divides that by P.
    Public {
        /// The limbs of both halves of the public key, (b, a), prime by prime.
        key: Vec<[&'k [u64]; 2]>,
        /// Ternary.
        u: SignedPoly,
        /// e_0 and e_1.
        errors: [SignedPoly; 2],
    },
    /// For `(e − a·key, a)`.
    Secret {
        /// The secret key, over this basis and more.
        key: &'k RnsPoly<u64, Eval>,
        /// Uniform, from a seed that is published.
        a: RnsPoly<u64, Eval>,
        /// e.
        error: SignedPoly,
    },
}

/// An encryption of zero, and what is added to its first part.
pub struct Draw<'a> {
    /// The primes of both parts.
    pub basis: RnsBasis<u64>,
    /// The message; `None` where it is added later, after the division by P.
    pub message: Option<&'a RnsPoly<u64, Eval>>,
    /// The encryption of zero.
    pub zero: ZeroDraw<'a>,
}

impl Draw<'_> {
    /// The two parts as values, computed by this processor.
    pub fn parts(self) -> [RnsPoly<u64, Eval>; 2] {
        let (basis, message) = (&self.basis, self.message);
        match self.zero {
            ZeroDraw::Public { key, u, errors } => {
                public_parts(basis, message, (&key, &u, &errors))
                    .map(|p| RnsPoly::from_data(basis, p))
            }
            ZeroDraw::Secret { key, a, error } => {
                let c0 = secret_part(basis, message, (key, &a, &error));
                [RnsPoly::from_data(basis, c0), a]
            }
        }
    }
}

fn public_parts(
    basis: &RnsBasis<u64>,
    message: Option<&RnsPoly<u64, Eval>>,
    (keys, u, errors): (&[[&[u64]; 2]], &SignedPoly, &[SignedPoly; 2]),
) -> [AlignedVec<u64>; 2] {
    // Limb by limb, so that u and what is made of it stay in the second cache level.
    let n = basis.n();
    let mut u_limb = Zeroizing::new(AlignedVec::for_overwrite(n));
    let mut parts = [(); 2].map(|()| AlignedVec::for_overwrite(basis.len() * n));
    for ((i, plan), keys) in basis.plans().iter().enumerate().zip(keys) {
        let (q, limb) = (plan.modulus(), i * n..(i + 1) * n);
        u.transform(plan, &mut u_limb);
        for ((part, e), key) in parts.iter_mut().zip(errors).zip(keys) {
            let out = &mut part[limb.clone()];
            e.transform(plan, out);
            q.mul_add_assign(out, &u_limb, key);
        }
        if let Some(message) = message {
            q.add_assign(&mut parts[0][limb], message.limb(i));
        }
    }
    parts
}

fn secret_part(
    basis: &RnsBasis<u64>,
    message: Option<&RnsPoly<u64, Eval>>,
    (key, a, error): (&RnsPoly<u64, Eval>, &RnsPoly<u64, Eval>, &SignedPoly),
) -> AlignedVec<u64> {
    let n = basis.n();
    let mut c0 = AlignedVec::for_overwrite(basis.len() * n);
    let mut product = Zeroizing::new(AlignedVec::for_overwrite(n));
    for ((i, plan), out) in basis.plans().iter().enumerate().zip(c0.chunks_exact_mut(n)) {
        let q = plan.modulus();
        error.transform(plan, out);
        if let Some(message) = message {
            q.add_assign(out, message.limb(i));
        }
        q.mul_into(&mut product, a.limb(i), key.limb(i));
        q.sub_assign(out, &product);
    }
    c0
}
