// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares the BTF of two builds byte by byte, and looks for the reason of a difference.
//
// BTF contains no times and no users; folders affect only the length of an array made from
// __FILE__. BTF differs in the form of the header (another version of a library), in the order of
// types (threads, order of inputs), or in types (another compiler, configuration or source). Types
// are compared by kind, name, size, and names and offsets of members, but not by ids, so a type
// that only moved is recognised.
#include "btf-kernel/check/check_kernel.h"

#include "common/io/parallel.h"

#include <algorithm>
#include <map>

namespace btflink::kernel
{

namespace
{

constexpr size_t most_options = 5; // in one line

/// "a (b)" from "(a (b)) c"; the rest stays in `text`. Empty if there is no parenthesis at the
/// start.
std::string take_group(std::string_view &text)
{
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    size_t depth = 0, end = 0;
    for (; end < text.size(); ++end) {
        depth += text[end] == '(';
        if (depth == 0)
            return "";
        depth -= text[end] == ')';
        if (depth == 0)
            break;
    }
    if (depth || text.empty())
        return "";
    std::string group(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return group;
}

/// The parts of the banner "Linux version RELEASE (USER) (COMPILER) #NUMBER ...".
struct Banner {
    std::string user;     // "user@host"
    std::string compiler; // with its linker; empty: not known
    std::string number;   // "#1 SMP ...", with the time
};

/// `text`: the banner after "Linux version ".
Banner parse_banner(std::string_view text)
{
    Banner out;
    text.remove_prefix(std::min(text.find(' '), text.size())); // the release
    out.user = take_group(text);
    out.compiler = take_group(text);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.starts_with('#'))
        out.number = text;
    return out;
}

using Config = std::map<std::string_view, std::string_view>;

/// Options that are set, without "CONFIG_".
Config parse_config(std::string_view text)
{
    constexpr std::string_view begin = "CONFIG_";
    Config out;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const size_t equal = line.find('=');
        if (line.starts_with(begin) && equal != std::string_view::npos)
            out.emplace(line.substr(begin.size(), equal - begin.size()), line.substr(equal + 1));
    }
    return out;
}

std::string value_in(const Config &config, std::string_view name)
{
    auto it = config.find(name);
    return it == config.end() ? "not set" : std::string(it->second);
}

/// "A is y here, not set there; ..."; empty without a difference.
std::string compare_configs(const Config &here, const Config &there)
{
    std::map<std::string_view, int> names;
    for (const Config *config : {&here, &there})
        for (const auto &[name, value] : *config)
            ++names[name];
    std::string out;
    size_t count = 0;
    for (const auto &[name, times] : names) {
        const std::string a = value_in(here, name), b = value_in(there, name);
        if (a == b || count++ >= most_options)
            continue;
        out +=
            (out.empty() ? "" : "; ") + std::string(name) + " is " + a + " here, " + b + " there";
    }
    if (count > most_options)
        out += strf("; and %zu more", count - most_options);
    return out;
}

void compare_texts(const char *what, const std::string &a, const std::string &b,
                   std::vector<std::string> &out)
{
    if (a != b && !a.empty() && !b.empty())
        out.push_back(std::string(what) + ": " + a + " here, " + b + " there");
}

/// Differences between two builds by their banners and configurations.
struct BuildDifferences {
    std::vector<std::string> causes;   // may change BTF: compiler, configuration
    std::vector<std::string> harmless; // do not change BTF: user, time
};

BuildDifferences compare_facts(const Kernel &here, const Kernel &there)
{
    BuildDifferences out;
    const Banner a = parse_banner(here.banner), b = parse_banner(there.banner);
    compare_texts("compiler", a.compiler, b.compiler, out.causes);
    compare_texts("user", a.user, b.user, out.harmless);
    compare_texts("build", a.number, b.number, out.harmless);
    if (here.config.empty() || there.config.empty())
        return out;
    if (std::string differ = compare_configs(parse_config(here.config), parse_config(there.config));
        !differ.empty())
        out.causes.push_back("configuration: " + differ);
    return out;
}

/// The type without ids: a line for messages, then a line for comparison.
std::string outline(const Btf &btf, TypeId id)
{
    const btf_type &t = btf.type(id);
    std::string out = strf("%s '%s'", btf.kind_name(id), std::string(btf.name(id)).c_str()), more;
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
    std::string out = strf("%zu types only %s (", list.size(), where);
    for (size_t i = 0; i < std::min<size_t>(list.size(), 3); ++i)
        out += (i ? ", " : "") + first_line(list[i]);
    return out + (list.size() > 3 ? ", ...)" : ")");
}

std::string compare_types(const Btf &here, const Btf &there)
{
    const std::vector<std::string> a = outlines(here), b = outlines(there);
    std::vector<std::string> sorted_a = a, sorted_b = b, only_a, only_b;
    std::sort(sorted_a.begin(), sorted_a.end());
    std::sort(sorted_b.begin(), sorted_b.end());
    std::set_difference(sorted_a.begin(), sorted_a.end(), sorted_b.begin(), sorted_b.end(),
                        std::back_inserter(only_a));
    std::set_difference(sorted_b.begin(), sorted_b.end(), sorted_a.begin(), sorted_a.end(),
                        std::back_inserter(only_b));
    if (!only_a.empty() || !only_b.empty()) {
        std::string first = only(only_a, "here"), second = only(only_b, "there");
        return first + (first.empty() || second.empty() ? "" : "; ") + second;
    }
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i] != b[i])
            return strf("order: the same types, but type %zu is %s here, %s there",
                        i + raw(here.first_id()), first_line(a[i]).c_str(),
                        first_line(b[i]).c_str());
    return "";
}

