// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Writes a difference as JSON, a change per line.
#include "btf-kernel/diff/types.h"
#include "btf-kernel/diff/words.h"
#include "common/io/json_text.h"

namespace btflink::kernel::diff
{

namespace
{

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
