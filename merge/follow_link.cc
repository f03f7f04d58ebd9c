// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes that determine what the linker decided.
#include "merge/follow_link.h"

#include "merge/report_passes.h"

namespace btflink::merge
{

Result<LinkResult> follow_link(FeatureSet features, const MergeInputs &in, Report &report,
                               Stats &stats)
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

    stats.begin_pass("select_functions");
    link.functions = select_functions(inputs, objects, link.image, link.locations, features);
    stats.begin_pass("select_variables");
    link.variables = select_variables(objects, link.image, link.locations, features);
    report_selection(objects, link.functions, link.variables, report, stats);
    return link;
}

} // namespace btflink::merge
