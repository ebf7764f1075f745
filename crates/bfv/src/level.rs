// SPDX-License-Identifier: Apache-2.0
//! Constants of one level: scaling, decryption and the two ways to multiply.

use crate::Error;
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use rlwe::RlweParams;
use rns::{BaseConverter, Coeff, RnsBasis, RnsPoly, ScaleRounder, Scratch};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroize;
use zq::primes::{Direction, ntt_primes};
use zq::{AlignedVec, Modulus, Shoup, Word};

/// Constants for ciphertexts over the first `l` data primes.
pub(crate) struct Level<W: Word> {
    pub q: RnsBasis<W>,
    params: LevelParams<W>,
    /// Q mod t.
    q_mod_t: u64,
    /// Arithmetic modulo t.
    plain: Modulus<u64>,
    /// −t^-1 modulo each q_i.
    minus_t_inv: Vec<Shoup<W>>,
    pub decrypt: ScaleRounder<W>,
    /// Drops the last prime; `None` at the last level.
    pub switch: Option<ScaleRounder<W>>,
    hps: OnceLock<Arc<Hps<W>>>,
    over_q: OnceLock<Arc<OverQ<W>>>,
}

/// Inputs of the lazily built parts.
struct LevelParams<W> {
    t: u64,
    auxiliary: Vec<W>,
    /// Primes that may not be chosen again.
    taken: Vec<W>,
}

impl<W: Word> Level<W> {
    /// Of a ring-LWE set, a plaintext modulus, and the auxiliary primes that were given.
    #[inline(never)]
    pub fn new(
        rlwe: &RlweParams<W>,
        plain: &Modulus<u64>,
        auxiliary: &[W],
        limbs: usize,
    ) -> Result<Self, Error> {
        let (q, t) = (rlwe.q_prefix(limbs)?, plain.value());
        let q_mod_t = (q.product() % t).to_u64().unwrap_or_default();
        let inverse = |m: &Modulus<W>| m.inv_vt(m.reduce_u64(t)).map(|i| m.shoup(m.neg(i)));
        let minus_t_inv = q
            .moduli()
            .iter()
            .map(inverse)
            .collect::<Result<_, _>>()
            .map_err(rns::RnsError::from)?;
        let t_word = Modulus::new(W::from_u64(t)).map_err(rns::RnsError::from)?;
        let switch = if limbs > 1 {
            Some(ScaleRounder::new(
                &q.range(limbs - 1..limbs)?,
                &q.drop_last(1)?,
                1,
            )?)
        } else {
            None
        };
        Ok(Self {
            decrypt: ScaleRounder::to_modulus(&q, t_word, t)?,
            params: LevelParams {
                t,
                auxiliary: auxiliary.to_vec(),
                taken: rlwe.qp().values(),
            },
            q,
            q_mod_t,
            plain: *plain,
            minus_t_inv,
            switch,
            hps: OnceLock::new(),
            over_q: OnceLock::new(),
        })
    }

    /// `out += round(Q·m/t)` (or `-=`), exactly; coefficients of m in 0..t.
    ///
    /// With h = ⌊t/2⌋ and r = (Q·m + h) mod t the rounded quotient is (Q·m + h − r)/t, which is (h − r)·t^-1 modulo
    /// q_i. A tie, possible for even t only, rounds up.
    #[inline(never)]
    pub fn add_scaled(&self, m: &[u64], out: &mut RnsPoly<W, Coeff>, subtract: bool) {
        let (plain, half) = (&self.plain, self.params.t / 2);
        let mut remainders = AlignedVec::from_slice(m);
        plain.scalar_mul_assign(&mut remainders, self.q_mod_t);
        plain.scalar_add_assign(&mut remainders, half);
        let mut scaled = AlignedVec::<W>::for_overwrite(m.len());
        for ((limb, modulus), minus_t_inv) in
            out.limbs_mut().zip(self.q.moduli()).zip(&self.minus_t_inv)
        {
            scaled
                .iter_mut()
                .zip(remainders.iter())
                .for_each(|(s, r)| *s = W::from_u64(*r));
            // Shoup's product takes any word, but its vector form only reduced ones.
            if modulus.value().to_u128() <= u128::from(self.params.t) {
                modulus.reduce_assign(&mut scaled);
            }
            modulus.shoup_mul_assign(&mut scaled, *minus_t_inv);
            let constant = modulus.neg(modulus.mul(modulus.reduce_u64(half), minus_t_inv.w));
            modulus.scalar_add_assign(&mut scaled, constant);
            if subtract {
                modulus.sub_assign(limb, &scaled)
            } else {
                modulus.add_assign(limb, &scaled)
            }
        }
        remainders.zeroize();
        scaled.zeroize();
    }

