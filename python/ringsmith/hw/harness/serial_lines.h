// SPDX-License-Identifier: Apache-2.0
// Bytes over the lines of rs_top_serial: SPI, UART or the byte port.
#ifndef RINGSMITH_SERIAL_LINES_H
#define RINGSMITH_SERIAL_LINES_H
#include "uart_line.h"

class Lines : public UartLine {
  protected:
    using UartLine::UartLine;

    // The line without an option; cycles from a reset until it answers.
    static constexpr const char* kUsual = "byte";
    static constexpr uint64_t kSettle = 0;

    // A line by its name in an option, or the default.
    static std::string line(const std::string& option, const std::string& name, const std::string& otherwise) {
        if (name.empty()) return otherwise;
        if (name == "byte" || name == "spi" || name == "uart") return name;
        throw Failure(option + "=" + name + ": this build has " + option + "=byte, spi and uart");
    }

    void set_spi_cycles(unsigned cycles) { spi_cycles_ = cycles; }

    void rest() override {
        top_->spi_sck_i = 0;
        top_->spi_mosi_i = 0;
        // A reset of the SPI clock's registers: a simulator sees its edge, not its level.
        top_->spi_csn_i = 0;
        top_->eval();
        top_->spi_csn_i = 1;
        top_->uart_rx_i = 1;
        top_->byte_in_valid_i = 0;
        top_->byte_out_ready_i = 0;
    }

    void begin(const std::string& line) {
        line_ = line;
        if (line_ == "spi") {
            top_->spi_csn_i = 0;
            step(8);
        }
    }

    void finish() {
        if (line_ == "spi") {
            step(2);
            top_->spi_csn_i = 1;
            step(8);
        }
    }

    void send(uint8_t value) {
        if (line_ == "spi") {
            exchange_spi(value);
        } else if (line_ == "uart") {
            send_uart(value);
        } else {
            top_->byte_in_data_i = value;
            top_->byte_in_valid_i = 1;
            top_->eval();
            const uint64_t limit = cycles + kPatience;
            while (!top_->byte_in_ready_o) patient_tick(limit);
            tick();
            top_->byte_in_valid_i = 0;
        }
    }

    // The next byte; `first`: the first of an answer, which fill bytes (0x00) may precede on SPI.
    uint8_t receive(bool first) {
        const uint64_t limit = cycles + kPatience;
        if (line_ == "spi") {
            uint8_t value = exchange_spi(0);
            while (first && value == 0) {
                if (cycles >= limit) throw Failure("the serial link does not answer");
                value = exchange_spi(0);
            }
            return value;
        }
        if (line_ == "uart") return receive_uart(limit);
        top_->byte_out_ready_i = 1;
        top_->eval();
        while (!top_->byte_out_valid_o) patient_tick(limit);
        const uint8_t value = top_->byte_out_data_o;
        tick();
        top_->byte_out_ready_i = 0;
        return value;
    }

    // Mode 0: data changes while the clock is low and is taken at its rising edge.
    uint8_t exchange_spi(uint8_t out) {
        uint8_t in = 0;
        const unsigned high = spi_cycles_ / 2, low = spi_cycles_ - high;
        for (int bit = 7; bit >= 0; --bit) {
            top_->spi_mosi_i = out >> bit & 1;
            step(low);
            in = static_cast<uint8_t>(in << 1 | top_->spi_miso_o);
            top_->spi_sck_i = 1;
            step(high);
            top_->spi_sck_i = 0;
        }
        return in;
    }

  private:
    std::string line_;
    unsigned spi_cycles_ = 8;
};

#endif
