// SPDX-License-Identifier: Apache-2.0
//! `include/ringsmith_client.h`, which says what each function does: the small client for C. No logic is here.
#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

#[cfg(target_os = "none")]
mod bare;

use alloc::boxed::Box;
use client::{Client, Error, Params, ParamsLiteral, Scheme, Slots, encrypt_public, memory};
use core::slice;

const OK: i32 = 0;
const ROOM: i32 = 6;
const NULL: i32 = 7;
const INSECURE: i32 = 8;

/// A code of the header.
type Code = i32;
type Done<T> = Result<T, Code>;

fn code(error: Error) -> Code {
    match error {
        Error::Parameters(_) => 1,
        Error::OtherParameters => 2,
        Error::OtherKey => 3,
        Error::Bytes(_) => 4,
        Error::Message(_) => 5,
        Error::Insecure => INSECURE,
    }
}

fn finished(result: Done<()>) -> Code {
    result.err().unwrap_or(OK)
}

/// `rs_params`.
#[repr(C)]
pub struct RsParams {
    n: u32,
    dnum: u32,
    data: *const u64,
    data_count: usize,
    special: *const u64,
    special_count: usize,
    t: u64,
    scale: f64,
    allow_insecure: u32,
}

/// `rs_client`, with the degree that its messages have.
pub struct RsClient {
    client: Client,
    n: usize,
}

/// # Safety
/// Not null means `count` valid elements.
unsafe fn given<'a, T>(pointer: *const T, count: usize) -> Done<&'a [T]> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(NULL),
        // SAFETY: the caller vouches for `count` values; not null.
        (false, _) => Ok(unsafe { slice::from_raw_parts(pointer, count) }),
    }
}

/// # Safety
/// As `given`, for writing.
unsafe fn wanted<'a, T>(pointer: *mut T, count: usize) -> Done<&'a mut [T]> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(NULL),
        // SAFETY: the caller vouches for `count` values that are used nowhere else; not null.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(pointer, count) }),
    }
}

/// # Safety
/// Null, or a valid set.
unsafe fn params(pointer: *const RsParams) -> Done<Params> {
    // SAFETY: null, or the caller vouches for a set.
    let own = unsafe { pointer.as_ref() }.ok_or(NULL)?;
    // SAFETY: a valid set counts its primes right.
    let (data, special) = unsafe {
        (
            given(own.data, own.data_count)?,
            given(own.special, own.special_count)?,
        )
    };
    let scheme = match own.t {
        0 => Scheme::Ckks { scale: own.scale },
        t => Scheme::Bfv { t },
    };
    let make = match own.allow_insecure {
        0 => Params::new,
        _ => Params::insecure,
    };
    let literal = ParamsLiteral {
        n: own.n as usize,
        data,
        special,
        dnum: own.dnum,
        scheme,
    };
    make(&literal).map_err(code)
}

/// # Safety
/// Null, or 32 bytes.
unsafe fn seed<'a>(pointer: *const [u8; 32]) -> Done<&'a [u8; 32]> {
    // SAFETY: null, or the caller vouches for 32 bytes.
    unsafe { pointer.as_ref() }.ok_or(NULL)
}

/// # Safety
/// Null, or a client.
unsafe fn own<'a>(pointer: *const RsClient) -> Done<&'a RsClient> {
    // SAFETY: null, or the caller vouches for a client.
    unsafe { pointer.as_ref() }.ok_or(NULL)
}

/// Writes bytes, or tells how many there are.
///
/// # Safety
/// `out` has `room` bytes, `length` is null or valid.
unsafe fn put(bytes: &[u8], out: *mut u8, room: usize, length: *mut usize) -> Done<()> {
    // SAFETY: null, or the caller vouches for the length.
    let length = unsafe { length.as_mut() }.ok_or(NULL)?;
    if bytes.len() > room {
        *length = bytes.len();
        return Err(ROOM);
    }
    // SAFETY: `out` has `room` bytes, and these are no more.
    unsafe { wanted(out, bytes.len())? }.copy_from_slice(bytes);
    *length = bytes.len();
    Ok(())
}

/// # Safety
/// `out` is null or valid.
unsafe fn made(client: Done<(Client, usize)>, out: *mut *mut RsClient) -> Code {
    // SAFETY: null, or the caller vouches for the pointer.
    let Some(out) = (unsafe { out.as_mut() }) else {
        return NULL;
    };
    finished(client.map(|(client, n)| *out = Box::into_raw(Box::new(RsClient { client, n }))))
}

/// As the header says.
#[unsafe(no_mangle)]
pub extern "C" fn rs_client_memory(n: u32) -> usize {
    memory(n as usize)
}

