// SPDX-License-Identifier: Apache-2.0
//! The C interface of a simulator library that the Python flow built from generated RTL.
//!
//! Beside the mappings of [`crate::axi`] the only unsafe code of this crate: each call is a symbol of that library with
//! the signature of its header.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;

use crate::error::DeviceError;
use crate::interface::{LinkUse, PortUse, Stop};
use crate::transport::{Ending, RawEvent, Transport};

type Handle = *mut c_void;

/// Callback that tells a simulation to stop.
type Asked = extern "C" fn(*mut c_void) -> c_int;

/// The status of a function that was made to stop (`RS_INTERRUPTED`).
const INTERRUPTED: c_int = -3;

/// Asks the [`Stop`] that `context` points to; one that panics stops the simulation.
extern "C" fn asked(context: *mut c_void) -> c_int {
    // SAFETY: the pointer is that of `Simulator::run`'s own variable, which outlives the call.
    let stop = unsafe { *context.cast::<Stop<'_>>() };
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(stop));
    answer.unwrap_or(true).into()
}

/// An open simulation. Dropping it closes the simulation before the library.
pub struct Simulator {
    handle: Handle,
    library: Library,
    path: String,
}

// SAFETY: a simulation has no thread affinity, and &mut self keeps calls one at a time.
unsafe impl Send for Simulator {}

macro_rules! call {
    ($self:expr, $name:literal, fn($($type:ty),*) $(-> $result:ty)?, $($argument:expr),*) => {{
        // SAFETY: the symbol has this signature in the library's header, the handle is open,
        // pointers live through the call.
        unsafe {
            let function: libloading::Symbol<unsafe extern "C" fn(Handle, $($type),*) $(-> $result)?> =
                $self.library.get($name).map_err(|error| $self.broken(error.to_string()))?;
            function($self.handle, $($argument),*)
        }
    }};
}

impl Simulator {
    /// Load a library and open a simulation with `options` (see `rs_open` in the harness's abi.h).
    ///
    /// # Errors
    /// [`DeviceError::Library`] if it is not the library that was built (its SHA-256 stands in `PATH.sha256`), no
    /// simulator library, or the simulation does not open.
    pub fn open(path: &Path, options: &str) -> Result<Self, DeviceError> {
        let name = path.display().to_string();
        let fail = |what: String| DeviceError::Library {
            path: name.clone(),
            what,
        };
        crate::intact::check(path).map_err(fail)?;
        let options = CString::new(options).map_err(|error| fail(error.to_string()))?;
        // SAFETY: the library is one that the flow built; its constructors only register C++ statics.
        let library = unsafe { Library::new(path) }.map_err(|error| fail(error.to_string()))?;
        // SAFETY: the symbols have these signatures in the library's header.
        let handle = unsafe {
            let open: libloading::Symbol<unsafe extern "C" fn(*const c_char) -> Handle> = library
                .get(b"rs_open\0")
                .map_err(|error| fail(error.to_string()))?;
            open(options.as_ptr())
        };
        if handle.is_null() {
            return Err(fail("the simulation does not open".to_owned()));
        }
        Ok(Self {
            handle,
            library,
            path: name,
        })
    }

    fn broken(&self, what: String) -> DeviceError {
        DeviceError::Library {
            path: self.path.clone(),
            what,
        }
    }

    /// Turn a negative status into the library's own words.
    fn accept(&self, status: c_int) -> Result<c_int, DeviceError> {
        if status >= 0 {
            return Ok(status);
        }
        if status == INTERRUPTED {
            return Err(DeviceError::Interrupted);
        }
        let text = call!(self, b"rs_error\0", fn() -> *const c_char,);
        if text.is_null() {
            return Err(self.broken(format!("status {status}")));
        }
        // SAFETY: the library returns a NUL-terminated string that lives until the next call.
        let text = unsafe { CStr::from_ptr(text) };
        Err(self.broken(text.to_string_lossy().into_owned()))
    }

    /// The ending that a function which clocks to the end has returned.
    fn ending(&self, status: c_int) -> Result<Ending, DeviceError> {
        Ok(match self.accept(status)? {
            0 => Ending::Idle,
            1 => Ending::Failed,
            _ => Ending::Hung,
        })
    }

