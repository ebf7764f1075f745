// SPDX-License-Identifier: Apache-2.0
// Bytes over a UART, bit by bit: what every top with a serial port has.
#ifndef RINGSMITH_UART_LINE_H
#define RINGSMITH_UART_LINE_H
#include "coprocessor.h"

// Cycles after which a device that says nothing is taken to be silent.
constexpr uint64_t kPatience = 2'000'000;

class UartLine : public Coprocessor {
  protected:
    using Coprocessor::Coprocessor;

    void patient_tick(uint64_t limit) {
        if (cycles >= limit) throw Failure("the serial link does not answer");
        tick();
    }

    void send_uart(uint8_t value) {
        const unsigned bits = value << 1 | 1u << 9;
        for (int bit = 0; bit < 10; ++bit) {
            top_->uart_rx_i = bits >> bit & 1;
            step(RS_UART_DIVISOR);
        }
    }

    uint8_t receive_uart(uint64_t limit) {
        while (top_->uart_tx_o) patient_tick(limit);
        step(RS_UART_DIVISOR / 2);
        uint8_t value = 0;
        for (int bit = 0; bit < 8; ++bit) {
            step(RS_UART_DIVISOR);
            value = static_cast<uint8_t>(value >> 1 | top_->uart_tx_o << 7);
        }
        step(RS_UART_DIVISOR);
        if (!top_->uart_tx_o) throw Failure("the UART's stop bit is low");
        return value;
    }
};

#endif
