// SPDX-License-Identifier: Apache-2.0
// C ABI of a Verilated device: what a driver sees of the simulation. The same for every top; what a top lacks fails.
#ifndef RINGSMITH_ABI_H
#define RINGSMITH_ABI_H
#include <cstdint>

#define RS_INTERRUPTED (-3)
#define RS_STOP_CYCLES 256

extern "C" {
// Start or end of an instruction in a unit of a core. `cycle` counts the clock;
// `index` the core's instructions since clear.
struct rs_event {
    uint64_t cycle;
    uint32_t index;
    uint8_t unit;    // 0 compute, 1 memory, 2 base conversion
    uint8_t end;     // 0 start, 1 end
    uint8_t opcode;  // of a start; 0 for an end
    uint8_t core;
};

// Register accesses and frames of data, what crossed the serial link, and the core cycles that took.
struct rs_link_use {
    uint64_t frames, bytes_to_device, bytes_from_device, cycles;
};

// Options: "memory=BYTES;link=axi|byte|spi|uart|pins;registers=byte|spi|uart;read_latency=CYCLES;write_latency=CYCLES;
// rate=BYTES;seed=N", all optional. `registers` is another link of a serial host, for its register accesses alone. The
// memory behind an AXI4 data port moves `rate` bytes in 1000 cycles, or a beat every cycle. NULL on failure:
// rs_open_error(). Registers and memories start with random contents, drawn from the seed (1 to 2^31 - 1, default 1).
void* rs_open(const char* options);
const char* rs_open_error(void);
void rs_close(void* device);
// Text of the last failure of this device.
const char* rs_error(void* device);
// Functions that return int: 0 is success, negative a failure (bus error answer, bad range, or an assertion has fired;
// RS_INTERRUPTED).
int rs_reset(void* device);
int rs_reg_read(void* device, uint32_t address, uint32_t* value);
int rs_reg_write(void* device, uint32_t address, uint32_t value);
int rs_mem_read(void* device, uint64_t address, uint8_t* out, uint64_t length);
int rs_mem_write(void* device, uint64_t address, const uint8_t* in, uint64_t length);
// Clock until core 0 is idle (0), failed (1), or max_cycles have passed (2), those on a serial line apart; serves
// serial transfers meanwhile.
int rs_run(void* device, uint64_t max_cycles);
// In builds with an on-chip controller, whose program has been started: clock until it is done (0), the controller has
// stopped (1), or max_cycles have passed (2) as above; the host sleeps until the interrupt line rises.
int rs_run_program(void* device, uint64_t max_cycles);
// Clock so many cycles, and serve a serial transfer that waits then.
int rs_step(void* device, uint64_t cycles);
// Send beats from host memory at `source` through AXI4-Stream, back to back, and put as many that come back at `sink`.
int rs_stream(void* device, uint64_t source, uint64_t sink, uint64_t beats, uint32_t user);
// From now on `stop` is called with `context` every RS_STOP_CYCLES cycles (NULL: nothing is called). Where it returns
// nonzero, the function that clocks ends with RS_INTERRUPTED, in the middle of whatever the device does: it needs a
// reset.
void rs_watch(void* device, int (*stop)(void*), void* context);
// Drive the UART's pins alone (option link=pins, with which nothing else drives them): clock `cycles` while the
// bytes of `in`, behind those that still wait, go to the device; returns how many came from it, `room` at most. Bytes
// that find no room are lost.
int64_t rs_line(void* device, const uint8_t* in, uint64_t count, uint8_t* out, uint64_t room, uint64_t cycles);
uint64_t rs_cycles(void* device);
uint64_t rs_events(void* device, rs_event* out, uint64_t capacity);
void rs_link(void* device, rs_link_use* out);
// Test hooks; rs_inject_fault in builds with RINGSMITH_FAULT_PIN only.
int rs_inject_bus_error(void* device, uint64_t address, uint64_t length);
int rs_inject_hang(void* device, int on);
int rs_inject_fault(void* device, uint64_t after_cycles, uint64_t for_cycles);
#ifdef RS_WAVEFORM
// Builds with RS_WAVEFORM only (1: VCD, 2: SAIF): devices opened from now on write their signals to a file (none: ""),
// before the clock edge, in one of `every` cycles in which work is in flight, and in the cycle after it. A time of the
// file counts clock cycles from the first of these.
void rs_waveform(const char* path, uint64_t every);
#endif
}
#endif
