// SPDX-License-Identifier: Apache-2.0
//! BFV: multiplication by HPSPOVERQ (ePrint 2021/204), plaintexts scaled by Q/t.

use super::scheme::{Lower, Parts};
use super::{Lowering, Part, Value};
use crate::Error;
use crate::cpu::bfv::Bfv;
use crate::cpu::scheme::key;
use ::bfv::{Ciphertext, Plaintext};
use ::polynomial::Form;
use rlwe::{KeyId, KeySwitchKey, RlweParams};
use rns::{RnsBasis, RnsPoly};
use zq::{AlignedVec, Word};

impl<W: Word> Lower for Bfv<'_, W> {
    type Word = W;
    const FORM: Form = Form::Coefficients;
    const DROPS_BY_DIVISION: bool = true;

    fn rlwe(&self) -> &RlweParams<W> {
        self.params.rlwe()
    }

    fn product_scale(_: f64, _: f64) -> f64 {
        1.0
    }

    fn part<'c>(&self, ciphertext: &'c Ciphertext<W>, part: usize) -> &'c [W] {
        ciphertext.parts()[part].data()
    }

    fn assemble(&self, parts: &Parts<W>, _: f64, key: KeyId) -> Result<Ciphertext<W>, Error> {
        let poly = |limbs: &Vec<Vec<W>>| {
            let basis = self.params.rlwe().q_prefix(limbs.len())?;
            Ok(RnsPoly::from_data(&basis, AlignedVec::from_slice(&limbs.concat())))
        };
        let parts = parts.iter().map(poly).collect::<Result<_, Error>>()?;
        Ok(Ciphertext::from_parts(self.params, key, parts)?)
    }

    fn summand(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<W>, Error> {
        let basis = self.params.rlwe().q_prefix(limbs)?;
        let zero = vec![RnsPoly::zeros(&basis); 2];
        let zero = Ciphertext::from_parts(self.params, KeyId::NONE, zero)?;
        let sum = self.evaluators.single.add_plain(&zero, plaintext)?;
        Ok(sum.parts()[0].data().to_vec())
    }

    fn factor(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<W>, Error> {
        let basis = self.params.rlwe().q_prefix(limbs)?;
        let poly = RnsPoly::from_i64(&basis, &plaintext.signed())?.to_eval();
        Ok(poly.data().to_vec())
    }

    fn switching_key(&self, rotation: Option<i32>) -> Result<&KeySwitchKey<W>, Error> {
        match rotation {
            None => Ok(key(self.keys.relinearization.as_deref(), "relinearization")?.key()),
            Some(by) => {
                let keys = key(self.keys.galois.as_deref(), "rotation")?;
                Ok(keys.get(self.element(by))?.1)
            }
        }
    }

    fn element(&self, rotation: i32) -> u64 {
        rlwe::rotation_element(self.params.n(), rotation.into())
    }

    fn operands(
        lowering: &mut Lowering<'_, Self>,
        [a, b]: [&Value; 2],
        limbs: usize,
        task: u32,
    ) -> Result<[Vec<Part>; 2], Error> {
        let q = lowering.scheme.params.rlwe().q_prefix(limbs)?;
        let p = lowering.scheme.params.over_q_basis(limbs)?;
        let mut left = Vec::new();
        for part in &a.parts {
            left.push(lifted(lowering, part, &p, task));
        }
        let mut right = Vec::new();
        for part in &b.parts {
            right.push(switched(lowering, part, [&q, &p], task)?);
        }
        Ok([left, right])
    }

    fn after_tensor(
        lowering: &mut Lowering<'_, Self>,
        products: Vec<Part>,
        limbs: usize,
        task: u32,
    ) -> Result<Vec<Part>, Error> {
        let params = lowering.scheme.params;
        let (p, t) = (params.over_q_basis(limbs)?, params.plain_modulus());
        let scaled = |product: &Part| {
            let product = lowering.in_form(product, Form::Coefficients, task);
            lowering.divided(&product, limbs, (&p, t), task)
        };
        products.iter().map(scaled).collect()
    }
}

/// From Q to Q·P, centred, as values.
fn lifted<W: Word>(
    lowering: &mut Lowering<'_, Bfv<'_, W>>,
    part: &Part,
    p: &RnsBasis<W>,
    task: u32,
) -> Part {
    let moduli = lowering.graph.basis(p);
    let own = lowering.in_form(part, Form::Coefficients, task);
    let high = lowering.graph.convert(&own.limbs, &moduli, task);
    // Each basis by itself: the values of the first may be there already.
    let mut limbs = lowering.in_form(part, Form::Values, task).limbs;
    limbs.extend(lowering.graph.ntt(&high, task));
    Part {
        form: Form::Values,
        limbs,
    }
}

/// round(P·x/Q), centred modulo P, over Q·P, as values: −[P·x]_Q / Q modulo P, because P vanishes there.
fn switched<W: Word>(
    lowering: &mut Lowering<'_, Bfv<'_, W>>,
    part: &Part,
    [q, p]: [&RnsBasis<W>; 2],
    task: u32,
) -> Result<Part, Error> {
    let own = lowering.in_form(part, Form::Coefficients, task).limbs;
    let [q_moduli, p_moduli] = [q, p].map(|basis| lowering.graph.basis(basis));
    let residue = |of: &RnsBasis<W>, m: &zq::Modulus<W>| m.reduce_digits(&of.product().to_u64_digits());
    let p_mod_q = q.moduli().iter().map(|m| residue(p, m).to_u128()).collect();
    let inverse = |m: &zq::Modulus<W>| m.inv_vt(residue(q, m)).map(|i| m.neg(i).to_u128());
    let minus_q_inv = p.moduli().iter().map(inverse).collect::<Result<_, _>>();
    let remainder = lowering.scaled(&own, p_mod_q, task);
    let remainder = lowering.graph.convert(&remainder, &p_moduli, task);
    let high = lowering.scaled(&remainder, minus_q_inv.map_err(rns::RnsError::from)?, task);
    let low = lowering.graph.convert(&high, &q_moduli, task);
    let mut limbs = lowering.graph.ntt(&low, task);
    limbs.extend(lowering.graph.ntt(&high, task));
    Ok(Part {
        form: Form::Values,
        limbs,
    })
}
