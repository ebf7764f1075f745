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

#include "serial_frames.h"

namespace {

class SerialHost final : public Lines {
  public:
    explicit SerialHost(const Options& options) : Lines(options),
          data_line_(options.link == kPins ? kUsual : line("link", options.link, kUsual)),
          register_line_(line("registers", options.registers, data_line_)) {
        reset();
        if (options.link == kPins) return;
        greet();
        const uint32_t shape = read_register(RS_SHAPE), capacity = read_register(RS_CAPACITY);
        lanes_ = shape >> RS_SHAPE_LANES_SHIFT & RS_SHAPE_LANES_MASK;
        log2_n_max_ = shape >> RS_SHAPE_LOG2_N_MAX_SHIFT & RS_SHAPE_LOG2_N_MAX_MASK;
        coefficient_bytes_ = capacity >> RS_CAPACITY_WORD_BYTES_SHIFT & RS_CAPACITY_WORD_BYTES_MASK;
        const uint32_t serial = read_register(RS_SERIAL_KHZ), clock = read_register(RS_CLOCK_KHZ);
        set_spi_cycles(serial ? (clock + serial - 1) / serial : 2);
        link = {};
    }

    void reset() override {
        Lines::reset();
        step(kSettle);
        // Once the lines are known, a device is greeted after each reset.
        if (frame_bytes_) greet();
    }

    uint32_t read_register(uint32_t address) override {
        uint8_t data[4];
        exchange(kFrameReadReg, address, nullptr, data, 4, "no register at " + std::to_string(address));
        return static_cast<uint32_t>(number(data, 4));
    }

    void write_register(uint32_t address, uint32_t value) override {
        const uint8_t data[6] = {byte(address, 0), byte(address, 1), byte(value, 0), byte(value, 1), byte(value, 2), byte(value, 3)};
        exchange(kFrameWriteReg, 0, data, nullptr, 6, "no register at " + std::to_string(address));
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
            for (uint64_t at = 0; at < used; at += frame_bytes_) {
                move(memory.at(start + at), std::min(frame_bytes_, used - at), store);
            }
        }
    }

  private:
    // The link of a device whose UART another program speaks to, by rs_line.
    static constexpr const char* kPins = "pins";
    // Fields of a header; with the marker before and the CRC behind them.
    static constexpr size_t kFields = 6, kHeader = 11, kCrc = 4;

    static uint8_t byte(uint64_t value, unsigned index) { return static_cast<uint8_t>(value >> (8 * index)); }

    static uint64_t number(const uint8_t* data, unsigned bytes) {
        uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(data[i]) << (8 * i);
        return value;
    }

    static uint32_t crc(const uint8_t* data, size_t bytes) {
        uint32_t state = ~0u;
        for (size_t i = 0; i < bytes; ++i) {
            state ^= data[i];
            for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? 0xEDB88320u : 0);
        }
        return ~state;
    }

    void greet() {
        uint8_t data[2];
        sequence_ = 0;
        exchange(kFrameGreet, 0, nullptr, data, 2, "the device does not greet");
        if (data[0] != kFrameVersion) throw Failure("frames of version " + std::to_string(data[0]) + ", this host speaks another");
        frame_bytes_ = uint64_t{1} << data[1];
    }

    void move(uint8_t* data, uint64_t length, bool store) {
        if (store) {
            exchange(kFrameReadData, 0, nullptr, data, length, "the device refused to give data");
        } else {
            exchange(kFrameWriteData, 0, data, nullptr, length, "the device refused data");
        }
    }

    // Send a command with the data of `out`, or of none; receive its answer with `length` bytes of `in`, or none.
    void exchange(unsigned kind, uint32_t address, const uint8_t* out, uint8_t* in, uint64_t length, const std::string& refused) {
        const uint64_t started = cycles;
        const uint64_t told = kind == kFrameGreet ? 0 : length;
        std::vector<uint8_t> bytes = {kFrameCommand, byte(kind, 0), sequence_, byte(told, 0), byte(told, 1), byte(address, 0), byte(address, 1)};
        append_crc(bytes, 1);
        if (out) {
            bytes.insert(bytes.end(), out, out + length);
            append_crc(bytes, kHeader);
        }
        begin(kind == kFrameWriteData || kind == kFrameReadData ? data_line_ : register_line_);
        for (const uint8_t value : bytes) send(value);
        const uint64_t heard = answer(in, length, refused);
        finish();
        ++sequence_;
        ++link.frames;
        link.bytes_to_device += bytes.size();
        link.bytes_from_device += heard;
        link.cycles += cycles - started;
    }

    static void append_crc(std::vector<uint8_t>& bytes, size_t from) {
        const uint32_t value = crc(bytes.data() + from, bytes.size() - from);
        for (unsigned i = 0; i < kCrc; ++i) bytes.push_back(byte(value, i));
    }

    // The bytes of an answer.
    uint64_t answer(uint8_t* in, uint64_t length, const std::string& refused) {
        uint8_t header[kHeader], tail[kCrc];
        for (size_t i = 0; i < kHeader; ++i) header[i] = receive(i == 0);
        const uint8_t* fields = header + 1;
        if (header[0] != kFrameAnswer || crc(fields, kFields) != number(fields + kFields, kCrc) || fields[1] != sequence_) {
            throw Failure("the serial link's answer is damaged");
        }
        if (fields[0] != kFrameOk) finish();
        if (fields[0] == kFrameRefused) throw Failure(refused);
        if (fields[0] != kFrameOk) throw Failure("the serial link answered code " + std::to_string(fields[0]));
        const uint64_t wanted = in ? length : 0;
        if (number(fields + 2, 2) != wanted) throw Failure("the serial link's answer has another length");
        if (!wanted) return kHeader;
        for (uint64_t i = 0; i < length; ++i) in[i] = receive(false);
        for (uint8_t& value : tail) value = receive(false);
        if (crc(in, length) != number(tail, kCrc)) throw Failure("the serial link's answer is damaged");
        return kHeader + length + kCrc;
    }

    // Of frames of data, of register accesses, of the present frame.
    std::string data_line_, register_line_;
    uint64_t lanes_ = 1, coefficient_bytes_ = 1;
    unsigned log2_n_max_ = 0;
    // Data of a frame at most, which the greeting tells; the number of the next frame.
    uint64_t frame_bytes_ = 0;
    uint8_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<SerialHost>(options); }
