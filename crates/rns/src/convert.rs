// SPDX-License-Identifier: Apache-2.0
//! Base conversion by Halevi, Polyakov and Shoup (ePrint 2018/117, section 2.2), with a fixed-point quotient.

use zq::{Modulus, Word};

use crate::kernel::{BLOCK, Kernel};
use crate::mixed_radix::MixedRadix;
use crate::{Coeff, RnsBasis, RnsError, RnsPoly, Scratch};

/// Residues modulo one basis to residues modulo other moduli.
///
/// With `y_i = [x_i (Q/q_i)^-1]_{q_i}`, `x = Σ y_i Q/q_i - v Q`. The centred form takes `v = round(Σ y_i/q_i)` and
/// yields the representative of `x` in `-Q/2 ..= Q/2` (at the seam up to `2^-45 Q` beyond for primes of a width, up to
/// `2^-12 Q` for the most different ones that are taken); the fast form takes `v = 0` and yields `x + u Q` for some
/// `0 <= u < L`. `v`'s exact definition, for other engines: `docs/arithmetic.md`.
#[derive(Debug, Clone)]
pub struct BaseConverter<W: Word> {
    kernel: Kernel<W>,
}

/// A block of coefficients on its way to the output moduli.
pub struct ConvertedBlock<'a, W: Word> {
    kernel: &'a Kernel<W>,
    y: &'a [W],
    len: usize,
}

impl<W: Word> ConvertedBlock<'_, W> {
    /// Its residues modulo output `j`, run after run.
    ///
    /// # Panics
    /// If `out` is not as long as the block, or there is no such output.
    pub fn output(&self, j: usize, out: &mut [W]) {
        assert_eq!(out.len(), self.len, "block length");
        self.kernel.prepared_output(j, self.y, out);
    }
}

impl<W: Word> BaseConverter<W> {
    /// From one basis to another. The two may share moduli.
    ///
    /// # Errors
    /// [`zq::ZqError::WidthsTooFarApart`], of the first basis.
    #[inline(never)]
    pub fn new(from: &RnsBasis<W>, to: &RnsBasis<W>) -> Result<Self, RnsError> {
        zq::check_quotient(from.moduli())?;
        let factors = (0..from.len()).map(|i| from.q_hat_inv(i)).collect();
        let product = from.product().to_u64_digits();
        let row = |p: &Modulus<W>| {
            let hats = (0..from.len()).map(|i| p.reduce_digits(&from.q_hat(i).to_u64_digits()));
            hats.chain([p.neg(p.reduce_digits(&product))])
                .collect::<Vec<_>>()
        };
        let rows = to.moduli().iter().flat_map(row).collect();
        Ok(Self {
            kernel: Kernel::new(from, factors, to.moduli(), rows, Vec::new()),
        })
    }

    /// From one basis to another by the digits of a balanced mixed radix, the last prime's first: the centred
    /// conversion of an engine that takes off one prime after another. Of one prime it is that of
    /// [`BaseConverter::new`]; of several the two differ at the seam only. The work grows with the square of the number
    /// of primes. The fast form is not for it.
    #[inline(never)]
    pub fn mixed_radix(from: &RnsBasis<W>, to: &RnsBasis<W>) -> Self {
        let radix = MixedRadix::new(from);
        let rows = to.moduli().iter().flat_map(|m| radix.row(m)).collect();
        Self {
            kernel: Kernel::of_digits(from, radix, to.moduli(), rows, Vec::new()),
        }
    }

    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) fn kernel(&self) -> &Kernel<W> {
        &self.kernel
    }

    /// Limbs in.
    pub fn inputs(&self) -> usize {
        self.kernel.inputs()
    }

    /// Limbs out.
    pub fn outputs(&self) -> usize {
        self.kernel.outputs()
    }

    /// The centred conversion: `input` is `inputs` limbs, `out` is `outputs` limbs of the same length.
    ///
    /// # Panics
    /// If the lengths do not fit.
    #[inline(never)]
    pub fn convert_into(&self, input: &[W], out: &mut [W], scratch: &mut Scratch<W>) {
        let limbs = input.len() / self.inputs() * self.outputs();
        assert_eq!(out.len(), limbs, "output length");
        self.kernel.apply(input, None, (0, out), true, scratch);
    }

    /// The centred conversion a block at a time, for what goes on with each block while it is in the nearest cache: of
    /// `input`, which is `inputs` limbs, `columns` coefficients from number `start` on of each of `runs` equal runs.
    ///
    /// # Panics
    /// If the lengths do not fit, or the block is longer than [`BaseConverter::BLOCK`].
    #[inline(never)]
    pub fn block<'a>(
        &'a self,
        input: &[W],
        (runs, columns): (usize, usize),
        start: usize,
        scratch: &'a mut Scratch<W>,
    ) -> ConvertedBlock<'a, W> {
        let n = input.len() / self.inputs();
        assert!(
            n * self.inputs() == input.len()
                && n.is_multiple_of(runs)
                && start + columns <= n / runs,
            "input is not whole runs"
        );
        assert!(runs * columns <= BLOCK, "a block of {runs} times {columns}");
        let y = scratch.take((self.inputs() + 1) * BLOCK);
        self.kernel
            .prepare_centred(input, (runs, columns), start, y);
        ConvertedBlock {
            kernel: &self.kernel,
            y,
            len: runs * columns,
        }
    }

    /// Most coefficients of a [`BaseConverter::block`].
    pub const BLOCK: usize = BLOCK;

    /// The centred conversion of a polynomial.
    ///
    /// # Panics
    /// If `to` does not have the moduli this was made for, or `x` not the limbs.
    #[inline(never)]
    pub fn convert(&self, x: &RnsPoly<W, Coeff>, to: &RnsBasis<W>) -> RnsPoly<W, Coeff> {
        assert!(
            to.moduli() == self.kernel.to(),
            "converter made for other moduli"
        );
        assert_eq!(
            x.limb_count(),
            self.inputs(),
            "converter made for other moduli"
        );
        let mut out = RnsPoly::zeros(to);
        self.convert_into(x.data(), out.data_mut(), &mut Scratch::new());
        out
    }

    /// The exact conversion of the centred value through big integers; variable time. The reference for the others.
    pub fn convert_exact_vt(
        x: &RnsPoly<W, Coeff>,
        to: &RnsBasis<W>,
    ) -> Result<RnsPoly<W, Coeff>, RnsError> {
        RnsPoly::from_bigints(to, &x.compose_centered())
    }
}
