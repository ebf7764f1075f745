// SPDX-License-Identifier: Apache-2.0
// What both shells of the 8-point accelerators share: the clocked model and the parts of the ABI that move no data.
#ifndef RINGSMITH_NTT8_COMMON_H
#define RINGSMITH_NTT8_COMMON_H
#include <memory>

#include "Vtop.h"
#include "ntt8.h"
#include "verilated.h"

constexpr int kOk = 0, kBusError = 1, kNoAnswer = 2, kNoSuchShell = 3;
constexpr int kPatienceCycles = 1000;

// Each shell: bring the pins of its bus to rest.
void rest(Vtop& top);

// A context in which registers and memories start with random contents, always the same.
inline VerilatedContext* random_context() {
    auto* context = new VerilatedContext;
    context->randReset(2);
    context->randSeed(1);
    return context;
}

struct Model {
    std::unique_ptr<VerilatedContext> context{random_context()};
    std::unique_ptr<Vtop> top = std::make_unique<Vtop>(context.get());
    uint64_t cycles = 0;

    // One clock cycle; inputs set before it are seen at its rising edge.
    void tick() {
        top->clk_i = 1;
        top->eval();
        top->clk_i = 0;
        top->eval();
        cycles++;
    }

    void reset() {
        // The reset is asynchronous: its falling edge is shown, whatever the pins held before.
        top->clk_i = 0;
        top->rst_ni = 1;
        rest(*top);
        top->eval();
        top->rst_ni = 0;
        top->eval();
        for (int i = 0; i < 4; i++) tick();
        top->rst_ni = 1;
        tick();
        cycles = 0;
    }
};

inline Model& of(void* device) { return *static_cast<Model*>(device); }

void* rs8_open(void) {
    auto model = std::make_unique<Model>();
    model->reset();
    return model.release();
}
void rs8_close(void* device) { delete static_cast<Model*>(device); }
uint64_t rs8_cycles(void* device) { return of(device).cycles; }
void rs8_step(void* device, uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; i++) of(device).tick();
}

#endif
