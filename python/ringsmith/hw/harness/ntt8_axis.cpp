// SPDX-License-Identifier: Apache-2.0
// The host of rs_ntt8_axis: AXI4-Stream source and sink, and the registers of spec/ntt8.rdl that this top has on ports.
#include "ntt8.h"
#include "simulation.h"

namespace {

constexpr uint64_t kPatience = 1000;
constexpr unsigned kPoints = 8, kBeatBytes = 4 * kPoints;

// Set bits [low, low + width) of a wide Verilator port.
template <typename Port>
void put(Port& port, unsigned low, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++) {
        const uint32_t bit = uint32_t{1} << ((low + i) % 32);
        if (value >> i & 1) port[(low + i) / 32] |= bit;
        else port[(low + i) / 32] &= ~bit;
    }
}

class Ntt8Axis final : public Simulation {
  public:
    explicit Ntt8Axis(const Options& options) : Simulation(options) { reset(); }

    uint32_t read_register(uint32_t address) override { refuse("read", address); }

    void write_register(uint32_t address, uint32_t value) override {
        const unsigned entry = (address - RS8_TWIDDLE) / 4;
        if (address == RS8_MODULUS) {
            top_->modulus_i = value;
        } else if (address == RS8_MODULUS_BITS) {
            top_->mod_bits_i = value;
        } else if (address == RS8_BARRETT) {
            barrett_ = (barrett_ >> 32 << 32) | value;
        } else if (address == RS8_BARRETT + 4) {
            barrett_ = (uint64_t{value} << 32) | (barrett_ & UINT32_MAX);
        } else if (address >= RS8_TWIDDLE && entry < kPoints) {
            put(top_->twiddle_i, RS_WORD_BITS * entry, RS_WORD_BITS, value);
        } else {
            refuse("write", address);
        }
        top_->mu_i = barrett_;
        tick();
    }

    // A polynomial a beat, back to back; `user` 1 asks for inverses.
    void stream(uint64_t source, uint64_t sink, uint64_t beats, uint32_t user) override {
        memory.check(source, beats * kBeatBytes);
        memory.check(sink, beats * kBeatBytes);
        uint64_t sent = 0, received = 0;
        top_->m_axis_tready_i = 1;
        top_->s_axis_tuser_i = user & 1;
        for (uint64_t idle = 0; received < beats && idle < kPatience; idle++) {
            top_->s_axis_tvalid_i = sent < beats;
            if (sent < beats) std::memcpy(&top_->s_axis_tdata_i[0], memory.at(source + sent * kBeatBytes), kBeatBytes);
            top_->eval();
            const bool taken = sent < beats && top_->s_axis_tready_o;
            if (top_->m_axis_tvalid_o) {
                std::memcpy(memory.at(sink + received * kBeatBytes), &top_->m_axis_tdata_o[0], kBeatBytes);
                received++;
                idle = 0;
            }
            tick();
            sent += taken;
        }
        top_->s_axis_tvalid_i = 0;
        if (received != beats) throw Failure("the stream stands still");
    }

  protected:
    void rest() override { top_->s_axis_tvalid_i = top_->m_axis_tready_i = 0; }
    void sample() override {}
    void drive() override {}

  private:
    [[noreturn]] static void refuse(const char* what, uint32_t address) {
        throw Failure(std::string("bus error: register ") + what + " at " + std::to_string(address) + ": not a port of this top");
    }

    uint64_t barrett_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<Ntt8Axis>(options); }
