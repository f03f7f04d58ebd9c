// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Translates gcc's trees to entries. Include gcc_headers.h first.
#pragma once

#include "emit/gcc/entries.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace btflink::emit::gcc
{

/// Adds to `Entries` exactly what gcc's dwarf2out would describe.
class TreeReader
{
public:
    explicit TreeReader(Entries &entries) : entries_(entries) {}

    /// A TYPE_DECL outside functions.
    void declared_type(tree decl);
    /// A VAR_DECL as declared so far. A later declaration may complete its type.
    void declared_variable(tree decl);
    /// A function that is defined or called. Call this after parsing.
    void function(tree decl);
    /// Describes the variables and all types that are still waiting. Call this last, before gcc
    /// optimises.
    void finish();

    /// Marks the trees held here for gcc's garbage collector.
    void mark() const;

private:
    struct Declared {
        tree decl, type;
        int quals; // of declaration and type; gcc may mark a variable read-only later
        bool defines;
    };

    struct Original {
        uint32_t uid; // DECL_UID of a typedef
        tree type;    // the type that it names
    };

    // trees.cc: types.
    tree original_of(tree decl) const;
    tree typedef_of(tree type) const;
    TypeNumber &known(tree type);
    TypeNumber type_of(tree type, int quals);
    TypeNumber type_of(tree type) { return type_of(type, TYPE_QUALS(type)); }
    TypeNumber type_of_decl(tree decl);
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
    void add_parameters(tree decl);
    void add_signature_types(tree type);
    void add_types_of_block(tree block);
    void add_type_of_local(tree decl);
    void add_used_types(std::vector<tree> types);
    void add_types_used_by_variables();
    void add_variable(const Declared &variable);

    Entries &entries_;
    std::deque<TypeNumber> numbers_; // by TYPE_UID. A deque grows without a copy.
    std::vector<tree> waiting_;      // structs, unions, enums and prototypes to describe
    std::vector<Declared> variables_;
    std::unordered_map<unsigned, bool> defined_; // by DECL_UID, for all in variables_
    std::vector<tree> base_types_;               // main variants; used in types outside functions
    std::vector<Original> originals_;            // of typedefs outside functions, by uid
};

} // namespace btflink::emit::gcc
