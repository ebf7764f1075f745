// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <sys/mman.h>

namespace {

uint64_t number(const std::string& key, const std::string& text) {
    size_t used = 0;
    uint64_t value = 0;
    try {
        value = std::stoull(text, &used, 0);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size()) throw Failure("option " + key + "=" + text + " is not a number");
    return value;
}

// A context in which what has no initial value starts with random contents.
VerilatedContext* random_context(int seed) {
    auto context = std::make_unique<VerilatedContext>();
    context->randReset(2);
    context->randSeed(seed);
    return context.release();
}

}  // namespace

// Verilator calls these where $stop, $error or $fatal would end a stand-alone simulation.
void vl_stop(const char* file, int line, const char* hierarchy) {
    throw Failure(std::string("assertion failed at ") + file + ":" + std::to_string(line) + " in " + hierarchy);
}
void vl_fatal(const char* file, int line, const char* hierarchy, const char* message) {
    throw Failure(std::string(message) + " at " + file + ":" + std::to_string(line) + " in " + hierarchy);
}

Options::Options(const char* text) {
    const std::string all = text ? text : "";
    for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find(';', at), all.size());
        const std::string item = all.substr(at, end - at);
        at = end + 1;
        if (item.empty()) continue;
        const size_t equals = item.find('=');
        const std::string key = item.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
        if (key == "memory") {
            memory_bytes = number(key, value);
        } else if (key == "read_latency") {
            read_latency = static_cast<unsigned>(number(key, value));
        } else if (key == "write_latency") {
            write_latency = static_cast<unsigned>(number(key, value));
        } else if (key == "rate") {
            rate = static_cast<unsigned>(number(key, value));
        } else if (key == "seed") {
            const uint64_t drawn = number(key, value);
            if (drawn == 0 || drawn > INT32_MAX) throw Failure("option seed=" + value + " must be from 1 to 2147483647");
            seed = static_cast<int>(drawn);
        } else if (key == "link") {
            link = value;
        } else {
            throw Failure("unknown option " + item + ": memory, link, read_latency, write_latency, rate and seed exist");
        }
    }
}

HostMemory::HostMemory(uint64_t bytes) : bytes_(bytes) {
    void* mapped = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw Failure("cannot map " + std::to_string(bytes) + " bytes of host memory");
    data_ = static_cast<uint8_t*>(mapped);
}

HostMemory::~HostMemory() { munmap(data_, bytes_ ? bytes_ : 1); }

void HostMemory::check(uint64_t address, uint64_t length) const {
    if (!holds(address, length)) {
        throw Failure("host memory has " + std::to_string(bytes_) + " bytes: no " + std::to_string(length) + " at " +
                      std::to_string(address));
    }
}

Simulation::Simulation(const Options& options)
    : memory(options.memory_bytes), context_(random_context(options.seed)), top_(new Vtop(context_.get())) {}

Simulation::~Simulation() { top_->final(); }

void Simulation::reset() {
    // The reset is asynchronous: its falling edge is shown, whatever the pins held before.
    top_->clk_i = 0;
    top_->rst_ni = 1;
    rest();
    top_->eval();
    top_->rst_ni = 0;
    for (int i = 0; i < 8; ++i) tick();
    top_->rst_ni = 1;
    // The shell holds the core in reset for a few cycles more.
    for (int i = 0; i < 16; ++i) tick();
    events_.clear();
}

void Simulation::tick() {
#ifdef RINGSMITH_FAULT_PIN
    top_->fault_i = cycles >= fault_from_ && cycles < fault_until_;
#endif
    top_->eval();
    record_events();
    sample();
    top_->clk_i = 1;
    top_->eval();
    drive();
    top_->clk_i = 0;
    top_->eval();
    context_->timeInc(1);
    ++cycles;
    if (stop_ && cycles % RS_STOP_CYCLES == 0 && stop_(stop_context_)) throw Interrupted();
}

void Simulation::record_events() {
    const unsigned starts = top_->ev_start_o, ends = top_->ev_end_o;
    if ((starts | ends) == 0) return;
    for (uint8_t unit = 0; unit < 3; ++unit) {
        if (ends >> unit & 1) events_.push_back({top_->cycles_o, top_->ev_end_idx_o[unit], unit, 1, 0, 0});
        if (starts >> unit & 1) {
            const auto opcode = static_cast<uint8_t>(top_->ev_start_cmd_o[2 * unit] & 63);
            events_.push_back({top_->cycles_o, top_->ev_start_idx_o[unit], unit, 0, opcode, 0});
        }
    }
}

uint64_t Simulation::take_events(rs_event* out, uint64_t capacity) {
    uint64_t taken = 0;
    for (; taken < capacity && !events_.empty(); ++taken) {
        out[taken] = events_.front();
        events_.pop_front();
    }
    return taken;
}

#ifdef RINGSMITH_FAULT_PIN
void Simulation::inject_fault(uint64_t after, uint64_t length) {
    fault_from_ = cycles + after;
    fault_until_ = fault_from_ + length;
}
#else
void Simulation::inject_fault(uint64_t, uint64_t) { throw Failure("this build has no pin that makes results wrong"); }
#endif

void Simulation::step(uint64_t count) {
    while (count--) tick();
}

void Simulation::proceed(uint64_t count) {
    step(count);
    if (!hang_ && transfer_waits()) serve_transfer();
}

int Simulation::run(uint64_t max_cycles) {
    const uint64_t limit = cycles + max_cycles;
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
        if (cycles >= limit) return 2;
        write_register(RS_IRQ_STATUS, 7);
        // An event between the two accesses above has left its mark in STATUS, not in IRQ_STATUS: look once more.
        const uint32_t again = read_register(RS_STATUS);
        if (again >> RS_STATUS_IDLE_SHIFT & 1 || again >> RS_STATUS_FAILED_SHIFT & 1) continue;
        if ((again >> RS_STATUS_TRANSFER_SHIFT & 1) && !hang_) continue;
        while (!top_->irq_o && cycles < limit) tick();
    }
}
