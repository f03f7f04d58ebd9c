// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Runs the passes that find out what was linked, and where. Reports counts, notes and warnings.
#include "merge/passes.h"

#include "merge/link/image.h"

#include <algorithm>

namespace btflink::merge
{

namespace
{

/// "prog has 2 objects that are not among the inputs, ...; one of them has add (add.c)"
void report_missing(const std::vector<Object> &objects, const Image &image, Report &report,
                    Stats &stats)
{
    const MissingObjects missing = find_missing(objects, image);
    stats.add("objects_missing", missing.count);
    if (!missing.count)
        return;
    std::string text =
        strf("%s has %u object%s that %s not among the inputs, so %s BTF is missing",
             image.name.c_str(), missing.count, missing.count == 1 ? "" : "s",
             missing.count == 1 ? "is" : "are", missing.count == 1 ? "its" : "their");
    for (size_t i = 0; i < missing.names.size(); ++i)
        text += (i                    ? ", "
                 : missing.count == 1 ? "; it has "
                                      : "; one of them has ") +
                missing.names[i];
    if (!missing.source.empty())
        text += " (" + std::string(missing.source) + ")";
    report.warnings.push_back(std::move(text));
}

/// Reports objects that were not linked, linked objects that are not among the inputs, offsets of
/// variables that contradict symbols, and what the image lacks.
void report_image(const std::vector<Input> &inputs, const Image &image,
                  const std::vector<Object> &objects, const Locations &locations, Report &report,
                  Stats &stats)
{
    bool any_pool = false;
    size_t left_out = 0; // objects that were not linked, except members of archives
    const Object *first_left_out = nullptr;
    for (size_t i = 0; i < objects.size(); ++i) {
        any_pool |= (objects[i].trailer.flags & trailer_has_pool) != 0;
        if (!locations.not_linked[i])
            continue;
        report.notes.push_back(objects[i].describe() + ": not in the image, left out");
        if (!inputs[objects[i].input].is_member && left_out++ == 0)
            first_left_out = &objects[i];
    }
    if (first_left_out)
        report.warnings.push_back(strf(
            "%zu %s not in %s and left out; the first is %s. Link %s again if it is older than "
            "its objects",
            left_out, left_out == 1 ? "object is" : "objects are", image.name.c_str(),
            first_left_out->describe().c_str(), image.name.c_str()));
    report_missing(objects, image, report, stats);
    if (const size_t count = locations.other_offsets.size())
        report.warnings.push_back(
            objects[locations.other_offsets.front()].describe() +
            ": offsets of variables contradict the symbols, which are used instead" +
            (count > 1 ? strf(" (and %zu more)", count - 1) : ""));
    if (image.kind != ImageKind::combined && !image.has_symbols)
        report.warnings.push_back(
            image.name + ": has no symbol table, so it is not known which functions exist; "
                         "the result has no functions");
    if (image.kind != ImageKind::combined && any_pool &&
        locations.objects_without_pool == objects.size())
        report.warnings.push_back(image.name + ": has none of the objects' address pools; "
                                               "addresses are taken from symbols if possible");
}

} // namespace

Result<LinkResult> follow_link(const MergeInputs &in, Report &report, Stats &stats)
{
    const std::vector<Input> &inputs = in.files.list;
    const std::vector<Object> &objects = in.objects();
    LinkResult link;
    stats.begin_pass("image");
    auto file = TRY(in.image());
    link.image = TRY(read_image(file, inputs, objects));

    stats.begin_pass("locate");
    link.locations = locate(inputs, objects, link.image);
    report_image(inputs, link.image, objects, link.locations, report, stats);
    return link;
}

} // namespace btflink::merge
