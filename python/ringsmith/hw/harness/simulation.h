// SPDX-License-Identifier: Apache-2.0
// One simulated device of any top: the Verilated top, its clock and the host's memory.
#ifndef RINGSMITH_SIMULATION_H
#define RINGSMITH_SIMULATION_H
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "Vtop.h"
#include "abi.h"
#include "verilated.h"
#ifdef RS_WAVEFORM
#if RS_WAVEFORM == 1
#include "verilated_vcd_c.h"
using Waveform = VerilatedVcdC;
#else
#include "verilated_saif_c.h"
using Waveform = VerilatedSaifC;
#endif
#endif

// A failure to report through the ABI.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Whoever watches the simulation has it stop.
struct Interrupted {};

// Settings of rs_open.
struct Options {
    uint64_t memory_bytes = uint64_t{256} << 20;
    std::string link, registers;
    // Of the memory behind an AXI4 data port: cycles from an address to its first beat and from a last beat to its
    // answer; bytes in 1000 cycles, 0 for a beat every cycle.
    unsigned read_latency = 20, write_latency = 8, rate = 0;
    // Of the contents that registers and memories start with.
    int seed = 1;
    explicit Options(const char* text);
};

// Host memory: zero until written, committed by the operating system page by page.
class HostMemory {
  public:
    explicit HostMemory(uint64_t bytes);
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    bool holds(uint64_t address, uint64_t length) const { return address <= bytes_ && length <= bytes_ - address; }
    uint8_t* at(uint64_t address) { return data_ + address; }
    // Throws Failure if the range is not inside the memory.
    void check(uint64_t address, uint64_t length) const;

  private:
    uint8_t* data_;
    uint64_t bytes_;
};

// The clocked device. What drives the pins of its top derives from it; what a top lacks is refused.
class Simulation {
  public:
    explicit Simulation(const Options& options);
    virtual ~Simulation();

    virtual uint32_t read_register(uint32_t address) = 0;
    virtual void write_register(uint32_t address, uint32_t value) = 0;
    // Clock until idle (0), failed (1) or max_cycles have passed (2).
    virtual int run(uint64_t max_cycles);
    // Clock until the controller's program is done (0), the controller has stopped (1) or max_cycles have passed (2).
    virtual int run_program(uint64_t max_cycles);
    virtual void stream(uint64_t source, uint64_t sink, uint64_t beats, uint32_t user);
    // See rs_line.
    virtual uint64_t pins(const uint8_t* in, uint64_t count, uint8_t* out, uint64_t room, uint64_t cycles);
    virtual uint64_t take_events(rs_event* out, uint64_t capacity);
    virtual void inject_bus_error(uint64_t address, uint64_t length);
    virtual void inject_fault(uint64_t after, uint64_t cycles);

    virtual void reset();
    // One clock cycle.
    void tick();
    void step(uint64_t cycles);
    // So many cycles of a driver that still has commands to give;
    // the core may wait for a serial transfer all the while.
    virtual void proceed(uint64_t cycles) { step(cycles); }
    void watch(int (*stop)(void*), void* context) { stop_ = stop, stop_context_ = context; }
    void inject_hang(bool on) { hang_ = on; }

    HostMemory memory;
    std::string error;
    uint64_t cycles = 0;
    rs_link_use link{};
    // An assertion fired or the model is broken: nothing more can be trusted.
    bool dead = false;

  protected:
    // Look at the settled outputs before the clock edge, and drive inputs after it.
    virtual void sample() = 0;
    virtual void drive() = 0;
    // Bring the pins of the host to rest (during reset).
    virtual void rest() = 0;
    // Inputs are set, the clock edge is near: what a top of its own has to do then.
    virtual void before_edge() {}
    // Whether work is in flight: the cycles that a waveform holds.
    virtual bool working() const { return true; }

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vtop> top_;
    bool hang_ = false;

  private:
    // Write the settled signals before a clock edge: of a cycle in so many that work, and of the cycle after it.
    void record();

    int (*stop_)(void*) = nullptr;
    void* stop_context_ = nullptr;
#ifdef RS_WAVEFORM
    std::unique_ptr<Waveform> waveform_;
    uint64_t worked_ = 0, start_ = 0;
    bool second_ = false;
#endif
};

// Made by the host that the library is built with.
std::unique_ptr<Simulation> make_simulation(const Options& options);

#endif
