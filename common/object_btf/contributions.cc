// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Walks a section from its beginning: the end of each contribution shows where the next one begins.
#include "common/object_btf/contributions.h"

#include "common/btf/btf.h"
#include "common/object_btf/link_trailer.h"

#include <optional>

namespace btflink
{

namespace
{

/// Where the trailer of a blob of `size` bytes begins, if it has one.
std::optional<uint64_t> find_trailer(Bytes rest, uint64_t size, ByteOrder order)
{
    const uint64_t trailer = align_up(size, 8);
    if (trailer + 12 <= rest.size() &&
        load<uint32_t>(rest.data() + trailer, order) == trailer_magic)
        return trailer;
    return std::nullopt;
}

/// The contribution that begins at `at`.
Result<Contribution> read_contribution(Bytes section, uint64_t at, const Where &where)
{
    const uint64_t base = where.offset.value_or(0);
    const Bytes rest = section.subspan(at);
    const uint64_t size = TRY(btf_blob_size(rest, where.at(base + at)));
    Contribution part{at, rest.first(size), {}, 0};
    const ByteOrder order = load<uint16_t>(rest.data(), ByteOrder::little) == BTF_MAGIC
                                ? ByteOrder::little
                                : ByteOrder::big;
    if (auto trailer = find_trailer(rest, size, order)) {
        const uint64_t length = load<uint32_t>(rest.data() + *trailer + 8, order);
        if (length < least_trailer_length || length > rest.size() - *trailer)
            return fail(where.at(base + at + *trailer),
                        strf("link trailer claims %llu bytes, %llu are left",
                             static_cast<unsigned long long>(length),
                             static_cast<unsigned long long>(rest.size() - *trailer)));
        part.trailer = rest.subspan(*trailer, length);
        part.trailer_offset = at + *trailer;
    }
    return part;
}

} // namespace

Result<std::vector<Contribution>> split_contributions(Bytes section, const Where &where)
{
    std::vector<Contribution> parts;
    for (uint64_t at = 0; at < section.size();) {
        if (section[at] == std::byte{0}) { // padding
            ++at;
            continue;
        }
        const Contribution part = TRY(read_contribution(section, at, where));
        parts.push_back(part);
        at = part.trailer.empty() ? at + part.blob.size()
                                  : part.trailer_offset + part.trailer.size();
    }
    return parts;
}

} // namespace btflink
