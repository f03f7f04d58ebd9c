// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// The passes that follow the linker, one after the other.
#include "merge/follow_link.h"

#include "merge/report_passes.h"

namespace btflink::merge
{

Result<Link> follow_link(FeatureSet features, const Read &read, Report &report, Stats &stats)
{
    const std::vector<Input> &inputs = read.inputs.list;
    const std::vector<Object> &objects = read.objects();
    Link link;
    stats.begin_pass("image");
    auto file = TRY(read.image());
    link.image = TRY(read_image(file, inputs, objects));

    stats.begin_pass("locate");
    link.located = locate(inputs, objects, link.image);
    report_image(inputs, link.image, objects, link.located, report, stats);

    stats.begin_pass("select_functions");
    link.functions = select_functions(inputs, objects, link.image, link.located, features);
    stats.begin_pass("select_variables");
    link.variables = select_variables(objects, link.image, link.located, features);
    report_selection(objects, link.functions, link.variables, report, stats);
    return link;
}

} // namespace btflink::merge
