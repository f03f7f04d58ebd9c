// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Looks up each variable of the DATASEC among the symbols of the section.
#include "btf-kernel/check/checks.h"

#include <algorithm>

namespace btflink::kernel
{

namespace
{

/// The problem with a variable; empty if there is none.
std::string wrong_with(const Binary &binary, std::string_view name, const btf_var_secinfo &entry)
{
    auto symbol =
        std::lower_bound(binary.percpu.begin(), binary.percpu.end(), entry.offset,
                         [](const PlacedSymbol &a, uint64_t offset) { return a.offset < offset; });
    std::string there;
    for (; symbol != binary.percpu.end() && symbol->offset == entry.offset; ++symbol) {
        if (symbol->name == name)
            return symbol->size == entry.size ? ""
                                              : strf("has %u bytes, the symbol %llu", entry.size,
                                                     static_cast<unsigned long long>(symbol->size));
        there = symbol->name;
    }
    if (!there.empty())
        return "the symbol " + there + " is there";
    auto elsewhere = std::find_if(binary.percpu.begin(), binary.percpu.end(),
                                  [&](const PlacedSymbol &other) { return other.name == name; });
    if (elsewhere == binary.percpu.end())
        return "there is no symbol of this name";
    return strf("the symbol is at %llu", static_cast<unsigned long long>(elsewhere->offset));
}

} // namespace

void check_per_cpu(const Binary &binary, const Btf &btf, Findings &out)
{
    for (TypeId id : btf.ids()) {
        const btf_type &t = btf.type(id);
        if (btf::kind_of(t) != btf::Kind::DATASEC || btf.name(id) != ".data..percpu")
            continue;
        if (!binary.has_symbols)
            return out.skip(Rule::per_cpu, binary,
                            "there are no symbols to compare per-CPU variables with");
        if (!binary.has_percpu)
            return out.add(Rule::per_cpu, binary.name,
                           {binary.btf_where, "BTF has per-CPU variables, but there is no section "
                                              ".data..percpu"});
        const auto *entries = reinterpret_cast<const btf_var_secinfo *>(btf::tail_of(t));
        for (uint32_t i = 0; i < btf::vlen_of(t); ++i) {
            const std::string_view name = btf.name(TypeId{entries[i].type});
            if (std::string wrong = wrong_with(binary, name, entries[i]); !wrong.empty())
                out.add(Rule::per_cpu, binary.name,
                        {binary.btf_where,
                         strf("per-CPU variable %s at offset %u: %s", std::string(name).c_str(),
                              entries[i].offset, wrong.c_str())});
        }
    }
}

} // namespace btflink::kernel
