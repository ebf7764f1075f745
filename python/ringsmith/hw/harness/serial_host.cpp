// SPDX-License-Identifier: Apache-2.0
// The host of rs_top_serial, or of a board's top around it: frames (see rtl/host/rs_serial_pkg.sv) over its lines.
//
// It serves LOAD and STORE from host memory with the same buffer layout as the AXI4 host: buffer b, lane l at
// (b * lanes + l) * n_max * coefficient bytes.
#ifdef RS_BOARD
#include "board_lines.h"
#else
#include "serial_lines.h"
#endif

namespace {

constexpr uint8_t kWriteReg = 0x10, kReadReg = 0x11, kWriteData = 0x20, kReadData = 0x21, kOk = 0xA5, kBad = 0x5A;
// A frame's data: long enough that its header does not count, short enough for any line.
constexpr uint64_t kFrameBytes = 1 << 16;

class SerialHost final : public Lines {
  public:
    explicit SerialHost(const Options& options) : Lines(options), data_line_(line("link", options.link, kUsual)),
          register_line_(line("registers", options.registers, data_line_)) {
        reset();
        step(kSettle);
        const uint32_t shape = read_register(RS_SHAPE), capacity = read_register(RS_CAPACITY);
        lanes_ = shape >> RS_SHAPE_LANES_SHIFT & RS_SHAPE_LANES_MASK;
        log2_n_max_ = shape >> RS_SHAPE_LOG2_N_MAX_SHIFT & RS_SHAPE_LOG2_N_MAX_MASK;
        coefficient_bytes_ = capacity >> RS_CAPACITY_WORD_BYTES_SHIFT & RS_CAPACITY_WORD_BYTES_MASK;
        const uint32_t serial = read_register(RS_SERIAL_KHZ), clock = read_register(RS_CLOCK_KHZ);
        set_spi_cycles(serial ? (clock + serial - 1) / serial : 2);
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
        begin(header[0] == kWriteReg || header[0] == kReadReg ? register_line_ : data_line_);
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

    // Of frames of data, of register accesses, of the present frame.
    std::string data_line_, register_line_;
    uint64_t lanes_ = 1, coefficient_bytes_ = 1;
    unsigned log2_n_max_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<SerialHost>(options); }
