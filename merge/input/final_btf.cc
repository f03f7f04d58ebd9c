// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads raw BTF, or the BTF sections of an ELF file.
#include "merge/input/final_btf.h"

#include "common/object_btf/link_trailer.h"

#include <algorithm>

namespace btflink::merge
{

Result<std::optional<FinalBlob>> find_final_btf(const Input &input, std::string_view section)
{
    FinalBlob found{{input.bytes, {}}, {}, input.where.at(0)};
    if (input.elf) {
        const auto &sections = input.elf->sections;
        auto place = std::ranges::find(sections, section, &ElfSection::name);
        if (place == sections.end() || !place->in_file())
            return std::nullopt;
        found.contents = TRY(input.elf->contents(static_cast<uint32_t>(place - sections.begin())));
        found.where.section = section;
    }
    auto parts = TRY(split_contributions(found.contents.bytes, found.where));
    if (parts.empty())
        return fail(found.where, "is empty");
    if (parts.size() != 1 || !parts.front().trailer.empty())
        return fail(found.where, "is object BTF, not final BTF");
    found.blob = parts.front().blob;
    return found;
}

Result<Base> read_base(const std::string &path)
{
    auto base = open_base(path);
    if (base && base->input)
        TRY(parse_base(*base));
    return base;
}

Result<void> parse_base(Base &base)
{
    auto btf = TRY(Btf::parse(base.blob, base.where));
    base.btf = std::make_shared<const Btf>(std::move(btf));
    return {};
}

Result<Base> open_base(const std::string &path)
{
    Base base;
    if (path.empty())
        return base;
    auto input = TRY(open_input(path));
    base.input = std::move(input);
    auto found = TRY(find_final_btf(*base.input, ".BTF"));
    if (!found)
        return fail(base.input->where, "has no .BTF to build on");
    base.contents = std::move(found->contents);
    base.blob = found->blob;
    base.where = found->where;
    return base;
}

std::vector<Error> list_violations(Bytes blob, const Btf &btf, const Where &where,
                                   uint32_t address_size, std::optional<KernelVersion> kernel)
{
    constexpr size_t most = 20;
    if (address_size == 0)
        address_size = address_size_of(btf.base() ? *btf.base() : btf).value_or(8);
    auto found = find_violations(blob, btf, where, address_size, most + 1, kernel);
    if (found.size() > most)
        found.back() = {where, strf("more than %zu violations; the rest is left out", most)};
    return found;
}

std::optional<uint8_t> address_size_of(const Btf &btf)
{
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::INT || (t.size != 4 && t.size != 8))
            continue;
        std::string_view name = btf.name(id);
        for (const char *spelling : {"long int", "long unsigned int", "long", "unsigned long"})
            if (name == spelling)
                return static_cast<uint8_t>(t.size);
    }
    return std::nullopt;
}

} // namespace btflink::merge