    /// The constants of HPS; made on first use.
    #[inline(never)]
    pub fn hps(&self) -> Result<Arc<Hps<W>>, Error> {
        lazily(&self.hps, || Hps::new(self))
    }

    /// The constants of HPSPOVERQ; made on first use.
    #[inline(never)]
    pub fn over_q(&self) -> Result<Arc<OverQ<W>>, Error> {
        lazily(&self.over_q, || OverQ::new(self))
    }

    /// The first of the primes given whose product is at least `least`, else fresh ones.
    fn second_primes(&self, least: &BigUint) -> Result<Vec<W>, Error> {
        let given = &self.params.auxiliary;
        let enough = (1..=given.len()).find(|&count| product(&given[..count]) >= *least);
        match enough {
            Some(count) => Ok(given[..count].to_vec()),
            None => self.fresh_primes(least),
        }
    }

    /// Primes, none of them in use, whose product is at least `least`.
    fn fresh_primes(&self, least: &BigUint) -> Result<Vec<W>, Error> {
        // Products by 46-bit primes are the fastest for one word; 120 bits leave the lazy forms room for two.
        let widest: u64 = if W::BITS == 64 { 46 } else { 120 };
        let order = 2 * self.q.n() as u64;
        let mut count = least.bits().div_ceil(widest - 1).max(1);
        loop {
            // Primes from just below 2^bits down are above 2^(bits-1).
            let bits = (least.bits().div_ceil(count) + 1)
                .clamp(u64::from(order.trailing_zeros()) + 4, widest);
            let primes = ntt_primes::<W>(
                bits as u32,
                order,
                count as usize,
                Direction::Down,
                &self.params.taken,
            );
            match primes {
                Ok(primes) if product(&primes) >= *least => return Ok(primes),
                Err(e) if count > 128 => return Err(rns::RnsError::from(e).into()),
                _ => count += 1,
            }
        }
    }
}

