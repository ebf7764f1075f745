// SPDX-License-Identifier: Apache-2.0
//! The operations, and building a program of them. Equal operations on equal operands are one.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use ntt::NttPlan;
use rns::RnsBasis;
use zq::Word;

/// One polynomial modulo one prime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limb(pub u32);

/// Coefficients in natural order, or values in the transform's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Coefficients.
    Coefficients,
    /// Values at the odd powers of psi.
    Values,
}

/// What is given from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Part of a ciphertext.
    Ciphertext,
    /// Part of a key.
    Key,
    /// A plaintext.
    Plaintext,
    /// A random polynomial of an encryption.
    Randomness,
}

/// A polynomial operation. Unless noted, limb i of the result depends on limb i of each operand, modulo its prime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolyOp {
    /// Given from outside; its number and form.
    Source(u32, Form),
    /// A whole homomorphic step whose insides this program does not know; its number and the form of its result.
    Step(u32, Form),
    /// Coefficients to values.
    Ntt,
    /// Values to coefficients.
    Intt,
    /// a + b.
    Add,
    /// a − b.
    Sub,
    /// −a.
    Neg,
    /// a · b, pointwise.
    Mul,
    /// a · b + c, pointwise.
    MulAdd,
    /// a times a constant of each limb.
    Scale(Vec<u128>),
    /// a times a constant of each limb, plus b.
    ScaleAdd(Vec<u128>),
    /// The image under x -> x^g.
    Permute {
        /// g, odd.
        element: u64,
        /// The form that operand and result have.
        form: Form,
    },
    /// From all limbs of the operand, a basis, to the centred representative's residues (coefficients). Of several
    /// operands each gives its share of the result, in order; a modulus may stand in it more than once.
    Convert,
    /// From all limbs of the operand, the dropped basis D, to the residues of round(t x / D) − x t / D (coefficients).
    Round {
        /// t.
        numerator: u64,
    },
}

impl PolyOp {
    /// Whether limb i of the result depends on limb i of the operands only.
    pub fn is_by_limb(&self) -> bool {
        !matches!(
            self,
            Self::Source(..) | Self::Step(..) | Self::Convert | Self::Round { .. }
        )
    }
}

/// One operation on several limbs at once.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// The operation.
    pub operation: PolyOp,
    /// Limbs of each operand.
    pub operands: Vec<Vec<Limb>>,
    /// First limb of the result; the others follow.
    pub first: Limb,
    /// Modulus of each limb of the result, as a number of the graph.
    pub moduli: Vec<u16>,
    /// Form of the result.
    pub form: Form,
    /// The task it belongs to.
    pub task: u32,
}

impl Bundle {
    /// Of a conversion, each operand and the rows of the result that are made of it.
    pub fn groups(&self) -> impl Iterator<Item = (&[Limb], Range<usize>)> {
        let each = self.moduli.len() / self.operands.len().max(1);
        let rows = (0..self.operands.len()).map(move |group| group * each..(group + 1) * each);
        self.operands.iter().map(Vec::as_slice).zip(rows)
    }

    /// The limbs of the result.
    pub fn limbs(&self) -> impl Iterator<Item = Limb> + use<> {
        (self.first.0..self.first.0 + self.moduli.len() as u32).map(Limb)
    }
}

/// Part of a homomorphic step, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// `"tensor"`, `"key-switch"`, …
    pub name: &'static str,
    /// The step of the homomorphic program.
    pub step: u32,
}

type Key = (PolyOp, Vec<Vec<Limb>>, Vec<u16>);

/// A program of polynomial operations.
#[derive(Clone, Debug)]
pub struct Graph<W: Word> {
    n: usize,
    plans: Vec<Arc<NttPlan<W>>>,
    families: Vec<Vec<u16>>,
    bundles: Vec<Bundle>,
    homes: Vec<u32>,
    tasks: Vec<Task>,
    outputs: Vec<Limb>,
    origins: HashMap<u32, Origin>,
    known: HashMap<Key, Limb>,
    separate: bool,
    mirrored: bool,
    is_part: bool,
}

