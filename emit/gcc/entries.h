// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What the gcc plugin tells of a compile, in terms that are not gcc's: types, functions, variables.
// They become the entries that a reader of DWARF would have found, so that the same passes make
// object BTF of them.
//
// This header includes nothing of btflink's, because the plugin's own sources are also compiled
// where only they, this header and a library are installed (btf-cc --build-plugin).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace btflink::emit::gcc
{

/// A type by the number that it has here.
enum class TypeNumber : uint32_t {};
constexpr TypeNumber void_type{0};

enum class BaseKind : uint8_t { signed_integer, unsigned_integer, boolean, floating, other };
enum class Modifier : uint8_t { pointer, reference, constant, is_volatile, restricted, atomic };

/// Where a member is in its struct or union. `bit_size` is 0 unless it is a bitfield.
struct MemberPlace {
    uint64_t bit_offset = 0;
    uint32_t bit_size = 0;
};

/// What the compiler made of a function's parameters.
struct Emitted {
    const char *symbol; // in the assembler's spelling
    bool split;         // hot and cold parts, whose addresses are not one range
    bool displaced; // parameters are not in the registers that belong to their place in the list
    bool weak;
};

/// What is fixed before the compile begins.
struct Setup {
    const char *target; // the compiler's, as "x86_64-linux-gnu"
    unsigned pointer_bytes;
    bool big_endian;
    uint32_t features; // bits of common/object_btf/features.h
    const char *source;
};

/// What object BTF lacks, in words; "": nothing.
struct Losses {
    std::string all; // there is no object BTF
    std::string part;
};

/// Calls come in this order: types, functions and variables in any order, each described once; then
/// what was emitted; then assembly(). Strings are copied.
class Entries
{
public:
    /// Null: the target is not supported.
    static std::unique_ptr<Entries> create(const Setup &setup);
    ~Entries();

    /// A type that is described later, by one of the functions below. It stays void if it is not.
    TypeNumber new_type();

    void base_type(TypeNumber type, const char *name, BaseKind kind, uint64_t bytes);
    /// `_BitInt(bits)`, which has no name in gcc's trees.
    void bit_precise_type(TypeNumber type, unsigned bits, bool is_unsigned, uint64_t bytes);
    void modifier(TypeNumber type, Modifier modifier, TypeNumber target);
    void type_definition(TypeNumber type, const char *name, TypeNumber target);
    /// `counts`: elements in each dimension, the outermost first; 0: not known.
    void array(TypeNumber type, TypeNumber element, const uint64_t *counts, unsigned dimensions);
    void null_pointer(TypeNumber type, const char *name);
    /// `name` may be null here and in what follows.
    void forward(TypeNumber type, bool is_union, const char *name);
    void forward_enum(TypeNumber type, const char *name);

    // Described in parts, up to end().
    void begin_composite(TypeNumber type, bool is_union, const char *name, uint64_t bytes);
    void member(const char *name, TypeNumber type, MemberPlace place);
    void begin_enum(TypeNumber type, const char *name, uint64_t bytes, TypeNumber underlying);
    void enumerator(const char *name, uint64_t value, bool negative);
    void begin_prototype(TypeNumber type, TypeNumber result);
    void prototype_parameter(TypeNumber type);
    void prototype_is_variadic();
    void end();

    /// btf_type_tag of what a pointer, described last, points to; the innermost first.
    void pointer_tag(const char *text);
    /// btf_decl_tag: of what was described last, of its `parameter` (functions), or of the member
    /// that was.
    void declaration_tag(const char *text);

    // Functions and their parameters are known by gcc's DECL_UIDs, which are unique among both.
    void begin_function(uint32_t uid, const char *name, bool external, TypeNumber result);
    void parameter(uint32_t uid, const char *name, TypeNumber type);
    void function_is_variadic();
    bool has_function(uint32_t uid) const;
    /// Some caller has a copy of its body.
    void was_inlined(uint32_t uid);
    /// The function is in the object, with all parameters.
    void emitted(uint32_t uid, const Emitted &how);
    /// A clone of it is in the object: `parameters` are those of the function that it takes, in its
    /// own order, 0 for others.
    void emitted_clone(uint32_t uid, const Emitted &how, const uint32_t *parameters,
                       unsigned count);

    void variable(uint32_t uid, const char *name, TypeNumber type, bool external);
    bool has_variable(uint32_t uid) const;
    /// `section`: null for a common symbol. `zero`: the section has no bytes in the file.
    void emitted_variable(uint32_t uid, const char *symbol, const char *section, bool zero,
                          bool weak);

    /// Object BTF and address pool as assembler text; "": there is nothing for BTF, or `losses`
    /// says why it cannot be made.
    std::string assembly(Losses &losses);

private:
    struct State;
    explicit Entries(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace btflink::emit::gcc
