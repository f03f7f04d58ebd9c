// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes texts for details, effects and places.
#include "btf-kernel/diff/words.h"

#include "btf-kernel/diff/types.h"
#include "common/result.h"

#include <algorithm>
#include <cinttypes>

namespace btflink::kernel::diff
{

namespace
{

constexpr size_t named_modules = 3;

using Kind = Detail::Kind;

std::string offset_text(int64_t bits)
{
    return bits % 8 ? strf("%" PRId64 " bit %" PRId64, bits / 8, bits % 8)
                    : strf("%" PRId64, bits / 8);
}

std::string at_place(const Detail &d)
{
    return d.place.empty() ? "" : d.place + ": ";
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
        return "+ " + d.new_text + " at " + offset_text(d.new_number) +
               (d.place.find('.') == std::string::npos ? "" : " (" + d.place + ")");
    case Kind::member_removed:
        return "- " + d.old_text + " at " + offset_text(d.old_number) +
               (d.place.find('.') == std::string::npos ? "" : " (" + d.place + ")");
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
        return at_place(d) + number_text(d.old_number, d.old_unsigned) + " is cut off to " +
               number_text(d.new_number, d.new_unsigned);
    case Kind::value_mended:
        return at_place(d) + number_text(d.old_number, d.old_unsigned) + " was cut off, it is " +
               number_text(d.new_number, d.new_unsigned);
    case Kind::result:
        return "result: " + from_to(d.old_text, d.new_text);
    case Kind::parameter_added:
        return "+ " + d.place + ": " + d.new_text;
    case Kind::parameter_removed:
        return "- " + d.place + ": " + d.old_text;
    case Kind::meaning:
        return at_place(d) + "suffix " + from_to(d.old_text, d.new_text);
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

bool moves_along(const Detail &a, const Detail &b)
{
    return a.kind == Kind::member_moved && b.kind == Kind::member_moved &&
           b.new_number - b.old_number == a.new_number - a.old_number;
}

void add(Counts &counts, What what, bool breaking)
{
    ++(what == What::added     ? counts.added
       : what == What::removed ? counts.removed
                               : counts.changed);
    counts.breaking += breaking;
}

} // namespace

std::string_view space_name(Space space)
{
    constexpr std::string_view names[space_count] = {"type",     "typedef", "constant",
                                                     "function", "kfunc",   "variable"};
    return names[static_cast<size_t>(space)];
}

std::string space_heading(Space space)
{
    return std::string(space_name(space)) + "s";
}

std::string_view what_name(What what)
{
    return what == What::added ? "added" : what == What::removed ? "removed" : "changed";
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

std::vector<std::string> detail_lines(const Change &change)
{
    std::vector<std::string> lines;
    const std::vector<Detail> &list = change.details;
    for (size_t begin = 0, end; begin < list.size(); begin = end) {
        end = begin + 1;
        while (end < list.size() && moves_along(list[begin], list[end]))
            ++end;
        lines.push_back(list[begin].kind == Kind::member_moved
                            ? moved_line(list[begin], list[end - 1], end - begin)
                            : line_of(list[begin]));
    }
    return lines;
}

std::string subject(const Change &change)
{
    return change.definition.empty() ? change.name : change.definition;
}

std::string places_text(const Difference &difference, const Change &change)
{
    if (change.places.empty() || (change.places.size() == 1 && !change.places[0]))
        return "";
    std::string text = " in ";
    for (size_t i = 0; i < std::min(named_modules, change.places.size()); ++i) {
        text += i ? ", " : "";
        text += change.places[i] ? difference.modules[change.places[i] - 1] : "vmlinux";
    }
    if (change.places.size() > named_modules)
        text += strf(" and %zu more modules", change.places.size() - named_modules);
    return text;
}

Counts count_changes(const Difference &difference, Space space)
{
    Counts counts;
    for (const Change &change : difference.changes)
        if (change.space == space)
            add(counts, change.what, change.breaks());
    return counts;
}

Counts count_modules(const Difference &difference)
{
    Counts counts;
    for (const ModuleChange &change : difference.module_changes)
        add(counts, change.what, false);
    return counts;
}

} // namespace btflink::kernel::diff
