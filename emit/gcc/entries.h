// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types, functions and variables of a compile, independent of gcc's data structures. They become
// entries like those of a DWARF reader, so the passes in emit/unit turn both into object BTF.
//
// This header includes no other header of btflink, because btf-cc --build-plugin compiles the
// plugin on systems with only the plugin's sources, this header and a library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace btflink::emit::gcc
{

/// Identifies a type. new_type() returns these numbers.
enum class TypeNumber : uint32_t {};
constexpr TypeNumber void_type{0};

/// Kinds of entries. Each corresponds to a tag of DWARF.
enum class Kind : uint8_t {
    // Types.
    base_type,
    pointer_type,
    reference_type,
    const_type,
    volatile_type,
    restrict_type,
    atomic_type,
    typedef_type,
    array_type,
    structure_type,
    union_type,
    enumeration_type,
    subroutine_type,
    null_pointer,
    // Parts of types and functions.
    subrange, // a dimension of an array, the outermost first
    member,
    enumerator,
    parameter,
    variadic, // "..."
    // The rest.
    function,
    variable,
};

enum class BaseKind : uint8_t { signed_integer, unsigned_integer, boolean, floating, other };

struct Entry {
    Kind kind;
    uint32_t uid = 0; // of a function, its parameters, a variable: gcc's DECL_UID
    const char *name = nullptr;
    TypeNumber type = void_type; // its type, or its target, element or underlying type, or result
    uint64_t bytes = 0;          // size of a type
    uint64_t value = 0; // member: bit offset; enumerator: value; subrange: elements, 0 if unknown
    uint32_t bit_size = 0; // of a bitfield; of a _BitInt, which has no name in gcc's trees
    BaseKind base = BaseKind::other;
    bool is_declared = false; // struct, union, enum: only declared
    bool is_negative = false; // enumerator: `value` is signed and less than 0
    bool is_external = false; // function, variable
};

/// A function in the assembly output.
struct EmittedFunction {
    const char *symbol; // as the assembler spells it
    bool split;         // into hot and cold parts, in two ranges of addresses
    bool displaced;     // some parameter is not in the register where BPF programs look for it
    bool weak;
};

/// What is known before the compile begins.
struct Setup {
    const char *target; // of the compiler, such as "x86_64-linux-gnu"
    unsigned pointer_bytes;
    unsigned register_bytes;
    bool big_endian;
    uint32_t features; // bits of common/object_btf/features.h
    const char *source;
};

/// Messages about missing or incomplete object BTF; both are "" if there is nothing to report.
struct Losses {
    std::string no_btf;   // why there is no object BTF
    std::string left_out; // the first part that it lacks or that was changed, and how many follow
};

/// Call order: first describe types, functions and variables, in any order, each once; then
/// was_inlined(), emitted() and emitted_variable(), in any order; then assembly(), once. Strings
/// are copied unless stated otherwise. Entry::name is copied once per address: while types,
/// functions and variables are described, its memory must not be used for another name.
class Entries
{
public:
    /// Returns null if the target is not supported.
    static std::unique_ptr<Entries> create(const Setup &setup);
    ~Entries();

    /// Reserves a number for a type. A type that is never described is void.
    TypeNumber new_type();

    /// Begins a type. Its parts follow, up to end(). Types do not nest.
    void begin(TypeNumber type, const Entry &entry);
    /// Begins a function. Its parameters follow, up to end().
    void begin_function(const Entry &entry);
    void part(const Entry &entry);
    void end();
    /// Adds a type without parts.
    void add(TypeNumber type, const Entry &entry);
    /// Adds a variable.
    void variable(const Entry &entry);

    /// Annotates the type, part, function or variable that was added, begun or ended last. `kind`
    /// is "btf_decl_tag" or "btf_type_tag", and is not copied. A btf_type_tag is added to a pointer
    /// and describes the pointer's target; the innermost tag comes first.
    void tag(const char *kind, const char *text);

    /// Was the function or variable with DECL_UID `uid` described?
    bool has(uint32_t uid) const;
    /// Records that a caller or a clone has a copy of the function's body. Has no effect if the
    /// function was not described, or was or will be emitted itself.
    void was_inlined(uint32_t uid);
    /// Records that gcc wrote the function itself, with all parameters (`clone` is null), or a
    /// clone. `clone`: for each parameter of the clone, the uid of the function's parameter; any
    /// other number if the parameter is new or has another type. Precondition: has(uid).
    void emitted(uint32_t uid, const EmittedFunction &written, const std::vector<uint32_t> *clone);

    /// Records that gcc wrote a variable. `section`: null for a common symbol. `zero`: the section
    /// is SHT_NOBITS. Precondition: has(uid).
    void emitted_variable(uint32_t uid, const char *symbol, const char *section, bool zero,
                          bool weak);

    /// Object BTF with its address pool as assembler text; empty if there is nothing to encode, or
    /// if losses.no_btf was set.
    std::string assembly(Losses &losses);

private:
    struct State;
    explicit Entries(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace btflink::emit::gcc
