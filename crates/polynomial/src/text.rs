// SPDX-License-Identifier: Apache-2.0
//! A program as text in the flat form of the FHETCH polynomial language: one instruction a line, one residue polynomial
//! an operand. `docs/record.md` has the form.
//!
//! Base conversions become products with constants and sums; only their integer quotient, which no instruction of the
//! language gives, is one of our own.

use std::fmt::Write as _;
use std::ops::Range;

use ntt::NttPlan;
use rns::RnsBasis;
use zq::{Modulus, Word};

use crate::graph::{Bundle, Form, Graph, Limb, PolyOp};

/// The form's entry for operations without a modulus.
const NO_MODULUS: u64 = u64::MAX;

/// Writes a program.
struct Writer<'g, W: Word> {
    graph: &'g Graph<W>,
    /// Rank of each modulus of the graph among all, rising, from 1.
    ranks: Vec<usize>,
    lines: Vec<String>,
    /// The next number for what is not a limb.
    next: u32,
}

/// The program as text; limb i is `%i`, what a source or a step gives is live at the beginning.
///
/// # Errors
/// A basis with a modulus twice, which no lowering makes.
pub fn fhetch<W: Word>(graph: &Graph<W>, name: &str) -> Result<String, rns::RnsError> {
    let value = |plan: &NttPlan<W>| plan.modulus().value().to_u128();
    let mut sorted: Vec<u128> = graph.plans().iter().map(|plan| value(plan)).collect();
    sorted.sort_unstable();
    let rank = |plan| sorted.iter().position(|q| *q == value(plan)).unwrap_or(0) + 1;
    let mut writer = Writer {
        graph,
        ranks: graph.plans().iter().map(|plan| rank(plan)).collect(),
        lines: Vec::new(),
        next: graph.limb_count() as u32,
    };
    for bundle in graph.bundles() {
        writer.bundle(bundle)?;
    }
    let mut text = String::new();
    let one_line: String = name.chars().filter(|c| !c.is_control()).collect();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "# FHETCH trace\n# Program: {one_line}\n# Instruction Count: {}\n# Modulus Count: {}\n\nmodulus_count {}\n",
        writer.lines.len(),
        sorted.len(),
        sorted.len() + 1
    );
    let _ = writeln!(text, "m[0] {NO_MODULUS:#X}");
    for (rank, q) in sorted.iter().enumerate() {
        let _ = writeln!(text, "m[{}] {q:#X}", rank + 1);
    }
    text.push('\n');
    for line in writer.lines {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("halt\n");
    Ok(text)
}

