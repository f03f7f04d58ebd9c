// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Features: choices of what to encode. All but linkage_names have the names of pahole's
// --btf_features, with which kernel builds select them.
#pragma once

#include "common/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace btflink
{

/// Bit values are part of the object format (link trailer, "features").
enum class Feature : uint32_t {
    encode_force = 1u << 0, // a C variable with a name or type that BTF cannot express is left out,
                            // not an error
    var = 1u << 1,          // per-CPU variables
    float_kind = 1u << 2,   // named "float" in lists: FLOATs
    decl_tag = 1u << 3,
    type_tag = 1u << 4,
    enum64 = 1u << 5,
    optimized_func = 1u << 6,     // no effect, as in pahole since 1.31
    consistent_func = 1u << 7,    // leave out functions with several prototypes
    decl_tag_kfuncs = 1u << 8,    // tag kfuncs
    reproducible_build = 1u << 9, // no effect: output is always reproducible
    global_var = 1u << 10,        // variables of all sections
    distilled_base = 1u << 11,    // split BTF gets a distilled base
    attributes = 1u << 12,        // mark arena pointers of kfuncs
    true_signature = 1u << 13,    // functions with the parameters that are really passed
    layout = 1u << 14,            // final BTF without a base gets a layout section, unless it is
                                  // the BTF of a kernel that refuses one
    force_cu_merging = 1u << 15,  // no effect: units that refer to each other are always merged
    linkage_names = 1u << 16,     // DECL_TAGs with the symbols of functions (C++, Rust)
};

class FeatureSet
{
public:
    constexpr FeatureSet() = default;
    constexpr explicit FeatureSet(uint32_t bits) : bits_(bits) {}
    constexpr bool has(Feature f) const { return bits_ & static_cast<uint32_t>(f); }
    constexpr void add(Feature f) { bits_ |= static_cast<uint32_t>(f); }
    constexpr void add(FeatureSet other) { bits_ |= other.bits_; }
    constexpr void remove(Feature f) { bits_ &= ~static_cast<uint32_t>(f); }
    constexpr uint32_t bits() const { return bits_; }
    constexpr bool operator==(const FeatureSet &) const = default;

private:
    uint32_t bits_ = 0;
};

/// pahole's "default": the features of pahole 1.27 without reproducible_build.
FeatureSet default_features();
/// "all": every feature except distilled_base, which needs a base, and linkage_names, which pahole
/// 1.32 does not have. pahole's "all" also lacks force_cu_merging, which has no effect here.
FeatureSet all_features();
/// Every feature, with distilled_base and linkage_names.
FeatureSet known_features();

/// Parses "a,b,c", or "+a,b", which stands for `start`, a and b. "default" and "all" are names,
/// too. The caller joins the results of several lists on one command line. Error: an unknown name.
Result<FeatureSet> parse_features(std::string_view list, FeatureSet start = default_features());
/// Adds the features in `list`, the value of an option --features.
Result<void> store_option(std::optional<FeatureSet> &features, std::string_view list);

/// "a,b,c" in bit order; "none" for the empty set.
std::string feature_names(FeatureSet set);

// With the features linkage_names and decl_tag, a function of a language other than C, usually C++
// or Rust, has a DECL_TAG that names its symbol, unless the symbol is the function's name.

constexpr std::string_view linkage_word = ":linkage:";

/// "c++14:linkage:_Z3addii"
inline std::string linkage_tag(std::string_view language, std::string_view symbol)
{
    return std::string(language) + std::string(linkage_word) + std::string(symbol);
}

/// The symbol in such a tag; empty for any other tag.
inline std::string_view linkage_symbol(std::string_view tag)
{
    const size_t word = tag.find(linkage_word);
    if (word == 0 || word == tag.npos)
        return {};
    return tag.substr(word + linkage_word.size());
}

} // namespace btflink
