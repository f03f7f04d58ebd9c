// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Selects the functions and variables of the result.
#pragma once

#include "common/graph/graphs.h"
#include "common/object_btf/features.h"
#include "merge/link/image.h"

#include <array>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::merge
{

// function_groups.cc: groups functions: the image's symbols by base name, and for each group the
// instances, from all linked objects, of the function with that name.

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

/// The text of a DECL_TAG that names the symbol of a function; empty for other tags.
std::string_view linkage_text(const Object &o, TypeId tag);
/// The text of the instance's tag that names its symbol; empty if the instance has no such tag.
std::string_view linkage_text(const std::vector<Object> &objects, const Instance &instance);

struct FunctionGroup {
    std::string_view name;               // of its symbols, without suffix; or of its instances
    std::span<const uint32_t> symbols;   // indices into Image::functions
    std::span<const Instance> instances; // in link order
};

struct FunctionGroups {
    std::vector<FunctionGroup> list;     // groups with instances, in order of the first instance
    Lists<> symbols;                     // by group; `list` points here
    Lists<uint32_t, Instance> instances; // the same
};

/// `linkage_names`: an instance whose DECL_TAG names a symbol belongs to that symbol's group.
FunctionGroups group_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                               const Image &image, const Locations &locations, bool linkage_names);

// select_functions.cc: the functions that get a FUNC, and the instance that provides each.

/// Why a function is left out.
enum class FunctionSkip : uint8_t {
    none,
    unexpected_reg, // a parameter is not in the register that the ABI prescribes
    inconsistent,   // instances differ in their prototypes
    uncertain,      // a parameter is a packed struct on the stack
    reordered,      // parameters in another order than in the source
    optimized,      // a parameter is not passed
    ambiguous,      // one name, several addresses
    count,
};
const char *skip_name(FunctionSkip skip); // such as "inconsistent"

struct SelectedFunction : Instance {
    TypeId func_proto = void_id;               // see func_proto_of()
    uint32_t tagged_begin = 0, tagged_end = 0; // in Functions::tagged
    bool is_kfunc = false;
    uint32_t kfunc_flags = 0;
    // Which pointers of the prototype lead into a BPF arena: bit 0 the result, bits 1 and 2 the
    // first two parameters. If one does, the FUNC gets a prototype in which a type tag with kflag
    // marks these pointers.
    uint8_t arena = 0;
    // The name of the FUNC if it describes a clone. Empty: the name is that of the record.
    std::string_view clone = {};
    // Text of the tag that names the FUNC's symbol; empty if there is no such tag. If there is one,
    // other FUNCs may have the same name, even with the same prototype.
    std::string_view linkage = {};
};
constexpr uint32_t arena_slots = 3;

struct SkippedFunction {
    std::string_view name; // of the symbol
    FunctionSkip reason;
};

struct Functions {
    // By name, clones by the name without suffix. Of several with the same name, the one whose
    // symbol has that name is first.
    std::vector<SelectedFunction> selected;
    std::vector<Instance> tagged;             // instances whose DECL_TAGs a FUNC gets
    std::vector<SkippedFunction> skipped;     // by name
    std::vector<std::string_view> bad_arenas; // kfuncs whose arena flags name a non-pointer
    std::array<uint32_t, static_cast<size_t>(FunctionSkip::count)> skip_counts{};
    std::deque<std::string> texts; // storage of `clone` and `linkage` if a function has both

    std::span<const Instance> tagged_of(const SelectedFunction &f) const
    {
        return std::span(tagged).subspan(f.tagged_begin, f.tagged_end - f.tagged_begin);
    }
};

Functions select_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                           const Image &image, const Locations &locations, FeatureSet features);

// select_variables.cc: the variables that get a VAR, their sections and offsets.

/// Why a variable is left out.
enum class VariableSkip : uint8_t {
    none,
    other_section, // in no section that the features select
    discarded,     // dropped by the linker
    undefined,     // defined nowhere
    common,        // gets its address at the final link
    no_address,    // its address is unknown
    duplicate,     // another definition at the same place is kept
    overlap,       // begins inside another variable, which kernels refuse
    too_large,     // ends at an offset of more than 32 bits
    no_size,
    count,
};
const char *skip_name(VariableSkip skip);

struct SelectedVariable {
    uint32_t object;
    uint32_t index; // into Object::variables
    uint32_t offset;
};

struct DataSection {
    std::string_view name;
    std::vector<SelectedVariable> entries; // by offset
    uint32_t size = 0; // end of the last entry; of DATASECs of raw BTF, at least their size
};

struct SkippedVariable {
    std::string_view name;
    uint32_t object;
    bool is_listed; // in a DATASEC
    VariableSkip reason;
};

struct Variables {
    std::vector<DataSection> sections;
    // [object][variable]: does the result have it? With the feature global_var and without an
    // image, this includes definitions in other tools' raw BTF that no DATASEC lists; these are not
    // in `sections`.
    std::vector<std::vector<bool>> kept;
    std::vector<SkippedVariable> skipped;
    std::array<uint32_t, static_cast<size_t>(VariableSkip::count)> skip_counts{};
};

Variables select_variables(const std::vector<Object> &objects, const Image &image,
                           const Locations &locations, FeatureSet features);

} // namespace btflink::merge
