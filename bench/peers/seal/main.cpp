// SPDX-License-Identifier: Apache-2.0
// Times SEAL's operations and prints one JSON line each; argv[1] is the library name to print.
// Single-threaded, as SEAL is.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "seal/seal.h"
#include "seal/util/ntt.h"
#ifdef BENCH_HEXL
#include "hexl/hexl.hpp"
#endif

using namespace seal;
using Clock = std::chrono::steady_clock;

static std::string library;

struct Timing { double median_us, spread; };

// Median and interquartile spread of `op` over at least 0.4 s or 400 runs, after a warm-up. `prepare` comes before each
// run and is not timed: copies of ciphertexts that an operation then changes in place.
static Timing measure(const std::function<void()> &op, const std::function<void()> &prepare = [] {}) {
    prepare();
    op();
    std::vector<double> us;
    auto begin = Clock::now();
    while (us.size() < 7 || (us.size() < 400 && Clock::now() - begin < std::chrono::milliseconds(400))) {
        prepare();
        auto start = Clock::now();
        op();
        us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    std::sort(us.begin(), us.end());
    double median = us[us.size() / 2];
    return {median, (us[us.size() * 3 / 4] - us[us.size() / 4]) / median};
}

static std::string bits(const std::vector<int> &list) {
    std::string out = "[";
    for (size_t i = 0; i < list.size(); i++) out += (i ? "," : "") + std::to_string(list[i]);
    return out + "]";
}

// `budget`: bits of noise budget that the result has left (BFV); negative: none to report.
static void report(const char *operation, size_t n, const std::vector<int> &moduli, Timing t, bool correct, int budget = -1) {
    std::string left = budget < 0 ? "" : ",\"noise_budget_bits\":" + std::to_string(budget);
    std::printf("{\"operation\":\"%s\",\"n\":%zu,\"moduli_bits\":%s,\"library\":\"%s\",\"median_us\":%.3f,"
                "\"spread\":%.4f,\"correct\":%s%s}\n",
                operation, n, bits(moduli).c_str(), library.c_str(), t.median_us, t.spread, correct ? "true" : "false",
                left.c_str());
    std::fflush(stdout);
}

// Whole cache lines, as HEXL's vector loads like them best.
template <typename T> struct CacheAligned {
    using value_type = T;
    CacheAligned() = default;
    template <typename U> CacheAligned(const CacheAligned<U> &) {}
    T *allocate(size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), std::align_val_t(64))); }
    void deallocate(T *p, size_t) { ::operator delete(p, std::align_val_t(64)); }
    template <typename U> bool operator==(const CacheAligned<U> &) const { return true; }
    template <typename U> bool operator!=(const CacheAligned<U> &) const { return false; }
};

static void bench_ntt(size_t n, int width) {
    Modulus modulus = CoeffModulus::Create(n, {width})[0];
    std::mt19937_64 rng(1);
    std::vector<uint64_t, CacheAligned<uint64_t>> values(n);
    for (auto &v : values) v = rng() % modulus.value();
    auto original = values;
#ifdef BENCH_HEXL
    intel::hexl::NTT plan(n, modulus.value());
    auto forward = [&] { plan.ComputeForward(values.data(), values.data(), 1, 1); };
    auto inverse = [&] { plan.ComputeInverse(values.data(), values.data(), 1, 1); };
#else
    util::NTTTables tables(util::get_power_of_two(n), modulus);
    auto forward = [&] { util::ntt_negacyclic_harvey(util::CoeffIter(values.data()), tables); };
    auto inverse = [&] { util::inverse_ntt_negacyclic_harvey(util::CoeffIter(values.data()), tables); };
#endif
    forward();
    inverse();
    bool correct = values == original;
    report("ntt", n, {width}, measure(forward), correct);
    report("intt", n, {width}, measure(inverse), correct);
}

