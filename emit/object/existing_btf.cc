// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads the object BTF that a file already has.
#include "emit/object/object_btf.h"

#include "common/elf/elf_image.h"
#include "common/object_btf/address_pool.h"
#include "common/object_btf/elf_append.h"
#include "common/object_btf/link_trailer.h"

#include <set>

namespace btflink::emit
{

namespace
{

class ExistingBtfCollector
{
public:
    ExistingBtfCollector(const ElfImage &image, const Arch &arch) : image_(image), arch_(arch) {}

    Result<ExistingBtf> run()
    {
        relocs_ = TRY(AbsoluteRelocs::open(image_));
        TRY(find_pool_ids());
        for (uint32_t i = 1; i < image_.sections.size(); ++i)
            if (image_.sections[i].name == ".BTF")
                TRY(take_btf(i));
        auto ours = TRY(find_object_btf(image_));
        for (uint32_t i = 1; i < image_.sections.size(); ++i)
            if (is_pool_section(image_.sections[i].name) && ours[i])
                TRY(append(i, arch_.address_size, out_.all.pool, out_.all.pool_relocs));
        return std::move(out_);
    }

private:
    Result<void> find_pool_ids()
    {
        for (uint32_t i = 1; i < image_.sections.size(); ++i) {
            if (!is_pool_section(image_.sections[i].name))
                continue;
            const auto contents = TRY(image_.contents(i));
            for (const PoolPart &part : find_pools(contents.bytes, image_.order))
                pool_ids_.insert(part.object_id);
        }
        return {};
    }

    /// Is the DWARF of the trailer's object in the file? If the object had a pool, and the pool is
    /// missing, `strip --strip-debug` or `ld -S` has dropped the DWARF, too. Without a pool, such a
    /// loss is not noticed.
    bool has_dwarf(const LinkTrailer &trailer) const
    {
        return !(trailer.flags & trailer_no_dwarf) &&
               (!(trailer.flags & trailer_has_pool) || pool_ids_.contains(trailer.object_id));
    }

    Result<void> take_btf(uint32_t section)
    {
        auto parts = TRY(split_contributions(image_.sections[section].data, image_.place(section)));
        for (const Contribution &part : parts) {
            if (part.trailer.empty())
                continue; // from another tool: the sources that it covers are unknown
            const Where place = image_.place(section);
            auto blob = TRY(Btf::parse(part.blob, place.at(part.offset)));
            auto trailer =
                TRY(decode_trailer(part.trailer, blob, place.at(part.trailer_offset), false));
            out_.features.emplace(out_.features.value_or(FeatureSet())).add(trailer.features);
            out_.has_pool |= (trailer.flags & trailer_has_pool) != 0;
            const std::string_view source = blob.str(trailer.source);
            if (!source.empty() && has_dwarf(trailer))
                ++out_.sources[std::string(source)];
        }
        return append(section, 4, out_.all.btf, out_.all.btf_relocs);
    }

    /// Appends the section's contents, decompressed, to `bytes`, and its relocations to `relocs`.
    /// Each relocation fills `size` bytes.
    Result<void> append(uint32_t section, uint8_t size, std::vector<std::byte> &bytes,
                        std::vector<Reloc> &relocs)
    {
        bytes.resize(align_up(bytes.size(), 8));
        const uint64_t base = bytes.size();
        const auto contents = TRY(image_.contents(section));
        const Bytes data = contents.bytes;
        bytes.insert(bytes.end(), data.begin(), data.end());
        bytes.resize(align_up(bytes.size(), 8));
        const auto found = TRY(relocs_.of(section, data, size));
        for (const Reloc &r : found)
            relocs.push_back({base + r.offset, r.symbol, r.addend});
        return {};
    }

    const ElfImage &image_;
    const Arch &arch_;
    AbsoluteRelocs relocs_;
    std::set<uint64_t> pool_ids_; // the object ids in all address pools of the file
    ExistingBtf out_;
};

} // namespace

Result<ExistingBtf> read_existing_btf(const ElfImage &image, const Arch &arch)
{
    return ExistingBtfCollector(image, arch).run();
}

} // namespace btflink::emit
