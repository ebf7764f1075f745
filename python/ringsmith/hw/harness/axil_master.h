// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite master: one transaction at a time, as a processor's load or store. For every top with the pins s_axil_*.
#ifndef RINGSMITH_AXIL_MASTER_H
#define RINGSMITH_AXIL_MASTER_H
#include "simulation.h"

class AxilMaster {
  public:
    static constexpr unsigned kOkay = 0;

    AxilMaster(Simulation& simulation, Vtop& top) : simulation_(simulation), top_(top) {}

    // Each throws Failure where no answer comes; the answer is AXI's response.
    unsigned read(uint32_t address, uint32_t& value) {
        top_.s_axil_araddr_i = address;
        top_.s_axil_arvalid_i = 1;
        top_.s_axil_rready_i = 1;
        const uint64_t limit = simulation_.cycles + kPatience;
        while (!top_.s_axil_rvalid_o) patient_tick(limit, "read", address);
        value = top_.s_axil_rdata_o;
        const unsigned answer = top_.s_axil_rresp_o;
        simulation_.tick();
        top_.s_axil_rready_i = 0;
        return answer;
    }

    unsigned write(uint32_t address, uint32_t value) {
        top_.s_axil_awaddr_i = address;
        top_.s_axil_awvalid_i = 1;
        top_.s_axil_wdata_i = value;
        top_.s_axil_wstrb_i = 15;
        top_.s_axil_wvalid_i = 1;
        top_.s_axil_bready_i = 1;
        const uint64_t limit = simulation_.cycles + kPatience;
        while (!top_.s_axil_bvalid_o) patient_tick(limit, "write", address);
        const unsigned answer = top_.s_axil_bresp_o;
        simulation_.tick();
        top_.s_axil_bready_i = 0;
        return answer;
    }

    // The simulation's hooks of the same names.
    void rest() {
        top_.s_axil_awvalid_i = top_.s_axil_wvalid_i = top_.s_axil_bready_i = 0;
        top_.s_axil_arvalid_i = top_.s_axil_rready_i = 0;
    }

    void sample() {
        accepted_ar_ = top_.s_axil_arvalid_i && top_.s_axil_arready_o;
        accepted_aw_ = top_.s_axil_awvalid_i && top_.s_axil_awready_o;
        accepted_w_ = top_.s_axil_wvalid_i && top_.s_axil_wready_o;
    }

    void drive() {
        if (accepted_ar_) top_.s_axil_arvalid_i = 0;
        if (accepted_aw_) top_.s_axil_awvalid_i = 0;
        if (accepted_w_) top_.s_axil_wvalid_i = 0;
    }

  private:
    static constexpr uint64_t kPatience = 1000;

    void patient_tick(uint64_t limit, const char* what, uint32_t address) {
        if (simulation_.cycles >= limit) {
            throw Failure(std::string("register ") + what + " at " + std::to_string(address) + " was never answered");
        }
        simulation_.tick();
    }

    Simulation& simulation_;
    Vtop& top_;
    bool accepted_ar_ = false, accepted_aw_ = false, accepted_w_ = false;
};

#endif