static void bench_bfv(size_t n, const std::vector<int> &sizes, uint64_t t) {
    EncryptionParameters parms(scheme_type::bfv);
    parms.set_poly_modulus_degree(n);
    parms.set_coeff_modulus(CoeffModulus::Create(n, sizes));
    parms.set_plain_modulus(t);
    SEALContext context(parms, true, sec_level_type::none);
    KeyGenerator keygen(context);
    PublicKey pk; keygen.create_public_key(pk);
    RelinKeys rk; keygen.create_relin_keys(rk);
    GaloisKeys gk; keygen.create_galois_keys(std::vector<int>{1}, gk);
    Encryptor enc(context, pk);
    Decryptor dec(context, keygen.secret_key());
    Evaluator eval(context);
    BatchEncoder encoder(context);
    std::vector<uint64_t> x(n), y(n), out;
    for (size_t i = 0; i < n; i++) { x[i] = (3 * i + 1) % t; y[i] = (7 * i + 2) % t; }
    Plaintext px, py, p; encoder.encode(x, px); encoder.encode(y, py);
    Ciphertext cx, cy, c, prod, rot; enc.encrypt(px, cx); enc.encrypt(py, cy);
    std::vector<int> m = sizes;

    auto t_enc = measure([&] { encoder.encode(x, p); enc.encrypt(p, c); });
    dec.decrypt(c, p); encoder.decode(p, out);
    // SEAL's only way to encrypt: over all primes, divided by the last one.
    for (auto name : {"bfv-encrypt", "bfv-encrypt-extended"}) report(name, n, m, t_enc, out == x, dec.invariant_noise_budget(c));
    auto t_dec = measure([&] { dec.decrypt(cx, p); encoder.decode(p, out); });
    report("bfv-decrypt", n, m, t_dec, out == x);
    auto t_only = measure([&] { dec.decrypt(cx, p); });
    encoder.decode(p, out);
    report("bfv-decrypt-only", n, m, t_only, out == x);
    auto product_ok = [&](Ciphertext &value) {
        dec.decrypt(value, p); encoder.decode(p, out);
        for (size_t i = 0; i < n; i++) if (out[i] != x[i] * y[i] % t) return false;
        return true;
    };
    auto t_mul = measure([&] { eval.multiply(cx, cy, prod); });
    report("bfv-multiply", n, m, t_mul, product_ok(prod));
    auto t_mr = measure([&] { eval.multiply(cx, cy, c); eval.relinearize_inplace(c, rk); });
    report("bfv-multiply-relinearize", n, m, t_mr, product_ok(c), dec.invariant_noise_budget(c));
    auto t_rel = measure([&] { eval.relinearize_inplace(c, rk); }, [&] { c = prod; });
    report("bfv-relinearize", n, m, t_rel, product_ok(c));
    auto t_rot = measure([&] { eval.rotate_rows_inplace(rot, 1, gk); }, [&] { rot = cx; });
    dec.decrypt(rot, p); encoder.decode(p, out);
    report("bfv-rotate", n, m, t_rot, out[0] == x[1]);
}

