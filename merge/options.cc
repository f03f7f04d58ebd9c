// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Which options exclude each other.
#include "merge/options.h"

#include "common/io/file_io.h"

namespace btflink::merge
{

bool writes_result(const Options &options)
{
    return !options.why_dup || !options.output.empty() || !options.update.empty();
}

Result<void> check_options(const Options &options)
{
    if (options.why_dup && options.engine != Engine::hash)
        return fail({}, "--why-dup needs --dedup=hash");
    if (options.why_dup && options.output == standard_output)
        return fail({}, "--why-dup prints to standard output, and so would --output");
    if (!options.features.has(Feature::distilled_base))
        return {};
    if (options.base.empty())
        return fail({}, "--distilled-base needs --base");
    if (options.format == OutputFormat::object)
        return fail({}, "--distilled-base: --format=object has no place for the base");
    if (options.output == standard_output)
        return fail({}, "--distilled-base: standard output has no place for the base");
    return {};
}

} // namespace btflink::merge
