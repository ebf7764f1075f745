// SPDX-License-Identifier: Apache-2.0
// Self-checking testbench: loads a twiddle table and a polynomial into each lane, transforms it forward and back on the
// co-processor, and compares with answers computed from the transform's definition (vectors.h).
// Exit status 0: all right.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi.h"
#include "registers.h"
#include "vectors.h"

namespace {

void* device;

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

void write_table(uint32_t kind, uint32_t lane, const uint32_t* words) {
    for (uint32_t i = 0; i < RS_TABLE_DATA_COUNT; ++i) write(RS_TABLE_DATA + 4 * i, words[i]);
    write(RS_TABLE_ADDRESS, kind << RS_TABLE_ADDRESS_KIND_SHIFT | lane << RS_TABLE_ADDRESS_LANE_SHIFT);
    write(RS_CONTROL, 1u << RS_CONTROL_TABLE_WRITE_SHIFT);
}

// A polynomial of each lane to or from host buffer `buffer`, piece by piece: where byte `at` of a lane lies, and how
// many lie there.
uint64_t place(uint64_t buffer, uint64_t lane, uint64_t at) {
    return buffer * kBufferBytes + lane * kPieceBytes + at / kPieceBytes * kRowBytes;
}
constexpr uint64_t kPiece = kPieceBytes < kBytes ? kPieceBytes : kBytes;

void put(uint64_t buffer, const uint8_t data[kLanes][kBytes]) {
    for (uint64_t lane = 0; lane < kLanes; ++lane) {
        for (uint64_t at = 0; at < kBytes; at += kPiece) {
            check(rs_mem_write(device, place(buffer, lane, at), data[lane] + at, kPiece) == 0, "host memory write");
        }
    }
}

void expect(uint64_t buffer, const uint8_t data[kLanes][kBytes], const char* what) {
    static uint8_t got[kBytes];
    for (uint64_t lane = 0; lane < kLanes; ++lane) {
        for (uint64_t at = 0; at < kBytes; at += kPiece) {
            check(rs_mem_read(device, place(buffer, lane, at), got + at, kPiece) == 0, "host memory read");
        }
        check(std::memcmp(got, data[lane], kBytes) == 0, what);
    }
}

uint64_t command(uint64_t opcode, uint64_t dst, uint64_t src, uint64_t buffer) {
    return opcode | dst << 6 | src << 12 | uint64_t{63} << 18 | uint64_t{63} << 24 | uint64_t{kLog2N} << 30 | buffer << 44;
}

void run(const uint64_t* commands, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        write(RS_COMMAND_LO, static_cast<uint32_t>(commands[i]));
        write(RS_COMMAND_HI, static_cast<uint32_t>(commands[i] >> 32));
    }
    check(rs_run(device, 100000000) == 0, "the program did not finish");
}

}  // namespace

int main(int arguments, char** options) {
    device = rs_open(arguments > 1 ? options[1] : "");
    if (!device) {
        std::fprintf(stderr, "FAILED: %s\n", rs_open_error());
        return 1;
    }
    check(read(RS_MAGIC) == 0x52534350, "magic number");
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        write_table(1, lane, kReciprocal[lane]);
        write_table(2, lane, kReduction[lane]);
        write_table(0, lane, kModulus[lane]);
    }
    put(0, kTable);
    put(1, kInput);
    constexpr uint64_t kNtt = 1, kIntt = 2, kLoad = 18, kStore = 19, kTwiddles = 62, kNone = 63;
    const uint64_t program[] = {command(kLoad, kTwiddles, kNone, 0), command(kLoad, kSlot, kNone, 1),
                                command(kNtt, kSlot, kSlot, 0),      command(kStore, kNone, kSlot, 2),
                                command(kIntt, kSlot, kSlot, 0),     command(kStore, kNone, kSlot, 3)};
    run(program, sizeof program / sizeof *program);
    expect(2, kTransform, "the forward transform differs");
    expect(3, kInput, "the inverse transform differs");

    rs_event events[32];
    const uint64_t count = rs_events(device, events, 32);
    uint64_t started[8] = {};
    for (uint64_t i = 0; i < count; ++i) {
        if (!events[i].end) started[events[i].index % 8] = events[i].cycle;
        if (events[i].end && (events[i].index == 2 || events[i].index == 4)) {
            std::printf("%s n=%llu: %llu cycles\n", events[i].index == 2 ? "NTT" : "INTT", static_cast<unsigned long long>(1ull << kLog2N),
                        static_cast<unsigned long long>(events[i].cycle - started[events[i].index % 8]));
        }
    }
    rs_close(device);
    std::puts("PASSED");
    return 0;
}
