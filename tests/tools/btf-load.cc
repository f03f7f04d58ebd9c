// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Loads BTF into the running kernel, to find out whether the kernel accepts the BTF. Exit status:
// 0 accepted, 1 refused, 2 bad input or wrong usage, 77 this machine does not allow loading, or its
// kernel does not know all kinds that load_smallest() uses.
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace
{

constexpr int exit_accepted = 0, exit_refused = 1, exit_bad = 2, exit_skipped = 77;

/// The last 4 KB of libbpf's warnings since the program started or load() was last called. If the
/// kernel refuses BTF, one of the warnings is the kernel's log, which ends with the reason.
std::string messages;

int keep_message(enum libbpf_print_level level, const char *format, va_list args)
{
    constexpr size_t most = 4096;
    char *text;
    if (level != LIBBPF_WARN)
        return 0;
    const int length = ::vasprintf(&text, format, args);
    if (length < 0)
        return length;
    messages += text;
    std::free(text);
    messages.erase(0, messages.size() - std::min(messages.size(), most));
    return length;
}

struct FreeBtf {
    void operator()(btf *b) const { btf__free(b); }
};
using BtfPtr = std::unique_ptr<btf, FreeBtf>;

/// Loads `b`. Returns 0, or the errno with which the kernel or libbpf refuses it.
int load(btf *b)
{
    messages.clear();
    return -btf__load_into_kernel(b);
}

/// Loads a few valid types, some of them of the newest kinds. Returns 0 or an errno. If the kernel
/// refuses even these types, nothing can be said about FILE.
int load_smallest()
{
    BtfPtr smallest(btf__new_empty());
    if (!smallest)
        return errno;
    btf *b = smallest.get();
    if (btf__add_int(b, "int", 4, BTF_INT_SIGNED) < 0 || btf__add_float(b, "float", 4) < 0 ||
        btf__add_enum64(b, "e", 8, false) < 0 || btf__add_enum64_value(b, "E", 1) < 0 ||
        btf__add_typedef(b, "t", 1) < 0 || btf__add_decl_tag(b, "tag", 4, -1) < 0)
        return errno;
    return load(b);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        std::fprintf(stderr, "usage: btf-load FILE (raw BTF, or an ELF file with .BTF)\n");
        return exit_bad;
    }
    libbpf_set_print(keep_message);
    BtfPtr btf(btf__parse(argv[1], nullptr));
    if (!btf) {
        std::fprintf(stderr, "btf-load: %s: libbpf cannot parse it: %s\n%s", argv[1],
                     std::strerror(errno), messages.c_str());
        return exit_bad;
    }
    if (int reason = load_smallest()) {
        std::printf("this machine does not allow loading BTF, or its kernel does not know all of "
                    "today's kinds: %s\n",
                    std::strerror(reason));
        return exit_skipped;
    }
    if (int reason = load(btf.get())) {
        std::fprintf(stderr, "btf-load: %s: the kernel refuses it: %s\n%s", argv[1],
                     std::strerror(reason), messages.c_str());
        return exit_refused;
    }
    std::printf("the kernel accepts %u types\n", btf__type_cnt(btf.get()) - 1);
    return exit_accepted;
}
