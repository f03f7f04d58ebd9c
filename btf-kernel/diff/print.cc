// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes the differences between two kernels as text, Markdown or JSON.
#include "btf-kernel/diff/difference.h"

#include "btf-kernel/diff/types.h"
#include "common/cli/program.h"
#include "common/io/json_text.h"
#include "common/result.h"

#include <algorithm>
#include <cinttypes>

namespace btflink::kernel::diff
{

namespace
{

constexpr size_t named_modules = 3;
constexpr size_t markdown_room = 60'000; // bytes
constexpr size_t markdown_details = 12;  // lines of one change
constexpr size_t markdown_modules = 50;  // names in one list

using Kind = Detail::Kind;

constexpr Space spaces[] = {Space::type,     Space::alias, Space::constant,
                            Space::function, Space::kfunc, Space::variable};

std::string space_heading(Space space)
{
    return std::string(space_name(space)) + "s";
}

std::string offset_text(int64_t bits)
{
    return bits % 8 ? strf("%" PRId64 " bit %" PRId64, bits / 8, bits % 8)
                    : strf("%" PRId64, bits / 8);
}

std::string at_place(const Detail &d)
{
    return d.place.empty() ? "" : d.place + ": ";
}

/// " (outer.inner)" for a member of a member, whose position is counted from the start of `outer`;
/// "" if the text of the member is enough.
std::string outer_place(const Detail &d)
{
    return d.place.find('.') == std::string::npos ? "" : " (" + d.place + ")";
}

std::string from_to(const std::string &a, const std::string &b)
{
    auto shown = [](const std::string &text) { return text.empty() ? "nothing" : text.c_str(); };
    return strf("%s -> %s", shown(a), shown(b));
}

std::string moved_line(const Detail &first, const Detail &last, size_t count)
{
    const std::string places =
        "from " + offset_text(first.old_number) + " to " + offset_text(first.new_number);
    if (count == 1)
        return first.place + " moved " + places;
    const int64_t by = first.new_number - first.old_number;
    const std::string distance =
        by % 8 ? strf("%+" PRId64 " bits", by) : strf("%+" PRId64 " bytes", by / 8);
    return strf("%s to %s (%zu members) moved by %s", first.place.c_str(), last.place.c_str(),
                count, distance.c_str());
}

std::string line_of(const Detail &d)
{
    switch (d.kind) {
    case Kind::size:
        return at_place(d) + strf("size %" PRId64 " -> %" PRId64, d.old_number, d.new_number);
    case Kind::member_added:
        return "+ " + d.new_text + " at " + offset_text(d.new_number) + outer_place(d);
    case Kind::member_removed:
        return "- " + d.old_text + " at " + offset_text(d.old_number) + outer_place(d);
    case Kind::member_moved:
        return moved_line(d, d, 1);
    case Kind::member_bits:
        return at_place(d) + strf("bits %" PRId64 " -> %" PRId64, d.old_number, d.new_number);
    case Kind::member_renamed:
        return d.place + " is called " + d.new_text;
    case Kind::value_added:
        return "+ " + d.place + " = " + number_text(d.new_number, d.new_unsigned);
    case Kind::value_removed:
        return "- " + d.place + " = " + number_text(d.old_number, d.old_unsigned);
    case Kind::value_changed:
        return at_place(d) + number_text(d.old_number, d.old_unsigned) + " -> " +
               number_text(d.new_number, d.new_unsigned);
    case Kind::value_cut:
        return at_place(d) + number_text(d.old_number, d.old_unsigned) + " -> " +
               number_text(d.new_number, d.new_unsigned) + " (cut to 32 bits)";
    case Kind::value_mended:
        return at_place(d) + number_text(d.old_number, d.old_unsigned) + " (cut to 32 bits) -> " +
               number_text(d.new_number, d.new_unsigned);
    case Kind::result:
        return "result: " + from_to(d.old_text, d.new_text);
    case Kind::parameter_added:
        return "+ " + d.place + ": " + d.new_text;
    case Kind::parameter_removed:
        return "- " + d.place + ": " + d.old_text;
    case Kind::meaning:
        return at_place(d) +
               "what the verifier reads in its name: " + from_to(d.old_text, d.new_text);
    case Kind::section:
        return "section " + from_to(d.old_text, d.new_text);
    case Kind::tag_added:
        return "+ " + at_place(d) + "tag " + d.new_text;
    case Kind::tag_removed:
        return "- " + at_place(d) + "tag " + d.old_text;
    default:
        return at_place(d) + from_to(d.old_text, d.new_text);
    }
}

bool moved_equally(const Detail &a, const Detail &b)
{
    return a.kind == Kind::member_moved && b.kind == Kind::member_moved &&
           b.new_number - b.old_number == a.new_number - a.old_number;
}

bool is_shown(const Change &change, const PrintOptions &options)
{
    return !options.only_breaking || change.breaks();
}

/// The breaking effects of a change.
std::string verdict(const Change &change)
{
    std::string text;
    for (const Effect &effect : change.effects)
        if (breaks(effect.kind))
            text += (text.empty() ? "" : "; ") + effect.text;
    return text;
}

std::string heading(const Difference &d)
{
    return strf("%s -> %s: %u types before, %u after; vmlinux and %u module%s compared",
                d.old_name.c_str(), d.new_name.c_str(), d.old_types, d.new_types,
                d.compared_modules, plural(d.compared_modules));
}

/// "struct s", "vfs_read"; for a function that was added or removed, its prototype.
std::string subject(const Change &change)
{
    return change.definition.empty() ? change.name : change.definition;
}

/// " in nf_tables, nft_compat, nft_ct and 3 more modules"; "" for vmlinux alone.
std::string places_text(const Difference &difference, const Change &change)
{
    if (change.places.empty() || (change.places.size() == 1 && !change.places[0]))
        return "";
    auto name = [&](uint32_t place) { return place ? difference.modules[place - 1] : "vmlinux"; };
    std::string text = " in " + joined(change.places, ", ", name, named_modules);
    if (change.places.size() > named_modules) {
        const size_t more = change.places.size() - named_modules;
        text += strf(" and %zu more module%s", more, more == 1 ? "" : "s");
    }
    return text;
}

/// What follows the subject: " in nf_tables removed (one of several definitions)".
std::string predicate(const Difference &d, const Change &change)
{
    return places_text(d, change) + " " + std::string(change_kind_name(change.what)) +
           (change.one_of_several ? " (one of several definitions)" : "");
}

std::string title(const Difference &d, const Change &change)
{
    std::string text = subject(change) + predicate(d, change);
    if (!change.cause.empty())
        text += " (only because sizes of members changed, first that of " + change.cause + ")";
    return plain_text(text);
}

void add_text(const Difference &d, const Change &change, std::string &out)
{
    out += title(d, change) + "\n";
    for (const Effect &effect : change.effects)
        if (breaks(effect.kind))
            out += strf("    breaks %s: %s\n", std::string(effect_name(effect.kind)).c_str(),
                        plain_text(effect.text).c_str());
    if (!change.cause.empty())
        return;
    for (const std::string &line : detail_lines(change.details))
        out += "    " + line + "\n";
}

/// A list of modules in the text.
struct ModuleList {
    ChangeKind what;
    bool lost_btf;
    const char *heading;
};

constexpr ModuleList module_lists[] = {
    {ChangeKind::removed, true, "modules removed"},
    {ChangeKind::added, false, "modules added"},
    {ChangeKind::changed, true, "modules without readable BTF in the new kernel"},
    {ChangeKind::changed, false, "modules without readable BTF in the old kernel"},
};

/// The modules of a list, separated by commas. Only the first `most` are named.
std::string modules_text(const Difference &d, const ModuleList &list, size_t most = SIZE_MAX)
{
    std::vector<std::string> names;
    for (const ModuleChange &module : d.module_changes)
        if (module.what == list.what && module.lost_btf == list.lost_btf)
            names.push_back(module.name + (!module.is_built_in ? ""
                                           : list.lost_btf     ? " (now in vmlinux)"
                                                               : " (was in vmlinux)"));
    std::string text = joined(names, ", ", {}, most);
    if (names.size() > most)
        text += strf(" and %zu more", names.size() - most);
    return text;
}

/// Numbers of changes; `breaking`: those that break programs.
struct Counts {
    std::string heading;
    size_t added = 0, removed = 0, changed = 0, breaking = 0;

