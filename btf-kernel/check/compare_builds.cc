// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the BTF of two builds byte by byte, and looks for the reason for a difference.
//
// BTF contains no times, users or folders, but they may affect the lengths of arrays: of
// linux_banner and linux_proc_banner, and of those made from __FILE__. BTF differs in the form of
// the header (another version of the encoder), in the order of types (threads, order of inputs), or
// in types (another compiler, configuration or source). Types are compared by kind, and by all
// names, sizes and values in them, but not by ids, so a type that only moved is recognised.
#include "btf-kernel/check/check_kernel.h"

#include "common/cli/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_options = 5; // in one line

/// What differs between two BTFs.
struct Difference {
    enum class Kind : uint8_t {
        none,            // at most type ids and string offsets, which compare() ignores
        follows_vmlinux, // only a module's type ids and places of strings, because vmlinux differs
        order,           // of types or names
        other,
    };
    Kind kind = Kind::none;
    std::string text = {};
};

/// The parts of the banner "Linux version RELEASE (USER) (COMPILER) #NUMBER ...".
struct Banner {
    std::string user;     // "user@host"
    std::string compiler; // with its linker; empty: unknown
    std::string number;   // "#1 SMP ...", with the time
};

/// `text`: the banner after "Linux version ".
Banner parse_banner(const std::string &text)
{
    static const std::regex form(R"(\S* +\(([^]*?)\)(?: +\(([^]*)\))? +(#[^]*))");
    std::smatch parts;
    return std::regex_match(text, parts, form) ? Banner{parts[1], parts[2], parts[3]} : Banner{};
}

/// "A is y here, not set there; ..."; empty without a difference.
std::string compare_configs(const Kernel &here, const Kernel &there)
{
    constexpr std::string_view begin = "CONFIG_", unset = "not set";
    std::map<std::string_view, std::array<std::string_view, 2>> options; // values here and there
    for (const bool second : {false, true}) {
        std::string_view text = second ? there.config : here.config;
        while (!text.empty()) {
            const std::string_view line = take_part(text, '\n');
            const size_t equal = line.find('=');
            if (line.starts_with(begin) && equal != std::string_view::npos)
                options
                    .try_emplace(line.substr(begin.size(), equal - begin.size()),
                                 std::array{unset, unset})
                    .first->second[second] = line.substr(equal + 1);
        }
    }
    std::string out;
    size_t count = 0;
    for (const auto &[name, values] : options)
        if (values[0] != values[1] && ++count <= most_options)
            out += (out.empty() ? "" : "; ") + std::string(name) + " is " + std::string(values[0]) +
                   " here, " + std::string(values[1]) + " there";
    if (count > most_options)
        out += strf("; and %zu more", count - most_options);
    return out;
}

/// Reports differences in how the two kernels were built. Another user or time is harmless. Another
/// compiler or configuration is an error, unless vmlinux has the same BTF (`same_btf`).
void compare_banners_and_configs(const Kernel &here, const Kernel &there, bool same_btf,
                                 Findings &out)
{
    auto report = [&](bool harmless, const std::string &what) {
        out.add(Rule::against, "", {Where{here.package}, what},
                harmless ? Degree::harmless : Degree::error);
    };
    auto compare = [&](bool harmless, const char *what, const std::string &a,
                       const std::string &b) {
        if (a != b && !a.empty() && !b.empty())
            report(harmless, std::string(what) + ": " + a + " here, " + b + " there");
    };
    const Banner a = parse_banner(here.banner), b = parse_banner(there.banner);
    compare(same_btf, "compiler", a.compiler, b.compiler);
    if (!here.config.empty() && !there.config.empty())
        if (const std::string differ = compare_configs(here, there); !differ.empty())
            report(same_btf, "configuration: " + differ);
    compare(true, "user", a.user, b.user);
    compare(true, "build", a.number, b.number);
}

