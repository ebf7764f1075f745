// SPDX-License-Identifier: Apache-2.0
//! Values that the compiler keeps in registers.

/// A function with an empty instruction that seems to change eight vectors in registers of one class; without `nomem`
/// it seems to change memory too.
macro_rules! pinning {
    ($(#[$doc:meta])* $name:ident($vector:ty: $class:ident, $features:literal; $($option:ident),+)) => {
        $(#[$doc])*
        // The whole register is named by any of its parts.
        #[allow(asm_sub_register)]
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn $name(v: &mut [$vector; 8]) {
            let [a, b, c, d, e, f, g, h] = v;
            // SAFETY: no instruction.
            unsafe {
                core::arch::asm!(
                    "/* {0} {1} {2} {3} {4} {5} {6} {7} */",
                    inout($class) a.0, inout($class) b.0, inout($class) c.0, inout($class) d.0,
                    inout($class) e.0, inout($class) f.0, inout($class) g.0, inout($class) h.0,
                    options($($option),+)
                );
            }
        }
    };
}
pub(crate) use pinning;