    void add(ChangeKind what, bool breaks)
    {
        ++(what == ChangeKind::added ? added : what == ChangeKind::removed ? removed : changed);
        breaking += breaks;
    }
};

/// The numbers for each space, then for modules.
std::vector<Counts> summary(const Difference &d)
{
    std::vector<Counts> out;
    for (Space space : spaces) {
        Counts counts{space_heading(space)};
        for (const Change &change : d.changes)
            if (change.space == space)
                counts.add(change.what, change.breaks());
        out.push_back(std::move(counts));
    }
    Counts modules{"modules"};
    for (const ModuleChange &change : d.module_changes)
        modules.add(change.what, false); // a ModuleChange has no effects
    out.push_back(std::move(modules));
    return out;
}

std::string summary_text(const Difference &d)
{
    std::string out = strf("%-12s%9s%9s%9s%9s\n", "", "added", "removed", "changed", "breaks");
    for (const Counts &c : summary(d))
        out += strf("%-12s%9zu%9zu%9zu%9zu\n", c.heading.c_str(), c.added, c.removed, c.changed,
                    c.breaking);
    return out;
}

std::string markdown_of(const Difference &d, const Change &change)
{
    std::string out = "- " + markdown_code(subject(change)) + markdown_text(predicate(d, change));
    if (std::string text = verdict(change); !text.empty())
        out += ": **" + markdown_text(text) + "**";
    if (!change.cause.empty())
        return out + " (only because sizes of members changed, first that of " +
               markdown_code(change.cause) + ")\n";
    out += "\n";
    const std::vector<std::string> lines = detail_lines(change.details);
    for (size_t i = 0; i < std::min(lines.size(), markdown_details); ++i)
        out += "  - " + markdown_code(lines[i]) + "\n";
    if (lines.size() > markdown_details)
        out += strf("  - and %zu more\n", lines.size() - markdown_details);
    return out;
}

/// Adds the changes of a space that break programs or, if not `breaking`, those that do not.
/// Changes for which there is no room are only counted.
void add_markdown(const Difference &d, Space space, bool breaking, std::string &out)
{
    std::vector<const Change *> list;
    for (const Change &change : d.changes)
        if (change.space == space && change.breaks() == breaking)
            list.push_back(&change);
    if (list.empty())
        return;
    out += strf("<details%s><summary>%s%s: %zu</summary>\n\n", breaking ? " open" : "",
                space_heading(space).c_str(),
                breaking ? " that break programs" : " that break nothing", list.size());
    size_t shown = 0;
    for (; shown < list.size(); ++shown) {
        std::string text = markdown_of(d, *list[shown]);
        if (out.size() + text.size() > markdown_room)
            break;
        out += text;
    }
    if (shown < list.size())
        out += strf("- and %zu more\n", list.size() - shown);
    out += "\n</details>\n\n";
}

std::string detail_json(const Detail &d)
{
    const std::string_view name = detail_name(d.kind);
    JsonObject out;
    out.text("what", name);
    if (!d.place.empty())
        out.text("place", d.place);
    const bool added = name.ends_with("_added"), removed = name.ends_with("_removed");
    if (d.has_numbers()) {
        if (!added)
            out.field("old", number_text(d.old_number, d.old_unsigned));
        if (!removed)
            out.field("new", number_text(d.new_number, d.new_unsigned));
    }
    if (!d.old_text.empty())
        out.text("old_text", d.old_text);
    if (!d.new_text.empty())
        out.text("new_text", d.new_text);
    if (d.has_types())
        out.boolean("core_compatible", d.fits)
            .boolean("same_size", d.same_size)
            .boolean("same_meaning", d.same_meaning);
    return out.result();
}

std::string effect_json(const Effect &effect)
{
    return JsonObject()
        .text("kind", effect_name(effect.kind))
        .boolean("breaks", breaks(effect.kind))
        .text("text", effect.text)
        .result();
}

std::string change_json(const Difference &d, const Change &change)
{
    JsonObject out;
    out.text("space", space_name(change.space))
        .text("name", change.name)
        .text("what", change_kind_name(change.what))
        .boolean("breaks", change.breaks());
    out.field("in", json_array(change.places, [&](uint32_t place) {
                  return json_string(place ? d.modules[place - 1] : "vmlinux");
              }));
    if (!change.definition.empty())
        out.text("definition", change.definition);
    if (!change.cause.empty())
        out.text("cause", change.cause);
    if (change.one_of_several)
        out.boolean("one_of_several", true);
    out.field("details", json_array(change.details, detail_json));
    out.field("effects", json_array(change.effects, effect_json));
    return out.result();
}

std::string summary_json(const Difference &d)
{
    JsonObject out;
    for (const Counts &c : summary(d))
        out.field(c.heading, JsonObject()
                                 .number("added", c.added)
                                 .number("removed", c.removed)
                                 .number("changed", c.changed)
                                 .number("breaking", c.breaking)
                                 .result());
    return out.result();
}

} // namespace

std::string markdown_code(std::string_view untrusted)
{
    std::string text = plain_text(untrusted);
    std::ranges::replace(text, '`', '\'');
    return "`" + text + "`";
}

std::string markdown_text(std::string_view untrusted)
{
    const std::string text = plain_text(untrusted);
    auto in_word = [&](size_t i) { return i < text.size() && std::isalnum(text[i] & 0xff); };
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        // Markdown takes an underscore for markup unless it is within a word.
        const bool is_inner_underscore = text[i] == '_' && in_word(i - 1) && in_word(i + 1);
        if (std::string_view("\\*_<>[]`|&").find(text[i]) != std::string_view::npos &&
            !is_inner_underscore)
            out += '\\';
        out += text[i];
    }
    return out;
}