/// The type without ids: a line that messages show, then a line with its other names and values.
/// Both lines are compared.
std::string outline(const Btf &btf, TypeId id)
{
    const btf_type &t = btf.type(id);
    std::string out = strf("%s '%s'", btf.kind_name(id), std::string(btf.name(id)).c_str());
    std::string more = strf("%x", t.info); // has the kflag, and the linkage of a FUNC
    btf::for_each_word(t, [&](btf::Word role, const uint32_t &word) {
        if (role == btf::Word::size)
            out += strf(" of %u bytes", word);
        else if (role == btf::Word::value)
            more += strf(" %x", word);
        else if (role == btf::Word::name && &word != &t.name_off)
            more += " " + std::string(btf.str(word));
    });
    if (btf::vlen_of(t) && btf::kind_info(t).element.count)
        out += strf(", %u elements", btf::vlen_of(t));
    if (btf::is_enum(btf::kind_of(t)) && btf::kflag_of(t))
        out += ", signed";
    if (btf::kind_of(t) == btf::Kind::ARRAY)
        out += strf(" of %u elements", btf::tail_of(t)[2]);
    return out + "\n" + more;
}

std::vector<std::string> outlines(const Btf &btf)
{
    std::vector<std::string> out;
    out.reserve(btf.size());
    for (TypeId id : btf.ids())
        out.push_back(outline(btf, id));
    return out;
}

std::string first_line(const std::string &text)
{
    return text.substr(0, text.find('\n'));
}

/// "3 types only here (STRUCT 's' of 4 bytes, ...)"; empty for an empty `list`.
std::string only(const std::vector<std::string> &list, const char *where)
{
    if (list.empty())
        return "";
    return strf("%zu type%s only %s (", list.size(), plural(list.size()), where) +
           joined(list, ", ", first_line, 3) + (list.size() > 3 ? ", ...)" : ")");
}

Difference compare_types(const Btf &here, const Btf &there)
{
    const std::vector<std::string> a = outlines(here), b = outlines(there);
    const std::multiset<std::string> sorted_a(a.begin(), a.end()), sorted_b(b.begin(), b.end());
    std::vector<std::string> only_a, only_b;
    std::ranges::set_difference(sorted_a, sorted_b, std::back_inserter(only_a));
    std::ranges::set_difference(sorted_b, sorted_a, std::back_inserter(only_b));
    if (!only_a.empty() || !only_b.empty()) {
        std::string first = only(only_a, "here"), second = only(only_b, "there");
        return {Difference::Kind::other,
                first + (first.empty() || second.empty() ? "" : "; ") + second};
    }
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i])
            return {Difference::Kind::order,
                    strf("order: the same types, but type %zu is %s here, %s there",
                         i + raw(here.first_id()), first_line(a[i]).c_str(),
                         first_line(b[i]).c_str())};
    return {};
}

/// The text if bytes differ, but compare() finds no difference.
constexpr const char references[] = "references: the same types, but some refer to other types";

/// `a`, `b`: the bytes of `here` and `there`. `with_strings`: also compare the strings. False if
/// vmlinux differs and is the module's base: split BTF has only the strings that vmlinux lacks.
Difference compare(const Btf &here, Bytes a, const Btf &there, Bytes b, bool with_strings = true)
{
    using Kind = Difference::Kind;
    if (here.order() != there.order())
        return {Kind::other, here.order() == ByteOrder::little
                                 ? "byte order: little here, big there"
                                 : "byte order: big here, little there"};
    const auto head_a = load<uint32_t>(a.data() + 4, here.order()),
               head_b = load<uint32_t>(b.data() + 4, there.order());
    Difference types = compare_types(here, there);
    if (head_a != head_b)
        return {Kind::other, strf("header form: %u bytes here, %u there", head_a, head_b) +
                                 (types.text.empty() ? "" : "; ") + types.text};
    if (types.kind != Kind::none || !with_strings || here.strings() == there.strings())
        return types;
    return {Kind::order, "strings: the same types, but their names are in another order"};
}

/// The BTF of both vmlinux. The sides are null if the two BTFs are equal.
struct Bases {
    std::shared_ptr<const Btf> here, there;
    std::unique_ptr<diff::Side> side_here, side_there;
};

/// Looks for a definition that refers to other types here than there. `here`, `there`: a module in
/// both builds, with the same types except for ids.
Difference compare_references(const ModuleBtf &here, const ModuleBtf &there, const Bases &bases)
{
    auto distilled = [](const ModuleBtf &module) {
        return module.distilled ? std::make_unique<diff::Side>(module.distilled, nullptr) : nullptr;
    };
    auto side = [](const ModuleBtf &module, const diff::Side *own, const diff::Side *vmlinux) {
        return diff::Side(module.btf, own || !module.btf->base() ? own : vmlinux);
    };
    const auto own_a = distilled(here), own_b = distilled(there);
    const diff::Side a = side(here, own_a.get(), bases.side_here.get()),
                     b = side(there, own_b.get(), bases.side_there.get());
    for (const auto &[name, list] : a.names)
        if (!std::ranges::equal(list, b.find(name), {}, &diff::Definition::shape,
                                &diff::Definition::shape))
            return {Difference::Kind::other,
                    "references: the same types, but " +
                        first_line(outline(*here.btf, TypeId{list[0].id})) +
                        " refers to other types"};
    return {Difference::Kind::follows_vmlinux};
}