/// As the header says.
///
/// # Safety
/// As the header says, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_new(
    set: *const RsParams,
    from: *const [u8; 32],
    out: *mut *mut RsClient,
) -> Code {
    let new = || {
        // SAFETY: the header asks for a set and a seed, or null.
        let (params, from) = unsafe { (params(set)?, seed(from)?) };
        // SAFETY: `params` read the set.
        Ok((Client::new(&params, from), unsafe { (*set).n } as usize))
    };
    // SAFETY: the header asks for a pointer's place, or null.
    unsafe { made(new(), out) }
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_read(
    set: *const RsParams,
    key: *const u8,
    key_length: usize,
    out: *mut *mut RsClient,
) -> Code {
    let read = || {
        // SAFETY: the header asks for a set, and a key of that length.
        let (params, key) = unsafe { (params(set)?, given(key, key_length)?) };
        Ok((
            Client::from_bytes(&params, key).map_err(code)?,
            // SAFETY: `params` read the set.
            unsafe { (*set).n } as usize,
        ))
    };
    // SAFETY: the header asks for a pointer's place, or null.
    unsafe { made(read(), out) }
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_free(client: *mut RsClient) {
    if !client.is_null() {
        // SAFETY: the header asks for a client that was made here and is not used again; not null.
        drop(unsafe { Box::from_raw(client) });
    }
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_secret_key(
    client: *const RsClient,
    out: *mut u8,
    room: usize,
    length: *mut usize,
) -> Code {
    // SAFETY: the header asks for a client, and `room` bytes at `out`.
    finished(unsafe { own(client).and_then(|own| put(&own.client.to_bytes(), out, room, length)) })
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_public_key(
    client: *const RsClient,
    from: *const [u8; 32],
    out: *mut u8,
    room: usize,
    length: *mut usize,
) -> Code {
    // SAFETY: the header asks for a client, a seed, and `room` bytes at `out`.
    let run = || unsafe {
        put(
            &own(client)?.client.public_key(seed(from)?),
            out,
            room,
            length,
        )
    };
    finished(run())
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_encrypt(
    client: *const RsClient,
    message: *const i64,
    from: *const [u8; 32],
    number: u64,
    out: *mut u8,
    room: usize,
    length: *mut usize,
) -> Code {
    let run = || {
        // SAFETY: null, or the header asks for a client.
        let own = unsafe { own(client)? };
        // SAFETY: the header asks for n coefficients and a seed.
        let (message, from) = unsafe { (given(message, own.n)?, seed(from)?) };
        let bytes = own
            .client
            .encrypt_secret(message, from, number)
            .map_err(code)?;
        // SAFETY: the header asks for `room` bytes at `out`.
        unsafe { put(&bytes, out, room, length) }
    };
    finished(run())
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_encrypt_public(
    set: *const RsParams,
    key: *const u8,
    key_length: usize,
    message: *const i64,
    from: *const [u8; 32],
    number: u64,
    out: *mut u8,
    room: usize,
    length: *mut usize,
) -> Code {
    let run = || {
        // SAFETY: the header asks for a set, and a key of that length.
        let (params, key) = unsafe { (params(set)?, given(key, key_length)?) };
        // SAFETY: `params` read the set; the header asks for n coefficients and a seed.
        let (message, from) = unsafe { (given(message, (*set).n as usize)?, seed(from)?) };
        let bytes = encrypt_public(&params, key, message, from, number).map_err(code)?;
        // SAFETY: the header asks for `room` bytes at `out`.
        unsafe { put(&bytes, out, room, length) }
    };
    finished(run())
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_client_decrypt(
    client: *const RsClient,
    ciphertext: *const u8,
    ciphertext_length: usize,
    message: *mut i64,
) -> Code {
    let run = || {
        // SAFETY: null, or the header asks for a client.
        let own = unsafe { own(client)? };
        let found = own
            .client
            // SAFETY: the header asks for a ciphertext of that length.
            .decrypt(unsafe { given(ciphertext, ciphertext_length)? })
            .map_err(code)?;
        // SAFETY: the header asks for room for n coefficients.
        unsafe { wanted(message, own.n)? }.copy_from_slice(&found);
        Ok(())
    };
    finished(run())
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_slots_encode(
    set: *const RsParams,
    values: *const i64,
    count: usize,
    message: *mut i64,
) -> Code {
    let run = || {
        // SAFETY: the header asks for a set, or null.
        let slots = Slots::new(&unsafe { params(set)? }).map_err(code)?;
        let found = slots
            // SAFETY: the header asks for `count` values.
            .encode(unsafe { given(values, count)? })
            .map_err(code)?;
        // SAFETY: the header asks for room for n coefficients, which are these.
        unsafe { wanted(message, found.len())? }.copy_from_slice(&found);
        Ok(())
    };
    finished(run())
}

/// As the header says.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rs_slots_decode(
    set: *const RsParams,
    message: *const i64,
    values: *mut i64,
) -> Code {
    let run = || {
        // SAFETY: the header asks for a set, or null.
        let slots = Slots::new(&unsafe { params(set)? }).map_err(code)?;
        let found = slots
            // SAFETY: `params` read the set; the header asks for n coefficients.
            .decode(unsafe { given(message, (*set).n as usize)? })
            .map_err(code)?;
        // SAFETY: the header asks for room for n / 2 values, which are these.
        unsafe { wanted(values, found.len())? }.copy_from_slice(&found);
        Ok(())
    };
    finished(run())
}
