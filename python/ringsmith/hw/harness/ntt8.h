// SPDX-License-Identifier: Apache-2.0
// C ABI of a Verilated 8-point accelerator: registers for the AXI4-Lite shell, beats for the AXI4-Stream shell.
#ifndef RINGSMITH_NTT8_H
#define RINGSMITH_NTT8_H
#include <cstdint>

extern "C" {
// NULL if the model cannot be made. The device comes out of reset.
void* rs8_open(void);
void rs8_close(void* device);
// Clock cycles since reset.
uint64_t rs8_cycles(void* device);
// Let the clock run without touching the bus.
void rs8_step(void* device, uint64_t cycles);
// One bus transaction each; 0 ok, 1 the device answered with an error, 2 no answer within 1000 cycles, 3 no such shell.
int rs8_read(void* device, uint32_t address, uint32_t* value);
int rs8_write(void* device, uint32_t address, uint32_t value);
// Stream `count` polynomials of eight words through, the sink always ready; 0 ok, 2 the stream stands still, 3 no such
// shell. The AXI4-Stream shell takes modulus, its bits, floor(2^(k+W+2)/modulus) and the table on ports.
int rs8_configure(void* device, uint32_t modulus, uint32_t bits, uint64_t barrett, const uint32_t* twiddles);
int rs8_stream(void* device, const uint32_t* input, int inverse, uint32_t* output, uint64_t count);
}
#endif
