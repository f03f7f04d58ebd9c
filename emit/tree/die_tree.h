// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The debugging information entries (DIEs) of one unit, or of several that are read as one, as a
// flat array, with attributes decoded once. Only entries that BTF needs are kept: types with their
// parts, functions with their parameters, annotations, variables outside functions, and
// declarations (not definitions) of variables inside functions and classes. Blocks and inlined
// calls are not kept, but types and declarations nested in blocks are.
#pragma once

#include "common/elf/arch.h"
#include "common/elf/elf_image.h"
#include "common/result.h"

#include <algorithm>
#include <cstdint>
#include <dwarf.h>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace btflink::emit
{

// Counts of what is left out or changed, by reason.

/// Calls X(reason) for each reason, in alphabetical order.
#define BTFLINK_SKIPS(X)                                                                           \
    X(array_of_incomplete_type)                                                                    \
    X(atomic_qualifier_dropped)                                                                    \
    X(base_type_of_odd_size)                                                                       \
    X(clang_module)                                                                                \
    X(covered)                                                                                     \
    X(enumerator_value_not_constant)                                                               \
    X(excluded_language)                                                                           \
    X(excluded_name)                                                                               \
    X(function_of_incomplete_type)                                                                 \
    X(inexpressible)                                                                               \
    X(interface_type)                                                                              \
    X(member_location_not_constant)                                                                \
    X(mended)                                                                                      \
    X(name_made_legal)                                                                             \
    X(nullptr_as_pointer)                                                                          \
    X(partial_unit)                                                                                \
    X(pointer_to_member_as_int)                                                                    \
    X(prototype_of_incomplete_type)                                                                \
    X(reference_as_pointer)                                                                        \
    X(split_dwarf_unit)                                                                            \
    X(string_type)                                                                                 \
    X(type_unit)                                                                                   \
    X(type_unit_reference)                                                                         \
    X(unknown_unit)                                                                                \
    X(unnamed_base_type)                                                                           \
    X(unnamed_declaration)                                                                         \
    X(unnamed_typedef)                                                                             \
    X(unresolved_reference)                                                                        \
    X(variable_name)                                                                               \
    X(variable_of_size_zero)                                                                       \
    X(variable_of_type_void)                                                                       \
    X(variable_too_large)                                                                          \
    X(variable_without_section)

enum class Skip : uint8_t {
#define BTFLINK_SKIP(name) name,
    BTFLINK_SKIPS(BTFLINK_SKIP)
#undef BTFLINK_SKIP
};

/// The stable word for --stats and warnings, such as "type-unit".
inline std::string skip_word(Skip skip)
{
    constexpr const char *names[] = {
#define BTFLINK_SKIP(name) #name,
        BTFLINK_SKIPS(BTFLINK_SKIP)
#undef BTFLINK_SKIP
    };
    std::string word = names[static_cast<size_t>(skip)];
    std::ranges::replace(word, '_', '-');
    return word;
}

using Skips = std::map<Skip, uint64_t>;

/// Units that a reader could not read. Their DWARF must not be dropped.
constexpr Skip unread_units[] = {Skip::clang_module, Skip::split_dwarf_unit, Skip::partial_unit,
                                 Skip::type_unit, Skip::unknown_unit};

/// Why a skeleton unit is not read: its split unit was not found, or `file`, which it names
/// (DW_AT_dwo_name), is a compiled clang module or precompiled header (`-gmodules`). The fast
/// reader never reads such a file; libdw reads it as split DWARF if it exists. Clang gives a
/// precompiled header the `id` (dwo_id) -2, because the header has no hash.
inline Skip skip_without(const char *file, uint64_t id)
{
    const bool is_module = id == ~uint64_t{1} || (file && std::string_view(file).ends_with(".pcm"));
    return is_module ? Skip::clang_module : Skip::split_dwarf_unit;
}

/// What the passes over a unit need to know about the unit's file, in addition to the entries. It
/// comes from the ELF file (DwarfFile::unit_file()), or in the gcc plugin from the compiler.
struct UnitFile {
    const Arch &arch;
    ByteOrder order;
    bool relocatable;                     // an object: addresses are symbols, not numbers
    Where where;                          // for messages; an entry's offset is added to it
    std::span<const ElfSection> sections; // AddressRef has indices into these
};

/// An address in a unit's entries. In an object it is relative to a symbol; in a linked file it is
/// final.
struct AddressRef {
    uint32_t symbol = 0;  // index into .symtab, or the plugin's own number; 0 in linked files
    int64_t addend = 0;   // in linked files the address
    uint64_t offset = 0;  // in `section` of the input file; in linked files the address
    uint32_t section = 0; // section that defines the symbol; 0 for common, undefined and absolute
                          // symbols, for functions in the gcc plugin, and in linked files
    bool common = false;
    bool weak = false;
    bool is_final = false; // linked file: `offset` is the address

    AddressRef plus(uint64_t bytes) const
    {
        AddressRef moved = *this;
        moved.addend = static_cast<int64_t>(static_cast<uint64_t>(moved.addend) + bytes);
        moved.offset += bytes;
        return moved;
    }
};

/// A variable of C whose name or type BTF cannot express.
struct RejectedVariable {
    std::string name;
    bool bad_name; // BTF does not allow its name
    Error why;     // names the DIE
};

/// Index of a DIE in DieTree::dies. 0 is a placeholder that means "none".
using DieIndex = uint32_t;

/// The tag of an entry whose children are the parameters that g++ makes of a parameter pack
/// (`T... rest`).
constexpr uint32_t tag_gnu_parameter_pack = 0x4108;

/// Annotations (btf_decl_tag, btf_type_tag): the tags that gcc 16 and clang use, and the attribute
/// by which gcc refers to an annotation. <dwarf.h> may lack them.
constexpr uint32_t tag_gnu_annotation = 0x6001;
constexpr uint32_t at_gnu_annotation = 0x2139;
constexpr uint32_t tag_llvm_annotation = 0x6000;

/// What a reader does with an entry.
enum class Keep : uint8_t {
    no,            // skip it with its children
    yes,           // keep it, and read its children
    children_only, // only read its children
    signature,     // only read its children: the type itself is in a type unit
                   // (DW_AT_signature). Readers notice this; keep_tag() never returns it
};
/// What to do with an entry, by its tag and that of its parent. `top_level`: the parent is the
/// unit. Returns `yes` for all variables inside functions and classes; of these, readers keep only
/// declarations.
Keep keep_tag(uint32_t tag, uint32_t parent_tag, bool top_level);

/// A namespace, or a module of Fortran or D.
inline bool is_namespace(uint32_t tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/// The deepest nesting that is read; deeper nesting is an error. Compilers stay below 100.
constexpr size_t max_depth = 2000;

/// Where a parameter is when its function is entered. Registers have their DWARF numbers; -1 means
/// unknown. Which of the two registers counts depends on the parameter's type, whose entry may come
/// later.
struct ParamLocation {
    int8_t scalar = -1;       // if its type fits a register, or !Arch::aggregates_in_two_regs
    int8_t aggregate = -1;    // otherwise: the first register of its pieces
    bool is_constant = false; // the location is a constant, as for a parameter that is not passed
    bool on_stack = false;
    uint64_t pieces = 0; // bit n: a piece begins at byte n (of the first 64)
};

struct Die {
    /// Bits of `has`.
    enum Has : uint32_t {
        declaration = 1u << 0,
        external = 1u << 1, // the attribute is present, with any value
        artificial = 1u << 2,
        inlined = 1u << 3, // DW_AT_inline other than "not inlined"
        low_pc = 1u << 4,
        ranges = 1u << 5,
        location = 1u << 6,
        const_value = 1u << 7,
        const_negative = 1u << 8, // the const_value has a signed form and is below zero
        data_bit_offset = 1u << 9,
        located = 1u << 10,    // DW_AT_data_member_location
        msb_offset = 1u << 11, // DW_AT_bit_offset: counts from the most significant bit
        typed = 1u << 12,      // DW_AT_type
        nocall = 1u << 13,     // DW_AT_calling_convention is DW_CC_nocall
        file_level = 1u << 14, // child of the unit itself, or of a namespace
        // Parameters, see ParamLocation:
        is_constant = 1u << 15,
        on_stack = 1u << 16,
        // Functions, if signatures_known: a parameter is not where BPF programs look for it.
        displaced = 1u << 17,
        // Subranges:
        upper_bound = 1u << 18,
        lower_bound = 1u << 19,
        unknown_bound = 1u << 20, // a bound is not a constant, or the lower one exceeds 32 bits
    };

    // The offset of this entry, and the offsets of entries that it refers to; 0: none. They are
    // offsets in .debug_info, or other ascending numbers that the reader or the gcc plugin assigns.
    // Readers refuse files in which they would exceed 32 bits.
    uint32_t offset = 0;
    uint32_t type = 0, origin = 0, specification = 0, annotation = 0;
    uint32_t has = 0;
    DieIndex parent = 0; // nearest kept ancestor
    DieIndex end = 0;    // one past the last kept DIE below this one
    const char *name = nullptr;
    uint64_t byte_size = 0;
    union {
        // Members: bit offset if data_bit_offset is set, else byte offset. Enumerators: the
        // constant. Subranges: the upper bound plus 1 if upper_bound is set, else the element
        // count, 0 if unknown.
        uint64_t value = 0;
        const char *text; // annotations: const_value as a string; functions: the symbol, if there
                          // is a DW_AT_linkage_name
        uint64_t pieces;  // parameters, see ParamLocation
    };
    int32_t bit_offset = 0; // DW_AT_bit_offset; subranges: the lower bound
    uint32_t address = 0;   // functions, variables: index + 1 into DieTree::addresses
    uint16_t bit_size = 0;  // saturated
    uint16_t tag = 0;
    uint8_t encoding = 0; // DW_ATE_*
    // Parameters: registers on entry, see ParamLocation.
    int8_t scalar_register = -1, aggregate_register = -1;

    bool is(uint32_t bits) const { return has & bits; }
};

struct UnitLanguage {
    uint32_t offset;    // of the unit
    std::string name;   // "c++14"; empty: not known
    bool counts_from_1; // arrays begin at 1 unless DWARF states a lower bound
};

class DieTree
{
public:
    std::vector<Die> dies; // [0] is the placeholder; in order of offset
    // Kept DIEs other than annotations and parts of types and functions, in the order in which they
    // end: each after the DIEs nested in it. The gcc plugin moves clones after their functions.
    std::vector<DieIndex> types, functions, variables;
    std::vector<AddressRef> addresses;
    const char *source = nullptr;        // DW_AT_name of the (first) unit
    std::vector<UnitLanguage> languages; // of the tree's units, sorted by offset
    bool clang = false;
    bool c_names = true;      // names are C identifiers
    bool annotations = false; // there are annotations
    bool atomics = false;     // there are entries with DW_TAG_atomic_type
    // The gcc plugin made the tree. Registers are unknown. Instead, Die::displaced of a function
    // states that some parameter is not in the register where BPF programs look for it. In a clone,
    // parameters without Die::location are displaced or not passed. With the feature
    // true_signature, a clone that takes a displaced parameter has the flag, too, unless it is a
    // part (".part.0").
    bool signatures_known = false;
    uint8_t address_size = 8;

    const Die &at(DieIndex i) const { return dies[i]; }
    /// Calls visit(child, its index) for each kept child of the DIE at `i`.
    template <typename Visit>
    void for_each_child(DieIndex i, Visit visit) const
    {
        for (DieIndex c = i + 1; c < dies[i].end; c = dies[c].end)
            visit(dies[c], c);
    }
    /// The language of the last unit in `languages` that begins before the entry; null if there is
    /// none, as in trees of the gcc plugin.
    const UnitLanguage *language_of(const Die &d) const;
    /// Ends the DIE at `i`, after all its children have been added. Adds a type, function or
    /// variable to its list. Turns a template alias into a typedef. Turns a subrange that is not a
    /// dimension of an array into a typedef, a base type, or an entry through which references
    /// pass, as through _Atomic.
    void end_die(DieIndex i);
    /// Appends the entries of `other`, whose offsets must be higher than all in this tree.
    void append(const DieTree &other);
    /// Empties the lists of functions and variables. All entries stay.
    void drop_functions_and_variables();
    /// In a type unit, a type inside a namespace or another type has two entries: a declaration in
    /// that scope, and a definition that refers to the declaration (DW_AT_specification). Drops
    /// such declarations from `types`.
    void drop_specified();
    /// The kept DIE whose Die::offset is `offset`, or 0. Call index() once before.
    DieIndex find(uint32_t offset) const
    {
        const uint64_t bucket = (uint64_t{offset} - first_offset_) / 16;
        if (offset < first_offset_ || bucket >= buckets_.size())
            return buckets_.empty() ? search(offset) : 0;
        DieIndex i = buckets_[bucket];
        while (offsets_[i] < offset)
            ++i;
        return offsets_[i] == offset && i < dies.size() ? i : 0;
    }
    void index();

private:
    void end_subtype(DieIndex i);
    DieIndex search(uint32_t offset) const;

    // The first DIE at or after each 16th byte. A search is a look-up and usually one or two steps.
    // Empty if the entries are far apart; find() then uses search().
    std::vector<DieIndex> buckets_;
    std::vector<uint32_t> offsets_; // of each DIE; then UINT32_MAX
    uint32_t first_offset_ = 0;
};

} // namespace btflink::emit
