// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
// Compares outputs with inputs and with each other, following links.
#include "merge/check_output_paths.h"

#include "common/io/file_io.h"

namespace btflink::merge
{

namespace
{

/// Files to which the result is written.
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
    auto check_not_written = [&](const std::string &path, const char *what) -> Result<void> {
        for (const std::string &result : results)
            if (same_file(result, path))
                return fail(Where{result}, std::string(what) + ", too; it would be overwritten");
        return {};
    };
    constexpr const char *is_input = "is an input";
    TRY(check_not_written(options.image, is_input));
    TRY(check_not_written(options.base, is_input));
    for (const std::string &path : inputs.files)
        TRY(check_not_written(path, is_input));
    for (const std::string &name : options.inputs)
        if (name.starts_with('@'))
            TRY(check_not_written(name.substr(1), is_input));
    TRY(check_not_written(options.update, "is to be updated"));
    if (same_file(options.update, options.base))
        return fail(Where{options.update},
                    "is the base, too; it would be overwritten by BTF that extends it");
    return {};
}

Result<void> check_trace_apart(const Options &options)
{
    for (const std::string &result : outputs(options))
        if (options.time_trace == result || same_file(options.time_trace, result))
            return fail(Where{options.time_trace}, "--output and --time-trace name the same file");
    return {};
}

} // namespace btflink::merge