Difference compare_module(const Binary &here, const Binary &there, const Bases &bases)
{
    using Kind = Difference::Kind;
    if (here.unreadable) // check_kernel() reports this
        return {};
    if (there.unreadable)
        return {Kind::other, "cannot be compared: " + there.unreadable->str()};
    if (here.has_btf != there.has_btf) // first, because a .BTF may be empty
        return {Kind::other, here.has_btf ? "has BTF only here" : "has BTF only there"};
    if (here.btf == there.btf && here.base == there.base)
        return {};
    if (here.base.empty() != there.base.empty())
        return {Kind::other, "form: only one of the builds has a distilled base"};
    const bool same_base = !bases.side_here;
    auto a = parse_module(here, bases.here), b = parse_module(there, bases.there);
    if (!a || !b)
        return {Kind::other, "cannot be compared: " + (a ? b : a).error().str()};
    const bool over_vmlinux = !a->distilled && (a->btf->base() || b->btf->base());
    Difference difference =
        compare(*a->btf, here.btf, *b->btf, there.btf, same_base || !over_vmlinux);
    if (difference.kind != Kind::none)
        return difference;
    if (a->distilled && here.base != there.base) {
        difference = compare(*a->distilled, here.base, *b->distilled, there.base);
        // The types of a distilled base are in the order of vmlinux.
        const bool follows = !same_base && difference.kind == Kind::order;
        if (difference.kind != Kind::none && !follows)
            return {Kind::other, "distilled base: " + difference.text};
    }
    const bool independent = !over_vmlinux && here.base == there.base; // of vmlinux
    return same_base || independent ? Difference{Kind::other, references}
                                    : compare_references(*a, *b, bases);
}

} // namespace

void compare_builds(const Kernel &here, const Kernel &there, Findings &out)
{
    auto base_here = parse_vmlinux(here), base_there = parse_vmlinux(there);
    if (!base_here || !base_there)
        return out.add(Rule::against, "vmlinux", (base_here ? base_there : base_here).error());
    for (const Error &error : there.left_out)
        out.add(Rule::against, "", error, Degree::harmless);
    Bases bases{*base_here, *base_there, nullptr, nullptr};
    auto report = [&](const Binary &binary, const std::string &what) {
        out.add(Rule::against, binary.name, {binary.btf_where, what});
    };
    const bool same_base = here.vmlinux->btf == there.vmlinux->btf;
    if (!same_base) {
        bases.side_here = std::make_unique<diff::Side>(bases.here, nullptr);
        bases.side_there = std::make_unique<diff::Side>(bases.there, nullptr);
        auto difference = compare(*bases.here, here.vmlinux->btf, *bases.there, there.vmlinux->btf);
        report(*here.vmlinux,
               difference.kind == Difference::Kind::none ? references : difference.text);
    }
    compare_banners_and_configs(here, there, same_base, out);
    std::map<std::string_view, const Binary *> others; // by name
    for (const Binary &module : there.modules)
        others.emplace(module.name, &module);
    size_t followed = 0;
    for (const Binary &module : here.modules) {
        auto it = others.find(module.name);
        const Difference result = it == others.end()
                                      ? Difference{Difference::Kind::other, "is only here"}
                                      : compare_module(module, *it->second, bases);
        if (result.kind == Difference::Kind::follows_vmlinux)
            ++followed;
        else if (result.kind != Difference::Kind::none)
            report(module, result.text);
    }
    for (const Binary &module : here.modules)
        others.erase(module.name);
    for (const auto &[name, module] : others)
        report(*module, "is only there");
    if (followed)
        out.add(
            Rule::against, "",
            {Where{there.package},
             strf("%zu module%s only in type ids and places of strings, because vmlinux differs",
                  followed, followed == 1 ? " differs" : "s differ")},
            Degree::harmless);
}

} // namespace btflink::kernel
