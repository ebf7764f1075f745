// SPDX-License-Identifier: Apache-2.0
#include "coprocessor.h"

#include "controller.h"

// Bits of a core in ev_start_o and ev_end_o: compute, memory, base conversion, pointwise.
constexpr unsigned UNITS = 4;

void Coprocessor::reset() {
    Simulation::reset();
    events_.clear();
    in_flight_ = 0;
}

#ifdef RS_BOARD
// A board has no pins for events; its lamp goes out while an interrupt is asked for.
void Coprocessor::sample() {}

bool Coprocessor::interrupt() const { return !top_->led_o; }
#else
bool Coprocessor::interrupt() const { return top_->irq_o; }

void Coprocessor::sample() {
    const uint64_t starts = top_->ev_start_o, ends = top_->ev_end_o;
    // A bit for each unit of each core.
    for (unsigned at = 0; (starts | ends) >> at; ++at) {
        const auto core = static_cast<uint8_t>(at / UNITS), unit = static_cast<uint8_t>(at % UNITS);
        if (core == 0 && unit != 1) in_flight_ += static_cast<int>(starts >> at & 1) - static_cast<int>(ends >> at & 1);
        if (ends >> at & 1) events_.push_back({cycles, top_->ev_end_idx_o[at], unit, 1, 0, core});
        if (starts >> at & 1) {
            const auto opcode = static_cast<uint8_t>(top_->ev_start_cmd_o[2 * at] & 63);
            events_.push_back({cycles, top_->ev_start_idx_o[at], unit, 0, opcode, core});
        }
    }
}
#endif

uint64_t Coprocessor::take_events(rs_event* out, uint64_t capacity) {
    uint64_t taken = 0;
    for (; taken < capacity && !events_.empty(); ++taken) {
        out[taken] = events_.front();
        events_.pop_front();
    }
    return taken;
}

#ifdef RINGSMITH_FAULT_PIN
void Coprocessor::before_edge() { top_->fault_i = cycles >= fault_from_ && cycles < fault_until_; }

void Coprocessor::inject_fault(uint64_t after, uint64_t length) {
    fault_from_ = cycles + after;
    fault_until_ = fault_from_ + length;
}
#else
void Coprocessor::before_edge() {}
#endif

void Coprocessor::proceed(uint64_t count) {
    step(count);
    if (!hang_ && transfer_waits()) serve_transfer();
}

int Coprocessor::run(uint64_t max_cycles) {
    const uint64_t limit = own_cycles() + max_cycles;
    write_register(RS_IRQ_ENABLE, 7);
    for (;;) {
        const uint32_t status = read_register(RS_STATUS);
        const auto flag = [status](unsigned shift) { return (status >> shift & 1) != 0; };
        if (flag(RS_STATUS_TRANSFER_SHIFT) && !hang_) {
            serve_transfer();
            continue;
        }
        if (flag(RS_STATUS_FAILED_SHIFT)) return 1;
        if (flag(RS_STATUS_IDLE_SHIFT)) return 0;
        if (own_cycles() >= limit) return 2;
        write_register(RS_IRQ_STATUS, 7);
        // An event between the two accesses above has left its mark in STATUS, not in IRQ_STATUS: look once more.
        const uint32_t again = read_register(RS_STATUS);
        if (again >> RS_STATUS_IDLE_SHIFT & 1 || again >> RS_STATUS_FAILED_SHIFT & 1) continue;
        if ((again >> RS_STATUS_TRANSFER_SHIFT & 1) && !hang_) continue;
        while (!interrupt() && own_cycles() < limit) tick();
    }
}

int Coprocessor::run_program(uint64_t max_cycles) {
    const uint64_t limit = own_cycles() + max_cycles;
    for (;;) {
        while (!interrupt() && own_cycles() < limit) tick();
        const uint32_t status = read_register(RS_CONTROLLER_STATUS);
        if (status >> RS_CONTROLLER_STATUS_DONE_SHIFT & 1) return 0;
        if (status >> RS_CONTROLLER_STATUS_FAILED_SHIFT & 1) return 1;
        if (own_cycles() >= limit) return 2;
        // A transfer waits. The next one, which begins after it, raises the line again.
        write_register(RS_IRQ_STATUS, 1u << RS_IRQ_STATUS_TRANSFER_SHIFT);
        if (!hang_ && transfer_waits()) serve_transfer();
    }
}
