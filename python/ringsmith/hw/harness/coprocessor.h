// SPDX-License-Identifier: Apache-2.0
// One simulated co-processor: its events, its commands, test hooks. A host (AXI or serial) derives from it.
#ifndef RINGSMITH_COPROCESSOR_H
#define RINGSMITH_COPROCESSOR_H
#include "registers.h"
#include "simulation.h"

class Coprocessor : public Simulation {
  public:
    using Simulation::Simulation;

    void reset() override;
    int run(uint64_t max_cycles) override;
    int run_program(uint64_t max_cycles) override;
    void proceed(uint64_t cycles) override;
    uint64_t take_events(rs_event* out, uint64_t capacity) override;
#ifdef RINGSMITH_FAULT_PIN
    void inject_fault(uint64_t after, uint64_t cycles) override;
#endif

  protected:
    // Whether a LOAD or STORE waits until the host has moved its data, which only a serial host does.
    virtual bool transfer_waits() { return false; }
    // Moves them.
    virtual void serve_transfer() {}
    void before_edge() override;
    // A transform, product or conversion is in flight on core 0.
    bool working() const override { return in_flight_ != 0; }
    bool interrupt() const;
    // A host that samples calls this first.
    void sample() override;

  private:
    // Cycles without those that register accesses and data took on a serial line, thousands each on a slow one.
    uint64_t own_cycles() const { return cycles - link.cycles; }

    std::deque<rs_event> events_;
    int in_flight_ = 0;
#ifdef RINGSMITH_FAULT_PIN
    uint64_t fault_from_ = 0, fault_until_ = 0;
#endif
};

#endif
