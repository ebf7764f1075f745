// SPDX-License-Identifier: Apache-2.0
// One simulated co-processor: the Verilated top, its clock, host memory, events and test hooks.
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
#include "registers.h"
#include "verilated.h"

// A failure to report through the ABI.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Whoever watches the simulation has it stop.
struct Interrupted {};

// Settings of rs_open.
struct Options {
    uint64_t memory_bytes = uint64_t{256} << 20;
    std::string link;
    // Of the memory behind an AXI4 data port: cycles from an address to its first beat and from a last beat to its answer;
    // bytes in 1000 cycles, 0 for a beat every cycle.
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

// The clocked device. A host (AXI or serial) derives from it and drives the pins of its top.
class Simulation {
  public:
    explicit Simulation(const Options& options);
    virtual ~Simulation();

    virtual uint32_t read_register(uint32_t address) = 0;
    virtual void write_register(uint32_t address, uint32_t value) = 0;
    virtual void inject_bus_error(uint64_t address, uint64_t length) = 0;

    void reset();
    // One clock cycle.
    void tick();
    // Clock until idle (0), failed (1) or max_cycles have passed (2).
    int run(uint64_t max_cycles);
    void step(uint64_t cycles);
    // So many cycles of a driver that still has commands to give; the core may wait for a serial transfer all the while.
    void proceed(uint64_t cycles);
    void watch(int (*stop)(void*), void* context) { stop_ = stop, stop_context_ = context; }
    uint64_t take_events(rs_event* out, uint64_t capacity);
    void inject_hang(bool on) { hang_ = on; }
    void inject_fault(uint64_t after, uint64_t cycles);

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
    // Whether a LOAD or STORE waits until the host has moved its data, which only a serial host does.
    virtual bool transfer_waits() { return false; }
    // Moves them.
    virtual void serve_transfer() {}

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vtop> top_;
    bool hang_ = false;

  private:
    void record_events();

    std::deque<rs_event> events_;
    int (*stop_)(void*) = nullptr;
    void* stop_context_ = nullptr;
#ifdef RINGSMITH_FAULT_PIN
    uint64_t fault_from_ = 0, fault_until_ = 0;
#endif
};

// Made by the host that the library is built with.
std::unique_ptr<Simulation> make_simulation(const Options& options);

#endif
