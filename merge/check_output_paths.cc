// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares outputs with inputs and with each other, links included.
#include "merge/check_output_paths.h"

#include "common/io/file_io.h"

namespace btflink::merge
{

namespace
{

/// Files that get the result itself.
std::vector<std::string> outputs(const Options &options)
{
    if (options.output.empty())
        return {};
    if (!options.features.has(Feature::distilled_base))
        return {options.output};
    return {options.output, options.output + ".base"};
}

} // namespace

Result<void> check_apart(const Options &options, const Inputs &inputs)
{
    TRY(check_trace_apart(options));
    std::vector<std::string> results = outputs(options);
    if (!options.time_trace.empty())
        results.push_back(options.time_trace);
    auto spare = [&](const std::string &path, const char *what) -> Result<void> {
        for (const std::string &result : results)
            if (same_file(result, path))
                return fail(Where{result}, std::string(what) + ", too; it would be overwritten");
        return {};
    };
    constexpr const char *is_input = "is an input";
    TRY(spare(options.image, is_input));
    TRY(spare(options.base, is_input));
    for (const std::string &path : inputs.files)
        TRY(spare(path, is_input));
    for (const std::string &name : options.inputs)
        if (name.starts_with('@'))
            TRY(spare(name.substr(1), is_input));
    TRY(spare(options.update, "is to be updated"));
    if (same_file(options.update, options.base))
        return fail(Where{options.update}, "is the base, too; BTF that continues it would take its "
                                           "place");
    return {};
}

Result<void> check_trace_apart(const Options &options)
{
    for (const std::string &result : outputs(options))
        if (options.time_trace == result || same_file(options.time_trace, result))
            return fail(Where{options.time_trace}, "is to have both the result and the trace");
    return {};
}

} // namespace btflink::merge
