// SPDX-License-Identifier: Apache-2.0
//! One prime's share of each operation: the working set fits the nearest caches.

use ntt::NttPlan;
use zeroize::Zeroizing;
use zq::{AlignedVec, Word};

/// `out_i = key_i·u + e_i`.
pub(super) fn encrypt_zero<W: Word>(
    plan: &NttPlan<W>,
    keys: [&[W]; 2],
    u: &[W],
    e: [&[W]; 2],
    out: &mut [&mut [W]],
) {
    let mut evaluated = Zeroizing::new(AlignedVec::from_slice(u));
    plan.forward(&mut evaluated);
    for ((row, key), e) in out.iter_mut().zip(keys).zip(e) {
        plan.modulus().mul_into(row, &evaluated, key);
        plan.inverse(row);
        plan.modulus().add_assign(row, e);
    }
}

/// `out = parts_0 + parts_1·s + …` by Horner's rule; parts_0 needs no transform.
pub(super) fn phase<W: Word>(plan: &NttPlan<W>, parts: &[&[W]], s: &[W], out: &mut [W]) {
    let Some((highest, lower)) = parts[1..].split_last() else {
        return out.copy_from_slice(parts[0]);
    };
    out.copy_from_slice(highest);
    plan.forward(out);
    plan.modulus().mul_assign(out, s);
    if !lower.is_empty() {
        let mut part = AlignedVec::for_overwrite(plan.n());
        for next in lower.iter().rev() {
            part.copy_from_slice(next);
            plan.forward(&mut part);
            plan.modulus().add_assign(out, &part);
            plan.modulus().mul_assign(out, s);
        }
    }
    plan.inverse(out);
    plan.modulus().add_assign(out, parts[0]);
}

/// `out_k = Σ_{i+j=k} a_i·b_j` of transformed limbs, transformed back.
pub(super) fn tensor<W: Word>(
    plan: &NttPlan<W>,
    a: &[&mut [W]],
    b: &[&mut [W]],
    out: &mut [&mut [W]],
) {
    for (k, row) in out.iter_mut().enumerate() {
        let range = (k + 1).saturating_sub(b.len())..a.len().min(k + 1);
        let right: Vec<&[W]> = range.clone().map(|i| &*b[k - i]).collect();
        let left: Vec<&[W]> = a[range].iter().map(|x| &**x).collect();
        match (&left[..], &right[..]) {
            ([x], [y]) => plan.modulus().mul_into(row, x, y),
            _ => plan.modulus().dot_into(row, &left, &right),
        }
        plan.inverse(row);
    }
}

/// `[a_0, a_1, b_0, b_1]` to `[a_0·b_0, a_0·b_1 + a_1·b_0, –, a_1·b_1]`, from coefficients to coefficients.
///
/// # Panics
/// Unless there are four rows.
pub(super) fn tensor_in_place<W: Word>(plan: &NttPlan<W>, rows: &mut [&mut [W]]) {
    let [a0, a1, b0, b1] = rows else {
        panic!("two operands of two parts")
    };
    for row in [&mut *a0, &mut *a1, &mut *b0, &mut *b1] {
        plan.forward(row);
    }
    let mut middle = AlignedVec::for_overwrite(plan.n());
    plan.modulus().dot_into(&mut middle, &[a0, a1], &[b1, b0]);
    plan.modulus().mul_assign(a0, b0);
    plan.modulus().mul_assign(b1, a1);
    a1.copy_from_slice(&middle);
    for row in [a0, a1, b1] {
        plan.inverse(row);
    }
}
