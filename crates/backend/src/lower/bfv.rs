// SPDX-License-Identifier: Apache-2.0
//! BFV: multiplication by HPSPOVERQ (ePrint 2021/204), plaintexts scaled by Q/t.

use super::chain::{Chain, Parts, polynomials};
use super::key_switch::quotient;
use super::lowering::{Lower, Lowering};
use super::value::{Part, Value};
use crate::Error;
use crate::keys::key;
use crate::scheme::bfv::Bfv;
use ::bfv::linear_transform::ExtendedPlaintext;
use ::bfv::{Ciphertext, Plaintext};
use ::polynomial::{Form, PolyOp};
use rlwe::{KeyId, SignedPoly, ZeroSample};
use rns::{RnsBasis, RnsPoly};
use zq::{Modulus, Word};

impl<W: Word> Lower for Bfv<W> {
    type Word = W;
    const FORM: Form = Form::Coefficients;
    const TRANSFORMS: bool = true;
    const DROPS_BY_DIVISION: bool = true;

    fn chain(&self) -> Chain<W> {
        Chain::of(self.params.rlwe())
    }

    fn product_scale(_: f64, _: f64) -> f64 {
        1.0
    }

    fn part(&self, ciphertext: &Ciphertext<W>, part: usize) -> Vec<W> {
        ciphertext.parts()[part].data().to_vec()
    }

    fn assemble(&self, parts: &Parts<W>, _: f64, key: KeyId) -> Result<Ciphertext<W>, Error> {
        let parts = polynomials(self.params.rlwe(), parts)?;
        Ok(Ciphertext::from_parts(&self.params, key, parts)?)
    }

    fn summand(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<W>, Error> {
        let basis = self.params.rlwe().q_prefix(limbs)?;
        let zero = vec![RnsPoly::zeros(&basis); 2];
        let zero = Ciphertext::from_parts(&self.params, KeyId::NONE, zero)?;
        let sum = self.evaluators.single.add_plain(&zero, plaintext)?;
        Ok(sum.parts()[0].data().to_vec())
    }

    fn factor(&self, plaintext: &Plaintext, limbs: usize) -> Result<Vec<W>, Error> {
        let basis = self.params.rlwe().q_prefix(limbs)?;
        let poly = RnsPoly::from_i64(&basis, &plaintext.signed())?.to_eval();
        Ok(poly.data().to_vec())
    }

    fn key(
        &self,
        element: Option<u64>,
        digit: usize,
        half: usize,
        limbs: usize,
    ) -> Result<Vec<Vec<W>>, Error> {
        self.keys.limbs(element, digit, half, limbs)
    }

    fn public_key(&self, half: usize, limbs: usize) -> Result<Vec<Vec<W>>, Error> {
        self.keys.public_limbs(half, limbs)
    }

    fn zero_sample(
        &self,
        zeros: &Self::Zeros,
        index: u64,
        sample: ZeroSample,
    ) -> Result<SignedPoly, Error> {
        let public = key(self.keys.public.as_deref(), "public")?;
        let zeros = key(zeros.as_ref(), "public")?;
        Ok(zeros.sample(public, index, sample)?)
    }

    fn element(&self, rotation: i32) -> u64 {
        rlwe::rotation_element(self.params.n(), rotation.into())
    }

    fn extended(&self, plaintext: &ExtendedPlaintext<W>) -> Vec<W> {
        plaintext.poly().data().to_vec()
    }

    fn operands(
        lowering: &mut Lowering<'_, Self>,
        factors: [&Value; 2],
        limbs: usize,
    ) -> Result<[Vec<Part>; 2], Error> {
        operands(lowering, factors, limbs)
    }

    fn after_tensor(
        lowering: &mut Lowering<'_, Self>,
        products: Vec<Part>,
        limbs: usize,
    ) -> Result<Vec<Part>, Error> {
        after_tensor(lowering, products, limbs)
    }
}

/// The parameters of BFV multiplication, for any word type.
pub trait Multiplies: Lower {
    /// The auxiliary basis P of a level.
    fn over_q(&self, limbs: usize) -> Result<RnsBasis<Self::Word>, Error>;

    /// t.
    fn plain_modulus(&self) -> u64;
}

impl<W: Word> Multiplies for Bfv<W> {
    fn over_q(&self, limbs: usize) -> Result<RnsBasis<W>, Error> {
        Ok(self.params.over_q_basis(limbs)?)
    }

