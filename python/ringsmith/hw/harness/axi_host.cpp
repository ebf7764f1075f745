// SPDX-License-Identifier: Apache-2.0
// The host of rs_top_axi: an AXI4-Lite master for the registers and an AXI4 slave that is the host memory.
#include "axil_master.h"
#include "coprocessor.h"

#include <algorithm>

namespace {

constexpr unsigned kOkay = 0, kSlaveError = 2, kDecodeError = 3;
// Bursts that wait at most: more than any latency hides.
constexpr size_t kOutstanding = 64;

struct Burst {
    uint64_t address, ready;
    unsigned beats;
};

class AxiHost final : public Coprocessor {
  public:
    explicit AxiHost(const Options& options)
        : Coprocessor(options), read_latency_(options.read_latency), write_latency_(options.write_latency), rate_(options.rate) {
        if (!options.link.empty() && options.link != "axi") throw Failure("link=" + options.link + ": this build has link=axi only");
        reset();
        beat_bytes_ = size_t{1} << top_->m_axi_arsize_o;
    }

    uint32_t read_register(uint32_t address) override {
        uint32_t value = 0;
        ++link.frames;
        if (registers_.read(address, value) != kOkay) throw Failure("no register at " + std::to_string(address));
        return value;
    }

    void write_register(uint32_t address, uint32_t value) override {
        ++link.frames;
        if (registers_.write(address, value) != kOkay) throw Failure("no register at " + std::to_string(address));
    }

    void inject_bus_error(uint64_t address, uint64_t length) override {
        bad_from_ = address;
        bad_bytes_ = length;
    }

  protected:
    void rest() override {
        registers_.rest();
        top_->m_axi_arready_i = top_->m_axi_rvalid_i = top_->m_axi_awready_i = 0;
        top_->m_axi_wready_i = top_->m_axi_bvalid_i = 0;
        reads_.clear();
        writes_.clear();
        answers_.clear();
        write_answer_ = kOkay;
    }

    // Which handshakes does the coming edge complete?
    void sample() override {
        Coprocessor::sample();
        if (!top_->rst_ni) return;
        if (top_->m_axi_arvalid_o && top_->m_axi_arready_i) {
            reads_.push_back({top_->m_axi_araddr_o, cycles + read_latency_, top_->m_axi_arlen_o + 1u});
        }
        if (top_->m_axi_awvalid_o && top_->m_axi_awready_i) {
            writes_.push_back({top_->m_axi_awaddr_o, 0, top_->m_axi_awlen_o + 1u});
        }
        if (top_->m_axi_rvalid_i && top_->m_axi_rready_o) read_taken();
        if (top_->m_axi_wvalid_o && top_->m_axi_wready_i) write_beat();
        if (top_->m_axi_bvalid_i && top_->m_axi_bready_o) answers_.pop_front();
        registers_.sample();
    }

    void drive() override {
        if (!top_->rst_ni) return;
        registers_.drive();
        top_->m_axi_arready_i = !hang_ && reads_.size() < kOutstanding;
        top_->m_axi_awready_i = !hang_ && writes_.size() < kOutstanding;
        top_->m_axi_wready_i = !hang_ && !writes_.empty() && free();
        top_->m_axi_bvalid_i = !hang_ && !answers_.empty() && answers_.front().ready <= cycles;
        if (top_->m_axi_bvalid_i) top_->m_axi_bresp_i = answers_.front().beats;
        top_->m_axi_rvalid_i = !hang_ && !reads_.empty() && reads_.front().ready <= cycles && free();
        if (top_->m_axi_rvalid_i) offer_read(reads_.front());
    }

  private:
    unsigned answer(uint64_t address) const {
        if (bad_bytes_ && address < bad_from_ + bad_bytes_ && bad_from_ < address + beat_bytes_) return kSlaveError;
        return memory.holds(address, beat_bytes_) ? kOkay : kDecodeError;
    }

    void offer_read(const Burst& burst) {
        const unsigned result = answer(burst.address);
        top_->m_axi_rresp_i = result;
        top_->m_axi_rlast_i = burst.beats == 1;
        if (result == kOkay) {
            std::memcpy(&top_->m_axi_rdata_i, memory.at(burst.address), beat_bytes_);
        } else {
            std::memset(&top_->m_axi_rdata_i, 0, beat_bytes_);
        }
    }

    // Bandwidth, in thousandths of a byte that `rate_` moves in a cycle: a beat may be offered once the one before it
    // is through. What it waits for the next clock edge, less than a cycle, is not lost: the memory goes on meanwhile.
    bool free() const { return rate_ == 0 || busy_until_ <= cycles * rate_; }

    void spend() {
        if (rate_) busy_until_ = std::max(busy_until_, (cycles - 2) * rate_) + 1000 * beat_bytes_;
    }

    void read_taken() {
        spend();
        Burst& burst = reads_.front();
        burst.address += beat_bytes_;
        if (--burst.beats == 0) reads_.pop_front();
    }

    void write_beat() {
        spend();
        Burst& burst = writes_.front();
        const unsigned result = answer(burst.address);
        if (result == kOkay) {
            std::memcpy(memory.at(burst.address), &top_->m_axi_wdata_o, beat_bytes_);
        } else {
            write_answer_ = result;
        }
        burst.address += beat_bytes_;
        const bool last = --burst.beats == 0;
        if (last != static_cast<bool>(top_->m_axi_wlast_o)) throw Failure("WLAST does not fall on the last beat of a burst");
        if (last) {
            writes_.pop_front();
            answers_.push_back({0, cycles + write_latency_, write_answer_});
            write_answer_ = kOkay;
        }
    }

    AxilMaster registers_{*this, *top_};
    uint64_t read_latency_, write_latency_, rate_, busy_until_ = 0;
    size_t beat_bytes_ = 1;
    std::deque<Burst> reads_, writes_;
    // Write answers: `beats` holds the response code.
    std::deque<Burst> answers_;
    unsigned write_answer_ = kOkay;
    uint64_t bad_from_ = 0, bad_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<AxiHost>(options); }
