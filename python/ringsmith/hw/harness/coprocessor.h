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
    uint64_t take_events(rs_event* out, uint64_t capacity) override;
#ifdef RINGSMITH_FAULT_PIN
    void inject_fault(uint64_t after, uint64_t cycles) override;
#endif

  protected:
    // The core waits for the host to move the data of a LOAD or STORE.
    virtual void serve_transfer() {}
    void before_edge() override;
    // A host that samples calls this first.
    void sample() override;

  private:
    std::deque<rs_event> events_;
#ifdef RINGSMITH_FAULT_PIN
    uint64_t fault_from_ = 0, fault_until_ = 0;
#endif
};

#endif
