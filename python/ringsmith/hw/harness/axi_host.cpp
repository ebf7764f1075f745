// SPDX-License-Identifier: Apache-2.0
// The host of rs_top_axi: an AXI4-Lite master for the registers and an AXI4 slave that is the host memory.
#include "simulation.h"

#include <algorithm>

namespace {

constexpr unsigned kOkay = 0, kSlaveError = 2, kDecodeError = 3;
constexpr uint64_t kRegisterPatience = 1000;
// Bursts that wait at most: more than any latency hides.
constexpr size_t kOutstanding = 64;

struct Burst {
    uint64_t address, ready;
    unsigned beats;
};

class AxiHost final : public Simulation {
  public:
    explicit AxiHost(const Options& options)
        : Simulation(options), read_latency_(options.read_latency), write_latency_(options.write_latency), rate_(options.rate) {
        if (!options.link.empty() && options.link != "axi") throw Failure("link=" + options.link + ": this build has link=axi only");
        reset();
        beat_bytes_ = size_t{1} << top_->m_axi_arsize_o;
    }

    uint32_t read_register(uint32_t address) override {
        top_->s_axil_araddr_i = address;
        top_->s_axil_arvalid_i = 1;
        top_->s_axil_rready_i = 1;
        const uint64_t limit = cycles + kRegisterPatience;
        while (!top_->s_axil_rvalid_o) patient_tick(limit, "read", address);
        const uint32_t value = top_->s_axil_rdata_o;
        const unsigned answer = top_->s_axil_rresp_o;
        tick();
        top_->s_axil_rready_i = 0;
        if (answer != kOkay) throw Failure("no register at " + std::to_string(address));
        return value;
    }

    void write_register(uint32_t address, uint32_t value) override {
        top_->s_axil_awaddr_i = address;
        top_->s_axil_awvalid_i = 1;
        top_->s_axil_wdata_i = value;
        top_->s_axil_wstrb_i = 15;
        top_->s_axil_wvalid_i = 1;
        top_->s_axil_bready_i = 1;
        const uint64_t limit = cycles + kRegisterPatience;
        while (!top_->s_axil_bvalid_o) patient_tick(limit, "write", address);
        const unsigned answer = top_->s_axil_bresp_o;
        tick();
        top_->s_axil_bready_i = 0;
        if (answer != kOkay) throw Failure("no register at " + std::to_string(address));
    }

    void inject_bus_error(uint64_t address, uint64_t length) override {
        bad_from_ = address;
        bad_bytes_ = length;
    }

  protected:
    void rest() override {
        top_->s_axil_awvalid_i = top_->s_axil_wvalid_i = top_->s_axil_bready_i = 0;
        top_->s_axil_arvalid_i = top_->s_axil_rready_i = 0;
        top_->m_axi_arready_i = top_->m_axi_rvalid_i = top_->m_axi_awready_i = 0;
        top_->m_axi_wready_i = top_->m_axi_bvalid_i = 0;
        reads_.clear();
        writes_.clear();
        answers_.clear();
        write_answer_ = kOkay;
    }

    // Which handshakes does the coming edge complete?
    void sample() override {
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
        accepted_ar_ = top_->s_axil_arvalid_i && top_->s_axil_arready_o;
        accepted_aw_ = top_->s_axil_awvalid_i && top_->s_axil_awready_o;
        accepted_w_ = top_->s_axil_wvalid_i && top_->s_axil_wready_o;
    }

    void drive() override {
        if (!top_->rst_ni) return;
        if (accepted_ar_) top_->s_axil_arvalid_i = 0;
        if (accepted_aw_) top_->s_axil_awvalid_i = 0;
        if (accepted_w_) top_->s_axil_wvalid_i = 0;
        top_->m_axi_arready_i = !hang_ && reads_.size() < kOutstanding;
        top_->m_axi_awready_i = !hang_ && writes_.size() < kOutstanding;
        top_->m_axi_wready_i = !hang_ && !writes_.empty() && free();
        top_->m_axi_bvalid_i = !hang_ && !answers_.empty() && answers_.front().ready <= cycles;
        if (top_->m_axi_bvalid_i) top_->m_axi_bresp_i = answers_.front().beats;
        top_->m_axi_rvalid_i = !hang_ && !reads_.empty() && reads_.front().ready <= cycles && free();
        if (top_->m_axi_rvalid_i) offer_read(reads_.front());
    }

  private:
    void patient_tick(uint64_t limit, const char* what, uint32_t address) {
        if (cycles >= limit) throw Failure(std::string("register ") + what + " at " + std::to_string(address) + " was never answered");
        tick();
    }

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

    // Bandwidth, in thousandths of a byte that `rate_` moves in a cycle: a beat may be offered once the one before it is
    // through. What it waits for the next clock edge, less than a cycle, is not lost: the memory goes on meanwhile.
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

    uint64_t read_latency_, write_latency_, rate_, busy_until_ = 0;
    size_t beat_bytes_ = 1;
    std::deque<Burst> reads_, writes_;
    // Write answers: `beats` holds the response code.
    std::deque<Burst> answers_;
    unsigned write_answer_ = kOkay;
    bool accepted_ar_ = false, accepted_aw_ = false, accepted_w_ = false;
    uint64_t bad_from_ = 0, bad_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_simulation(const Options& options) { return std::make_unique<AxiHost>(options); }