struct BlobDifference {
    std::string text;   // empty if only ids and offsets differ
    bool moved = false; // the same types and strings, in the same order
};

uint32_t header_word(Bytes blob, size_t at, ByteOrder order)
{
    return load<uint32_t>(blob.data() + at, order);
}

BlobDifference compare(const Btf &here, Bytes a, const Btf &there, Bytes b)
{
    if (here.order() != there.order())
        return {"byte order: another one"};
    const uint32_t head_a = header_word(a, 4, here.order()),
                   head_b = header_word(b, 4, there.order());
    const std::string types = compare_types(here, there);
    std::string form;
    if (head_a != head_b)
        form = strf("header form: %u bytes here, %u there", head_a, head_b);
    if (!form.empty() || !types.empty())
        return {form + (form.empty() || types.empty() ? "" : "; ") + types};
    if (here.strings() != there.strings())
        return {"strings: the same types, whose names lie in another order"};
    return {"", true};
}

std::string compare_module(const Binary &here, const Binary &there,
                           const std::shared_ptr<const Btf> &base_here,
                           const std::shared_ptr<const Btf> &base_there, bool same_base,
                           bool &followed)
{
    if (here.btf == there.btf && here.base == there.base)
        return "";
    if (here.has_btf != there.has_btf)
        return here.has_btf ? "has BTF only here" : "has BTF only there";
    if (here.base.empty() != there.base.empty())
        return "form: only one of the builds has a distilled base";
    auto a = parse_module(here, base_here), b = parse_module(there, base_there);
    if (!a || !b)
        return "cannot be compared: " + (a ? b : a).error().str();
    const BlobDifference difference = compare(*a->btf, here.btf, *b->btf, there.btf);
    followed = difference.moved && !same_base;
    if (!difference.text.empty() || followed)
        return difference.text;
    if (a->distilled && here.base != there.base)
        return "distilled base: " +
               compare(*a->distilled, here.base, *b->distilled, there.base).text;
    return "references: the same types, but they refer to others";
}

} // namespace

void compare_builds(const Kernel &here, const Kernel &there, unsigned threads, Findings &out)
{
    auto find = [&](const std::string &name, const Binary &binary, const std::string &what) {
        out.add(Rule::against, name, {binary.btf_where, what});
    };
    auto base_here = parse_vmlinux(here), base_there = parse_vmlinux(there);
    if (!base_here || !base_there) {
        out.add(Rule::against, "vmlinux", (base_here ? base_there : base_here).error());
        return;
    }
    const bool same_base = here.vmlinux->btf == there.vmlinux->btf;
    if (!same_base) {
        auto difference = compare(**base_here, here.vmlinux->btf, **base_there, there.vmlinux->btf);
        find("vmlinux", *here.vmlinux,
             difference.text.empty() ? "references: the same types, but they refer to others"
                                     : difference.text);
    }
    const BuildDifferences facts = compare_facts(here, there);
    for (const std::string &what : facts.causes)
        if (same_base)
            out.note(Rule::against, "", {Where{here.package}, what});
        else
            out.add(Rule::against, "", {Where{here.package}, what});
    for (const std::string &what : facts.harmless)
        out.note(Rule::against, "", {Where{here.package}, what});
    std::map<std::string_view, const Binary *> others; // by name
    for (const Binary &module : there.modules)
        others.emplace(module.name, &module);
    struct Result {
        std::string text;
        bool followed = false;
    };
    std::vector<Result> results(here.modules.size());
    parallel_for(results.size(), threads, [&](size_t i) {
        auto it = others.find(here.modules[i].name);
        results[i].text = it == others.end()
                              ? "is only here"
                              : compare_module(here.modules[i], *it->second, *base_here,
                                               *base_there, same_base, results[i].followed);
    });
    size_t followed = 0;
    for (size_t i = 0; i < results.size(); ++i) {
        const Binary &module = here.modules[i];
        others.erase(module.name);
        followed += results[i].followed;
        if (!results[i].text.empty())
            find(module.name, module, results[i].text);
    }
    for (const auto &[name, module] : others)
        find(std::string(name), *module, "is only there");
    if (followed)
        out.note(Rule::against, "",
                 {Where{there.package}, strf("%zu modules differ in numbers alone, "
                                             "as vmlinux differs",
                                             followed)});
}

} // namespace btflink::kernel
