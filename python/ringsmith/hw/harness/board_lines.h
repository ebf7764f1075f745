// SPDX-License-Identifier: Apache-2.0
// Bytes over the serial port of a board's top, its only line.
#ifndef RINGSMITH_BOARD_LINES_H
#define RINGSMITH_BOARD_LINES_H
#include "uart_line.h"

class Lines : public UartLine {
  protected:
    using UartLine::UartLine;

    static constexpr const char* kUsual = "uart";
    // The PLL's lock and the stages of the reset's synchroniser, and some.
    static constexpr uint64_t kSettle = 64;

    static std::string line(const std::string& option, const std::string& name, const std::string& otherwise) {
        if (name.empty() || name == otherwise) return otherwise;
        throw Failure(option + "=" + name + ": a board has " + option + "=uart alone");
    }

    void set_spi_cycles(unsigned) {}
    void rest() override { top_->uart_rx_i = 1; }
    void begin(const std::string&) {}
    void finish() {}
    void send(uint8_t value) { send_uart(value); }
    uint8_t receive(bool) { return receive_uart(cycles + kPatience); }
};

#endif
