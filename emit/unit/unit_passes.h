// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes over the entries of one unit, in order. encode_tree() calls them (unit_object.h).
#pragma once

#include "common/btf/btf_builder.h"
#include "common/object_btf/features.h"
#include "common/object_btf/type_hash.h"
#include "emit/unit/type_layout.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::emit
{

// unit_types.cc: the types, as BTF in the order in which their DIEs end.

struct UnitTypes {
    BtfBuilder btf;              // plain types, then the DECL_TAGs of structs, unions, typedefs
    std::vector<TypeId> ids;     // by DIE; void if the DIE is not a type
    std::vector<Error> left_out; // parts of types that BTF cannot express
    bool suspect = false;        // kernels may refuse some types; mend_btf() finds out

    /// The type that `die` refers to; void if it has none or BTF cannot express it.
    TypeId of(const TypeLayout &layout, const Die &die) const { return ids[layout.target(die)]; }
};

/// `strings`: see BtfBuilder; may be null.
UnitTypes encode_types(const DieTree &tree, FeatureSet features, ByteOrder order,
                       const Where &where, Skips &skips, StringTable *strings);

/// Calls visit(text) for each annotation called `kind` ("btf_decl_tag", "btf_type_tag") of the DIE
/// at `i`. Annotations are children (clang) or, if there are none, a chain of references (gcc).
/// Returns false if it found children.
template <typename Visit>
bool for_each_annotation(const DieTree &tree, DieIndex i, std::string_view kind, Visit visit)
{
    if (!tree.annotations)
        return true;
    const Die &d = tree.at(i);
    bool found = false;
    for (DieIndex c = i + 1; c < d.end; c = tree.at(c).end) {
        const Die &child = tree.at(c);
        if ((child.tag == tag_llvm_annotation || child.tag == tag_gnu_annotation) && child.name &&
            child.text && *child.text && child.name == kind) {
            visit(std::string_view(child.text));
            found = true;
        }
    }
    if (found)
        return false;
    DieIndex a = tree.find(d.annotation);
    for (unsigned n = 0; a && n < 1000; ++n) {
        const Die &link = tree.at(a);
        if (link.tag != tag_gnu_annotation || !link.name || !link.text || link.name != kind)
            break;
        if (*link.text) // kernels refuse empty ones
            visit(std::string_view(link.text));
        a = tree.find(link.annotation);
    }
    return true;
}

// unit_variables.cc: the variables that become VARs.

/// A defined variable. Type ids are those of UnitTypes; strings are owned by the DWARF or the file.
struct VariableCandidate {
    std::string_view name;
    TypeId type{};
    uint32_t flags = 0; // VariableFlag
    uint32_t size = 0;  // bytes
    AddressRef address;
    std::string_view section; // its name, or "" for common symbols
    std::vector<std::string_view> tags;
};

/// The longest name of a variable that is encoded.
constexpr size_t max_variable_name = 128;

/// In the order in which their DIEs end. `rejected`: variables of C that BTF cannot express. Those
/// of other languages are only counted in `skips`, because their source cannot avoid them.
std::vector<VariableCandidate> collect_variables(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips,
                                                 std::vector<RejectedVariable> &rejected);

// unit_functions.cc: the functions that may become FUNCs: each named instance with named
// parameters, and the properties by which the merge chooses.

struct FunctionParam {
    std::string_view name;
    std::string_view member; // if not empty, the parameter is named name__member
    TypeId type{};
    bool operator==(const FunctionParam &) const = default;
};

struct FunctionTag {
    std::string_view text;
    int32_t component; // -1 or index of the parameter
    bool operator==(const FunctionTag &) const = default;
};

/// One instance of a function; type ids are those of UnitTypes. Strings are owned by the DWARF.
struct FunctionCandidate {
    std::string_view name;
    uint32_t flags = 0; // FunctionFlag
    TypeId result{};
    std::vector<FunctionParam> params; // a trailing {"", "", void} stands for "..."
    std::vector<FunctionTag> tags;
    // With the feature linkage_names, if the symbol differs from the name: the symbol, and its
    // language, such as "c++14".
    std::string_view symbol;
    std::string language;
    std::optional<AddressRef> address;
    // With the feature true_signature, if the compiler states that it changed the signature: the
    // function with the parameters that are really passed.
    std::unique_ptr<FunctionCandidate> true_signature;
};

/// Returned in the order in which their DIEs end.
std::vector<FunctionCandidate> collect_functions(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips);

// unit_dedup.cc: finds equal types in one object.

struct UnitDedup {
    /// By old id: the lowest id of an equal type (its own if no earlier type is equal).
    std::vector<TypeId> representative;
    /// Struct and union names with several different definitions here.
    std::vector<std::string> ambiguous;
    bool has_duplicates = false;
};

/// `types`: from a builder, so that equal strings have the same offset. `hashes`: their stub
/// hashes, in id order.
UnitDedup find_duplicates(const Btf &types, const std::vector<Hash128> &hashes);

} // namespace btflink::emit
