// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Text and Markdown.
#include "btf-kernel/diff/types.h"
#include "btf-kernel/diff/words.h"
#include "common/io/json_text.h"
#include "common/result.h"

#include <algorithm>

namespace btflink::kernel::diff
{

namespace
{

constexpr size_t markdown_room = 60'000; // characters
constexpr size_t markdown_details = 12;  // lines of one change

constexpr Space spaces[] = {Space::type,     Space::alias, Space::constant,
                            Space::function, Space::kfunc, Space::variable};

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
    return strf("%s -> %s: %u types before, %u after; vmlinux and %u modules compared",
                d.old_name.c_str(), d.new_name.c_str(), d.old_types, d.new_types,
                d.compared_modules);
}

std::string title(const Difference &d, const Change &change)
{
    std::string text = subject(change) + places_text(d, change) + " ";
    text += what_name(change.what);
    if (change.one_of_several)
        text += " (one of several definitions)";
    if (!change.cause.empty())
        text += " (moved along with " + change.cause + ")";
    return text;
}

void add_text(const Difference &d, const Change &change, std::string &out)
{
    out += title(d, change) + "\n";
    for (const Effect &effect : change.effects)
        if (breaks(effect.kind))
            out += strf("    breaks %s: %s\n", std::string(effect_name(effect.kind)).c_str(),
                        effect.text.c_str());
    if (!change.cause.empty())
        return;
    for (const std::string &line : detail_lines(change))
        out += "    " + line + "\n";
}

std::string modules_text(const Difference &d, What what)
{
    std::string text;
    for (const ModuleChange &module : d.module_changes)
        if (module.what == what)
            text += (text.empty() ? "" : ", ") + module.name +
                    (module.is_built_in
                         ? (what == What::removed ? " (now in vmlinux)" : " (was in vmlinux)")
                         : "");
    return text;
}

std::string summary_text(const Difference &d)
{
    std::string out = strf("%-12s%9s%9s%9s%9s\n", "", "added", "removed", "changed", "breaks");
    auto row = [&](const std::string &name, const Counts &c) {
        out += strf("%-12s%9zu%9zu%9zu%9zu\n", name.c_str(), c.added, c.removed, c.changed,
                    c.breaking);
    };
    for (Space space : spaces)
        row(space_heading(space), count_changes(d, space));
    row("modules", count_modules(d));
    return out;
}

/// Text in backquotes, without meaning for Markdown.
std::string code(std::string text)
{
    std::replace(text.begin(), text.end(), '`', '\'');
    return "`" + text + "`";
}

std::string markdown_of(const Difference &d, const Change &change)
{
    std::string out = "- " + code(subject(change)) + places_text(d, change) + " " +
                      std::string(what_name(change.what));
    if (std::string text = verdict(change); !text.empty())
        out += ": **" + text + "**";
    if (!change.cause.empty())
        return out + " (moved along with " + code(change.cause) + ")\n";
    out += "\n";
    const std::vector<std::string> lines = detail_lines(change);
    for (size_t i = 0; i < std::min(lines.size(), markdown_details); ++i)
        out += "  - " + code(lines[i]) + "\n";
    if (lines.size() > markdown_details)
        out += strf("  - and %zu more\n", lines.size() - markdown_details);
    return out;
}

/// Adds the changes of a space that break programs, or those that do not, while there is space.
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
        .text("what", what_name(change.what))
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
    auto counts = [](const Counts &c) {
        return JsonObject()
            .number("added", c.added)
            .number("removed", c.removed)
            .number("changed", c.changed)
            .number("breaking", c.breaking)
            .result();
    };
    for (size_t i = 0; i < space_count; ++i)
        out.field(space_heading(Space(i)), counts(count_changes(d, Space(i))));
    out.field("modules", counts(count_modules(d)));
    return out.result();
}

} // namespace

std::string as_text(const Difference &d, const PrintOptions &options)
{
    std::string out = heading(d) + "\n\n" + summary_text(d);
    if (options.only_summary)
        return out;
    for (What what : {What::removed, What::added})
        if (std::string text = modules_text(d, what); !text.empty())
            out += "\nmodules " + std::string(what_name(what)) + ": " + text + "\n";
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
    std::string out = "### BTF: " + code(d.old_name) + " to " + code(d.new_name) + "\n\n";
    out += strf("%u types before, %u after; vmlinux and %u modules compared.\n\n", d.old_types,
                d.new_types, d.compared_modules);
    out += "| | added | removed | changed | break programs |\n|---|--:|--:|--:|--:|\n";
    auto row = [&](const std::string &name, const Counts &c) {
        out += strf("| %s | %zu | %zu | %zu | %zu |\n", name.c_str(), c.added, c.removed, c.changed,
                    c.breaking);
    };
    for (Space space : spaces)
        row(space_heading(space), count_changes(d, space));
    row("modules", count_modules(d));
    out += "\n";
    if (options.only_summary)
        return out;
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
                       .text("what", what_name(module.what))
                       .boolean("built_in", module.is_built_in)
                       .result();
               });
        out += ",\n\"changes\": [";
        bool first = true;
        for (const Change &change : d.changes) {
            if (options.only_breaking && !change.breaks())
                continue;
            out += (first ? "\n" : ",\n") + change_json(d, change);
            first = false;
        }
        out += "\n]";
    }
    return out + "}\n";
}

} // namespace btflink::kernel::diff
