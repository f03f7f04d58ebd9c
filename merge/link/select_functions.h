// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Selects the functions that get a FUNC, and the instance that provides each.
#pragma once

#include "common/object_btf/features.h"
#include "merge/link/function_groups.h"

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
    unexpected_reg, // a parameter is not in the register that the ABI prescribes
    inconsistent,   // instances differ in their prototypes
    uncertain,      // a packed struct on the stack
    reordered,      // parameters in another order than in the source
    optimized,      // a clone that lost parameters
    ambiguous,      // one name, several addresses
    count,
};
const char *skip_name(FunctionSkip skip); // as in "inconsistent"

struct SelectedFunction : Instance {
    TypeId func_proto = void_id;               // see func_proto_of()
    uint32_t tagged_begin = 0, tagged_end = 0; // in Functions::tagged
    bool is_kfunc = false;
    uint32_t kfunc_flags = 0;
    // Pointers of its prototype into an arena: bit 0 the result, bits 1 and 2 the first parameters.
    // The FUNC then gets its own prototype, in which a type tag with kflag marks these pointers.
    uint8_t arena = 0;
    // For a clone with its true signature: the clone's name. Empty: the name is that of the record.
    std::string_view clone = {};
    // Text of the tag with its symbol; empty if this is the FUNC's name. Other FUNCs may have the
    // same name, even with the same prototype.
    std::string_view linkage = {};
};
constexpr uint32_t arena_slots = 3;

struct SkippedFunction {
    std::string_view name; // of the symbol
    FunctionSkip reason;
};

struct Functions {
    // By name; of several with the same name, the one whose symbol has that name is first.
    std::vector<SelectedFunction> selected;
    std::vector<Instance> tagged;           // instances whose DECL_TAGs a FUNC gets
    std::vector<SkippedFunction> skipped;   // by name
    std::vector<std::string_view> no_arena; // kfuncs with arena flags on other than pointers
    std::array<uint32_t, static_cast<size_t>(FunctionSkip::count)> skip_counts{};
    std::deque<std::string> texts; // names of clones whose symbols have other names

    std::span<const Instance> tagged_of(const SelectedFunction &f) const
    {
        return std::span(tagged).subspan(f.tagged_begin, f.tagged_end - f.tagged_begin);
    }
};

Functions select_functions(const std::vector<Input> &inputs, const std::vector<Object> &objects,
                           const Image &image, const Locations &locations, FeatureSet features);

} // namespace btflink::merge
