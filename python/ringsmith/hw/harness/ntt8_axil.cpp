// SPDX-License-Identifier: Apache-2.0
// The host of rs_ntt8_axil: an AXI4-Lite master.
#include "axil_master.h"

namespace {

class Ntt8Axil final : public Simulation {
  public:
    explicit Ntt8Axil(const Options& options) : Simulation(options) { reset(); }

    uint32_t read_register(uint32_t address) override {
        uint32_t value = 0;
        if (registers_.read(address, value) != AxilMaster::kOkay) refuse("read", address);
        return value;
    }

    void write_register(uint32_t address, uint32_t value) override {
        if (registers_.write(address, value) != AxilMaster::kOkay) refuse("write", address);
    }

  protected:
    void rest() override { registers_.rest(); }
    void sample() override { registers_.sample(); }
    void drive() override { registers_.drive(); }

  private:
    [[noreturn]] static void refuse(const char* what, uint32_t address) {
        throw Failure(std::string("bus error: register ") + what + " at " + std::to_string(address) + " is refused");
    }

    AxilMaster registers_{*this, *top_};
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<Ntt8Axil>(options); }
