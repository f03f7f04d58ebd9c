// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes over the entries of one unit, in the order in which encode_tree() (unit_object.h)
// calls them. Two classes that they use, TypeLayout and ParamRegisters, come first. Passes do not
// fail: what BTF cannot express is counted in Skips.
#pragma once

#include "common/btf/btf_builder.h"
#include "common/elf/arch.h"
#include "common/object_btf/features.h"
#include "common/object_btf/type_hash.h"
#include "emit/tree/die_tree.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace btflink::emit
{

// type_layout.cc: computes properties of types for which one DWARF attribute does not suffice:
// sizes, alignments, offsets of members and bitfields, whether a struct is packed. All walks along
// type references are bounded, because the references may form cycles.

/// Is `d` the type of nullptr (C++, C23)? Units of assembler have nameless types with the same tag.
bool is_null_pointer(const Die &d);

/// Longer chains of references are taken for cycles.
constexpr unsigned max_chain = 1000;
/// The same for chains of annotations. Any number of entries may share a chain, and each gets tags
/// of its own, so a high limit would allow a small file with very large BTF.
constexpr unsigned max_annotations = 64;

class TypeLayout
{
public:
    explicit TypeLayout(const DieTree &tree) : tree_(tree) {}

    /// The DIE to which DW_AT_type of `die` refers, through DW_TAG_atomic_type; 0: void or unknown.
    DieIndex target(const Die &die) const
    {
        const DieIndex i = tree_.find(die.type);
        return tree_.atomics ? behind_atomics(i) : i;
    }
    /// The same as target(), also through typedefs, const, volatile and restrict.
    DieIndex stripped_target(const Die &die) const;
    /// The same as target(), also through all types for which passes(type) is true.
    template <typename Passes>
    DieIndex target_past(const Die &die, Passes passes) const
    {
        DieIndex i = target(die);
        for (unsigned n = 0; i && passes(tree_.at(i)); ++n)
            i = n < max_chain ? target(tree_.at(i)) : 0;
        return i;
    }

    /// Why the type at `i` is incomplete: "is only declared" or "is of a kind that BTF does not
    /// have" (also void); null if it is complete.
    const char *why_incomplete(DieIndex i) const;
    /// Does the function or prototype `die` return a struct or union that is only declared?
    bool is_declared_result(const Die &die) const;
    /// Size in bytes of the type at `i`; 0 if it has none (void, functions, flexible arrays), and
    /// for an empty class, whose DW_AT_byte_size is 1.
    uint64_t size(DieIndex i) const;
    /// Size in bytes of a C++ pointer to member. A pointer to member function has two words.
    uint64_t member_pointer_size(const Die &die) const;
    /// Size in bytes of a parameter: the first DW_AT_byte_size along its chain of types. Pointers
    /// and references have the address size, pointers to members that of member_pointer_size().
    uint64_t parameter_size(const Die &die) const;
    /// The number of elements in each dimension of an array, in C's order, modulo 2^32 as with
    /// pahole; 0 if unknown. Never empty.
    std::vector<uint32_t> array_dimensions(DieIndex i) const;
    /// Is the type at `i` a struct without holes or tail padding, whose layout is only possible
    /// with "packed"?
    bool is_packed_struct(DieIndex i, ByteOrder order) const;
    /// Bit offset of a member from the start of its struct or union.
    uint64_t member_bit_offset(const Die &member, ByteOrder order) const;

private:
    DieIndex behind_atomics(DieIndex i) const;
    uint64_t element_count(const Die &subrange) const;
    uint64_t array_length(DieIndex i) const;
    bool is_empty_class(DieIndex i) const;
    bool find_packed(DieIndex i, ByteOrder order) const;
    uint64_t alignment(DieIndex i, unsigned depth) const;
    uint64_t find_alignment(DieIndex i, unsigned depth) const;

    const DieTree &tree_;
    // Results by type. They are kept because any number of DIEs may refer to one type with many
    // children.
    mutable std::unordered_map<DieIndex, uint64_t> array_lengths_;
    mutable std::unordered_map<DieIndex, bool> empty_classes_, packed_structs_;
    // Likewise. While an alignment is being computed it is 1, which ends a cycle of types.
    mutable std::unordered_map<DieIndex, uint64_t> alignments_;
};

// param_registers.cc: compares the registers of a function's parameters with those that the ABI
// prescribes. Finds parameters that are in other places, and those that are not passed at all.

struct Param {
    DieIndex die = 0;
    const char *name = nullptr;
    DieIndex type_of = 0;   // the DIE with DW_AT_type: `die` or its origin
    uint32_t position = 0;  // from 0 on
    uint64_t size = 0;      // bytes
    bool in_memory = false; // too large for registers
    bool has_location = false;
    bool is_constant = false, on_stack = false; // see ParamLocation
    int reg = -1;                               // -1: unknown
    uint64_t pieces = 0;                        // see ParamLocation; 0 if it takes one register
    // Results:
    bool optimized = false;  // not passed; for check(), also: not in a known register
    bool unexpected = false; // not in the register that the ABI prescribes
    DieIndex member = 0;     // the only member in a register; added to the parameter's name
    bool is_member = false;  // `member` is in the register where the whole struct would begin
    bool dropped = false;    // set by unit_functions.cc: omitted from the true signature
};

class ParamRegisters
{
public:
    ParamRegisters(const Arch &arch, const DieTree &tree, const TypeLayout &layout)
        : arch_(arch), tree_(tree), layout_(layout)
    {
    }

    /// For functions of clang whose signature is kept, that is, abstract instances and functions
    /// without DW_CC_nocall: finds parameters in unexpected registers. (By DW_CC_nocall clang
    /// states that it changed the signature.)
    void check_kept_signature(std::span<Param> params) const;
    /// For other compilers, and for functions whose signature clang has changed: compares the
    /// prototype of the source with the locations.
    void check(std::span<Param> params) const;
    /// For functions whose signature clang has changed: finds the parameters that are left, and
    /// those of which only a member is left. As long as registers are left, parameters count as
    /// unexpected if their place is unknown, if they are in another register, or on the stack
    /// although they fit into registers.
    void find_true_signature(std::span<Param> params) const;

private:
    uint32_t register_count(const Param &p) const;
    int expected(uint32_t index) const;
    bool is_at(const Param &p, uint32_t index) const;
    DieIndex member_at(const Param &p, uint64_t offset) const;

    const Arch &arch_;
    const DieTree &tree_;
    const TypeLayout &layout_;
    // Results of member_at(), by type * 64 + offset (below 64). They are kept because any number of
    // parameters may have one type with many members.
    mutable std::unordered_map<uint64_t, DieIndex> members_;
};

// unit_types.cc: the types, as BTF in the order in which their DIEs end.

struct UnitTypes {
    BtfBuilder btf;              // plain types, DECL_TAGs (of structs, unions, typedefs) last
    std::vector<TypeId> ids;     // by DIE; void if the DIE is not a type or is left out
    std::vector<Error> left_out; // parts of types that BTF cannot express
    std::vector<TypeId> suspect; // types that kernels may refuse; mend_btf() finds out

    /// The type that `die` refers to; void if it has none or BTF cannot express it.
    TypeId of(const TypeLayout &layout, const Die &die) const { return ids[layout.target(die)]; }
};

/// `strings`: see BtfBuilder; may be null.
UnitTypes encode_types(const DieTree &tree, FeatureSet features, ByteOrder order,
                       const Where &where, Skips &skips, StringTable *strings);

/// Calls visit(text) for each annotation called `kind` ("btf_decl_tag", "btf_type_tag") of the DIE
/// at `i`. Annotations are children (clang, our gcc plugin), the innermost type tag first, or a
/// chain of references (gcc), the outermost first. Returns false if they are children.
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
    for (unsigned n = 0; a && n < max_annotations; ++n) {
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

/// A defined variable. Type ids are those of UnitTypes. Strings are not copied: `name` and `tags`
/// are those of the entries, `section` is a name in UnitFile::sections.
struct VariableCandidate {
    std::string_view name;
    TypeId type{};
    uint32_t flags = 0; // VariableFlag
    uint32_t size = 0;  // bytes
    AddressRef address;
    std::string_view section; // its name, or "" for common symbols
    std::vector<std::string_view> tags;
};

/// Bytes of the longest variable name that is encoded.
constexpr size_t max_variable_name = 128;

/// Returns the variables in the order in which their DIEs end. `rejected`: variables of C with a
/// name or type that BTF cannot express. In other languages such variables are only counted in
/// `skips`, because the source cannot avoid them.
std::vector<VariableCandidate> collect_variables(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips,
                                                 std::vector<RejectedVariable> &rejected);

// unit_functions.cc: the functions that may become FUNCs, with the properties by which the merge
// chooses among them. All instances are described, except declarations, instances without a name or
// with an unnamed parameter and, in languages other than C, those with an incomplete type.

struct FunctionParam {
    std::string_view name;
    std::string_view member; // if not empty, the parameter is named name__member
    TypeId type{};
    bool operator==(const FunctionParam &) const = default;
};

struct FunctionTag {
    std::string_view text;
    int32_t component; // index of the parameter; -1: the function itself
    bool operator==(const FunctionTag &) const = default;
};

/// One instance of a function. Type ids are those of UnitTypes. Names, tags and `symbol` are the
/// strings of the entries, which are not copied.
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
    // With the feature true_signature, if clang changed the signature or gcc reordered the
    // parameters: the function with the parameters that are really passed.
    std::unique_ptr<FunctionCandidate> true_signature;
};

/// Returns the instances in the order of `tree.functions`.
std::vector<FunctionCandidate> collect_functions(const UnitFile &file, const DieTree &tree,
                                                 const UnitTypes &types, FeatureSet features,
                                                 Skips &skips);

// unit_dedup.cc: finds equal types in one contribution.

struct UnitDedup {
    /// By old id: the lowest id of an equal type (its own if no earlier type is equal).
    std::vector<TypeId> representative;
    /// Struct and union names with several different definitions in the contribution.
    std::vector<std::string> ambiguous;
    bool has_duplicates = false;
};

/// `types`: from a builder, so that equal strings have the same offset. `hashes`: the stub hashes
/// of `types`, in id order.
UnitDedup find_duplicates(const Btf &types, const std::vector<Hash128> &hashes);

} // namespace btflink::emit
