// SPDX-License-Identifier: Apache-2.0
// AXI4-Stream source and sink for rs_ntt8_axis: a polynomial a beat, back to back.
#include "ntt8_common.h"

namespace {

// Set bits [low, low + width) of a wide Verilator port.
template <typename Port>
void put(Port& port, unsigned low, unsigned width, uint64_t value) {
    for (unsigned i = 0; i < width; i++) {
        const uint32_t bit = uint32_t{1} << ((low + i) % 32);
        if (value >> i & 1) port[(low + i) / 32] |= bit;
        else port[(low + i) / 32] &= ~bit;
    }
}

}  // namespace

void rest(Vtop& top) { top.s_axis_tvalid_i = top.m_axis_tready_i = 0; }

int rs8_configure(void* device, uint32_t modulus, uint32_t bits, uint64_t barrett, const uint32_t* twiddles) {
    Model& m = of(device);
    m.top->modulus_i = modulus;
    m.top->mod_bits_i = bits;
    m.top->mu_i = barrett;
    for (unsigned i = 0; i < 8; i++) put(m.top->twiddle_i, RS_WORD_BITS * i, RS_WORD_BITS, twiddles[i]);
    m.tick();
    return kOk;
}

int rs8_stream(void* device, const uint32_t* input, int inverse, uint32_t* output, uint64_t count) {
    Model& m = of(device);
    uint64_t sent = 0, received = 0;
    m.top->m_axis_tready_i = 1;
    m.top->s_axis_tuser_i = inverse & 1;
    for (uint64_t idle = 0; received < count && idle < kPatienceCycles; idle++) {
        m.top->s_axis_tvalid_i = sent < count;
        for (unsigned i = 0; i < 8 && sent < count; i++) m.top->s_axis_tdata_i[i] = input[8 * sent + i];
        m.top->eval();
        const bool taken = sent < count && m.top->s_axis_tready_o;
        if (m.top->m_axis_tvalid_o) {
            for (unsigned i = 0; i < 8; i++) output[8 * received + i] = m.top->m_axis_tdata_o[i];
            received++;
            idle = 0;
        }
        m.tick();
        sent += taken;
    }
    m.top->s_axis_tvalid_i = 0;
    return received == count ? kOk : kNoAnswer;
}

int rs8_read(void*, uint32_t, uint32_t*) { return kNoSuchShell; }
int rs8_write(void*, uint32_t, uint32_t) { return kNoSuchShell; }
