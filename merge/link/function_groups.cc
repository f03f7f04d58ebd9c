// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups the image's function symbols and the objects' instances of functions by name, with one or
// two hash look-ups for each.
#include "merge/link/select.h"

#include "common/graph/tables.h"
#include "common/object_btf/features.h"

#include <optional>
#include <unordered_set>
#include <xxhash.h>

namespace btflink::merge
{

namespace
{

/// Numbers the groups from 0 on, by name.
class GroupNumbers
{
    static uint64_t hash(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }
    auto has(std::string_view name) const
    {
        return [this, name](uint32_t number) { return names_[number] == name; };
    }

public:
    explicit GroupNumbers(size_t expected) : index_(expected) { names_.reserve(expected); }

    /// FlatIndex::none if the group does not exist.
    uint32_t find(std::string_view name) const { return index_.find(hash(name), has(name)); }
    uint32_t find_or_add(std::string_view name)
    {
        const auto next = static_cast<uint32_t>(names_.size());
        auto [number, is_new] = index_.find_or_add(hash(name), next, has(name));
        if (is_new)
            names_.push_back(name);
        return number;
    }
    const std::vector<std::string_view> &names() const { return names_; }

private:
    std::vector<std::string_view> names_;
    FlatIndex index_;
};

std::string_view symbol_of(const std::vector<Object> &objects, const Instance &instance,
                           bool linkage_names)
{
    const std::string_view text =
        linkage_names ? linkage_text(objects, instance) : std::string_view();
    return text.empty() ? source_name(objects, instance) : linkage_symbol(text);
}

/// The names of clones' symbols. In the BTF of other tools, a clone's FUNC may have the name of the
/// clone's symbol.
using Names = std::unordered_set<std::string_view>;
Names names_of_clones(const Image &image)
{
    Names out;
    for (const FunctionSymbol &symbol : image.functions)
        if (symbol.name != symbol.base)
            out.insert(symbol.name);
    return out;
}

} // namespace

std::span<const std::pair<TypeId, TypeId>> tags_of(const std::vector<Object> &objects,
                                                   const Instance &instance)
{
    const TypeId func = record_of(objects, instance).func;
    if (func == void_id)
        return {};
    return objects[instance.object].tags_of(func);
}

std::string_view linkage_text(const Object &o, TypeId tag)
{
    if (!o.has_trailer || !o.trailer.features.has(Feature::linkage_names))
        return {};
    const btf_type &t = o.btf.type(tag);
    const std::string_view text = o.btf.str(t.name_off);
    // A tag on the function itself, not on one of its parameters.
    const bool is_whole = btf::tail_of(t)[0] == static_cast<uint32_t>(-1);
    return is_whole && !linkage_symbol(text).empty() ? text : std::string_view();
}

std::string_view linkage_text(const std::vector<Object> &objects, const Instance &instance)
{
    for (auto [func, tag] : tags_of(objects, instance))
        if (auto text = linkage_text(objects[instance.object], tag); !text.empty())
            return text;
    return {};
}

FunctionGroups group_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                               const Image &image, const Locations &locations, bool linkage_names)
{
    FunctionGroups out;
    GroupNumbers groups(image.functions.size());
    std::vector<uint32_t> of_symbol;
    of_symbol.reserve(image.functions.size());
    for (const FunctionSymbol &symbol : image.functions)
        of_symbol.push_back(groups.find_or_add(symbol.base));

    std::optional<Names> clones;                      // made on first use
    std::vector<std::pair<uint32_t, Instance>> found; // {group, instance}
    for (uint32_t o = 0; o < objects.size(); ++o) {
        if (locations.not_linked[o])
            continue;
        if (!objects[o].has_trailer && !clones)
            clones = names_of_clones(image);
        // Raw BTF without an image has no symbol table: all of its functions exist.
        const bool all_exist = image.kind == ImageKind::combined && !inputs[objects[o].input].elf;
        const auto count = static_cast<uint32_t>(objects[o].trailer.functions.size());
        for (uint32_t r = 0; r < count; ++r) {
            const Instance instance{o, r};
            const std::string_view name = symbol_of(objects, instance, linkage_names);
            const bool exists = all_exist || (!objects[o].has_trailer && clones->contains(name));
            const uint32_t group = exists ? groups.find_or_add(name) : groups.find(name);
            if (group != FlatIndex::none)
                found.emplace_back(group, instance);
        }
    }

    const size_t count = groups.names().size();
    out.symbols = Lists<>::make(count, [&](auto put) {
        for (uint32_t i = 0; i < of_symbol.size(); ++i)
            put(of_symbol[i], i);
    });
    out.instances = Lists<uint32_t, Instance>::make(count, [&](auto put) {
        for (const auto &[group, instance] : found)
            put(group, instance);
    });
    std::vector<bool> is_listed(count);
    for (const auto &[group, instance] : found) {
        if (!is_listed[group])
            out.list.push_back({groups.names()[group], out.symbols[group], out.instances[group]});
        is_listed[group] = true;
    }
    return out;
}

} // namespace btflink::merge
