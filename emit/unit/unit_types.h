// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Pass: the types of one unit, as BTF in the order in which their DIEs end.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/object_btf/features.h"
#include "emit/unit/type_layout.h"

namespace btflink::emit
{

struct UnitTypes {
    BtfBuilder btf;              // plain types, then the DECL_TAGs of structs, unions, typedefs
    std::vector<TypeId> ids;     // by DIE; void if the DIE is not a type
    std::vector<Error> left_out; // parts of types that BTF cannot express
    bool suspect = false;        // kernels may refuse some types: mend_btf() decides

    /// The type that `die` refers to; void if it has none or BTF cannot express it.
    TypeId of(const TypeLayout &layout, const Die &die) const { return ids[layout.target(die)]; }
};

/// `strings`: see BtfBuilder; may be null.
UnitTypes encode_types(const DieTree &tree, FeatureSet features, ByteOrder order,
                       const Where &where, Skips &skips, StringTable *strings);

/// Calls visit(text) for each annotation called `kind` ("btf_decl_tag", "btf_type_tag") of the DIE
/// at `i`. Annotations are children (clang) or, if there are none, a chain of references (gcc).
/// Returns true for a chain.
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

} // namespace btflink::emit
