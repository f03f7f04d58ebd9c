// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// What differs between two kernels, as plain data: what the comparison fills in and the printers
// read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel::diff
{

/// What a name is a name of. Names of different spaces have nothing to do with each other.
enum class Space : uint8_t {
    type,     // struct, union, enum, number
    alias,    // typedef
    constant, // of an enum without a name, for which no type says where it is used
    function,
    kfunc, // a function that has the tag bpf_kfunc on either side
    variable,
};
constexpr size_t space_count = 6;
std::string_view space_name(Space space); // "type", "typedef", "constant", ...

enum class What : uint8_t { came, went, changed };
std::string_view what_name(What what);

/// One difference between two definitions.
struct Detail {
    enum class Kind : uint8_t {
        kind,           // struct, union, enum: texts
        size,           // numbers, bytes
        member_came,    // new_text, new_number: bits from the start
        member_went,    // old_text, old_number
        member_moved,   // numbers: bits from the start
        member_bits,    // numbers: of a bitfield, 0: none
        member_type,    // texts
        member_renamed, // texts: names
        value_came,     // new_number
        value_went,     // old_number
        value_changed,  // numbers
        value_cut,      // numbers: the new one is the low half, by an encoder without ENUM64
        value_mended,   // numbers: the old one was
        target,         // texts: the type of a typedef or variable
        result,         // texts
        parameter_came, // new_text
        parameter_went, // old_text
        parameter_type, // texts
        meaning,        // texts: what a parameter's name tells the verifier ("__sz")
        section,        // texts: of a variable
        encoding,       // texts: of an integer
        tag_came,       // new_text
        tag_went,       // old_text
    };
    Kind kind;
    std::string place = {}; // "member", "member.inner", "parameter 2 (flags)"; "": whole
    std::string old_text = {}, new_text = {}; // C
    int64_t old_number = 0, new_number = 0;
    bool old_unsigned = false, new_unsigned = false; // of values
    bool fits =
        true; // of types: one that was compiled with the old takes the new, by CO-RE's rules
    bool same_size = true;    // of types
    bool same_meaning = true; // of types: spelled in another way, or a pointer to one of that name
};
std::string_view detail_name(Detail::Kind kind);

/// What a change means for BPF programs that were compiled with the old kernel's types.
struct Effect {
    enum class Kind : uint8_t {
        none,       // nothing that was there is gone
        relocated,  // CO-RE finds it in its new place
        size,       // CO-RE finds it, but with another size: direct loads of signed types fail
        pointee,    // a pointer to something else: what is read behind it is wrong
        core,       // CO-RE does not find it, or not as what it was
        baked,      // a number that a program has inside it
        fentry,     // fentry, fexit, fmod_ret
        kfunc,      //
        tracepoint, // tp_btf, raw_tp, tracepoint
        lsm,        //
        iterator,   //
        struct_ops, //
        ksym,       // variables
    };
    Kind kind;
    std::string text;
};
std::string_view effect_name(Effect::Kind kind);
constexpr bool breaks(Effect::Kind kind)
{
    return kind > Effect::Kind::relocated;
}

struct Change {
    Space space;
    What what;
    std::string name;            // "struct s", "u32", "vfs_read"
    std::string definition;      // C, of what came or went: a function's prototype, "" for types
    std::vector<Detail> details; // of what changed
    std::vector<Effect> effects;
    std::vector<uint32_t> places; // 0: vmlinux; n: Difference::modules[n - 1]
    std::string cause;            // "struct t": nothing differs but the places behind a member of
                                  // that type
    bool one_of_several = false;  // other definitions of the name stayed
    // For those who follow types: the ids in the first of `places`, 0: none.
    uint32_t old_id = 0, new_id = 0;

    bool breaks() const
    {
        for (const Effect &effect : effects)
            if (diff::breaks(effect.kind))
                return true;
        return false;
    }
};

/// What became of a module as a whole.
struct ModuleChange {
    std::string name;
    What what;
    bool is_built_in; // most of its functions are in the other kernel's vmlinux
};

struct Difference {
    std::string old_name, new_name;
    std::vector<std::string> modules;         // of either side, sorted
    std::vector<Change> changes;              // sorted by space and name
    std::vector<ModuleChange> module_changes; // those that came or went, sorted
    uint32_t old_types = 0, new_types = 0;    // of all BTF
    uint32_t compared_modules = 0;
};

} // namespace btflink::kernel::diff
