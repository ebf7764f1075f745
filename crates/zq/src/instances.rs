// SPDX-License-Identifier: Apache-2.0
//! Generic functions compiled in the crate that has them.

use crate::primes::{is_prime_vt, ntt_primes};
use crate::{Modulus, check_quotient};

/// Compiles functions here: of those that are generic in the word, `W: double::<W>, …`, both widths; of others the
/// instances named. The crates above then call these instead of compiling their own: less to compile, and optimised as
/// this crate is, which matters because crates above are compiled in many units that inline nothing into each other.
///
/// The compiler shares only functions that are `#[inline(never)]`; what they call is compiled with them.
///
/// ```
/// #[inline(never)]
/// fn double<W: zq::Word>(x: W) -> W {
///     x << 1
/// }
/// zq::instantiate!(W: double::<W>);
/// ```
#[macro_export]
macro_rules! instantiate {
    ($word:ident: $($function:expr),+ $(,)?) => {
        const _: () = {
            fn instances<$word: $crate::Word>() {
                $(::std::hint::black_box($function as *const ());)+
            }
            #[used]
            static INSTANCES: [fn(); 2] = [instances::<u64>, instances::<u128>];
        };
    };
    ($($function:expr),+ $(,)?) => {
        const _: () = {
            fn instances() {
                $(::std::hint::black_box($function as *const ());)+
            }
            #[used]
            static INSTANCES: fn() = instances;
        };
    };
}

instantiate!(W:
    Modulus::<W>::pow,
    Modulus::<W>::inv_vt,
    Modulus::<W>::add_assign,
    Modulus::<W>::sub_assign,
    Modulus::<W>::sub_from_assign,
    Modulus::<W>::neg_assign,
    Modulus::<W>::mul_assign,
    Modulus::<W>::mul_into,
    Modulus::<W>::mul_add_assign,
    Modulus::<W>::dot_into,
    Modulus::<W>::scalar_add_assign,
    Modulus::<W>::scalar_mul_assign,
    Modulus::<W>::shoup_mul_assign,
    Modulus::<W>::shoup_mul_into,
    Modulus::<W>::scalar_mul_add_assign,
    Modulus::<W>::shoup_mul_add_assign,
    Modulus::<W>::shoup_mul_add_words_assign,
    Modulus::<W>::sub_shoup_mul_assign,
    Modulus::<W>::reduce_assign,
    Modulus::<W>::reduce_into,
    Modulus::<W>::reduce_i64_into,
    Modulus::<W>::all_reduced,
    is_prime_vt::<W>,
    ntt_primes::<W>,
    check_quotient::<W>,
);
