// SPDX-License-Identifier: Apache-2.0
// Bytes over a UART, bit by bit: what every top with a serial port has.
#ifndef RINGSMITH_UART_LINE_H
#define RINGSMITH_UART_LINE_H
#include "coprocessor.h"

// Cycles after which a device that says nothing is taken to be silent.
constexpr uint64_t kPatience = 2'000'000;

class UartLine : public Coprocessor {
  public:
    uint64_t pins(const uint8_t* in, uint64_t count, uint8_t* out, uint64_t room, uint64_t clocks) override {
        to_device_.insert(to_device_.end(), in, in + count);
        uint64_t came = 0;
        for (; clocks > 0; --clocks) {
            if (sending_ == 0 && !to_device_.empty()) {
                bits_ = to_device_.front() << 1 | 1u << 9;
                to_device_.pop_front();
                sending_ = kByteCycles;
            }
            top_->uart_rx_i = sending_ == 0 || (bits_ >> (kByteCycles - sending_) / RS_UART_DIVISOR & 1);
            if (sending_ > 0) --sending_;
            tick();
            if (listen() && came < room) out[came++] = heard_;
        }
        return came;
    }

    void reset() override {
        to_device_.clear();
        sending_ = heard_for_ = 0;
        Coprocessor::reset();
    }

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

  private:
    static constexpr unsigned kByteCycles = 10 * RS_UART_DIVISOR;

    // Take the level of a cycle; whether a byte is whole. One without its stop bit is dropped.
    bool listen() {
        if (heard_for_ == 0 && top_->uart_tx_o) return false;
        const unsigned bit = heard_for_ / RS_UART_DIVISOR, within = heard_for_ % RS_UART_DIVISOR;
        ++heard_for_;
        if (within != RS_UART_DIVISOR / 2) return false;
        if (bit >= 1 && bit <= 8) heard_ = static_cast<uint8_t>(heard_ >> 1 | top_->uart_tx_o << 7);
        if (bit < 9) return false;
        heard_for_ = 0;
        return top_->uart_tx_o;
    }

    // Bytes that wait; the one on the line, its cycles that are left; cycles since the start bit of the one that comes.
    std::deque<uint8_t> to_device_;
    unsigned bits_ = 0, sending_ = 0, heard_for_ = 0;
    uint8_t heard_ = 0;
};

#endif
