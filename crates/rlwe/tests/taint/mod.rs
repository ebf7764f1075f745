// SPDX-License-Identifier: Apache-2.0
//! Follows secrets through a computation with valgrind's memcheck.
//!
//! Memory that holds a secret is declared uninitialised; memcheck tracks that bit by bit through every operation and
//! reports each branch and each address that depends on it. So one run finds every such use on the way, whatever its
//! effect on time. Values meant for publication are declared initialised again. Outside valgrind nothing is tracked.
#![allow(dead_code)]

use std::mem::size_of_val;
use std::sync::atomic::{AtomicU64, Ordering};

const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
const MAKE_UNDEFINED: u64 = MEMCHECK + 1;
const MAKE_DEFINED: u64 = MEMCHECK + 2;

/// Valgrind's client request: rotations of `rdi` by 128 bits in all, then an exchange without effect;
/// 0 outside valgrind.
fn request(code: u64, address: u64, len: u64) -> u64 {
    let arguments = [code, address, len, 0, 0, 0];
    let mut result = 0u64;
    // SAFETY: the sequence changes no register but rdx and the flags; valgrind reads the six words behind rax.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            inout("rdx") result, in("rax") arguments.as_ptr(), out("rdi") _,
        );
    }
    std::hint::black_box(&mut result);
    result
}

fn mark<T>(code: u64, data: &[T]) {
    request(code, data.as_ptr() as u64, size_of_val(data) as u64);
}

/// Declares memory secret.
pub fn secret<T>(data: &[T]) {
    mark(MAKE_UNDEFINED, data);
}

/// Declares memory public.
pub fn public<T>(data: &[T]) {
    mark(MAKE_DEFINED, data);
}

/// Declares the fields of a value public, not what they point to: identities and lengths beside a secret.
pub fn public_fields<T>(value: &T) {
    request(
        MAKE_DEFINED,
        std::ptr::from_ref(value) as u64,
        size_of_val(value) as u64,
    );
}

/// 32 secret bytes.
pub fn secret_bytes(text: &str) -> [u8; 32] {
    let bytes = *rlwe::Seed::from_text(text).as_bytes();
    secret(&bytes);
    std::hint::black_box(bytes)
}

/// Runs an operation on secrets; returns its result and how often memcheck objected.
pub fn watched<R>(operation: impl FnOnce() -> R) -> (R, u64) {
    assert_eq!(
        request(RUNNING_ON_VALGRIND, 0, 0),
        1,
        "run this by `make constant-time`"
    );
    let before = request(COUNT_ERRORS, 0, 0);
    let result = operation();
    (result, request(COUNT_ERRORS, 0, 0) - before)
}

static FOUND: AtomicU64 = AtomicU64::new(0);

/// Runs an operation that may not branch on a secret nor use it as an address; [`verdict`] fails the test if it did.
pub fn expect_clean<R>(what: &str, operation: impl FnOnce() -> R) -> R {
    let (result, errors) = watched(operation);
    println!("{what}: {errors} uses of a secret for a branch or an address");
    FOUND.fetch_add(errors, Ordering::Relaxed);
    result
}

/// Fails if any operation so far was not clean.
pub fn verdict() {
    let found = FOUND.swap(0, Ordering::Relaxed);
    assert_eq!(
        found, 0,
        "something depends on a secret; valgrind's report says where"
    );
}
