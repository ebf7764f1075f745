// SPDX-License-Identifier: Apache-2.0
// The host of rs_top_serial: frames over SPI, UART or the byte port (see rtl/host/rs_serial_pkg.sv).
//
// It serves LOAD and STORE from host memory with the same buffer layout as the AXI4 host: buffer b, lane l at
// (b * lanes + l) * n_max * coefficient bytes.
#include "coprocessor.h"

namespace {

constexpr uint8_t kWriteReg = 0x10, kReadReg = 0x11, kWriteData = 0x20, kReadData = 0x21, kOk = 0xA5, kBad = 0x5A;
constexpr uint64_t kPatience = 2'000'000;
// A frame's data: long enough that its header does not count, short enough for any line.
constexpr uint64_t kFrameBytes = 1 << 16;

class SerialHost final : public Coprocessor {
  public:
    explicit SerialHost(const Options& options) : Coprocessor(options), data_line_(line("link", options.link, "byte")),
          register_line_(line("registers", options.registers, data_line_)) {
        reset();
        const uint32_t shape = read_register(RS_SHAPE), capacity = read_register(RS_CAPACITY);
        lanes_ = shape >> RS_SHAPE_LANES_SHIFT & RS_SHAPE_LANES_MASK;
        log2_n_max_ = shape >> RS_SHAPE_LOG2_N_MAX_SHIFT & RS_SHAPE_LOG2_N_MAX_MASK;
        coefficient_bytes_ = capacity >> RS_CAPACITY_WORD_BYTES_SHIFT & RS_CAPACITY_WORD_BYTES_MASK;
        const uint32_t serial = read_register(RS_SERIAL_KHZ), clock = read_register(RS_CLOCK_KHZ);
        spi_cycles_ = serial ? (clock + serial - 1) / serial : 2;
        link = {};
    }

    uint32_t read_register(uint32_t address) override {
        uint8_t data[4];
        frame({kReadReg, byte(address, 0), byte(address, 1)}, nullptr, 0, data, 4, "no register at " + std::to_string(address));
        return data[0] | data[1] << 8 | data[2] << 16 | static_cast<uint32_t>(data[3]) << 24;
    }

    void write_register(uint32_t address, uint32_t value) override {
        frame({kWriteReg, byte(address, 0), byte(address, 1), byte(value, 0), byte(value, 1), byte(value, 2), byte(value, 3)}, nullptr, 0,
              nullptr, 0, "no register at " + std::to_string(address));
    }

    void inject_bus_error(uint64_t, uint64_t) override { throw Failure("a serial link has no bus errors"); }

  protected:
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
    void drive() override {}

    bool transfer_waits() override { return (read_register(RS_STATUS) >> RS_STATUS_TRANSFER_SHIFT & 1) != 0; }

    void serve_transfer() override {
        const uint32_t transfer = read_register(RS_TRANSFER);
        const uint64_t buffer = transfer >> RS_TRANSFER_BUFFER_SHIFT & RS_TRANSFER_BUFFER_MASK;
        const unsigned log2_n = transfer >> RS_TRANSFER_LOG2_N_SHIFT & RS_TRANSFER_LOG2_N_MASK;
        const bool store = transfer >> RS_TRANSFER_STORE_SHIFT & 1;
        const uint64_t lane_bytes = coefficient_bytes_ << log2_n_max_, used = coefficient_bytes_ << log2_n;
        for (uint64_t lane = 0; lane < lanes_; ++lane) {
            const uint64_t start = (buffer * lanes_ + lane) * lane_bytes;
            memory.check(start, used);
            for (uint64_t at = 0; at < used; at += kFrameBytes) {
                move(memory.at(start + at), std::min(kFrameBytes, used - at), store);
            }
        }
    }

  private:
    // A line by its name in an option, or the default.
    static std::string line(const std::string& option, const std::string& name, const std::string& otherwise) {
        if (name.empty()) return otherwise;
        if (name == "byte" || name == "spi" || name == "uart") return name;
        throw Failure(option + "=" + name + ": this build has " + option + "=byte, spi and uart");
    }

    static uint8_t byte(uint64_t value, unsigned index) { return static_cast<uint8_t>(value >> (8 * index)); }

    void move(uint8_t* data, uint64_t length, bool store) {
        const std::vector<uint8_t> header = {store ? kReadData : kWriteData, byte(length, 0), byte(length, 1), byte(length, 2), byte(length, 3)};
        if (store) {
            frame(header, nullptr, 0, data, length, "the device refused to give data");
        } else {
            frame(header, data, length, nullptr, 0, "the device refused data");
        }
    }

    // Send a header and data, wait for Ok, receive the answer's data.
    void frame(const std::vector<uint8_t>& header, const uint8_t* out, uint64_t out_bytes, uint8_t* in, uint64_t in_bytes,
               const std::string& refused) {
        const uint64_t started = cycles;
        line_ = header[0] == kWriteReg || header[0] == kReadReg ? register_line_ : data_line_;
        begin();
        for (const uint8_t value : header) send(value);
        for (uint64_t i = 0; i < out_bytes; ++i) send(out[i]);
        const uint8_t answer = receive(true);
        if (answer == kOk) {
            for (uint64_t i = 0; i < in_bytes; ++i) in[i] = receive(false);
        }
        finish();
        ++link.frames;
        link.bytes_to_device += header.size() + out_bytes;
        link.bytes_from_device += 1 + (answer == kOk ? in_bytes : 0);
        link.cycles += cycles - started;
        if (answer == kBad) throw Failure(refused);
        if (answer != kOk) throw Failure("the serial link answered " + std::to_string(answer));
    }

    void begin() {
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

    void patient_tick(uint64_t limit) {
        if (cycles >= limit) throw Failure("the serial link does not answer");
        tick();
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

    // Of frames of data, of register accesses, of the present frame.
    std::string data_line_, register_line_, line_;
    uint64_t lanes_ = 1, coefficient_bytes_ = 1;
    unsigned log2_n_max_ = 0, spi_cycles_ = 8;
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<SerialHost>(options); }
