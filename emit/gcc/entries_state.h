// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The state of Entries, shared by the files that implement them.
#pragma once

#include "emit/gcc/entries.h"
#include "emit/unit/unit_object.h"

#include <dwarf.h>
#include <elf.h>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace btflink::emit::gcc
{

/// Distance between the made-up offsets of entries. With 16, each bucket of DieTree::find() has one
/// entry.
constexpr uint32_t offset_step = 16;

constexpr const char *decl_tag = "btf_decl_tag", *type_tag = "btf_type_tag";

struct Parameter {
    const char *name;
    TypeNumber type;
    uint32_t uid;
};

/// A function or a clone in the object.
struct Instance {
    uint32_t symbol; // index into State::symbols, plus 1
    bool split, displaced;
    bool is_clone;
    std::vector<uint32_t> parameters; // of a clone: see Entries::emitted()
};

struct Tag {
    const char *text;
    int32_t parameter; // -1: the tag is on the function itself
};

struct Function {
    const char *name;
    TypeNumber result;
    uint32_t first_parameter, parameter_count = 0; // in State::parameters
    bool external, variadic = false, inlined = false;
    std::vector<Instance> instances;
    std::vector<Tag> tags;
    DieIndex entry = 0;
};

struct Variable {
    const char *name;
    TypeNumber type;
    bool external;
    std::vector<const char *> tags;
    // Set by emitted_variable():
    bool is_emitted = false, common = false, weak = false;
    uint32_t symbol = 0, section = 0;
};

/// The entity that declaration_tag() annotates.
enum class Subject : uint8_t { entry, function, variable };

struct Entries::State {
    const Arch &arch;
    ByteOrder order;
    FeatureSet features;
    std::string source;

    State(const Arch &target, const Setup &setup)
        : arch(target), order(setup.big_endian ? ByteOrder::big : ByteOrder::little),
          features(setup.features), source(setup.source)
    {
        tree.dies.reserve(64 * 1024); // untouched pages cost nothing
        tree.dies.emplace_back();     // placeholder for "none"
    }

    std::pmr::monotonic_buffer_resource text_memory{64 * 1024};
    std::unordered_map<const char *, const char *> kept_names; // by gcc's unique pointers
    DieTree tree;
    std::vector<uint32_t> offset_of = {0}; // of each type's entry, by TypeNumber
    DieIndex open = 0;                     // the type between begin_...() and end()
    DieIndex last_type = 0, last_member = 0;
    Subject subject = Subject::entry;
    std::vector<Function> functions;
    std::vector<Parameter> parameters;
    std::vector<Variable> variables;
    std::unordered_map<uint32_t, uint32_t> function_of, variable_of; // by DECL_UID
    std::vector<std::string> symbols;
    std::string labels; // assembler text that defines our own symbols
    std::vector<ElfSection> sections = {{}};
    std::unordered_map<std::string, uint32_t> section_of;

    /// Copies a name, because gcc's garbage collector may free the original.
    const char *keep(const char *text)
    {
        if (!text)
            return nullptr;
        auto [found, is_new] = kept_names.try_emplace(text, nullptr);
        if (is_new)
            found->second = copy(text);
        return found->second;
    }
    const char *copy(const char *text)
    {
        const size_t size = __builtin_strlen(text) + 1;
        void *room = text_memory.allocate(size, 1);
        return static_cast<const char *>(__builtin_memcpy(room, text, size));
    }

    Die &add(unsigned tag, DieIndex parent = 0)
    {
        const auto index = static_cast<DieIndex>(tree.dies.size());
        Die &d = tree.dies.emplace_back();
        d.tag = static_cast<uint16_t>(tag);
        d.offset = index * offset_step;
        d.parent = parent;
        return d;
    }
    DieIndex last() const { return static_cast<DieIndex>(tree.dies.size() - 1); }
    /// The reference holds a TypeNumber until finish_tree() replaces it by an offset.
    static void refer(Die &d, TypeNumber target)
    {
        d.type = static_cast<uint32_t>(target);
        if (target != void_type)
            d.has |= Die::typed;
    }
    Die &add_type(TypeNumber type, unsigned tag, const char *name = nullptr)
    {
        Die &d = add(tag);
        d.name = keep(name);
        offset_of[static_cast<uint32_t>(type)] = d.offset;
        subject = Subject::entry;
        last_type = last();
        last_member = 0;
        return d;
    }
    Die &add_simple(TypeNumber type, unsigned tag, const char *name = nullptr)
    {
        Die &d = add_type(type, tag, name);
        tree.complete(last());
        return d;
    }
    Die &begin(TypeNumber type, unsigned tag, const char *name)
    {
        Die &d = add_type(type, tag, name);
        open = last();
        return d;
    }
    Die &child(unsigned tag, const char *name)
    {
        Die &d = add(tag, open);
        d.name = keep(name);
        tree.complete(last());
        return d;
    }

    uint32_t add_symbol(const char *text)
    {
        symbols.emplace_back(text);
        return static_cast<uint32_t>(symbols.size()); // 0 stands for "no symbol"
    }
    /// A symbol for the address of a function. The linker resolves the name of a weak function to
    /// the strong one that replaces it. A local label stays with the code, like the labels in gcc's
    /// DWARF.
    uint32_t add_function_symbol(const Emitted &how)
    {
        if (!how.weak)
            return add_symbol(how.symbol);
        const std::string label = ".Lbtflink" + std::to_string(symbols.size());
        labels += "\t.set\t" + label + "," + how.symbol + "\n";
        return add_symbol(label.c_str());
    }
    uint32_t add_section(const char *name, bool zero)
    {
        auto [found, is_new] = section_of.try_emplace(name, static_cast<uint32_t>(sections.size()));
        if (is_new) {
            ElfSection section;
            section.name = copy(name);
            section.head.sh_type = zero ? SHT_NOBITS : SHT_PROGBITS;
            section.head.sh_flags = SHF_ALLOC;
            sections.push_back(std::move(section));
        }
        return found->second;
    }

    void add_tag(const char *kind, const char *text, DieIndex parent);
    void add_function(Function &function);
    void add_parameters(const Function &function, bool located);
    void add_clone(const Function &function, const Instance &clone);
    void add_clone_parameter(DieIndex clone, DieIndex origin, bool located);
    void add_variable(const Variable &variable);
    void finish_entry(DieIndex entry, bool variadic);
    void set_address(DieIndex entry, const AddressRef &address);
    void resolve_references();
    void finish_tree();
};

/// `.BTF` and the address pool (common/FORMAT.md, 1) as directives for the assembler. `symbols`:
/// the names of the symbols to which relocations refer by number, from 1 on.
std::string assembly_text(const UnitObject &object, const Arch &arch, ByteOrder order,
                          const std::vector<std::string> &symbols);

} // namespace btflink::emit::gcc