static void bench_ckks(size_t n, const std::vector<int> &sizes) {
    EncryptionParameters parms(scheme_type::ckks);
    parms.set_poly_modulus_degree(n);
    parms.set_coeff_modulus(CoeffModulus::Create(n, sizes));
    SEALContext context(parms, true, sec_level_type::none);
    KeyGenerator keygen(context);
    PublicKey pk; keygen.create_public_key(pk);
    RelinKeys rk; keygen.create_relin_keys(rk);
    GaloisKeys gk; keygen.create_galois_keys(std::vector<int>{1}, gk);
    Encryptor enc(context, pk);
    Decryptor dec(context, keygen.secret_key());
    Evaluator eval(context);
    CKKSEncoder encoder(context);
    double scale = std::pow(2.0, 40);
    std::vector<double> x(n / 2), y(n / 2), out;
    for (size_t i = 0; i < n / 2; i++) { x[i] = std::sin(i); y[i] = std::cos(i); }
    Plaintext px, py, p; encoder.encode(x, scale, px); encoder.encode(y, scale, py);
    Ciphertext cx, cy, c, prod, rot; enc.encrypt(px, cx); enc.encrypt(py, cy);
    auto close = [&](Ciphertext &value, auto expected) {
        dec.decrypt(value, p); encoder.decode(p, out);
        for (size_t i = 0; i < n / 2; i++) if (std::abs(out[i] - expected(i)) > 1e-3) return false;
        return true;
    };
    auto product = [&](size_t i) { return x[i] * y[i]; };
    report("ckks-encode", n, sizes, measure([&] { encoder.encode(x, scale, p); }), true);
    auto t_enc = measure([&] { enc.encrypt(px, c); });
    report("ckks-encrypt", n, sizes, t_enc, close(c, [&](size_t i) { return x[i]; }));
    auto t_mul = measure([&] { eval.multiply(cx, cy, prod); });
    report("ckks-multiply", n, sizes, t_mul, close(prod, product));
    auto t_rel = measure([&] { eval.relinearize_inplace(c, rk); }, [&] { c = prod; });
    report("ckks-relinearize", n, sizes, t_rel, close(c, product));
    auto t_res = measure([&] { eval.rescale_to_next_inplace(rot); }, [&] { rot = c; });
    report("ckks-rescale", n, sizes, t_res, close(rot, product));
    eval.multiply(cx, cy, prod);
    auto t_both = measure([&] { eval.relinearize_inplace(c, rk); eval.rescale_to_next(c, rot); }, [&] { c = prod; });
    report("ckks-relinearize-rescale", n, sizes, t_both, close(rot, product));
    auto t_all = measure([&] {
        eval.multiply(cx, cy, prod); eval.relinearize_inplace(prod, rk); eval.rescale_to_next(prod, rot);
    });
    report("ckks-multiply-relinearize-rescale", n, sizes, t_all, close(rot, product));
    auto t_rot = measure([&] { eval.rotate_vector_inplace(rot, 1, gk); }, [&] { rot = cx; });
    report("ckks-rotate", n, sizes, t_rot, close(rot, [&](size_t i) { return x[(i + 1) % (n / 2)]; }));
}

// Eight rotations, added: SEAL has no cheaper way.
static void bench_sum(size_t n, const std::vector<int> &sizes) {
    EncryptionParameters parms(scheme_type::ckks);
    parms.set_poly_modulus_degree(n);
    parms.set_coeff_modulus(CoeffModulus::Create(n, sizes));
    SEALContext context(parms, true, sec_level_type::none);
    KeyGenerator keygen(context);
    PublicKey pk; keygen.create_public_key(pk);
    GaloisKeys gk; keygen.create_galois_keys(std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}, gk);
    Evaluator eval(context);
    CKKSEncoder encoder(context);
    std::vector<double> x(n / 2), out;
    for (size_t i = 0; i < n / 2; i++) x[i] = std::sin(i);
    Plaintext p; encoder.encode(x, std::pow(2.0, 40), p);
    Ciphertext ct, sum, rot; Encryptor(context, pk).encrypt(p, ct);
    auto timing = measure([&] {
        eval.rotate_vector(ct, 1, gk, sum);
        for (int k = 2; k <= 8; k++) { eval.rotate_vector(ct, k, gk, rot); eval.add_inplace(sum, rot); }
    });
    Decryptor(context, keygen.secret_key()).decrypt(sum, p); encoder.decode(p, out);
    bool right = true;
    for (size_t i = 0; i < n / 2; i++) {
        double want = 0;
        for (size_t k = 1; k <= 8; k++) want += x[(i + k) % (n / 2)];
        right = right && std::abs(out[i] - want) <= 1e-3;
    }
    report("ckks-sum-of-8-rotations", n, sizes, timing, right);
}

static std::vector<int> chain(int count, int width) { return std::vector<int>(count, width); }

static void all() {
    for (size_t n : {4096, 8192, 16384, 32768})
        for (int width : {36, 45, 50, 60}) bench_ntt(n, width);
    bench_bfv(4096, {36, 36, 37}, 65537);
    bench_bfv(8192, {43, 43, 44, 44, 44}, 65537);
    bench_bfv(4096, chain(7, 30), 65537);
    bench_bfv(4096, chain(5, 45), 65537);
    bench_ckks(8192, chain(4, 45));
    bench_ckks(16384, chain(8, 45));
    bench_ckks(32768, chain(15, 45));
    bench_sum(16384, chain(8, 45));
}

int main(int argc, char **argv) {
    library = argc > 1 ? argv[1] : "SEAL";
    all();
    return 0;
}