    fn plain_modulus(&self) -> u64 {
        self.params.plain_modulus()
    }
}

/// The bases of a product: Q, P, and wide primes that hold it as an integer, where those are fewer.
struct Bases<W: Word> {
    q: RnsBasis<W>,
    p: RnsBasis<W>,
    wide: Option<RnsBasis<W>>,
}

fn bases<S: Multiplies>(
    lowering: &mut Lowering<'_, S>,
    limbs: usize,
) -> Result<Bases<S::Word>, Error> {
    let q = lowering.scheme.chain().q.prefix(limbs)?;
    let p = lowering.scheme.over_q(limbs)?;
    // A part of the product is a sum of up to 16 products of polynomials of n coefficients, at most Q/2 and P/2.
    let bits = q.product().bits() + p.product().bits() + q.n().ilog2() as u64 + 4;
    let wide = lowering.wide_basis(bits, q.len() + p.len())?;
    Ok(Bases { q, p, wide })
}

/// The first factor lifted to Q·P, the second brought to modulus P first; as values over Q·P or over wide primes.
pub fn operands<S: Multiplies>(
    lowering: &mut Lowering<'_, S>,
    [a, b]: [&Value; 2],
    limbs: usize,
) -> Result<[Vec<Part>; 2], Error> {
    let bases = bases(lowering, limbs)?;
    let left = a.parts.iter().map(|part| lifted(lowering, part, &bases));
    let left = left.collect();
    let right = b.parts.iter().map(|part| switched(lowering, part, &bases));
    Ok([left, right.collect::<Result<_, _>>()?])
}

/// round(t·x/P) of each product.
pub fn after_tensor<S: Multiplies>(
    lowering: &mut Lowering<'_, S>,
    products: Vec<Part>,
    limbs: usize,
) -> Result<Vec<Part>, Error> {
    let (bases, t) = (bases(lowering, limbs)?, lowering.scheme.plain_modulus());
    if lowering.converts {
        let rounded = |product: &Part| rounded(lowering, product, limbs, t);
        return Ok(products.iter().map(rounded).collect());
    }
    let joint = [&bases.q, &bases.p]
        .map(|basis| lowering.graph.basis(basis))
        .concat();
    let scaled = |product: &Part| {
        let mut product = lowering.in_form(product, Form::Coefficients);
        if bases.wide.is_some() {
            product.limbs = lowering
                .graph
                .convert(&product.limbs, &joint, lowering.task);
        }
        lowering.scaled_down(&product, t, &bases.p)
    };
    products.iter().map(scaled).collect()
}

/// round(t·x/P) of a product whose limbs over Q carry t/P already: they are transformed back by themselves, and what
/// rounding adds comes last, so that both can be added to something else before that.
fn rounded<S: Multiplies>(
    lowering: &mut Lowering<'_, S>,
    product: &Part,
    limbs: usize,
    t: u64,
) -> Part {
    let [low, high] =
        [0..limbs, limbs..product.limbs.len()].map(|range| product.limbs[range].to_vec());
    let high = lowering.graph.intt(&high, lowering.task);
    let moduli = lowering.graph.moduli_of(&low);
    let correction = lowering.graph.round(&high, &moduli, t, lowering.task);
    let low = lowering.graph.intt(&low, lowering.task);
    let sum = lowering
        .graph
        .by_limb(PolyOp::Add, &[&low, &correction], lowering.task);
    Part {
        form: Form::Coefficients,
        limbs: sum,
    }
}

/// From Q to Q·P, centred, as values.
fn lifted<S: Multiplies>(
    lowering: &mut Lowering<'_, S>,
    part: &Part,
    bases: &Bases<S::Word>,
) -> Part {
    let own = lowering.in_form(part, Form::Coefficients);
    let high = lowering
        .graph
        .basis(bases.wide.as_ref().unwrap_or(&bases.p));
    let high = lowering.graph.convert(&own.limbs, &high, lowering.task);
    let mut limbs = match bases.wide {
        Some(_) => Vec::new(),
        // Each basis by itself: the values of the first may be there already.
        None => lowering.in_form(part, Form::Values).limbs,
    };
    limbs.extend(lowering.graph.ntt(&high, lowering.task));
    Part {
        form: Form::Values,
        limbs,
    }
}

/// round(P·x/Q), centred modulo P, over Q·P, as values: −[P·x]_Q / Q modulo P, because P vanishes there. Modulo Q it
/// carries t/P if bases are converted where the products are: there a conversion has the factor for nothing.
fn switched<S: Multiplies>(
    lowering: &mut Lowering<'_, S>,
    part: &Part,
    bases: &Bases<S::Word>,
) -> Result<Part, Error> {
    let (q, p) = (&bases.q, &bases.p);
    let own = lowering.in_form(part, Form::Coefficients).limbs;
    let [q_moduli, p_moduli] = [q, p].map(|basis| lowering.graph.basis(basis));
    let residue = |of: &RnsBasis<S::Word>, m: &Modulus<S::Word>| {
        m.reduce_digits(&of.product().to_u64_digits())
    };
    let p_mod_q = q.moduli().iter().map(|m| residue(p, m).to_u128()).collect();
    let inverse = |m: &Modulus<S::Word>| m.inv_vt(residue(q, m)).map(|i| m.neg(i).to_u128());
    let minus_q_inv = p.moduli().iter().map(inverse).collect::<Result<_, _>>();
    let remainder = lowering.scaled(&own, p_mod_q);
    let remainder = lowering.graph.convert(&remainder, &p_moduli, lowering.task);
    let high = lowering.scaled(&remainder, minus_q_inv.map_err(rns::RnsError::from)?);
    let limbs = match &bases.wide {
        Some(wide) => {
            let moduli = lowering.graph.basis(wide);
            let whole = lowering.graph.convert(&high, &moduli, lowering.task);
            lowering.graph.ntt(&whole, lowering.task)
        }
        None => {
            let mut low = lowering.graph.convert(&high, &q_moduli, lowering.task);
            if lowering.converts {
                let t = lowering.scheme.plain_modulus();
                let factors = q.moduli().iter().map(|m| Ok(quotient(m, t, p)?.to_u128()));
                let factors = factors.collect::<Result<_, Error>>()?;
                low = lowering.scaled(&low, factors);
            }
            let mut limbs = lowering.graph.ntt(&low, lowering.task);
            limbs.extend(lowering.graph.ntt(&high, lowering.task));
            limbs
        }
    };
    Ok(Part {
        form: Form::Values,
        limbs,
    })
}
