// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Reads gcc's trees. To be included behind gcc's headers.
#pragma once

#include "emit/gcc/entries.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace btflink::emit::gcc
{

/// Describes what the source declares to `Entries`, as gcc's own writer of DWARF would.
class TreeReader
{
public:
    explicit TreeReader(Entries &entries) : entries_(entries) {}

    /// A type that a header declares: base types that it uses are described even if nothing else
    /// uses the type.
    void declared_type(tree decl);
    /// A variable as it is declared here; its type may be completed later.
    void declared_variable(tree decl);
    /// A function that is defined here or called. After parsing.
    void function(tree decl);
    /// The last call before gcc optimises: describes all that the calls before left for later.
    void finish();

    /// For gcc's collector: what is held from call to call.
    void mark() const;

private:
    struct Declared {
        tree decl, type;
        int quals; // of both; gcc may mark variables read-only later
        bool defines;
    };

    struct Original {
        uint32_t uid; // DECL_UID of a typedef
        tree type;
    };

    tree original_of(tree decl) const;
    tree typedef_of(tree type) const;
    TypeNumber &known(tree type);
    TypeNumber type_of(tree type, int quals);
    TypeNumber type_of(tree type) { return type_of(type, TYPE_QUALS(type)); }
    TypeNumber type_of_decl(tree decl);
    TypeNumber qualified(tree type, int quals, tree qualified_type);
    TypeNumber unqualified(tree type);
    TypeNumber named(tree name);
    TypeNumber pointer(tree type);
    TypeNumber array(tree type);
    TypeNumber later(tree type);
    void base(tree type, TypeNumber number);
    void describe(tree type);
    void composite(tree type, TypeNumber number);
    void enumeration(tree type, TypeNumber number);
    void prototype(tree type, TypeNumber number);
    void note_base(tree type);
    void note_fields(tree type);
    void parameters(tree decl);
    void prototype_types(tree type);
    void block(tree block);
    void local(tree decl);
    void used_types(std::vector<tree> types);
    void declaration_tags(tree attributes);

    Entries &entries_;
    std::deque<TypeNumber> numbers_; // by TYPE_UID; a vector would be copied whenever it grows
    std::vector<tree> waiting_;      // structs, unions, enums, prototypes to describe
    std::vector<Declared> variables_;
    std::unordered_map<unsigned, bool> defined_; // by DECL_UID, of all in variables_
    std::vector<tree> bases_;                    // main variants that headers use
    std::vector<Original> originals_;            // of typedefs outside functions, by uid
};

} // namespace btflink::emit::gcc