fn lazily<T>(
    slot: &OnceLock<Arc<T>>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<Arc<T>, Error> {
    if let Some(made) = slot.get() {
        return Ok(Arc::clone(made));
    }
    let made = Arc::new(make()?);
    Ok(Arc::clone(zq::fork::once(slot, || made)))
}

/// Least product of the second basis of HPS. Operands are centred, |x| ≤ Q/2, so a part of the tensor is at most n·Q²/2
/// and after scaling t·n·Q/2: the scaled values must fit the basis centred. The factor 4 leaves room for products of
/// longer ciphertexts; primes that a user gives may do without.
pub(crate) fn second_basis_least(q: &BigUint, t: u64, n: usize) -> BigUint {
    q * t * n as u64 * 4u32
}

pub(crate) fn product<W: Word>(primes: &[W]) -> BigUint {
    primes.iter().map(|p| BigUint::from(p.to_u128())).product()
}

/// Multiplication after Halevi, Polyakov, Shoup (ePrint 2018/117): lift both operands to Q·A, multiply, scale by t/Q.
pub(crate) struct Hps<W: Word> {
    pub auxiliary: RnsBasis<W>,
    /// Q then A.
    joint: RnsBasis<W>,
    lift: BaseConverter<W>,
    scale: ScaleRounder<W>,
    back: BaseConverter<W>,
}

impl<W: Word> Hps<W> {
    #[inline(never)]
    fn new(level: &Level<W>) -> Result<Self, Error> {
        let q = &level.q;
        let primes = match &level.params.auxiliary[..] {
            [] => level.fresh_primes(&second_basis_least(q.product(), level.params.t, q.n()))?,
            given => given.to_vec(),
        };
        let auxiliary = RnsBasis::new(q.n(), &primes)?;
        Ok(Self {
            joint: q.concat(&auxiliary)?,
            lift: BaseConverter::new(q, &auxiliary)?,
            scale: ScaleRounder::new(q, &auxiliary, level.params.t)?,
            back: BaseConverter::new(&auxiliary, q)?,
            auxiliary,
        })
    }

    /// From Q to Q·A, centred.
    #[inline(never)]
    pub fn lift(&self, x: &RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        lift(x, &self.lift, &self.joint)
    }

    /// round(t·x/Q) modulo Q, for x over Q·A.
    #[inline(never)]
    pub fn scale(&self, x: &RnsPoly<W, Coeff>, q: &RnsBasis<W>) -> RnsPoly<W, Coeff> {
        let (mut scratch, n) = (Scratch::new(), x.n());
        let (dropped, kept) = x.data().split_at(q.len() * n);
        let mut scaled = AlignedVec::for_overwrite(self.auxiliary.len() * n);
        self.scale
            .scale_into(dropped, kept, &mut scaled, &mut scratch);
        let mut out = AlignedVec::for_overwrite(q.len() * n);
        self.back.convert_into(&scaled, &mut out, &mut scratch);
        RnsPoly::from_data(q, out)
    }
}

/// The residues of x, then those of its centred representative modulo the other primes.
#[inline(never)]
fn lift<W: Word>(
    x: &RnsPoly<W, Coeff>,
    converter: &BaseConverter<W>,
    joint: &RnsBasis<W>,
) -> RnsPoly<W, Coeff> {
    let mut out = AlignedVec::for_overwrite(joint.len() * joint.n());
    let (head, tail) = out.split_at_mut(x.data().len());
    head.copy_from_slice(x.data());
    converter.convert_into(x.data(), tail, &mut Scratch::new());
    RnsPoly::from_data(joint, out)
}

/// Multiplication by HPSPOVERQ (ePrint 2021/204): the second operand goes to modulus P ≈ Q first, so that the product
/// is scaled by t/P straight into Q. The product is needed modulo Q·P only, hence P may be as small as Q.
pub(crate) struct OverQ<W: Word> {
    pub basis: RnsBasis<W>,
    /// Q then P.
    joint: RnsBasis<W>,
    to_p: BaseConverter<W>,
    /// P modulo each q_i.
    p_mod_q: Vec<Shoup<W>>,
    /// −Q^-1 modulo each p_j.
    minus_q_inv: Vec<Shoup<W>>,
    to_q: BaseConverter<W>,
    scale: ScaleRounder<W>,
}

impl<W: Word> OverQ<W> {
    #[inline(never)]
    fn new(level: &Level<W>) -> Result<Self, Error> {
        let q = &level.q;
        let basis = RnsBasis::new(q.n(), &level.second_primes(q.product())?)?;
        let residue = |x: &BigUint, m: &Modulus<W>| m.reduce_digits(&x.to_u64_digits());
        let p_mod_q = q
            .moduli()
            .iter()
            .map(|m| m.shoup(residue(basis.product(), m)))
            .collect();
        let inverse = |m: &Modulus<W>| m.inv_vt(residue(q.product(), m)).map(|i| m.shoup(m.neg(i)));
        let minus_q_inv = basis
            .moduli()
            .iter()
            .map(inverse)
            .collect::<Result<_, _>>()
            .map_err(rns::RnsError::from)?;
        Ok(Self {
            joint: q.concat(&basis)?,
            to_p: BaseConverter::new(q, &basis)?,
            p_mod_q,
            minus_q_inv,
            to_q: BaseConverter::new(&basis, q)?,
            scale: ScaleRounder::new(&basis, q, level.params.t)?,
            basis,
        })
    }

    /// From Q to Q·P, centred.
    #[inline(never)]
    pub fn lift(&self, x: &RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        lift(x, &self.to_p, &self.joint)
    }

    /// round(P·x/Q), centred modulo P, over Q·P.
    ///
    /// (P·x − [P·x]_Q)/Q is −[P·x]_Q·Q^-1 modulo p_j, because P vanishes there.
    #[inline(never)]
    pub fn switch(&self, x: &RnsPoly<W, Coeff>) -> RnsPoly<W, Coeff> {
        let (mut scratch, n) = (Scratch::new(), x.n());
        let mut out = AlignedVec::for_overwrite(self.joint.len() * n);
        let (head, tail) = out.split_at_mut(x.data().len());
        // The head holds [P·x]_Q first; the last conversion overwrites it.
        let limbs = head
            .chunks_exact_mut(n)
            .zip(x.limbs())
            .zip(self.joint.moduli());
        limbs
            .zip(&self.p_mod_q)
            .for_each(|(((to, from), m), f)| m.shoup_mul_into(to, from, *f));
        self.to_p.convert_into(head, tail, &mut scratch);
        let limbs = tail.chunks_exact_mut(n).zip(self.basis.moduli());
        limbs
            .zip(&self.minus_q_inv)
            .for_each(|((limb, m), f)| m.shoup_mul_assign(limb, *f));
        self.to_q.convert_into(tail, head, &mut scratch);
        RnsPoly::from_data(&self.joint, out)
    }

    /// round(t·x/P) modulo Q, for x over Q·P.
    #[inline(never)]
    pub fn scale(&self, x: &RnsPoly<W, Coeff>, q: &RnsBasis<W>) -> RnsPoly<W, Coeff> {
        let (kept, dropped) = x.data().split_at(q.len() * x.n());
        let mut out = AlignedVec::for_overwrite(kept.len());
        self.scale
            .scale_into(dropped, kept, &mut out, &mut Scratch::new());
        RnsPoly::from_data(q, out)
    }
}