std::string_view space_name(Space space)
{
    constexpr std::string_view names[space_count] = {"type",     "typedef", "constant",
                                                     "function", "kfunc",   "variable"};
    return names[static_cast<size_t>(space)];
}

std::string_view change_kind_name(ChangeKind what)
{
    return what == ChangeKind::added     ? "added"
           : what == ChangeKind::removed ? "removed"
                                         : "changed";
}

std::string_view detail_name(Detail::Kind kind)
{
    constexpr std::string_view names[] = {"size",           "member_added",    "member_removed",
                                          "member_moved",   "member_bits",     "value_added",
                                          "value_removed",  "value_changed",   "value_cut",
                                          "value_mended",   "member_type",     "target",
                                          "result",         "parameter_type",  "kind",
                                          "member_renamed", "parameter_added", "parameter_removed",
                                          "meaning",        "section",         "encoding",
                                          "tag_added",      "tag_removed"};
    static_assert(std::size(names) == static_cast<size_t>(Kind::tag_removed) + 1);
    return names[static_cast<size_t>(kind)];
}

std::string_view effect_name(Effect::Kind kind)
{
    constexpr std::string_view names[] = {"none",     "relocated",  "size",  "pointee",    "core",
                                          "baked",    "fentry",     "kfunc", "tracepoint", "lsm",
                                          "iterator", "struct_ops", "ksym"};
    static_assert(std::size(names) == static_cast<size_t>(Effect::Kind::ksym) + 1);
    return names[static_cast<size_t>(kind)];
}

