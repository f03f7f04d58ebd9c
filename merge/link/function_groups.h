// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Groups functions: the image's symbols by base name, and for each group the instances, from all
// objects, of the function with that name.
#pragma once

#include "common/graph/lists.h"
#include "merge/link/resolve_addresses.h"

#include <span>
#include <string_view>
#include <vector>

namespace btflink::merge
{

struct Instance {
    uint32_t object;
    uint32_t record; // index into trailer.functions
};

inline const LinkFunction &record_of(const std::vector<Object> &objects, const Instance &instance)
{
    return objects[instance.object].trailer.functions[instance.record];
}
inline std::string_view source_name(const std::vector<Object> &objects, const Instance &instance)
{
    return objects[instance.object].btf.str(record_of(objects, instance).name);
}

/// {FUNC, tag} of the DECL_TAGs of an instance.
std::span<const std::pair<TypeId, TypeId>> tags_of(const std::vector<Object> &objects,
                                                   const Instance &instance);

/// The text of a tag on a function as a whole, if it names the function's symbol; otherwise empty.
std::string_view linkage_text(const Object &o, TypeId tag);
/// The same for the tag of the instance that names its symbol.
std::string_view linkage_text(const std::vector<Object> &objects, const Instance &instance);

struct FunctionGroup {
    std::string_view name;               // of its symbols, without what compilers append
    std::span<const uint32_t> symbols;   // indices into Image::functions
    std::span<const Instance> instances; // in link order
};

struct FunctionGroups {
    std::vector<FunctionGroup> list;     // with at least one instance, in the order of the first
    Lists<> symbols;                     // by group; `list` points here
    Lists<uint32_t, Instance> instances; // the same
};

/// `linkage_names`: an instance whose DECL_TAG names a symbol belongs to that symbol's group.
FunctionGroups group_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                               const Image &image, const Locations &locations, bool linkage_names);

} // namespace btflink::merge
