// SPDX-License-Identifier: Apache-2.0
// Self-checking testbench: transforms polynomials forward and back, one by one and with transfers and compute
// overlapped, and compares with answers computed from the transform's definition (vectors.h). Exit status 0: all right.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi.h"
#include "ntt8.h"
#include "vectors.h"

namespace {

void* device;
using Polynomial = uint32_t[kPoints];

void check(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "FAILED: %s: %s\n", what, rs_error(device));
    std::exit(1);
}

uint32_t read(uint32_t address) {
    uint32_t value = 0;
    check(rs_reg_read(device, address, &value) == 0, "register read");
    return value;
}

void write(uint32_t address, uint32_t value) { check(rs_reg_write(device, address, value) == 0, "register write"); }

void write_words(uint32_t address, const uint32_t* words, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) write(address + 4 * i, words[i]);
}

uint32_t field(uint32_t word, uint32_t shift, uint32_t mask) { return word >> shift & mask; }

void identify() {
    check(read(RS8_MAGIC) == 0x4e545438, "magic number");
    const uint32_t shape = read(RS8_SHAPE);
    check(field(shape, RS8_SHAPE_WORD_BITS_SHIFT, RS8_SHAPE_WORD_BITS_MASK) == kWordBits, "word bits");
    check(field(shape, RS8_SHAPE_VARIANT_SHIFT, RS8_SHAPE_VARIANT_MASK) == kVariant, "variant");
    check(field(shape, RS8_SHAPE_LATENCY_SHIFT, RS8_SHAPE_LATENCY_MASK) == kLatency, "latency");
    uint32_t value = 0;
    check(rs_reg_read(device, 0x80, &value) != 0, "a read outside the map is refused");
    check(rs_reg_write(device, RS8_OUTPUT, 1) != 0, "a write of OUTPUT is refused");
}

void configure() {
    write(RS8_MODULUS, kModulus);
    write(RS8_MODULUS_BITS, kModulusBits);
    write_words(RS8_BARRETT, kBarrett, 2);
    write_words(RS8_TWIDDLE, kTwiddle, kPoints);
}

void start(bool inverse) { write(RS8_CONTROL, 1u << RS8_CONTROL_START_SHIFT | uint32_t{inverse} << RS8_CONTROL_INVERSE_SHIFT); }

void wait() {
    for (int polls = 0; !field(read(RS8_STATUS), RS8_STATUS_DONE_SHIFT, RS8_STATUS_DONE_MASK); ++polls) {
        check(polls < 1000, "the transform did not finish");
    }
    const uint32_t taken = field(read(RS8_STATUS), RS8_STATUS_CYCLES_SHIFT, RS8_STATUS_CYCLES_MASK);
    check(taken == kLatency, "the transform took another number of cycles");
}

void receive(uint32_t* output) {
    for (uint32_t i = 0; i < kPoints; ++i) output[i] = read(RS8_OUTPUT + 4 * i);
}

// Transforms through registers; the next input is written while the present one is transformed.
void through_registers(const Polynomial* input, Polynomial* output, uint32_t count, bool inverse) {
    write_words(RS8_INPUT, input[0], kPoints);
    for (uint32_t i = 0; i < count; ++i) {
        start(inverse);
        if (i + 1 < count) write_words(RS8_INPUT, input[i + 1], kPoints);
        wait();
        receive(output[i]);
    }
}

// Transforms as beats of a stream, back to back.
void through_streams(const Polynomial* input, Polynomial* output, uint32_t count, bool inverse) {
    const uint64_t bytes = uint64_t{count} * sizeof(Polynomial);
    check(rs_mem_write(device, 0, reinterpret_cast<const uint8_t*>(input), bytes) == 0, "host memory write");
    check(rs_stream(device, 0, bytes, count, inverse) == 0, "stream");
    check(rs_mem_read(device, bytes, reinterpret_cast<uint8_t*>(output), bytes) == 0, "host memory read");
}

void expect(const Polynomial* input, const Polynomial* wanted, bool inverse, const char* what) {
    static Polynomial got[kPolynomials];
    constexpr auto transform = kStreams ? through_streams : through_registers;
    const uint64_t before = rs_cycles(device);
    for (uint32_t i = 0; i < kPolynomials; ++i) transform(input + i, got + i, 1, inverse);
    check(std::memcmp(got, wanted, sizeof got) == 0, what);
    const uint64_t middle = rs_cycles(device);
    std::memset(got, 0, sizeof got);
    transform(input, got, kPolynomials, inverse);
    check(std::memcmp(got, wanted, sizeof got) == 0, what);
    std::printf("%s of %u polynomials, transfers included: %llu cycles one by one, %llu overlapped\n", inverse ? "INTT" : "NTT",
                kPolynomials, static_cast<unsigned long long>(middle - before),
                static_cast<unsigned long long>(rs_cycles(device) - middle));
}

}  // namespace

int main(int arguments, char** options) {
    device = rs_open(arguments > 1 ? options[1] : "");
    if (!device) {
        std::fprintf(stderr, "FAILED: %s\n", rs_open_error());
        return 1;
    }
    if (!kStreams) identify();
    configure();
    expect(kInput, kTransform, false, "the forward transform differs");
    expect(kTransform, kInput, true, "the inverse transform differs");
    rs_close(device);
    std::puts("PASSED");
    return 0;
}
