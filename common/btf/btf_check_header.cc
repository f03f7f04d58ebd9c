// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Checks header and sections of a blob as the kernel does when BTF is loaded.
#include "common/btf/btf_check_header.h"

#include "common/btf/btf_layout.h"

namespace btflink
{

Result<void> check_btf_header(Bytes blob, const Btf &btf, const Where &where,
                              std::optional<KernelVersion> kernel)
{
    auto at = [&](uint64_t offset, const std::string &rule) {
        return fail(where.at(where.offset.value_or(0) + offset), "BTF header: " + rule);
    };
    auto word = [&](size_t offset) { return load<uint32_t>(blob.data() + offset, btf.order()); };
    const uint32_t length = word(4), type_off = word(8), type_len = word(12), str_off = word(16),
                   str_len = word(20);
    const auto [layout_off, layout_len] = layout_place(blob, length, btf.order());
    if (blob[3] != std::byte{0})
        return at(3, "flags are not 0");
    // A kernel that knows the fields does not look at the offset of no layout; others do.
    for (uint32_t i = layout_len ? layout_header_size : btf::header_size; i < length; ++i)
        if (blob[i] != std::byte{0})
            return at(i, "fields that are not known are not 0");
    if (type_off != 0)
        return at(8, "types do not begin behind the header");
    if (layout_len && layout_off != type_len)
        return at(layout_fields, "the layout does not begin where types end");
    if (layout_len % layout_entry_size)
        return at(layout_fields + 4, "length of the layout is no multiple of 4");
    if (str_off != uint64_t{type_len} + layout_len)
        return at(16, layout_len ? "strings do not begin where the layout ends"
                                 : "strings do not begin where types end");
    if (blob.size() != btf.blob_size())
        return at(16, "strings do not end where the blob ends");
    if (!btf.base() && type_len == 0)
        return at(12, "there are no types");
    if (str_len > btf::max_str_off + 1)
        return at(20, "strings are longer than 16 MB");
    if (raw(btf.end_id()) - 1 > btf::max_type_id)
        return at(12, "there are more than 1048575 types");
    if (layout_len && kernel_forms(kernel, btf).layout == false)
        return at(layout_fields, kernel ? "has a layout, which kernels before 7.1 refuse"
                                        : "has a layout, which this kernel refuses: it has no "
                                          "struct btf_layout");
    return {};
}

} // namespace btflink
