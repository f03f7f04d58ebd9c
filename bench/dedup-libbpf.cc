// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Deduplicates object BTF with libbpf alone, for comparison with btf-merge in benchmarks: calls
// btf__add_btf() for each contribution of IN, then btf__dedup(), and writes the result to OUT. Link
// trailers are ignored. IN has only contributions, one after the other, as btf-corpus writes them.
//
//   dedup-libbpf IN OUT
#include "common/io/file_io.h"
#include "common/object_btf/link_trailer.h"

#include <bpf/btf.h>
#include <cstdio>

using namespace btflink;

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fputs("usage: dedup-libbpf IN OUT\n", stderr);
        return 2;
    }
    auto fail_with = [](const std::string &text) {
        std::fprintf(stderr, "dedup-libbpf: ERROR: %s\n", text.c_str());
        return 1;
    };
    auto file = read_file(argv[1]);
    if (!file)
        return fail_with(file.error().str());
    auto parts = split_contributions(*file, Where{argv[1]});
    if (!parts)
        return fail_with(parts.error().str());
    ::btf *all = btf__new_empty();
    for (const Contribution &part : *parts) {
        ::btf *one = btf__new(part.blob.data(), static_cast<uint32_t>(part.blob.size()));
        if (!one || btf__add_btf(all, one) < 0)
            return fail_with("btf__add_btf");
        btf__free(one);
    }
    if (btf__dedup(all, nullptr))
        return fail_with("btf__dedup");
    uint32_t size = 0;
    const void *data = btf__raw_data(all, &size);
    if (!data)
        return fail_with("btf__raw_data");
    if (auto done = write_file(argv[2], {static_cast<const std::byte *>(data), size}); !done)
        return fail_with(done.error().str());
    return 0;
}