std::vector<std::string> detail_lines(const std::vector<Detail> &list)
{
    std::vector<std::string> lines;
    for (size_t begin = 0, end; begin < list.size(); begin = end) {
        end = begin + 1;
        while (end < list.size() && moved_equally(list[begin], list[end]))
            ++end;
        lines.push_back(plain_text(list[begin].kind == Kind::member_moved
                                       ? moved_line(list[begin], list[end - 1], end - begin)
                                       : line_of(list[begin])));
    }
    return lines;
}

std::string as_text(const Difference &d, const PrintOptions &options)
{
    std::string out = heading(d) + "\n\n" + summary_text(d);
    if (options.only_summary)
        return out;
    for (const ModuleList &list : module_lists)
        if (std::string text = modules_text(d, list); !text.empty())
            out += std::string("\n") + list.heading + ": " + text + "\n";
    for (Space space : spaces) {
        bool begun = false;
        for (const Change &change : d.changes) {
            if (change.space != space || !is_shown(change, options))
                continue;
            if (!begun)
                out += "\n== " + space_heading(space) + "\n";
            begun = true;
            add_text(d, change, out);
        }
    }
    return out;
}

std::string as_markdown(const Difference &d, const PrintOptions &options)
{
    std::string out =
        "### BTF: " + markdown_code(d.old_name) + " to " + markdown_code(d.new_name) + "\n\n";
    out += strf("%u types before, %u after; vmlinux and %u module%s compared.\n\n", d.old_types,
                d.new_types, d.compared_modules, plural(d.compared_modules));
    out += "| | added | removed | changed | break programs |\n|---|--:|--:|--:|--:|\n";
    for (const Counts &c : summary(d))
        out += strf("| %s | %zu | %zu | %zu | %zu |\n", c.heading.c_str(), c.added, c.removed,
                    c.changed, c.breaking);
    out += "\n";
    if (options.only_summary)
        return out;
    for (const ModuleList &list : module_lists)
        if (const std::string text = modules_text(d, list, markdown_modules); !text.empty())
            out += std::string(list.heading) + ": " + markdown_text(text) + "\n\n";
    for (bool breaking : {true, false})
        for (Space space : spaces)
            if (breaking || !options.only_breaking)
                add_markdown(d, space, breaking, out);
    return out;
}

std::string as_json(const Difference &d, const PrintOptions &options)
{
    std::string out = "{\"format\": 1,\n\"old\": " + json_string(d.old_name) +
                      ", \"new\": " + json_string(d.new_name);
    out += strf(", \"old_types\": %u, \"new_types\": %u, \"compared_modules\": %u", d.old_types,
                d.new_types, d.compared_modules);
    out += ",\n\"summary\": " + summary_json(d);
    if (!options.only_summary) {
        out += ",\n\"modules\": " + json_array(d.module_changes, [](const ModuleChange &module) {
                   return JsonObject()
                       .text("name", module.name)
                       .text("what", change_kind_name(module.what))
                       .boolean("lost_btf", module.lost_btf)
                       .boolean("built_in", module.is_built_in)
                       .result();
               });
        out += ",\n\"changes\": [";
        bool first = true;
        for (const Change &change : d.changes) {
            if (!is_shown(change, options))
                continue;
            out += (first ? "\n" : ",\n") + change_json(d, change);
            first = false;
        }
        out += "\n]";
    }
    return out + "}\n";
}

} // namespace btflink::kernel::diff