impl<W: Word> Writer<'_, W> {
    fn plan(&self, modulus: u16) -> &NttPlan<W> {
        &self.graph.plans()[usize::from(modulus)]
    }

    fn fresh(&mut self) -> Limb {
        self.next += 1;
        Limb(self.next - 1)
    }

    fn line(&mut self, mnemonic: &str, result: Limb, operands: &[String], modulus: u16) {
        let operands = operands.join(", ");
        let m = self.ranks[usize::from(modulus)];
        self.lines
            .push(format!("{mnemonic} %{}, {operands}, m={m}", result.0));
    }

    fn bundle(&mut self, bundle: &Bundle) -> Result<(), rns::RnsError> {
        match &bundle.operation {
            PolyOp::Source(..) | PolyOp::Step(..) => Ok(()),
            PolyOp::Convert | PolyOp::Round { .. } => {
                let mut groups = bundle.groups();
                groups.try_for_each(|(operand, rows)| self.convert(bundle, operand, rows))
            }
            operation => {
                for (row, limb) in bundle.limbs().enumerate() {
                    self.by_limb(bundle, operation, (row, limb));
                }
                Ok(())
            }
        }
    }

    fn by_limb(&mut self, bundle: &Bundle, operation: &PolyOp, (row, limb): (usize, Limb)) {
        let modulus = bundle.moduli[row];
        let of = |k: usize| name(bundle.operands[k][row]);
        let psi = self.plan(modulus).psi().to_u128();
        match operation {
            PolyOp::Ntt | PolyOp::Intt => {
                let mnemonic = if *operation == PolyOp::Ntt {
                    "sr_ntt"
                } else {
                    "sr_intt"
                };
                self.line(mnemonic, limb, &[of(0)], modulus);
                self.extend(&format!(", omega={psi:#X}"));
            }
            PolyOp::Add => self.line("sr_addp", limb, &[of(0), of(1)], modulus),
            PolyOp::Sub => self.line("sr_subp", limb, &[of(0), of(1)], modulus),
            PolyOp::Neg => self.line("sr_negp", limb, &[of(0)], modulus),
            PolyOp::Mul => self.line("sr_mulp", limb, &[of(0), of(1)], modulus),
            PolyOp::MulAdd => {
                let product = self.fresh();
                self.line("sr_mulp", product, &[of(0), of(1)], modulus);
                self.line("sr_addp", limb, &[name(product), of(2)], modulus);
            }
            PolyOp::Scale(factors) => {
                let factor = format!("{:#X}", factors[row]);
                self.line("sr_mulps", limb, &[of(0), factor], modulus);
            }
            PolyOp::ScaleAdd(factors) => {
                let product = self.fresh();
                let factor = format!("{:#X}", factors[row]);
                self.line("sr_mulps", product, &[of(0), factor], modulus);
                self.line("sr_addp", limb, &[name(product), of(1)], modulus);
            }
            PolyOp::Permute { element, form } => {
                self.line("sr_permute", limb, &[of(0)], modulus);
                let form = match form {
                    Form::Values => "values",
                    Form::Coefficients => "coefficients",
                };
                self.extend(&format!(", g={element}, form={form}"));
            }
            _ => unreachable!("no operation by limb"),
        }
    }

    fn extend(&mut self, more: &str) {
        if let Some(line) = self.lines.last_mut() {
            line.push_str(more);
        }
    }

    /// y_i = x_i f_i, their quotient v, and for each result Σ y_i m_i + v c; see `docs/arithmetic.md`.
    fn convert(
        &mut self,
        bundle: &Bundle,
        operand: &[Limb],
        rows: Range<usize>,
    ) -> Result<(), rns::RnsError> {
        let numerator = match bundle.operation {
            PolyOp::Round { numerator } => Some(numerator),
            _ => None,
        };
        let from = self.graph.moduli_of(operand);
        let basis = self.graph.basis_of(&from)?;
        let mut scaled = Vec::with_capacity(from.len());
        for (i, (&limb, &m)) in operand.iter().zip(&from).enumerate() {
            let q = basis.modulus(i);
            let factor = q.mul(q.reduce_u64(numerator.unwrap_or(1)), basis.q_hat_inv(i).w);
            let y = self.fresh();
            self.line(
                "sr_mulps",
                y,
                &[name(limb), format!("{:#X}", factor.to_u128())],
                m,
            );
            scaled.push(y);
        }
        let quotient = self.fresh();
        let operands: Vec<String> = scaled.iter().map(|y| name(*y)).collect();
        let ranks: Vec<String> = from
            .iter()
            .map(|m| self.ranks[usize::from(*m)].to_string())
            .collect();
        self.lines.push(format!(
            "rs_quotient %{}, {}, from={}",
            quotient.0,
            operands.join(", "),
            ranks.join("/")
        ));
        for (row, limb) in rows.clone().zip(bundle.limbs().skip(rows.start)) {
            let modulus = bundle.moduli[row];
            let p = *self.plan(modulus).modulus();
            let constants = constants(&basis, &p, numerator)?;
            self.combination(
                limb,
                &[scaled.as_slice(), &[quotient]].concat(),
                &constants,
                modulus,
            );
        }
        Ok(())
    }

    /// The sum of words of any size times constants.
    fn combination(&mut self, limb: Limb, words: &[Limb], constants: &[W], modulus: u16) {
        let mut sum: Option<Limb> = None;
        for (at, (&word, constant)) in words.iter().zip(constants).enumerate() {
            let is_last = at + 1 == words.len();
            let product = if sum.is_none() && is_last {
                limb
            } else {
                self.fresh()
            };
            let factor = format!("{:#X}", constant.to_u128());
            self.line("sr_mulps", product, &[name(word), factor], modulus);
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    let next = if is_last { limb } else { self.fresh() };
                    self.line("sr_addp", next, &[name(sum), name(product)], modulus);
                    next
                }
            });
        }
    }
}

fn name(limb: Limb) -> String {
    format!("%{}", limb.0)
}

/// Factors of each y_i, then of the quotient, modulo p.
fn constants<W: Word>(
    basis: &RnsBasis<W>,
    p: &Modulus<W>,
    numerator: Option<u64>,
) -> Result<Vec<W>, rns::RnsError> {
    let residue = |x: &num_bigint::BigUint| p.reduce_digits(&x.to_u64_digits());
    if numerator.is_none() {
        let hats = (0..basis.len()).map(|i| residue(basis.q_hat(i)));
        return Ok(hats.chain([p.neg(residue(basis.product()))]).collect());
    }
    let inverse = |q: &Modulus<W>| Ok(p.neg(p.inv_vt(p.reduce(q.value()))?));
    let mut all = basis
        .moduli()
        .iter()
        .map(inverse)
        .collect::<Result<Vec<W>, rns::RnsError>>()?;
    all.push(p.reduce(W::ONE));
    Ok(all)
}
