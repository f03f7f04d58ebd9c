// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Translates gcc's trees to entries. Sources of the plugin include gcc's headers only through this
// header.
#pragma once

#include "emit/gcc/entries.h"

// gcc's headers in order of dependency. The standard headers come first, because gcc's system.h
// poisons some of their names.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

// clang-format off
#include <gcc-plugin.h>
#include <plugin-version.h>
#include <tree.h>
#include <function.h>
#include <basic-block.h>
#include <stringpool.h>
#include <attribs.h>
#include <memmodel.h>
#include <rtl.h>
#include <tm_p.h>
#include <emit-rtl.h>
#include <target.h>
#include <output.h>
#include <c-family/c-common.h>
#include <c-family/c-pragma.h>
#include <calls.h>
#include <cgraph.h>
#include <debug.h>
#include <diagnostic-core.h>
#include <langhooks.h>
#include <toplev.h>
#include <file-prefix-map.h>
#include <varasm.h>
// clang-format on

namespace btflink::emit::gcc
{

/// Adds to `Entries` what gcc's dwarf2out would describe. README.md lists the known differences.
class TreeReader
{
public:
    explicit TreeReader(Entries &entries) : entries_(entries) {}

    /// Notes the base types in a TYPE_DECL outside functions, and the type that a typedef names.
    void declared_type(tree decl);
    /// Notes a variable with the type that it has so far. A later declaration may complete the
    /// type.
    void declared_variable(tree decl);
    /// Describes a function if it is defined. If it is only called, describes only the types of its
    /// result and parameters. Call this after parsing.
    void function(tree decl);
    /// Describes variables, the types that they use, base types, and all types that are still
    /// waiting. Call this last, before gcc optimises.
    void finish();

    /// Marks the trees that the TreeReader holds, for gcc's garbage collector.
    void mark() const;

private:
    struct DeclaredVariable {
        tree decl, type;
        int quals; // of decl and type at the declaration; gcc may make decl read-only later
        bool defines;
    };

    struct Original {
        uint32_t uid; // DECL_UID of a typedef
        tree type;    // the type that it names
    };

    // trees.cc: types.
    tree original_of(tree decl) const;
    tree typedef_of(tree type) const;
    TypeNumber &number_of(tree type);
    TypeNumber type_of(tree type, int quals);
    TypeNumber type_of(tree type) { return type_of(type, TYPE_QUALS(type)); }
    TypeNumber type_of_decl(tree decl);
    TypeNumber type_or_void(tree type, int quals);
    TypeNumber result_of(tree function_type);
    std::optional<TypeNumber> type_by_typedef(tree type, int quals, tree variant);
    TypeNumber new_type(tree type);
    TypeNumber add_qualified(tree type, int quals, tree qualified_type);
    TypeNumber add_unqualified(tree type);
    TypeNumber add_typedef(tree decl);
    TypeNumber add_pointer(tree type);
    TypeNumber add_array(tree type);
    TypeNumber add_base_type(tree type);
    TypeNumber add_waiting(tree type);
    void describe(tree type);
    void describe_composite(tree type, TypeNumber number);
    void describe_enum(tree type, TypeNumber number);
    void describe_prototype(tree type, TypeNumber number);
    void add_decl_tags(tree attributes);

    // roots.cc: what is described.
    void note_base_type(tree type);
    void note_base_types_in(tree type);
    void add_function(tree decl);
    void add_signature_types(tree type);
    void add_types_of_block(tree block);
    void add_type_of_local(tree decl);
    void add_used_types(std::vector<tree> types);
    void add_types_used_by_variables();
    void add_variable(const DeclaredVariable &variable);

    Entries &entries_;
    std::deque<TypeNumber> numbers_; // by TYPE_UID. A deque grows without a copy.
    std::vector<tree> waiting_;      // structs, unions, enums and prototypes to describe
    std::vector<DeclaredVariable> variables_;
    // By DECL_UID of the variables in variables_: has a definition been seen?
    std::unordered_map<unsigned, bool> defined_;
    std::vector<tree> base_types_;    // main variants found in types declared outside functions
    std::vector<Original> originals_; // file-scope typedefs, except those of arrays; sorted by uid
};

// Small questions about trees.

/// Is `type` described by a DW_TAG_base_type?
inline bool is_base_type(tree type)
{
    switch (TREE_CODE(type)) {
    case INTEGER_TYPE:
    case REAL_TYPE:
    case FIXED_POINT_TYPE:
    case COMPLEX_TYPE:
    case BOOLEAN_TYPE:
#if GCCPLUGIN_VERSION_MAJOR >= 14
    case BITINT_TYPE:
#endif
        return true;
    default:
        return false;
    }
}

// These return null if there is no name.

inline const char *text_of(tree identifier)
{
    return identifier ? IDENTIFIER_POINTER(identifier) : nullptr;
}
inline const char *decl_name(tree decl)
{
    return text_of(DECL_NAME(decl));
}
inline const char *type_name(tree type)
{
    tree name = TYPE_NAME(type);
    if (name && TREE_CODE(name) == TYPE_DECL)
        name = DECL_NAME(name);
    return text_of(name);
}

/// The value of a constant; -1 if `value` is null, not a constant, or does not fit in an int64_t.
inline int64_t constant_value(tree value)
{
    return value && TREE_CODE(value) == INTEGER_CST && tree_fits_shwi_p(value) ? tree_to_shwi(value)
                                                                               : -1;
}

/// 0 if the type is incomplete, or its size is known only at run time.
inline uint64_t size_in_bytes_of(tree type)
{
    const HOST_WIDE_INT size = int_size_in_bytes(type);
    return size > 0 ? static_cast<uint64_t>(size) : 0;
}

/// The declared type of a field. A bitfield has it in DECL_BIT_FIELD_TYPE, which is null for all
/// other fields.
inline tree field_type(tree field)
{
    return DECL_BIT_FIELD_TYPE(field) ? DECL_BIT_FIELD_TYPE(field) : TREE_TYPE(field);
}

/// Qualifiers of `decl` itself, to be added to those of its type.
inline int decl_quals(tree decl)
{
    const bool is_const = TREE_READONLY(decl) && TREE_CODE(TREE_TYPE(decl)) != REFERENCE_TYPE;
    return (is_const ? TYPE_QUAL_CONST : 0) | (TREE_THIS_VOLATILE(decl) ? TYPE_QUAL_VOLATILE : 0);
}

} // namespace btflink::emit::gcc
