// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The differences between two kernels, as plain data. compare() (compare.h) fills them in. They are
// printed as text, as Markdown for a pull request, or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace btflink::kernel::diff
{

/// Kinds of names. Equal names in different spaces are unrelated, except for functions and kfuncs.
enum class Space : uint8_t {
    type,  // struct, union, enum, number
    alias, // typedef
    // Enumerator; reported only if, in one of the kernels, its enum has no name and nothing refers
    // to this enum.
    constant,
    function,
    kfunc, // only in Change::space: a function with the tag bpf_kfunc in either kernel
    variable,
};
constexpr size_t space_count = 6;
std::string_view space_name(Space space); // "type", "typedef", "constant", ...

enum class ChangeKind : uint8_t { added, removed, changed };
std::string_view change_kind_name(ChangeKind what);

/// One difference between two definitions.
struct Detail {
    enum class Kind : uint8_t {
        // With numbers.
        size,           // bytes
        member_added,   // new_text, new_number: bits from the start
        member_removed, // old_text, old_number
        member_moved,   // bits from the start
        member_bits,    // width of a bitfield; 0: not a bitfield
        value_added,    // new_number
        value_removed,  // old_number
        value_changed,
        value_cut,    // the new BTF has only the low half: it was made without ENUM64
        value_mended, // the old BTF has only the low half: it was made without ENUM64
        // With the texts of types.
        member_type,
        target, // of a typedef or variable
        result,
        parameter_type,
        // With other texts.
        kind, // struct, union, enum; see `fits`
        member_renamed,
        parameter_added,   // new_text
        parameter_removed, // old_text
        meaning,           // name_for_verifier() of a parameter
        section,           // of a variable
        encoding,          // of a number
        tag_added,         // new_text
        tag_removed,       // old_text
    };
    Kind kind;
    // "member", "member.inner", "ENUMERATOR", "parameter 2 (flags)"; empty: the whole definition,
    // or the result. The position of "member.inner" is counted from the start of `member`.
    std::string place = {};
    std::string old_text = {}, new_text = {}; // types and members: as in C
    int64_t old_number = 0, new_number = 0;
    bool old_unsigned = false, new_unsigned = false; // for values
    bool fits = true;         // for types and kinds: CO-RE accepts the new type for the old one
    bool same_size = true;    // for types; for Kind::size: true only for structs and unions
    bool same_meaning = true; // for types: values of both mean the same to a reader

    bool has_numbers() const { return kind <= Kind::value_mended; }
    bool has_types() const { return !has_numbers() && kind <= Kind::parameter_type; }
};
std::string_view detail_name(Detail::Kind kind);

/// The effect of a change on BPF programs that were compiled with the old kernel's types.
struct Effect {
    enum class Kind : uint8_t {
        none,      // programs do not notice
        relocated, // CO-RE adapts programs to a field's new place or encoding, a struct's new size
        // CO-RE finds a field, but its size changed, or its width as a bitfield. After a change of
        // size, direct loads of the field work only if it is a pointer or an unsigned integer in
        // both kernels. After a change of width, only BPF_CORE_READ_BITFIELD() and its variant
        // _PROBED read it.
        size,
        pointee, // a type or a pointer's target means something else: programs misread the data
        core,    // CO-RE does not find a type, member or enumerator, or refuses a member's type
        baked,   // a number that is compiled into programs changed, or is gone
        fentry,  // fentry, fexit, fmod_ret
        kfunc,
        tracepoint, // tp_btf, raw_tp, tracepoint
        lsm,
        iterator,
        struct_ops,
        ksym, // variables that programs refer to by __ksym
    };
    Kind kind;
    std::string text;
};
std::string_view effect_name(Effect::Kind kind);
constexpr bool breaks(Effect::Kind kind)
{
    return kind > Effect::Kind::relocated;
}

struct Side; // compare.h

struct Change {
    Space space;
    ChangeKind what;
    std::string name;                 // "struct s", "u32", "vfs_read"
    std::string definition = {};      // prototype of an added or removed function; else empty
    std::vector<Detail> details = {}; // if it changed
    std::vector<Effect> effects = {};
    std::vector<uint32_t> places = {}; // 0: vmlinux; n: Difference::modules[n - 1]
    // "struct t": the type changed only because types of its members changed in size, and struct t
    // is the first of these.
    std::string cause = {};
    // The definition was added or removed, and the other kernel has other definitions of the name.
    bool one_of_several = false;
    // The old definition; null and 0 if there is none. For a change in a module, this may be a
    // definition in vmlinux.
    const Side *old_side = nullptr;
    uint32_t old_id = 0;

    bool breaks() const
    {
        for (const Effect &effect : effects)
            if (diff::breaks(effect.kind))
                return true;
        return false;
    }
};

/// A module of which only one side has readable BTF.
struct ModuleChange {
    std::string name;
    ChangeKind what;  // changed: the other side has the module, without readable BTF
    bool lost_btf;    // the old side has the BTF
    bool is_built_in; // added, removed: the other side's vmlinux has most functions of the module
};

struct Difference {
    std::string old_name, new_name;
    std::vector<std::string> modules;         // sorted names; readable BTF in either kernel
    std::vector<Change> changes;              // sorted by space and name
    std::vector<ModuleChange> module_changes; // sorted by name
    uint32_t old_types = 0, new_types = 0;    // of vmlinux and modules
    uint32_t compared_modules = 0;            // those with readable BTF in both kernels

    /// Does the new kernel have the module of this place (Change::places), but without readable
    /// BTF?
    bool has_lost_btf(uint32_t place) const
    {
        for (const ModuleChange &change : module_changes)
            if (place && change.what == ChangeKind::changed && change.lost_btf &&
                change.name == modules[place - 1])
                return true;
        return false;
    }
};

// print.cc.

/// The lines of details, without indentation. Consecutive members that moved by the same distance
/// share a line.
std::vector<std::string> detail_lines(const std::vector<Detail> &list);

// Text from files, for Markdown. Control characters become escapes such as \x0a.
/// In backquotes; backquotes in the text become apostrophes.
std::string markdown_code(std::string_view untrusted);
/// With escaped markup.
std::string markdown_text(std::string_view untrusted);

struct PrintOptions {
    bool only_breaking = false; // only changes that break programs
    bool only_summary = false;  // only numbers of changes
};

std::string as_text(const Difference &difference, const PrintOptions &options);

/// At most about 60,000 characters, so that the text fits into a comment on a pull request.
/// Breaking changes come first; changes that do not fit are counted.
std::string as_markdown(const Difference &difference, const PrintOptions &options);

/// A JSON object; btf-kernel(1) describes its fields.
std::string as_json(const Difference &difference, const PrintOptions &options);

} // namespace btflink::kernel::diff
