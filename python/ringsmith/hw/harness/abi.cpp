// SPDX-License-Identifier: Apache-2.0
// The ABI's functions: each catches failures and leaves their text for rs_error.
#include "abi.h"

#include "simulation.h"

namespace {

thread_local std::string open_error;

Simulation& of(void* device) { return *static_cast<Simulation*>(device); }

// Run one action on a device that is still alive; -1 and the text on failure.
template <typename Action>
int guarded(void* device, Action action) {
    Simulation& simulation = of(device);
    if (simulation.dead) return -2;
    try {
        return action(simulation);
    } catch (const Interrupted&) {
        return RS_INTERRUPTED;
    } catch (const std::exception& failure) {
        simulation.error = failure.what();
        simulation.dead = simulation.error.starts_with("assertion failed");
        return -1;
    }
}

}  // namespace

void* rs_open(const char* options) {
    try {
        return make_simulation(Options(options)).release();
    } catch (const std::exception& failure) {
        open_error = failure.what();
        return nullptr;
    }
}

const char* rs_open_error(void) { return open_error.c_str(); }

void rs_close(void* device) { delete static_cast<Simulation*>(device); }

const char* rs_error(void* device) { return of(device).error.c_str(); }

int rs_reset(void* device) {
    return guarded(device, [](Simulation& s) {
        s.reset();
        return 0;
    });
}

int rs_reg_read(void* device, uint32_t address, uint32_t* value) {
    return guarded(device, [=](Simulation& s) {
        *value = s.read_register(address);
        return 0;
    });
}

int rs_reg_write(void* device, uint32_t address, uint32_t value) {
    return guarded(device, [=](Simulation& s) {
        s.write_register(address, value);
        return 0;
    });
}

int rs_mem_read(void* device, uint64_t address, uint8_t* out, uint64_t length) {
    return guarded(device, [=](Simulation& s) {
        s.memory.check(address, length);
        std::memcpy(out, s.memory.at(address), length);
        return 0;
    });
}

int rs_mem_write(void* device, uint64_t address, const uint8_t* in, uint64_t length) {
    return guarded(device, [=](Simulation& s) {
        s.memory.check(address, length);
        std::memcpy(s.memory.at(address), in, length);
        return 0;
    });
}

int rs_run(void* device, uint64_t max_cycles) {
    return guarded(device, [=](Simulation& s) { return s.run(max_cycles); });
}

int rs_run_program(void* device, uint64_t max_cycles) {
    return guarded(device, [=](Simulation& s) { return s.run_program(max_cycles); });
}

int rs_step(void* device, uint64_t cycles) {
    return guarded(device, [=](Simulation& s) {
        s.proceed(cycles);
        return 0;
    });
}

int rs_stream(void* device, uint64_t source, uint64_t sink, uint64_t beats, uint32_t user) {
    return guarded(device, [=](Simulation& s) {
        s.stream(source, sink, beats, user);
        return 0;
    });
}

int64_t rs_line(void* device, const uint8_t* in, uint64_t count, uint8_t* out, uint64_t room, uint64_t cycles) {
    return guarded(device, [=](Simulation& s) { return static_cast<int>(s.pins(in, count, out, room, cycles)); });
}

void rs_watch(void* device, int (*stop)(void*), void* context) { of(device).watch(stop, context); }

uint64_t rs_cycles(void* device) { return of(device).cycles; }

uint64_t rs_events(void* device, rs_event* out, uint64_t capacity) { return of(device).take_events(out, capacity); }

void rs_link(void* device, rs_link_use* out) { *out = of(device).link; }

int rs_inject_bus_error(void* device, uint64_t address, uint64_t length) {
    return guarded(device, [=](Simulation& s) {
        s.inject_bus_error(address, length);
        return 0;
    });
}

int rs_inject_hang(void* device, int on) {
    return guarded(device, [=](Simulation& s) {
        s.inject_hang(on != 0);
        return 0;
    });
}

int rs_inject_fault(void* device, uint64_t after_cycles, uint64_t for_cycles) {
    return guarded(device, [=](Simulation& s) {
        s.inject_fault(after_cycles, for_cycles);
        return 0;
    });
}
