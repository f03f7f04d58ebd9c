// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which functions get a FUNC, and which of a function's many instances provides it.
#pragma once

#include "common/object_btf/features.h"
#include "merge/link/resolve_addresses.h"

#include <array>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace btflink::merge
{

/// Why a function is left out.
enum class FunctionSkip : uint8_t {
    none,
    unexpected_reg, // a parameter is in another register than the ABI says
    inconsistent,   // instances differ in their prototypes
    uncertain,      // a packed struct on the stack
    reordered,      // parameters in another order than in the source
    optimized,      // a clone that lost parameters
    ambiguous,      // one name, several addresses
    count,
};
const char *skip_name(FunctionSkip skip); // as in "inconsistent"

struct Instance {
    uint32_t object;
    uint32_t record; // index into trailer.functions
};

struct SelectedFunction : Instance {
    uint32_t tagged_begin = 0, tagged_end = 0; // in Functions::tagged
    bool is_kfunc = false;
    uint32_t kfunc_flags = 0;
    // Pointers of its prototype into an arena: bit 0 the result, 1 and 2 the first parameters.
    // The FUNC gets a prototype of its own, in which a type tag with kflag marks them.
    uint8_t arena = 0;
    // Of a clone, by its true signature: the name of its symbol. Empty: it is named as its record.
    std::string_view clone = {};
    // Text of the tag that names its symbol; empty: that is the FUNC's name. Other FUNCs may have
    // the same name, even with the same prototype.
    std::string_view linkage = {};
};
/// The name of its FUNC.
std::string_view name_of(const std::vector<Object> &objects, const SelectedFunction &f);
constexpr uint32_t arena_slots = 3;

/// {FUNC, tag} of the DECL_TAGs of an instance.
std::span<const std::pair<TypeId, TypeId>> tags_of(const std::vector<Object> &objects,
                                                   const Instance &instance);

/// The text of a tag on the whole of a function, if the tag names its symbol; else empty.
std::string_view linkage_text(const Object &o, TypeId tag);

struct SkippedFunction {
    std::string_view name; // of the symbol
    FunctionSkip reason;
};

struct Functions {
    std::vector<SelectedFunction> selected; // by name; of one name that whose symbol it is is first
    std::vector<Instance> tagged;           // instances whose DECL_TAGs are a FUNC's
    std::vector<SkippedFunction> skipped;   // by name
    std::vector<std::string_view> no_arena; // kfuncs whose flags name something not a pointer
    std::array<uint32_t, static_cast<size_t>(FunctionSkip::count)> skip_counts{};
    std::deque<std::string> texts; // of clones that have other names than their symbols
    uint64_t candidates = 0;       // instances in all objects
    uint64_t without_symbol = 0;   // of these, instances of functions not in the image

    std::span<const Instance> tagged_of(const SelectedFunction &f) const
    {
        return std::span(tagged).subspan(f.tagged_begin, f.tagged_end - f.tagged_begin);
    }
};

Functions select_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                           const Image &image, const Located &located, FeatureSet features);

} // namespace btflink::merge