    /// Sets `stop`, called with `context` while the simulation is clocked; both must live until it is `None` again.
    fn watch(&self, stop: Option<Asked>, context: *mut c_void) -> Result<(), DeviceError> {
        call!(
            self,
            b"rs_watch\0",
            fn(Option<Asked>, *mut c_void),
            stop,
            context
        );
        Ok(())
    }
}

impl Transport for Simulator {
    fn reset(&mut self) -> Result<(), DeviceError> {
        let status = call!(self, b"rs_reset\0", fn() -> c_int,);
        self.accept(status).map(drop)
    }

    fn read_register(&mut self, address: u32) -> Result<u32, DeviceError> {
        let mut value = 0u32;
        let status = call!(
            self,
            b"rs_reg_read\0",
            fn(u32, *mut u32) -> c_int,
            address,
            &raw mut value
        );
        self.accept(status).map(|_| value)
    }

    fn write_register(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        let status = call!(
            self,
            b"rs_reg_write\0",
            fn(u32, u32) -> c_int,
            address,
            value
        );
        self.accept(status).map(drop)
    }

    fn read_memory(&mut self, address: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        let length = out.len() as u64;
        let status = call!(
            self,
            b"rs_mem_read\0",
            fn(u64, *mut u8, u64) -> c_int,
            address,
            out.as_mut_ptr(),
            length
        );
        self.accept(status).map(drop)
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let length = bytes.len() as u64;
        let status = call!(
            self,
            b"rs_mem_write\0",
            fn(u64, *const u8, u64) -> c_int,
            address,
            bytes.as_ptr(),
            length
        );
        self.accept(status).map(drop)
    }

    fn run(&mut self, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError> {
        let mut stop = stop;
        self.watch(Some(asked), (&raw mut stop).cast())?;
        let status = call!(self, b"rs_run\0", fn(u64) -> c_int, limit);
        self.watch(None, std::ptr::null_mut())?;
        self.ending(status)
    }

    fn run_program(&mut self, limit: u64, stop: Stop<'_>) -> Result<Ending, DeviceError> {
        let mut stop = stop;
        self.watch(Some(asked), (&raw mut stop).cast())?;
        let status = call!(self, b"rs_run_program\0", fn(u64) -> c_int, limit);
        self.watch(None, std::ptr::null_mut())?;
        self.ending(status)
    }

    fn step(&mut self, cycles: u64) -> Result<(), DeviceError> {
        let status = call!(self, b"rs_step\0", fn(u64) -> c_int, cycles);
        self.accept(status).map(drop)
    }

    fn cycles(&self) -> Result<u64, DeviceError> {
        Ok(call!(self, b"rs_cycles\0", fn() -> u64,))
    }

    fn events(&mut self) -> Result<Vec<RawEvent>, DeviceError> {
        let mut all = Vec::new();
        loop {
            let mut chunk = vec![RawEvent::default(); 1024];
            let room = chunk.len() as u64;
            let got = call!(
                self,
                b"rs_events\0",
                fn(*mut RawEvent, u64) -> u64,
                chunk.as_mut_ptr(),
                room
            );
            all.extend_from_slice(&chunk[..got as usize]);
            if got < room {
                return Ok(all);
            }
        }
    }

    fn link(&self) -> Result<LinkUse, DeviceError> {
        let mut used = LinkUse::default();
        call!(self, b"rs_link\0", fn(*mut LinkUse), &raw mut used);
        Ok(used)
    }

    fn inject_fault(&mut self, after_cycles: u64, for_cycles: u64) -> Result<(), DeviceError> {
        let status = call!(
            self,
            b"rs_inject_fault\0",
            fn(u64, u64) -> c_int,
            after_cycles,
            for_cycles
        );
        self.accept(status).map(drop)
    }

    fn inject_hang(&mut self, on: bool) -> Result<(), DeviceError> {
        let status = call!(self, b"rs_inject_hang\0", fn(c_int) -> c_int, on.into());
        self.accept(status).map(drop)
    }

    fn port(&self) -> Option<PortUse> {
        None
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used afterwards; a library without the symbol leaks the simulation.
        unsafe {
            if let Ok(close) = self
                .library
                .get::<unsafe extern "C" fn(Handle)>(b"rs_close\0")
            {
                close(self.handle);
            }
        }
    }
}
