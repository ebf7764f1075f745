// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite master for rs_ntt8_axil: one transaction at a time, as a processor's load or store.
#include "ntt8_common.h"

void rest(Vtop& top) {
    top.s_axil_awvalid_i = top.s_axil_wvalid_i = top.s_axil_bready_i = 0;
    top.s_axil_arvalid_i = top.s_axil_rready_i = 0;
}

int rs8_write(void* device, uint32_t address, uint32_t value) {
    Model& m = of(device);
    m.top->s_axil_awvalid_i = 1;
    m.top->s_axil_wvalid_i = 1;
    m.top->s_axil_awaddr_i = address & 0xFF;
    m.top->s_axil_wdata_i = value;
    m.top->s_axil_wstrb_i = 0xF;
    m.top->s_axil_bready_i = 1;
    for (int i = 0; i < kPatienceCycles; i++) {
        m.top->eval();
        const bool accepted = m.top->s_axil_awready_o && m.top->s_axil_wready_o;
        m.tick();
        if (!accepted) continue;
        m.top->s_axil_awvalid_i = 0;
        m.top->s_axil_wvalid_i = 0;
        for (; i < kPatienceCycles; i++) {
            m.top->eval();
            const bool answered = m.top->s_axil_bvalid_o;
            const int response = m.top->s_axil_bresp_o;
            m.tick();
            if (answered) return response == 0 ? kOk : kBusError;
        }
    }
    return kNoAnswer;
}

int rs8_read(void* device, uint32_t address, uint32_t* value) {
    Model& m = of(device);
    m.top->s_axil_arvalid_i = 1;
    m.top->s_axil_araddr_i = address & 0xFF;
    m.top->s_axil_rready_i = 1;
    for (int i = 0; i < kPatienceCycles; i++) {
        m.top->eval();
        const bool accepted = m.top->s_axil_arready_o;
        m.tick();
        if (!accepted) continue;
        m.top->s_axil_arvalid_i = 0;
        for (; i < kPatienceCycles; i++) {
            m.top->eval();
            const bool answered = m.top->s_axil_rvalid_o;
            *value = m.top->s_axil_rdata_o;
            const int response = m.top->s_axil_rresp_o;
            m.tick();
            if (answered) return response == 0 ? kOk : kBusError;
        }
    }
    return kNoAnswer;
}

int rs8_configure(void*, uint32_t, uint32_t, uint64_t, const uint32_t*) { return kNoSuchShell; }
int rs8_stream(void*, const uint32_t*, int, uint32_t*, uint64_t) { return kNoSuchShell; }