impl<W: Word> Graph<W> {
    /// An empty program over rings of degree `n`.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            plans: Vec::new(),
            families: Vec::new(),
            bundles: Vec::new(),
            homes: Vec::new(),
            tasks: Vec::new(),
            outputs: Vec::new(),
            origins: HashMap::new(),
            known: HashMap::new(),
            separate: true,
            mirrored: false,
            is_part: false,
        }
    }

    /// Says that limbs of a family are worked on together: a transform is then of all limbs or of none, so that its
    /// operand stays in one piece.
    #[must_use]
    pub fn together(mut self) -> Self {
        self.separate = false;
        self
    }

    /// Says that a family of moduli may stand twice side by side, for operations on two polynomials at once.
    #[must_use]
    pub fn mirrored(mut self) -> Self {
        self.mirrored = true;
        self
    }

    /// Whether a family of moduli may be duplicated in further lanes.
    pub fn is_mirrored(&self) -> bool {
        self.mirrored
    }

    /// The numbers of a basis's moduli. Those that are new become a family: moduli that are worked on side by side.
    pub fn basis(&mut self, basis: &RnsBasis<W>) -> Vec<u16> {
        let mut fresh = Vec::new();
        let numbers = basis.plans().iter().map(|plan| {
            let known = |p: &Arc<NttPlan<W>>| p.modulus().value() == plan.modulus().value();
            let place = self.plans.iter().position(known).unwrap_or_else(|| {
                self.plans.push(plan.clone());
                fresh.push(self.plans.len() as u16 - 1);
                self.plans.len() - 1
            });
            place as u16
        });
        let numbers = numbers.collect();
        if !fresh.is_empty() {
            self.families.push(fresh);
        }
        numbers
    }

    /// The same moduli once more, under numbers of their own: a further family, worked on side by side.
    pub fn repeated(&mut self, moduli: &[u16]) -> Vec<u16> {
        let first = self.plans.len() as u16;
        let plans = moduli.iter().map(|m| self.plans[usize::from(*m)].clone());
        let plans: Vec<_> = plans.collect();
        self.plans.extend(plans);
        let numbers: Vec<u16> = (first..self.plans.len() as u16).collect();
        self.families.push(numbers.clone());
        numbers
    }

    /// The same operations for some of the outputs.
    pub(crate) fn part(&self, outputs: Vec<Limb>) -> Self {
        Self {
            plans: self.plans.clone(),
            families: self.families.clone(),
            bundles: self.bundles.clone(),
            homes: self.homes.clone(),
            tasks: self.tasks.clone(),
            outputs,
            origins: self.origins.clone(),
            known: HashMap::new(),
            is_part: true,
            ..*self
        }
    }

    /// Whether it is a part of a program: it has operations that none of its outputs needs.
    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// Begins a task; what is appended from now on may belong to it.
    pub fn task(&mut self, name: &'static str, step: u32) -> u32 {
        self.tasks.push(Task { name, step });
        self.tasks.len() as u32 - 1
    }

    /// Says what a source is.
    pub fn label(&mut self, source: u32, origin: Origin) {
        self.origins.insert(source, origin);
    }

    /// The origin of the source that gives a limb; `None` for results of operations and sources without one.
    pub fn origin(&self, limb: Limb) -> Option<Origin> {
        match self.bundle_of(limb).operation {
            PolyOp::Source(number, _) => self.origins.get(&number).copied(),
            _ => None,
        }
    }

    /// Something given from outside.
    pub fn source(&mut self, (number, form): (u32, Form), moduli: &[u16], task: u32) -> Vec<Limb> {
        let operation = PolyOp::Source(number, form);
        self.push(operation, Vec::new(), moduli.to_vec(), task)
    }

    /// A homomorphic step done outside, on all limbs of its operands.
    pub fn step(
        &mut self,
        (number, form): (u32, Form),
        operands: Vec<Vec<Limb>>,
        moduli: &[u16],
        task: u32,
    ) -> Vec<Limb> {
        self.push(PolyOp::Step(number, form), operands, moduli.to_vec(), task)
    }

    /// An operation limb by limb.
    ///
    /// # Panics
    /// If the operands have different moduli.
    pub fn by_limb(&mut self, operation: PolyOp, operands: &[&[Limb]], task: u32) -> Vec<Limb> {
        debug_assert!(operation.is_by_limb());
        let moduli = self.moduli_of(operands[0]);
        let alike = |other: &&[Limb]| self.moduli_of(other) == moduli;
        assert!(operands.iter().all(alike), "operands of different moduli");
        let operands = operands.iter().map(|limbs| limbs.to_vec()).collect();
        self.push(operation, operands, moduli, task)
    }

    /// Values of coefficients. The NTT of an inverse NTT is the latter's operand.
    pub fn ntt(&mut self, a: &[Limb], task: u32) -> Vec<Limb> {
        self.transform(PolyOp::Ntt, &PolyOp::Intt, a, task)
    }

    /// Coefficients of values.
    pub fn intt(&mut self, a: &[Limb], task: u32) -> Vec<Limb> {
        self.transform(PolyOp::Intt, &PolyOp::Ntt, a, task)
    }

    fn transform(
        &mut self,
        operation: PolyOp,
        inverse: &PolyOp,
        a: &[Limb],
        task: u32,
    ) -> Vec<Limb> {
        let undone = |limb: &Limb| {
            let bundle = self.bundle_of(*limb);
            let row = (limb.0 - bundle.first.0) as usize;
            (bundle.operation == *inverse).then(|| bundle.operands[0][row])
        };
        let undone: Vec<Option<Limb>> = a.iter().map(undone).collect();
        let rest = |(limb, undone): (&Limb, &Option<Limb>)| undone.is_none().then_some(*limb);
        let rest: Vec<Limb> = a.iter().zip(&undone).filter_map(rest).collect();
        if rest.is_empty() || self.separate && rest.len() < a.len() {
            let mut made = match rest.is_empty() {
                true => Vec::new().into_iter(),
                false => self.by_limb(operation, &[&rest], task).into_iter(),
            };
            return undone
                .into_iter()
                .filter_map(|limb| limb.or_else(|| made.next()))
                .collect();
        }
        self.by_limb(operation, &[a], task)
    }

    /// The centred representative of `a` modulo other primes.
    pub fn convert(&mut self, a: &[Limb], to: &[u16], task: u32) -> Vec<Limb> {
        self.push(PolyOp::Convert, vec![a.to_vec()], to.to_vec(), task)
    }

    /// The centred representatives of several polynomials, each modulo its share of other primes.
    pub fn convert_each(&mut self, operands: Vec<Vec<Limb>>, to: &[u16], task: u32) -> Vec<Limb> {
        self.push(PolyOp::Convert, operands, to.to_vec(), task)
    }

    /// Rounding term of the division of t x by the dropped moduli; see [`PolyOp::Round`].
    pub fn round(&mut self, dropped: &[Limb], to: &[u16], numerator: u64, task: u32) -> Vec<Limb> {
        let operation = PolyOp::Round { numerator };
        self.push(operation, vec![dropped.to_vec()], to.to_vec(), task)
    }

    /// Limbs that are needed in the end.
    pub fn output(&mut self, limbs: &[Limb]) {
        self.outputs.extend(limbs);
    }

    fn push(
        &mut self,
        operation: PolyOp,
        operands: Vec<Vec<Limb>>,
        moduli: Vec<u16>,
        task: u32,
    ) -> Vec<Limb> {
        let count = moduli.len() as u32;
        let key = (operation, operands, moduli);
        let first = match self.known.get(&key) {
            Some(&first) => first,
            None => {
                let first = Limb(self.homes.len() as u32);
                let home = self.bundles.len() as u32;
                self.homes.extend((0..count).map(|_| home));
                let (operation, operands, moduli) = key.clone();
                let form = self.form_of(&operation, &operands);
                self.bundles.push(Bundle {
                    form,
                    operation,
                    operands,
                    first,
                    moduli,
                    task,
                });
                self.known.insert(key, first);
                first
            }
        };
        (first.0..first.0 + count).map(Limb).collect()
    }

    fn form_of(&self, operation: &PolyOp, operands: &[Vec<Limb>]) -> Form {
        match operation {
            PolyOp::Source(_, form) | PolyOp::Step(_, form) => *form,
            PolyOp::Permute { form, .. } => *form,
            PolyOp::Ntt => Form::Values,
            PolyOp::Intt | PolyOp::Convert | PolyOp::Round { .. } => Form::Coefficients,
            _ => self.bundle_of(operands[0][0]).form,
        }
    }

    /// Ring degree.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Transforms, one for each modulus.
    pub fn plans(&self) -> &[Arc<NttPlan<W>>] {
        &self.plans
    }

    /// Moduli that are worked on side by side.
    pub fn families(&self) -> &[Vec<u16>] {
        &self.families
    }

    /// All operations, operands first.
    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    /// The tasks.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Limbs of the results.
    pub fn outputs(&self) -> &[Limb] {
        &self.outputs
    }

    /// Number of limbs.
    pub fn limb_count(&self) -> usize {
        self.homes.len()
    }

    /// The number of the operation that writes a limb.
    pub fn home(&self, limb: Limb) -> usize {
        self.homes[limb.0 as usize] as usize
    }

    /// The operation that writes a limb.
    pub fn bundle_of(&self, limb: Limb) -> &Bundle {
        &self.bundles[self.home(limb)]
    }

    /// How often the modulus of a limb stands before it in its operation's result.
    pub fn side_of(&self, limb: Limb) -> usize {
        let bundle = self.bundle_of(limb);
        let row = (limb.0 - bundle.first.0) as usize;
        let before = bundle.moduli[..row].iter();
        before.filter(|m| **m == bundle.moduli[row]).count()
    }

    /// The modulus of a limb.
    pub fn modulus_of(&self, limb: Limb) -> u16 {
        let bundle = self.bundle_of(limb);
        bundle.moduli[(limb.0 - bundle.first.0) as usize]
    }

    /// The moduli of limbs.
    pub fn moduli_of(&self, limbs: &[Limb]) -> Vec<u16> {
        limbs.iter().map(|limb| self.modulus_of(*limb)).collect()
    }

    /// The basis of these moduli.
    ///
    /// # Errors
    /// None, or one twice.
    pub fn basis_of(&self, moduli: &[u16]) -> Result<RnsBasis<W>, rns::RnsError> {
        let plan = |m: &u16| self.plans[usize::from(*m)].clone();
        RnsBasis::from_plans(moduli.iter().map(plan).collect())
    }
}
