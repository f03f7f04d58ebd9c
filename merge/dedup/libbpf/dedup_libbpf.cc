// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The engine for --dedup=libbpf. keep_all() gives each plain type a class of its own, so that all
// are written into one blob; then dedup_libbpf() runs btf__dedup over it.
#include "merge/dedup/dedup.h"

#include "common/btf/btf_builder.h"
#include "common/btf/btf_format.h"
#include "common/io/file_io.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cstring>
#include <sys/mman.h>

namespace btflink::merge
{

namespace
{

std::string libbpf_messages; // a global, because libbpf has one global callback

int keep_message(libbpf_print_level level, const char *format, va_list args)
{
    if (level == LIBBPF_DEBUG)
        return 0;
    char line[512];
    int n = vsnprintf(line, sizeof line, format, args);
    libbpf_messages += line;
    return n;
}

using BtfPtr = std::unique_ptr<::btf, decltype([](::btf *b) { btf__free(b); })>;

/// The failure of a call of libbpf, with libbpf's messages in one line. `error`: an errno, perhaps
/// negative.
Failure libbpf_fail(const Where &where, const char *call, int error)
{
    std::string text = strf("%s: %s", call, std::strerror(error < 0 ? -error : error));
    while (!libbpf_messages.empty() && libbpf_messages.back() == '\n')
        libbpf_messages.pop_back();
    if (!libbpf_messages.empty()) {
        for (char &c : libbpf_messages)
            if (c == '\n')
                c = ';';
        text += " (" + libbpf_messages + ")";
    }
    return fail(where, text);
}

/// Refuses BTF that btflink accepts but libbpf misreads. `name`: for messages.
Result<void> check_for_libbpf(const Btf &types, const char *name)
{
    const std::span words = types.words();
    for (size_t at = 0; at < words.size();) {
        const btf_type &t = btf::type_at(words, at);
        const btf::Kind kind = btf::kind_of(t);
        auto bad = [&](const std::string &what) {
            return fail(Where{name, "", types.types_offset() + at * 4}, what);
        };
        if (btf::vlen_of(t) > btf::max_vlen) // releases up to 1.7 read 16 bits
            return bad("a type has more than 65535 elements, which libbpf may misread: use "
                       "--dedup=hash");
        if (kind == btf::Kind::FWD && t.type) // libbpf takes this for a type id
            return bad(strf("a FWD has %u as its third word, must be 0", t.type));
        at += btf::words_of(t);
    }
    return {};
}

/// Parses a blob with libbpf, which keeps its own copy.
Result<BtfPtr> new_btf(Bytes blob, const Where &where)
{
    ::btf *made = btf__new(blob.data(), static_cast<uint32_t>(blob.size()));
    if (!made)
        return libbpf_fail(where, "btf__new", errno);
    return BtfPtr(made);
}

/// Parses a blob that extends `base`. libbpf exports btf__new_split() only from 1.4 on, so the blob
/// is passed in a file in memory.
Result<BtfPtr> new_split_btf(Bytes blob, ::btf *base, const Where &where)
{
    const Fd file(memfd_create("btf", MFD_CLOEXEC));
    if (file.get() < 0)
        return fail_errno(where, "memfd_create");
    const std::string path = strf("/proc/self/fd/%d", file.get());
    TRY(write_file(path, blob));
    ::btf *made = btf__parse_raw_split(path.c_str(), base);
    if (!made)
        return libbpf_fail(where, "btf__parse_raw_split", errno);
    return BtfPtr(made);
}

Result<BtfPtr> new_base(const Btf &base, const Where &where)
{
    TRY(check_for_libbpf(base, "base BTF"));
    if (base.base())
        return fail(where, "a base that is split BTF itself is not supported");
    return new_btf(btf_blob(base.words(), base.strings(), host_order), where);
}

} // namespace

MergedTypes keep_all(const std::vector<Object> &objects, const std::vector<bool> &not_linked,
                     const Btf *base)
{
    MergedTypes out{make_sources(objects, not_linked, base), {}};
    Partition &all = out.partition;
    all.of.resize(out.sources.types);
    for (uint32_t s = out.sources.has_base; s < out.sources.list.size(); ++s)
        out.sources.list[s].for_types([&](TypeId id, size_t index) {
            all.of[index] = ClassId::none;
            if (!out.sources.is_plain(s, id))
                return;
            all.of[index] = all.classes.next_id();
            all.alias.push_back(all.of[index]);
            all.classes.push_back({{s, id}, {s, id}, true});
        });
    return out;
}

Result<std::vector<std::byte>> dedup_libbpf(Bytes blob, const std::shared_ptr<const Btf> &base,
                                            ByteOrder order, const Where &where)
{
    libbpf_messages.clear();
    libbpf_set_print(keep_message);
    const auto all = TRY(Btf::parse(blob, Where{"merged BTF"}, base));
    TRY(check_for_libbpf(all, "merged BTF"));
    BtfPtr base_btf;
    if (base)
        base_btf = TRY(new_base(*base, where));
    if (blob.size() > UINT32_MAX)
        return fail(where, "more BTF than libbpf can take (4 GB)");
    BtfPtr btf = TRY(base ? new_split_btf(blob, base_btf.get(), where) : new_btf(blob, where));
    if (int error = btf__dedup(btf.get(), nullptr))
        return libbpf_fail(where, "btf__dedup", error);
    uint32_t size = 0;
    const void *data = btf__raw_data(btf.get(), &size);
    if (!data)
        return libbpf_fail(where, "btf__raw_data", errno);
    // Releases of libbpf write different headers, so btf_blob() writes the blob again.
    auto result = TRY(Btf::parse({static_cast<const std::byte *>(data), size},
                                 Where{"result of btf__dedup"}, base));
    return btf_blob(result.words(), result.strings(), order);
}

} // namespace btflink::merge
