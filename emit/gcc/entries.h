// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Types, functions and variables of a compile, independent of gcc's data structures. They become
// entries like those of a DWARF reader, so the same passes turn them into object BTF.
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

enum class BaseKind : uint8_t { signed_integer, unsigned_integer, boolean, floating, other };
enum class Modifier : uint8_t { pointer, reference, constant, is_volatile, restricted, atomic };

/// The position of a member in its struct or union. `bit_size` is 0 for a member that is not a
/// bitfield.
struct MemberPlace {
    uint64_t bit_offset = 0;
    uint32_t bit_size = 0;
};

/// A function in the assembly output.
struct Emitted {
    const char *symbol; // as the assembler spells it
    bool split;         // into hot and cold parts, in two ranges of addresses
    bool displaced;     // some parameter is not in the register of its position
    bool weak;
};

/// Known before the compile begins.
struct Setup {
    const char *target; // of the compiler, such as "x86_64-linux-gnu"
    unsigned pointer_bytes;
    unsigned register_bytes;
    bool big_endian;
    uint32_t features; // bits of common/object_btf/features.h
    const char *source;
};

/// Messages about missing or incomplete object BTF; "" if it is complete.
struct Losses {
    std::string all;  // there is no object BTF
    std::string part; // a part is left out
};

/// Call order: first describe types, functions and variables, in any order, each once; then the
/// emitted_...() calls; then assembly(). Strings are copied.
class Entries
{
public:
    /// Returns null if the target is not supported.
    static std::unique_ptr<Entries> create(const Setup &setup);
    ~Entries();

    /// Reserves a number for a type, which one of the functions below describes. A type that is
    /// never described is void.
    TypeNumber new_type();

    void base_type(TypeNumber type, const char *name, BaseKind kind, uint64_t bytes);
    /// `_BitInt(bits)`, which has no name in gcc's trees.
    void bit_precise_type(TypeNumber type, unsigned bits, bool is_unsigned, uint64_t bytes);
    void modifier(TypeNumber type, Modifier modifier, TypeNumber target);
    void type_definition(TypeNumber type, const char *name, TypeNumber target);
    /// `counts`: elements of each dimension, the outermost first; 0 if not known.
    void array(TypeNumber type, TypeNumber element, const uint64_t *counts, unsigned dimensions);
    void null_pointer(TypeNumber type, const char *name);
    // From here on, names may be null.
    void forward(TypeNumber type, bool is_union, const char *name);
    void forward_enum(TypeNumber type, const char *name);

    // These begin a type. Its parts follow, up to end().
    void begin_composite(TypeNumber type, bool is_union, const char *name, uint64_t bytes);
    void member(const char *name, TypeNumber type, MemberPlace place);
    void begin_enum(TypeNumber type, const char *name, uint64_t bytes, TypeNumber underlying);
    void enumerator(const char *name, uint64_t value, bool negative);
    void begin_prototype(TypeNumber type, TypeNumber result);
    void prototype_parameter(TypeNumber type);
    void prototype_is_variadic();
    void end();

    /// A btf_type_tag on the target of the last described pointer; the innermost first.
    void pointer_tag(const char *text);
    /// A btf_decl_tag on the last described type, member, function, parameter or variable.
    void declaration_tag(const char *text);

    // `uid`: gcc's DECL_UID, unique among functions, parameters and variables.

    /// Its parameters follow.
    void begin_function(uint32_t uid, const char *name, bool external, TypeNumber result);
    void parameter(uint32_t uid, const char *name, TypeNumber type);
    void function_is_variadic();
    bool has_function(uint32_t uid) const;
    /// A caller or a clone has a copy of the body.
    void was_inlined(uint32_t uid);
    /// The function itself, with all parameters, or a clone of it. `clone`: for each parameter of
    /// the clone, the uid of the function's parameter, or 0 if it is a new one.
    void emitted(uint32_t uid, const Emitted &how, const std::vector<uint32_t> *clone);

    void variable(uint32_t uid, const char *name, TypeNumber type, bool external);
    bool has_variable(uint32_t uid) const;
    /// `section`: null for a common symbol. `zero`: the section is SHT_NOBITS.
    void emitted_variable(uint32_t uid, const char *symbol, const char *section, bool zero,
                          bool weak);

    /// Object BTF with its address pool as assembler text; empty if there is nothing to encode, or
    /// if it cannot be made.
    std::string assembly(Losses &losses);

private:
    struct State;
    explicit Entries(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace btflink::emit::gcc
