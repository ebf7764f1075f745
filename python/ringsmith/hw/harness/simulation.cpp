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
#ifdef RS_WAVEFORM
    context->traceEverOn(true);
#endif
    return context.release();
}

#ifdef RS_WAVEFORM
// Of the devices that are opened next.
std::string waveform_path;
uint64_t waveform_every = 1;
#endif

}  // namespace

#ifdef RS_WAVEFORM
extern "C" void rs_waveform(const char* path, uint64_t every) {
    waveform_path = path;
    waveform_every = every ? every : 1;
}
#endif

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
        } else if (key == "registers") {
            registers = value;
        } else {
            throw Failure("unknown option " + item + ": memory, link, registers, read_latency, write_latency, rate and seed exist");
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
    : memory(options.memory_bytes), context_(random_context(options.seed)), top_(new Vtop(context_.get())) {
#ifdef RS_WAVEFORM
    if (waveform_path.empty()) return;
    waveform_ = std::make_unique<Waveform>();
    top_->trace(waveform_.get(), 99);
    waveform_->open(waveform_path.c_str());
    if (!waveform_->isOpen()) throw Failure("cannot write the waveform " + waveform_path);
#endif
}

Simulation::~Simulation() {
    top_->final();
#ifdef RS_WAVEFORM
    if (waveform_) waveform_->close();
#endif
}

void Simulation::record() {
#ifdef RS_WAVEFORM
    if (!waveform_) return;
    if (working() && worked_ == 0) start_ = cycles;
    const bool first = working() && worked_++ % waveform_every == 0;
    if (first || second_) waveform_->dump(cycles - start_);
    second_ = first;
#endif
}

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
}

void Simulation::tick() {
    before_edge();
    top_->eval();
    record();
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

void Simulation::step(uint64_t count) {
    while (count--) tick();
}

int Simulation::run(uint64_t) { throw Failure("this top runs no commands"); }

int Simulation::run_program(uint64_t) { throw Failure("this top has no controller"); }

void Simulation::stream(uint64_t, uint64_t, uint64_t, uint32_t) { throw Failure("this top has no AXI4-Stream port"); }

uint64_t Simulation::pins(const uint8_t*, uint64_t, uint8_t*, uint64_t, uint64_t) { throw Failure("this top has no UART"); }

uint64_t Simulation::take_events(rs_event*, uint64_t) { return 0; }

void Simulation::inject_bus_error(uint64_t, uint64_t) { throw Failure("this host has no memory bus"); }

void Simulation::inject_fault(uint64_t, uint64_t) { throw Failure("this build has no pin that makes results wrong"); }
