// SPDX-License-Identifier: Apache-2.0
// Registers behind a mapping, for a program that maps a file of the simulated board (x86-64).
//
// Such a file has no pages, so each access is a bus error. The handler here decodes the load or store of 32 bits, has
// the board's process do it on the simulated bus by a socket, and the program continues behind the instruction. It is
// loaded into the program by LD_PRELOAD with RINGSMITH_BUS=folder:socket, or calls of rs_bus.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

char folder[512], socket_path[108];
std::atomic_flag taken = ATOMIC_FLAG_INIT;
int bus = -1;
struct sigaction before;
// The mapping that was found last: it is known by its name no more when the board's process is gone.
uintptr_t from_known, to_known;
int64_t offset_known;

// The offset in its file of an address in a mapping of a file in the folder; -1 otherwise.
int64_t offset_of(uintptr_t address) {
    static char text[1 << 16];
    if (address >= from_known && address < to_known) return static_cast<int64_t>(address - from_known) + offset_known;
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t held = 0;
    int64_t found = -1;
    for (ssize_t came; found < 0 && (came = read(maps, text + held, sizeof text - 1 - held)) > 0;) {
        held += static_cast<size_t>(came);
        text[held] = 0;
        char* line = text;
        for (char* end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            unsigned long from, to, offset;
            int path = 0;
            if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &from, &to, &offset, &path) < 3) continue;
            if (address < from || address >= to) continue;
            if (!path || strncmp(line + path, folder, strlen(folder))) continue;
            from_known = from, to_known = to, offset_known = static_cast<int64_t>(offset);
            found = static_cast<int64_t>(address - from) + offset_known;
        }
        held -= static_cast<size_t>(line - text);
        memmove(text, line, held);
    }
    close(maps);
    return found;
}

// Have the access done; what a bus gives where nothing answers, if the board's process is gone.
uint32_t access_bus(uint64_t offset, bool store, uint32_t value) {
    if (bus < 0) {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        memcpy(name.sun_path, socket_path, sizeof socket_path);
        bus = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (connect(bus, reinterpret_cast<sockaddr*>(&name), sizeof name)) return ~0u;
    }
    const struct {
        uint64_t offset;
        uint32_t store, value;
    } asked{offset, store, value};
    uint32_t answer = ~0u;
    if (send(bus, &asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked) return ~0u;
    ssize_t came;
    while ((came = recv(bus, &answer, sizeof answer, 0)) < 0 && errno == EINTR) {
    }
    return came == sizeof answer ? answer : ~0u;
}

// Registers of the processor by the numbers of its instructions.
const int kRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

// Bytes of ModRM, SIB and displacement.
size_t operand_bytes(const uint8_t* at) {
    const unsigned mod = at[0] >> 6, rm = at[0] & 7;
    size_t bytes = 1;
    unsigned base = rm;
    if (rm == 4) base = at[bytes++] & 7;
    if (mod == 0) return bytes + (base == 5 ? 4 : 0);
    return bytes + (mod == 1 ? 1 : 4);
}

void on_bus_error(int number, siginfo_t* information, void* context) {
    const int error = errno;
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
    const uint8_t rex = (code[0] & 0xf0) == 0x40 ? *code++ : 0;
    const uint8_t opcode = *code++;
    const bool known = !(rex & 8) && (opcode == 0x8b || opcode == 0x89 || opcode == 0xc7) && code[0] >> 6 != 3;
    while (taken.test_and_set(std::memory_order_acquire)) {
    }
    const int64_t offset = known ? offset_of(reinterpret_cast<uintptr_t>(information->si_addr)) : -1;
    if (offset < 0) {
        // None of ours: whoever was here before, when the access is tried again.
        taken.clear(std::memory_order_release);
        sigaction(number, &before, nullptr);
        return;
    }
    const size_t operand = operand_bytes(code);
    auto& own = registers[kRegisters[(code[0] >> 3 & 7) | (rex & 4) << 1]];
    uint32_t value = static_cast<uint32_t>(own);
    if (opcode == 0xc7) memcpy(&value, code + operand, 4);
    const uint32_t answer = access_bus(static_cast<uint64_t>(offset), opcode != 0x8b, value);
    taken.clear(std::memory_order_release);
    if (opcode == 0x8b) own = answer;
    registers[REG_RIP] = reinterpret_cast<greg_t>(code + operand + (opcode == 0xc7 ? 4 : 0));
    errno = error;
}

}  // namespace

// From now on mappings of files in `where` are registers behind the socket `path`.
extern "C" void rs_bus(const char* where, const char* path) {
    snprintf(folder, sizeof folder, "%s/", where);
    snprintf(socket_path, sizeof socket_path, "%s", path);
    if (bus >= 0) close(bus);
    bus = -1;
    from_known = to_known = 0;
    struct sigaction action{}, old{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGBUS, &action, &old);
    if (!(old.sa_flags & SA_SIGINFO) || old.sa_sigaction != on_bus_error) before = old;
}

__attribute__((constructor)) static void begin() {
    const char* told = getenv("RINGSMITH_BUS");
    const char* colon = told ? strchr(told, ':') : nullptr;
    if (!colon) return;
    static char where[512];
    snprintf(where, sizeof where, "%.*s", static_cast<int>(colon - told), told);
    rs_bus(where, colon + 1);
}
